"""NCCL's operations raw, compressed by the preload library, and per hop, by turns in one job."""

import re
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from thinwire.bench import specs
from thinwire.bench.nccl_ranks import Said, run_ranks
from thinwire.bench.output import say
from thinwire.bench.programs import BenchError, Place
from thinwire.bench.samples import Sample
from thinwire.codec import Codec
from thinwire.library import NCCL_SHIM, library_path

OPERATIONS = (
    "all_gather",
    "reduce_scatter",
    "all_reduce",
    "broadcast",
    "send_recv",
    "all_to_all",
    "all_to_all_grouped",  # a group of sends and receives
    "scatter",  # the same, from rank 0
)
RAW, CODED, PER_HOP = "raw", "coded", "per-hop"
WAYS = (RAW, CODED, PER_HOP)
# The same as per-hop of messages that the program codes: on the GPU with all that it needs asked
# for anew, or on the host.
BASELINES = ("naive", "host")
PLANNED = "planned"
ALGORITHMS = (PLANNED, "pairwise")  # what of THINWIRE_ALGORITHM counts under NCCL

SLOWEST_BYTES_PER_SECOND = 200e6  # assumed of an unshaped link, for the time limit alone
_WARM_UPS = 60  # at most, of calls that ranks have yet to agree on
_MAKING_SECONDS = 20  # of a communicator, and until it is known who has the library

Progress = Callable[[str], AbstractContextManager[None]]


@dataclass(frozen=True)
class NcclSession:
    """What is run over each link: every operation at every size (bytes: of the array in all_reduce,
    broadcast and send_recv, else of one rank's block) under every codec and algorithm, in these
    ways by turns.

    `data` is repeated to the size; in a reduction rank r contributes it times 1 - r / (2 ranks).
    `calls` are made back to back in one timed turn.
    """

    program: Path
    library: str
    operations: tuple[str, ...]
    sizes: tuple[int, ...]
    codecs: tuple[str, ...]
    ways: tuple[str, ...]
    ranks: int
    iterations: int
    calls: int
    threshold: int
    data: Sample
    progress: Progress
    algorithms: tuple[str, ...] = (PLANNED,)
    force: bool = True  # coded calls are, whether it pays or not


Key = tuple[str, int]  # operation and size


def goes(operation: str, way: str) -> bool:
    """Whether the program runs it in this way."""
    if way in (RAW, CODED):
        return True
    return operation != "all_to_all_grouped" and (
        way != PER_HOP or operation not in ("send_recv", "scatter")
    )


def run_operations(place: Place, session: NcclSession) -> list[dict[str, Any]]:
    """The program's lines, each with its `codec` and `algorithm`: one for each of these, operation,
    size and way, in this order. What is missing after a job that crashed is run again alone; what
    fails then, or hangs, has a line with `failed`. Raises BenchError if nothing can run."""
    lines = []
    with tempfile.TemporaryDirectory(prefix="thinwire-bench-") as folder:
        path = Path(folder) / f"data.{session.data.dtype}"
        session.data.values.tofile(path)
        for codec, algorithm in product(session.codecs, session.algorithms):
            own = replace(session, algorithms=(algorithm,))
            name = codec if algorithm == PLANNED else f"{codec} {algorithm}"
            with session.progress(f"{place.name}: {name} on {session.ranks} ranks"):
                for line in _lines_of(place, own, codec, path):
                    lines.append({**line, "algorithm": algorithm})
    return lines


def _lines_of(place: Place, session: NcclSession, codec: str, path: Path) -> list[dict[str, Any]]:
    keys: list[Key] = list(product(session.operations, session.sizes))
    found, said = _try(place, session, codec, path)
    missing = [key for key in keys if key not in found]
    if missing:
        say(f"FAILED {place.name}: {missing[0][0]} under {codec}: {said.error}")
    for operation, size in missing:
        if len(keys) > 1 and not said.hung:
            alone = replace(session, operations=(operation,), sizes=(size,))
            again, said = _try(place, alone, codec, path)
            found |= again
        if (operation, size) not in found:
            line = {"operation": operation, "bytes": size, "way": CODED, "ranks": session.ranks}
            found[operation, size] = [{**line, "failed": said.error}]
    return [{**line, "codec": codec} for key in keys for line in found[key]]


def _try(
    place: Place, session: NcclSession, codec: str, path: Path
) -> tuple[dict[Key, list[dict[str, Any]]], Said]:
    """The lines of one job by operation and size, whole ones only."""
    settings = {
        "LD_PRELOAD": str(preload_library()),
        "THINWIRE_CODEC": codec,
        "THINWIRE_THRESHOLD": str(session.threshold),
        "THINWIRE_REPORT": str(path.with_name("report")),
    }
    if session.force:
        settings["THINWIRE_FORCE"] = "1"
    if place.same_node:
        settings["THINWIRE_SAME_NODE"] = "1"
    if session.algorithms[0] != PLANNED:
        settings["THINWIRE_ALGORITHM"] = session.algorithms[0]
    command = command_of(place, session, codec, path)
    said = run_ranks(place, command, session.ranks, settings, _time_limit(place, session))
    found: dict[Key, list[dict[str, Any]]] = {}
    for line in said.lines:
        found.setdefault((line["operation"], line["bytes"]), []).append(line)
    return found, said


def preload_library() -> Path:
    """BenchError if there is none."""
    try:
        return library_path(NCCL_SHIM)
    except FileNotFoundError as error:
        raise BenchError(str(error)) from error


def command_of(place: Place, session: NcclSession, codec: str, path: Path) -> list[str]:
    """The words of one rank."""
    options = {
        "--operations": ",".join(session.operations),
        "--sizes": ",".join(map(str, session.sizes)),
        "--ways": ",".join(session.ways),
        "--library": session.library,
        "--data": str(path),
        "--dtype": session.data.dtype,
        "--iterations": str(session.iterations),
        "--calls": str(session.calls),
        "--threshold": str(session.threshold),
        "--codec": codec,
        # The second burst makes up for what the first lets through at full speed.
        "--filler": str(2 * place.burst_bytes),
        **promises_of(codec),
    }
    return [str(session.program), *(word for option in options.items() for word in option)]


def promises_of(spec: str) -> dict[str, str]:
    """What results are held to: all bits, the bounds that the spec states, or nothing but that they
    resemble the values. A bound relative to a block's range is not stated for any result."""
    codec = Codec(spec)
    if not codec.ids or specs.row_of(codec).lossless:
        return {"--lossless": "yes"}
    stated = dict(re.findall(r"[:,]((?:allreduce-)?(?:abs|rel))=([^,]+)", codec.spec))
    names = {"abs": "--bound", "allreduce-abs": "--sum-bound", "allreduce-rel": "--sum-rel"}
    bounds = {option: stated[name] for name, option in names.items() if name in stated}
    return {"--lossless": "no", **bounds}


def _time_limit(place: Place, session: NcclSession) -> float:
    """Seconds after which a run hangs: several times what its bytes need on the busiest link."""
    rate = place.bytes_per_second or SLOWEST_BYTES_PER_SECOND
    bytes_of_one = 2 * session.ranks * sum(session.sizes) + 2 * place.burst_bytes
    turns = len(session.ways) * (session.iterations * session.calls + _WARM_UPS)
    made = len(session.operations) * len(session.sizes) * _MAKING_SECONDS
    return 60 + made + 3 * len(session.operations) * turns * bytes_of_one / rate
