"""One-way message times, native and under the shim, in alternation over the same link."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from thinwire.bench.expected import Expected, expect
from thinwire.bench.output import say
from thinwire.bench.programs import Place, RunError, read_report, run_program, under_shim
from thinwire.codec import Codec

NATIVE = "native"
THRESHOLD = 64 * 1024
# A size whose time is that which a message needs whatever its size.
STARTUP_BYTES = 8
SLOWEST_BYTES_PER_SECOND = 50e6  # assumed of an unshaped link, for the time limit alone

Progress = Callable[[str], AbstractContextManager[None]]


@dataclass(frozen=True)
class Session:
    """The runs made over each link. `values` are the fp32 values that messages are cut from, as
    many as the largest of `sizes` (bytes) holds."""

    program: Path
    values: np.ndarray
    sizes: tuple[int, ...]
    codecs: tuple[Codec, ...]
    iterations: int
    rounds: int
    progress: Progress


@dataclass
class Runs:
    """All rounds of one case: a round's lines by message size, and the shim's reports."""

    rounds: list[dict[int, dict[str, Any]]] = field(default_factory=list)
    reports: list[dict[str, Any]] = field(default_factory=list)
    failure: str = ""  # why a round failed, after which there are no more of this case

    def seconds(self, size: int) -> float:
        """The median of the rounds' medians. Not the fastest: a pause before a message refills
        the token bucket, so that noise makes messages faster as well as slower."""
        return median(line["median"] for line in self.lines(size))

    def fastest(self, size: int) -> float:
        return min(line["min"] for line in self.lines(size))

    def lines(self, size: int) -> list[dict[str, Any]]:
        return [lines[size] for lines in self.rounds]


def expect_all(session: Session) -> dict[tuple[str, int], Expected]:
    """The figures expected of each (spec, message size), from codecs measured now."""
    return {
        (codec.spec, size): expect(codec, session.values[: size // 4], THRESHOLD)
        for codec in session.codecs
        for size in session.sizes
    }


def run_link(place: Place, session: Session) -> dict[str, Runs]:
    """Runs every case over one link, NATIVE and each codec's spec, a round of all after another.

    A case that fails is left out of the other rounds. Raises BenchError if nothing can run.
    """
    cases: dict[str, Codec | None] = {NATIVE: None, **{c.spec: c for c in session.codecs}}
    runs = {case: Runs() for case in cases}
    with tempfile.TemporaryDirectory(prefix="thinwire-bench-") as folder:
        data = Path(folder) / "data.f32"
        session.values.tofile(data)
        for number in range(1, session.rounds + 1):
            for case in cases:
                words = f"{place.name}: {case}, round {number} of {session.rounds}"
                with session.progress(words), failing(runs[case], words):
                    if not runs[case].failure:
                        _run_once(place, session, case, data, runs[case])
    return runs


@contextmanager
def failing(runs: Runs, words: str) -> Iterator[None]:
    """Notes a run that fails, and tells the user."""
    try:
        yield
    except RunError as error:
        runs.failure = str(error)
        say(f"FAILED {words}: {error}")


def _run_once(place: Place, session: Session, case: str, data: Path, runs: Runs) -> None:
    if case == NATIVE:
        run_once(place, session, data, runs)
        return
    options = ["--same-node"] if place.same_node else []
    run_once(place, session, data, runs, spec=case, shim_options=options)


def run_once(
    place: Place,
    session: Session,
    data: Path,
    runs: Runs,
    *,
    memory: str = "host",
    spec: str | None = None,
    shim_options: Sequence[str] = (),
) -> None:
    """Adds one round to `runs`: native, or under the shim with `spec`.

    `data` holds the session's values, in a folder for files of this run; `memory` is where the
    program keeps its messages. Raises BenchError if the program does not run.
    """
    sizes = [STARTUP_BYTES, *session.sizes]
    # Bytes sent before each timed message, which use up two bursts: the second makes up for the one
    # that was let through at full speed.
    filler = 2 * place.burst_bytes
    options = {
        "--sizes": ",".join(str(size) for size in sizes),
        "--iterations": str(session.iterations),
        "--filler": str(filler),
        "--data": str(data),
    }
    if memory != "host":
        options["--memory"] = memory
    words = [word for option in options.items() for word in option]
    command = ["mpirun", "-n", "2", str(session.program), *words]
    report = data.with_name("report.json")
    report.unlink(missing_ok=True)
    if spec is not None:
        shim_options = ["--threshold", str(THRESHOLD), *shim_options]
        command = under_shim(spec, report, shim_options, command)
    lines = run_program(place, command, _time_limit(place, session))
    runs.rounds.append({line["bytes"]: line for line in lines})
    if spec is not None:
        runs.reports.append(read_report(report))


def _time_limit(place: Place, session: Session) -> float:
    """Seconds after which a run hangs: several times what its bytes need."""
    rate = place.bytes_per_second or SLOWEST_BYTES_PER_SECOND
    bytes_of_one = sum(session.sizes) + 2 * place.burst_bytes * (len(session.sizes) + 1)
    return 60 + 10 * 2 * (session.iterations + 2) * bytes_of_one / rate
