"""Raw messages under the shim against none: two jobs take turns, message by message."""

import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from thinwire.bench.programs import Place, read_report, under_shim
from thinwire.bench.turns import Job

# From this size on receives are prepared for a compressed message, whatever the threshold is.
PREPARED_BYTES = 16 * 1024
THRESHOLD = "1GiB"
WARMUPS = 3
SLOWEST_BYTES_PER_SECOND = 50e6  # assumed of an unshaped link, for the time limit alone


class Setting(StrEnum):
    """How the shimmed job is set up, see RawSession."""

    PREPARED = "prepared"
    DEFAULT = "default"
    GUARDED = "guarded"
    NONE = "none"


Progress = Callable[[str], AbstractContextManager[None]]


@dataclass(frozen=True)
class RawSession:
    """What is measured over a link.

    `setting` is that of the shimmed job. "prepared": the codec may compress and every receive is
    prepared for it, but every message is below the threshold. "default": `thinwire run` without
    options. "guarded": the codec is named and not forced, also if both ranks are on one node, so
    that the library chooses for each message. "none": no shim either, which shows what the
    measure makes of equals.
    """

    program: Path
    sizes: tuple[int, ...]
    pairs: tuple[int, ...]  # of each size, in all rounds together
    rounds: int  # each with jobs of its own
    setting: str
    spec: str
    progress: Progress
    values: Path | None = None  # fp32, that messages are made of; None: numbers in order


@dataclass
class RawRuns:
    """The pairs of each size, (native, shim) seconds, a list a round, and the shim's reports.

    All rounds send the same: `messages`, and `fillers` large enough for the shim to look at.
    """

    pairs: dict[int, list[list[tuple[float, float]]]] = field(default_factory=dict)
    unverified: dict[int, int] = field(default_factory=dict)
    messages: int = 0
    fillers: int = 0
    reports: list[dict[str, Any]] = field(default_factory=list)


def run_pairs(place: Place, session: RawSession) -> RawRuns:
    """Measures every size over one link; RunError if a job ends, or says nothing."""
    # The second burst makes up for what the first lets through at full speed.
    filler = 2 * place.burst_bytes
    runs = RawRuns({size: [] for size in session.sizes}, dict.fromkeys(session.sizes, 0))
    pairs = [-(-number // session.rounds) for number in session.pairs]
    runs.messages = sum(WARMUPS + number for number in pairs)
    runs.fillers = runs.messages if filler >= PREPARED_BYTES else 0
    with tempfile.TemporaryDirectory(prefix="thinwire-bench-") as folder:
        for number in range(1, session.rounds + 1):
            words = f"{place.name}: round {number} of {session.rounds}"
            report = Path(folder) / f"report{number}.json"
            _run_round(place, session, pairs, filler, report, words, runs)
    return runs


def _run_round(
    place: Place,
    session: RawSession,
    pairs: list[int],
    filler: int,
    report: Path,
    words: str,
    runs: RawRuns,
) -> None:
    command = ["mpirun", "-n", "2", str(session.program), str(max(session.sizes)), str(filler)]
    if session.values is not None:
        command.append(str(session.values))
    shimmed = _shimmed(place, session, report, command)
    with Job(place, command) as native, Job(place, shimmed) as shim:
        for size, number in zip(session.sizes, pairs, strict=True):
            with session.progress(f"{words}, {number} pairs of {size} bytes"):
                limit = _time_limit(place, size + filler)
                _alternate(native, shim, size, number, limit, runs)
    if session.setting != "none":
        runs.reports.append(read_report(report))


def _shimmed(place: Place, session: RawSession, report: Path, command: list[str]) -> list[str]:
    if session.setting == "none":
        return command
    if session.setting == "default":
        return under_shim("auto", report, [], command, force=False)
    if session.setting == "guarded":
        options = ["--same-node"] if place.same_node else []
        return under_shim(session.spec, report, options, command, force=False)
    return under_shim(session.spec, report, ["--threshold", THRESHOLD, "--same-node"], command)


def _alternate(native: Job, shim: Job, size: int, pairs: int, limit: float, runs: RawRuns) -> None:
    """Who goes first alternates as well, for whatever the first does to the second."""
    found = []
    for number in range(-WARMUPS, pairs):
        order = (native, shim) if number % 2 == 0 else (shim, native)
        lines = {job: job.turn(size, limit) for job in order}
        runs.unverified[size] += sum(not line["verified"] for line in lines.values())
        if number >= 0:
            found.append((lines[native]["seconds"], lines[shim]["seconds"]))
    runs.pairs[size].append(found)


def _time_limit(place: Place, nbytes: int) -> float:
    """Seconds after which a message hangs: many times what its bytes need."""
    return 30 + 20 * nbytes / (place.bytes_per_second or SLOWEST_BYTES_PER_SECOND)
