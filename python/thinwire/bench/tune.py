"""What codecs cost on this machine, measured once, for a table that programs read."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path

from thinwire import dtypes, files
from thinwire.bench.specs import default_specs, is_policy, row_of, why_not_here
from thinwire.bench.steps import Step
from thinwire.codec import Codec, codecs
from thinwire.costs import CostRow, Costs, machine
from thinwire.library import ThinwireError, version

# Sizes of arrays, in bytes: a table is asked for the nearest.
SIZES = (64 << 10, 256 << 10, 1 << 20, 4 << 20)
FLOATS = tuple(name for name in dtypes.CODES if name != "bytes")


@dataclass(frozen=True)
class Job:
    """One row of a table that is still to be measured."""

    codec: Codec
    dtype: str
    bytes: int
    on_gpu: bool


def jobs(more: list[Codec], *, with_gpu: bool) -> list[Job]:
    """What a table has: the usual specs of every codec that runs here and those of `more`, in host
    memory and, if wanted, in that of the first GPU."""
    places = (False, True) if with_gpu else (False,)
    return [
        Job(codec, dtype, nbytes, on_gpu)
        for on_gpu in places
        for codec in _codecs(on_gpu, more)
        for dtype in FLOATS
        if dtype in row_of(codec).dtypes
        for nbytes in SIZES
    ]


def _codecs(on_gpu: bool, more: list[Codec]) -> list[Codec]:
    """Those that run there, each spec once, codecs' names alone among them. What "auto" chooses is
    one of them."""
    found = [Codec(spec) for spec in default_specs(on_gpu)]
    for info in codecs():
        if info.name != "raw" and why_not_here(info, on_gpu) == "":
            with suppress(ThinwireError):  # some have no spec without an option
                found.append(Codec(info.name))
    by_spec = {codec.spec: codec for codec in [*found, *more] if not is_policy(codec)}
    return [
        codec
        for codec in by_spec.values()
        if row_of(codec).name != "raw" and why_not_here(row_of(codec), on_gpu) == ""
    ]


def measure(
    wanted: list[Job],
    progress: Callable[[int], AbstractContextManager[Step]],
    failed: Callable[[str], None],
) -> Iterator[CostRow]:
    """The rows of the table; `failed` hears of those that could not be measured."""
    with progress(len(wanted)) as step:
        for job in wanted:
            with step(f"{job.codec.spec} on {job.bytes} bytes of {job.dtype}"):
                try:
                    device = 0 if job.on_gpu else None
                    cost = job.codec.measure(job.dtype, job.bytes, device=device)
                except ThinwireError as error:
                    failed(f"{job.codec.spec}, {job.dtype}: {error}")
                    continue
                yield CostRow(job.codec.spec, job.dtype, job.bytes, job.on_gpu, cost)


def table_of(rows: list[CostRow]) -> str:
    """The file's text. Held against the library's own reader: ThinwireError if that refuses
    it."""
    lines = ["thinwire-costs 1", f"machine: {machine()}", f"version: {version()}"]
    for row in rows:
        figures = (row.cost.encode_bytes_per_second, row.cost.decode_bytes_per_second)
        rates = " ".join(f"{figure:.4g}" for figure in (*figures, row.cost.ratio))
        place = "gpu" if row.on_gpu else "host"
        lines.append(f"{row.codec} {row.dtype} {row.bytes} {place} {rates}")
    text = "\n".join([*lines, f"end {len(rows)}", ""])
    Costs(text=text)
    return text


def write(path: Path, text: str) -> None:
    """At once: whoever reads meanwhile has the old table or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    files.replace(path, text.encode())
