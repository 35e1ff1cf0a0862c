"""What a report says of time saved, beside the clock: seven kinds of traffic between two hosts of
the lab, natively, under `thinwire run` with nothing compressed, and with nothing said, by turns.
What is told as saved is against raw calls, so against the second.

    python bench/studies/guard/saved_time.py [--links 1gbit,10gbit] [--turns 3] [--page tables.md]

Needs the lab, `make build` and mpicc.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from thinwire.lab import Lab

# Rounds of each, over the slowest link that is measured.
KINDS = {
    "messages": 150,
    "halos": 300,
    "mixed": 150,
    "overlap": 200,
    "bcast": 150,
    "allgather": 300,
    "noise": 60,
}
SOURCE = Path(__file__).with_suffix(".c")


@dataclass(frozen=True)
class Row:
    link: str
    kind: str
    native: float  # seconds, medians of the turns
    raw: float  # under the library, nothing compressed
    under: float
    predicted: float  # of messages: the sum over the ranks that send at once, by their number
    timed: float  # of collectives, a rank
    compressed: str

    @property
    def saved(self) -> float:
        return self.raw - self.under

    @property
    def told(self) -> float:
        return self.predicted + self.timed

    @property
    def off(self) -> float:
        return (self.told - self.saved) / self.raw


def seconds_of(lab: Lab, words: list[str]) -> float:
    done = lab.run(words, env=dict(os.environ), capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return float(done.stdout.split()[0])


def measure(lab: Lab, link: str, kind: str, program: Path, turns: int, folder: Path) -> Row:
    report = folder / "report.json"
    words = ["mpirun", "-n", "2", str(program), kind, str(KINDS[kind])]
    run = [sys.executable, "-m", "thinwire", "run", "--report", str(report), "--", *words]
    raw_run = [sys.executable, "-m", "thinwire", "run", "--codec", "off", "--", *words]
    native, raw, under, predicted, timed = [], [], [], [], []
    senders = 2 if kind in ("halos", "overlap") else 1
    for _ in range(turns):
        native.append(seconds_of(lab, words))
        raw.append(seconds_of(lab, raw_run))
        under.append(seconds_of(lab, run))
        told = json.loads(report.read_text())
        predicted.append(told["predicted_saved_seconds"] / senders)
        timed.append(told["collectives"]["saved_seconds"] / 2)
    messages, calls = told["compressed_messages"], told["collectives"]["compressed"] // 2
    middle = statistics.median
    compressed = f"{messages} messages, {calls} calls"
    return Row(link, kind, *map(middle, (native, raw, under, predicted, timed)), compressed)


COLUMNS = [
    "link",
    "traffic",
    "compressed",
    "native, s",
    "raw, s",
    "compressed, s",
    "saved by the clock, s",
    "predicted of messages, s",
    "timed of collectives, s",
    "told less saved, of raw",
]


def line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |\n"


def table(rows: list[Row]) -> str:
    text = line(COLUMNS) + line(["---"] * len(COLUMNS))
    for row in rows:
        seconds = (row.native, row.raw, row.under, row.saved, row.predicted, row.timed)
        figures = [f"{each:.3f}" for each in seconds]
        text += line([row.link, row.kind, row.compressed, *figures, f"{row.off:+.1%}"])
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", default="1gbit,10gbit")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    rows = []
    with TemporaryDirectory() as folder:
        program = Path(folder) / "saved_time"
        subprocess.run(["mpicc", "-O2", "-o", program, SOURCE, "-lm"], check=True)
        for link in given.links.split(","):
            with Lab(hosts=2, link=link) as lab:
                for kind in given.kinds.split(","):
                    rows.append(measure(lab, link, kind, program, given.turns, Path(folder)))
                    print(table(rows[-1:]).splitlines()[-1], flush=True)
    if given.page is not None:
        given.page.write_text(table(rows))


if __name__ == "__main__":
    main()
