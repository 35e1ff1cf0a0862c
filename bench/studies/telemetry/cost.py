"""What traces add to a message of the threshold or more, and what the library adds at all: batches
of messages natively, under the library, and with a trace, by turns.

    python bench/studies/telemetry/cost.py PRELOAD PROGRAM [--before OTHER_PRELOAD]

PRELOAD is the preload library, PROGRAM bench/programs/overhead as compiled. With --before a second
library takes turns too. Prints a row for each case as Markdown, and exits with 1 if one was not
verified.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

SHIM = {"THINWIRE_CODEC": "mpc"}
CODED = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1", "THINWIRE_FORCE": "1"}


@dataclass(frozen=True)
class Case:
    name: str
    ranks: int
    size: int
    batches: int
    settings: dict[str, str]


# Small messages take so little time that what is added to them shows best.
SMALL = SHIM | {"THINWIRE_THRESHOLD": "64"}
CASES = (
    Case("raw, above a threshold of 64 bytes, to itself", 1, 128, 2000, SMALL),
    Case("below the threshold, to itself", 1, 128, 2000, SHIM),
    Case("raw, to itself", 1, 65536, 200, SHIM),
    Case("raw, between two processes", 2, 65536, 100, SHIM),
    Case("raw, between two processes", 2, 1 << 20, 20, SHIM),
    Case("compressed, between two processes", 2, 65536, 20, CODED),
)


def run(case: Case, program: Path, library: Path | None, trace: Path | None) -> float:
    """Nanoseconds of a message in the fastest batch."""
    own = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    clean = {name: value for name, value in os.environ.items() if not name.startswith("THINWIRE_")}
    words = ["mpirun", "-n", str(case.ranks)]
    if library is not None:
        own |= case.settings
        words += ["env", f"LD_PRELOAD={library}"]
        if trace is not None:
            own["THINWIRE_TRACE"] = str(trace)
    words += [str(program), str(case.batches), str(case.size)]
    done = subprocess.run(words, env=clean | own, capture_output=True, text=True, check=True)
    (line,) = [json.loads(each) for each in done.stdout.splitlines()]
    if not line["verified"]:
        sys.exit(f"{case}: a message changed on its way")
    if trace is not None:
        counted = trace.with_name(trace.name + ".rank0").read_text()
        is_counted = case.size >= 65536 or case.settings is SMALL
        if is_counted and '"operation": "send"' not in counted:
            sys.exit(f"{case}: the trace has no message")
    return float(line["nanoseconds"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("preload", type=Path)
    parser.add_argument("program", type=Path)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--turns", type=int, default=12)
    given = parser.parse_args()
    ways = [("native", None, False), ("off", given.preload, False), ("on", given.preload, True)]
    if given.before is not None:
        ways += [("before, off", given.before, False), ("before, on", given.before, True)]
    print("| case | bytes |", " | ".join(f"{name}, ns" for name, _, _ in ways), "| on by off |")
    print("|---|---|", "|".join("---" for _ in ways), "|---|")
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            least = dict.fromkeys((name for name, _, _ in ways), float("inf"))
            for turn in range(given.turns):
                for name, library, is_traced in ways[turn % len(ways) :] + ways[: turn % len(ways)]:
                    trace = Path(folder) / "trace" if is_traced else None
                    least[name] = min(least[name], run(case, given.program, library, trace))
            figures = " | ".join(f"{value:.1f}" for value in least.values())
            ratio = least["on"] / least["off"]
            print(f"| {case.name} | {case.size} | {figures} | {ratio:.4f} |", flush=True)


if __name__ == "__main__":
    main()
