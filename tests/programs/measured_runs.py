"""One program on one link of the lab: native runs, runs with nothing said and runs under the row's
setting take turns. What each computes is compared with what came of the first native one."""

import shutil
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from building import SOURCES
from program_runs import ProgramRun, call, environment, read_report
from program_table import Place, Program, Results, Setting, difference, distance

from thinwire.lab import Lab
from thinwire.lab.addresses import INTERFACE

NATIVE, DEFAULTS, SET = "native", "nothing said", "the setting"
WAYS = (NATIVE, DEFAULTS, SET)
NOTHING = Setting(())
CLOCK = SOURCES / "rank_clock.sh"
# Variables that ranks on other hosts get; a launcher passes on what it is told to.
HANDED_ON = ("LD_LIBRARY_PATH", "OMP_NUM_THREADS")
SECONDS = 180.0


class Unmeasured(Exception):
    """A run that failed; the text says how."""


@dataclass
class Way:
    """The runs of a row one way on a link."""

    seconds: list[float] = field(default_factory=list)  # of the rank that took longest
    command_seconds: list[float] = field(default_factory=list)  # of the whole command
    link_bytes: list[int] = field(default_factory=list)  # out of both hosts, with all headers
    reports: list[dict[str, Any]] = field(default_factory=list)
    different: str | None = None  # from the native result, in words
    gap: float | None = None  # under a lossy setting

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "median": self.median, "reports": self.reports[-1:]}


class Measured:
    """A row on one MPI; folders of its runs come and go below `scratch`."""

    def __init__(self, program: Program, place: Place, scratch: Path) -> None:
        self.program, self._place, self._scratch = program, place, scratch
        self.setting = program.setting or NOTHING
        self._native: dict[int, Results] = {}  # by how long the input is

    def turns(self, lab: Lab, turns: int, large: int, ways: Sequence[str] = WAYS) -> dict[str, Way]:
        """Which way goes first changes from turn to turn."""
        found = {way: Way() for way in ways}
        for turn in range(turns):
            for step in range(len(ways)):
                way = ways[(turn + step) % len(ways)]
                self.once(lab, way, found[way], large)
        return found

    def once(self, lab: Lab, way: str, into: Way, large: int) -> None:
        folder = self._scratch / "run"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        place = Place(self._place.root, folder, self._place.mpi, self._place.ranks, large)
        words, variables = self._command(place, way, lab.link.text)
        words, variables = lab.prepare(words, variables, None)
        before, started = _sent(lab), time.monotonic()
        code, output, errors = call(words, folder, variables, SECONDS)
        took = time.monotonic() - started
        run = ProgramRun(code, output, errors, read_report(folder / "thinwire-report.json"))
        if code != 0:
            how = "not done in time" if code is None else f"exit {code}"
            raise Unmeasured(f"{way}: {how}: {(errors or output)[-1500:]}")
        if way != NATIVE and run.report is None:
            raise Unmeasured(f"{way}: the library wrote no report: {errors[-1500:]}")
        into.seconds.append(max(_clocks(folder, place.ranks)))
        into.command_seconds.append(took)
        into.link_bytes.append(_sent(lab) - before)
        if run.report is not None:
            into.reports.append(run.report)
        self._compare(place, run, way, into)
        shutil.rmtree(folder)

    def _command(self, place: Place, way: str, link: str) -> tuple[list[str], dict[str, str]]:
        program = [str(word) for word in self.program.command(place)]
        extra = self.program.environment(place)
        variables = environment(place.mpi, self.program.libraries(place.root), extra)
        # For programs that spawn, which none of these does; a user has it not.
        variables.pop("EVENT_NOEPOLL", None)
        words = [*place.mpi.launcher, "-n", str(place.ranks)]
        if place.mpi.family == "openmpi":
            words += [word for name in (*HANDED_ON, *extra) for word in ("-x", name)]
        words += ["bash", str(CLOCK), *program]
        if way == NATIVE:
            return words, variables
        setting = self.setting if way == SET else NOTHING
        if setting.collectives is not None:
            variables["THINWIRE_COLLECTIVES"] = setting.collectives
        options = [word.format(link=link) for word in setting.options]
        options += ["--report", str(place.folder / "thinwire-report.json")]
        return [sys.executable, "-m", "thinwire", "run", *options, "--", *words], variables

    def _compare(self, place: Place, run: ProgramRun, way: str, into: Way) -> None:
        ours = self.program.results(place, run)
        native = self._native.setdefault(place.large, ours)
        if native is ours:
            return
        lossy = self.setting.lossy if way == SET else None
        if lossy is None:
            into.different = into.different or difference(native, ours)
            return
        assert self.program.numbers is not None
        gap = distance(self.program.numbers(native), self.program.numbers(ours))
        into.gap = max(gap, into.gap or 0.0)
        if not gap <= lossy:
            into.different = f"off by {gap:.2g}, where {lossy:.2g} is permitted"


def summary(ways: Mapping[str, Way]) -> str:
    """A line for whoever waits."""
    native = ways[NATIVE].median
    return ", ".join(
        f"{name} {way.median:.2f} s ({way.median / native:.3f})"
        + (f" DIFFERS: {way.different}" if way.different else "")
        for name, way in ways.items()
    )


def _sent(lab: Lab) -> int:
    """By all hosts into their links."""
    return sum(row["sent_bytes"] for row in lab.counters() if row["interface"] == INTERFACE)


def _clocks(folder: Path, ranks: int) -> list[float]:
    """How long each rank lived, as `rank_clock.sh` has noted it."""
    noted = [(folder / f"clock-{rank}").read_text().split() for rank in range(ranks)]
    return [float(end) - float(start) for start, end in noted]
