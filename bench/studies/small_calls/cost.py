"""What the library adds to small calls if nothing is compressed: patterns of calls natively and
under it, by turns.

    python bench/studies/small_calls/cost.py PRELOAD PROGRAM [--launcher mpirun]
        [--before OTHER_PRELOAD]

PRELOAD is the preload library, PROGRAM bench/programs/small_calls as compiled for that MPI. Prints
a table as Markdown, and exits with 1 if a pattern gave wrong results. With --limit it does so, too,
if a call takes more than 1.02 of native and 100 ns.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# A codec is named, and partners count as those on other nodes do, so that receives are looked at.
SETTINGS = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1"}
RATIO, NANOSECONDS = 1.02, 100.0


@dataclass(frozen=True)
class Case:
    ranks: int
    floats: int  # of a message
    batches: int
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        partner = "to itself" if self.ranks == 1 else f"{self.ranks} processes"
        return ", ".join([f"{4 * self.floats} bytes", partner, *self.words])


# Receives are looked at from 16 KiB on, and messages compressed from 64 on.
SMALL, LOOKED_AT = 64, 5000
CASES = (
    Case(1, SMALL, 300),
    Case(1, SMALL, 300, ("beside",)),
    Case(1, SMALL, 300, ("threads",)),
    Case(1, SMALL, 300, ("threads", "beside")),
    Case(1, LOOKED_AT, 60),
    Case(1, LOOKED_AT, 60, ("threads",)),
    Case(2, SMALL, 300),
    Case(2, SMALL, 300, ("beside",)),
)

Medians = dict[str, float]


class Wrong(Exception):
    """A pattern gave wrong results."""


def run(
    case: Case, program: Path, library: Path | None, launcher: Sequence[str], only: str = ""
) -> Medians:
    """By pattern, nanoseconds of a call in the median batch. The fastest was lucky with memory."""
    own = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    clean = {name: value for name, value in os.environ.items() if not name.startswith("THINWIRE_")}
    words = [*launcher, "-n", str(case.ranks)]
    if library is not None:
        own |= SETTINGS
        words += ["env", f"LD_PRELOAD={library}"]
    words += [str(program), str(case.batches), str(case.floats), *case.words]
    words += [f"only={only}"] if only else []
    done = subprocess.run(words, env=clean | own, capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines or not all(line["verified"] for line in lines):
        raise Wrong(f"{case}: {done.returncode}, {done.stdout[-2000:]} {done.stderr[-2000:]}")
    return {line["pattern"]: float(line["median"]) for line in lines}


def by_turns(
    case: Case,
    program: Path,
    ways: Mapping[str, Path | None],
    launcher: Sequence[str],
    turns: int,
    only: str = "",
) -> dict[str, Medians]:
    """By way and pattern, the least of all turns."""
    least: dict[str, Medians] = {name: {} for name in ways}
    names = list(ways)
    for turn in range(turns):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            for pattern, value in run(case, program, ways[name], launcher, only).items():
                least[name][pattern] = min(least[name].get(pattern, value), value)
    return least


def is_within(native: float, here: float) -> bool:
    """Whether a call costs no more than is allowed."""
    return here <= RATIO * native + NANOSECONDS


def rows(case: Case, least: Mapping[str, Medians]) -> Iterable[str]:
    for pattern, native in least["native"].items():
        here = least["library"][pattern]
        others = [
            f"{least[name][pattern]:.0f}" for name in least if name not in ("native", "library")
        ]
        figures = [f"{native:.0f}", f"{here:.0f}", f"{here / native:.2f}", f"{here - native:+.0f}"]
        too_much = "" if is_within(native, here) else "more"
        yield "| " + " | ".join([pattern, str(case), *figures, *others, too_much]) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("preload", type=Path)
    parser.add_argument("program", type=Path)
    parser.add_argument("--before", type=Path, help="a second library, which takes turns too")
    parser.add_argument("--launcher", default="mpirun")
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--only", default="", help="a pattern")
    parser.add_argument("--case", type=int, action="append", help="by its place, from 0 on")
    parser.add_argument("--limit", action="store_true")
    given = parser.parse_args()
    ways: dict[str, Path | None] = {"native": None, "library": given.preload}
    if given.before is not None:
        ways["before"] = given.before
    heads = [
        "pattern",
        "case",
        "native, ns a call",
        "library",
        "ratio",
        "added",
        *list(ways)[2:],
        "",
    ]
    print("| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|")
    too_many = 0
    for at, case in enumerate(CASES):
        if given.case and at not in given.case:
            continue
        try:
            least = by_turns(
                case, given.program, ways, given.launcher.split(), given.turns, given.only
            )
        except Wrong as wrong:
            sys.exit(str(wrong))
        for row in rows(case, least):
            print(row, flush=True)
            too_many += row.endswith("| more |")
    sys.exit(1 if given.limit and too_many else 0)


if __name__ == "__main__":
    main()
