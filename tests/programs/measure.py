"""Whether the programs of the table gain over slow links: each row that has a setting, on two hosts
of the lab with a rank each, natively, with nothing said and under its setting, by turns.

    python tests/programs/measure.py --page tables.md --json programs.json [--rows fftw,hpcc]
        [--mpi openmpi] [--links 100mbit,1gbit] [--turns 3] [--minutes 25]

No test. Needs the lab, `make build`, and the packages that the rows name, which it fetches. Results
that differ, and packets that were dropped, are written beside the figures and make the exit code 1.
After --minutes no further row is begun.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from debian_packages import unpacked
from measured_page import page
from measured_runs import NATIVE, Measured, Unmeasured, Way, summary
from program_rows import PROGRAMS
from program_runs import CACHE, ROOT, ProgramMpi, find_mpis
from program_table import Place, Program

from thinwire.lab import Lab

# The link of a native run that waits for none.
UNSHAPED = "none"
# On faster links inputs are longer, as a run of a second would be all start.
LONGER = {"1gbit": 3}


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def measure(program: Program, mpi: ProgramMpi, links: list[str], turns: int) -> dict[str, Any]:
    """A row's figures on all links. A failure ends it and is its `failed`."""
    assert program.debian is not None and program.setting is not None
    found: dict[str, Any] = {"program": program.name, "mpi": mpi.name, "ranks": 2, "links": {}}
    found["options"] = list(program.setting.options)
    found["collectives"] = program.setting.collectives
    found["lossy"] = program.setting.lossy
    try:
        place = Place(unpacked(program.debian), Path(), mpi, 2)
        row = Measured(program, place, CACHE / f"measured-{program.name}-{mpi.name}")
        for link in links:
            found["links"][link] = _on(row, link, turns)
    # A skip or a failure of a test ends a row here.
    except (Unmeasured, AssertionError, pytest.skip.Exception, pytest.fail.Exception) as error:
        found["failed"] = str(error)
        say(f"{program.name}, {mpi.name}: {error}")
    return found


def _on(row: Measured, link: str, turns: int) -> dict[str, Any]:
    large = LONGER.get(link, 1)
    with Lab(hosts=2, link=UNSHAPED, name=f"programs{os.getpid()}") as lab:
        row.once(lab, NATIVE, Way(), large)  # brings programs and files into memory
        unshaped = row.turns(lab, turns, large, (NATIVE,))[NATIVE]
    with Lab(hosts=2, link=link, name=f"programs{os.getpid()}") as lab:
        ways = row.turns(lab, turns, large)
        drops = lab.drops()
    say(f"{row.program.name}, {link}: unshaped {unshaped.median:.2f} s, {summary(ways)}")
    told = {name: way.as_json() for name, way in ways.items()}
    return {"drops": drops, "large": large, "unshaped": unshaped.as_json(), "ways": told}


def machine() -> dict[str, Any]:
    asked = ["git", "-C", str(ROOT), "rev-parse", "--short=8", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "date": time.strftime("%Y-%m-%d"),
        "commit": commit,
        "processors": len(os.sched_getaffinity(0)),
        "processor": models[0] if models else "unknown",
        "load_before": os.getloadavg()[0],
    }


def main() -> int:
    rows = [program for program in PROGRAMS if program.setting is not None]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=lambda text: text.split(","), help="in this order")
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--links", type=lambda text: text.split(","), default=["100mbit", "1gbit"])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--page", type=Path, help="where the table goes")
    parser.add_argument("--json", type=Path, help="where all figures go")
    given = parser.parse_args()
    by_name = {program.name: program for program in rows}
    start, where = time.monotonic(), machine()
    CACHE.mkdir(parents=True, exist_ok=True)
    mpi, found = find_mpis()[given.mpi], []
    for name in given.rows or by_name:
        if time.monotonic() - start > 60 * given.minutes:
            say(f"{name}: no time left")
            continue
        found.append(measure(by_name[name], mpi, given.links, given.turns))
        where |= {"load_after": os.getloadavg()[0], "seconds": time.monotonic() - start}
        everything = {"machine": where, "turns": given.turns, "rows": found}
        if given.json:
            given.json.write_text(json.dumps(everything, indent=1) + "\n")
        if given.page:
            given.page.write_text(page(everything))
    if not given.page and found:
        print(page(everything))
    return 0 if all(_sound(row) for row in found) else 1


def _sound(row: dict[str, Any]) -> bool:
    links = row["links"].values()
    ways = [way for link in links for way in link["ways"].values()]
    dropped = any(link["drops"] for link in links)
    return "failed" not in row and not dropped and not any(way["different"] for way in ways)


if __name__ == "__main__":
    sys.exit(main())
