"""The committed ratios: what every codec makes of the recipes and of the shared files, on the CPU.

A loss of compression is then a changed line of a reviewed file.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path

from thinwire import dtypes, message
from thinwire.bench import generators, samples, specs
from thinwire.bench.buffers import FrameBuffers
from thinwire.bench.codec import UnverifiedError, verify
from thinwire.bench.output import say
from thinwire.bench.samples import Sample
from thinwire.bench.steps import Step
from thinwire.codec import Codec

FAILED = "failed"  # in place of a ratio

CSV = Path("bench", "results", "ratio.csv")

# Bytes of each recipe; cubes give 16 planes, so that boxes of 16 are whole.
_PLANES = 16
_LINE_BYTES = 2 << 20
_CUBES = ("wave", "wave-zeros", "turb")

# Libraries round the functions that recipes use differently; files are exact.
_RATIO_TOLERANCE, _ERROR_TOLERANCE = 5e-4, 0.05


@dataclass(frozen=True)
class Ratio:
    """One line: what a codec makes of an array. The error is over the spec's bound, else over the
    range; empty for a lossless codec, and if the frame went raw."""

    codec: str
    data: str
    dtype: str
    shape: str
    ratio: str
    error_over_bound: str = ""
    error_over_range: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        return (self.codec, self.data, self.dtype, self.shape)

    @property
    def name(self) -> str:
        return " ".join(self.key)


def generated() -> Iterator[Sample]:
    """The recipes in the dtypes that they are measured in."""
    for name, dtype in generators.inputs(None):
        plane = 256 * 256 * dtypes.NUMPY[dtype].itemsize
        yield generators.generate(name, dtype, _PLANES * plane if name in _CUBES else _LINE_BYTES)


def codecs_here(skipped: Callable[[str], None]) -> list[Codec]:
    """The default specs of what this machine's CPU runs; `skipped` hears of the others."""
    found = [Codec(spec) for spec in specs.default_specs(False, skipped)]
    return [codec for codec in found if specs.row_of(codec).name != "raw"]


def measure(
    wanted: Iterable[Codec],
    arrays: Iterable[Sample],
    progress: Callable[[int], AbstractContextManager[Step]],
) -> Iterator[Ratio]:
    """A codec that does not keep its promise has a line with FAILED for its ratio."""
    wanted = list(wanted)
    jobs = [
        (codec, variant)
        for sample in arrays
        for codec in wanted
        if sample.dtype in specs.row_of(codec).dtypes
        for variant in specs.variants(sample, specs.row_of(codec))
    ]
    with progress(len(jobs)) as step:
        for codec, variant in jobs:
            with step(f"{codec.spec} on {variant.name} {variant.shape_text}"):
                yield _measure_or_fail(codec, variant)


def _measure_or_fail(codec: Codec, sample: Sample) -> Ratio:
    try:
        return _measure(codec, sample)
    except UnverifiedError as error:
        say(f"FAILED {error}")
        return Ratio(codec.spec, sample.name, sample.dtype, sample.shape_text, FAILED)


def _measure(codec: Codec, sample: Sample) -> Ratio:
    buffers = FrameBuffers(codec, sample.values, sample.dtype)
    buffers.encode()
    info = specs.row_of(codec)
    raw = specs.went_raw(codec, message.inspect(buffers.frame))
    words = f"{codec.spec} on {sample.name}"
    try:
        error = verify(codec, sample, len(buffers.frame), buffers.decode_afresh(), raw)
    except UnverifiedError as failed:
        raise UnverifiedError(f"{words}: {failed}") from failed
    over_bound = over_range = ""
    if not info.lossless and not raw:
        if error.over_bound is not None:
            over_bound = f"{error.over_bound:.3g}"
        elif error.range:
            over_range = f"{error.largest / error.range:.3g}"
    return Ratio(
        codec=codec.spec,
        data=sample.name,
        dtype=sample.dtype,
        shape=sample.shape_text,
        ratio=f"{sample.values.nbytes / len(buffers.frame):.4f}",
        error_over_bound=over_bound,
        error_over_range=over_range,
    )


def files(skipped: Callable[[str], None]) -> list[Sample]:
    """Those of the folder that $THINWIRE_DATA names, in their stated shapes."""
    return samples.read_all(samples.data_files(), skipped)


def read(path: Path) -> list[Ratio]:
    with path.open(newline="") as lines:
        return [Ratio(**row) for row in csv.DictReader(lines)]


def as_csv(rows: Iterable[Ratio]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(Ratio)])
    writer.writerows(astuple(row) for row in rows)
    return text.getvalue()


def merged(committed: Iterable[Ratio], found: list[Ratio]) -> list[Ratio]:
    """What is to be committed: what was found, and the lines of codecs and files that are not at
    hand; sorted."""
    known = {row.codec.partition(":")[0] for row in found}, {row.data for row in found}
    kept = [row for row in committed if not _is_at_hand(row, *known)]
    rank = {name: index for index, name in enumerate(generators.GENERATORS)}
    return sorted(
        [*found, *kept],
        key=lambda row: (rank.get(row.data, len(rank)), row.data, row.dtype, row.codec, row.shape),
    )


def _is_at_hand(row: Ratio, names: set[str], data: set[str]) -> bool:
    return row.codec.partition(":")[0] in names and row.data in data


def differences(committed: Iterable[Ratio], found: list[Ratio]) -> list[str]:
    """Each line that is not as committed, in words; lines of codecs and files that are not at hand
    count as right."""
    known = {row.codec.partition(":")[0] for row in found}, {row.data for row in found}
    before = {row.key: row for row in committed if _is_at_hand(row, *known)}
    now = {row.key: row for row in found}
    words = [f"{now[key].name}: not committed" for key in now if key not in before]
    words += [f"{before[key].name}: no longer measured" for key in before if key not in now]
    for key in now:
        if key in before:
            words += _changes(before[key], now[key])
    return words


def _changes(before: Ratio, now: Ratio) -> Iterator[str]:
    old, new = asdict(before), asdict(now)
    for name, tolerance in [
        ("ratio", _RATIO_TOLERANCE),
        ("error_over_bound", _ERROR_TOLERANCE),
        ("error_over_range", _ERROR_TOLERANCE),
    ]:
        if not _is_close(old[name], new[name], tolerance):
            yield f"{now.name}: {name} is {new[name] or 'none'}, committed {old[name] or 'none'}"


def _is_close(old: str, new: str, tolerance: float) -> bool:
    if not old or not new or FAILED in (old, new):
        return old == new
    return abs(float(new) - float(old)) <= tolerance * abs(float(old))


def find_csv(given: Path | None) -> Path | None:
    """`given`, or that of the source tree around this package or the current folder."""
    roots = [*Path(__file__).resolve().parents, Path.cwd()]
    places = [given] if given else [root / CSV for root in roots]
    return next((path for path in places if path.parent.is_dir()), None)
