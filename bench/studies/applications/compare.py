"""Runs an example program natively and with codecs, on hosts of the lab: what it says, as JSON.

    python bench/studies/applications/compare.py --hosts 2 --link 10gbit --native=--staging
        --codec lossless --codec zfp:rate=8 --out FILE -- build/release/bin/seismic --device gpu ...

Each run is a row: the program's figures, the library's report, and, if the program is `seismic`,
milliseconds and the ratio of what was sent for each tenth of the steps. `allowed` is the time that
the native run's communication and the ratio leave: what is not communication, and the communication
divided by the ratio. `reached` is its share of the time that the run took. Seismograms are compared
with the native run's. A run that fails is a row with `failed`.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

Row = dict[str, Any]
PARTS = 10


def sent_by_calls(trace: Path) -> list[tuple[int, int, int]]:
    """Messages, bytes and bytes as sent, each summed up to the end of a bin of the trace."""
    sums = [(0, 0, 0)]
    sends: set[int] = set()
    for line in map(json.loads, trace.read_text().splitlines()):
        if line.get("operation") == "send":
            sends.add(line["cell"])
        cells = [cell for cell in line.get("cells", []) if cell[0] in sends]
        if cells:
            sums.append(
                tuple(
                    before + sum(cell[i + 1] for cell in cells) for i, before in enumerate(sums[-1])
                )
            )
    return sums


def sent_until(sums: list[tuple[int, int, int]], messages: float) -> tuple[float, float]:
    """Bytes, and bytes as sent, of the first messages; between bins as on a straight line."""
    for before, after in pairwise(sums):
        if messages <= after[0]:
            share = (messages - before[0]) / (after[0] - before[0])
            return tuple(before[i] + share * (after[i] - before[i]) for i in (1, 2))
    return sums[-1][1:]


def steps_of(times: Path, trace: Path | None) -> list[Row]:
    """Rank 0's steps in tenths."""
    steps = [tuple(map(float, line.split())) for line in times.read_text().splitlines()]
    sums = sent_by_calls(trace) if trace is not None and trace.exists() else []
    rows = []
    for part in range(PARTS):
        first, last = part * len(steps) // PARTS, (part + 1) * len(steps) // PARTS
        own = steps[first:last]
        row: Row = {"from": first, "to": last}
        row["ms"] = sum(step[0] for step in own) / len(own)
        row["comm_ms"] = sum(step[1] for step in own) / len(own)
        if len(sums) > 1:
            a = sent_until(sums, sums[-1][0] * first / len(steps))
            b = sent_until(sums, sums[-1][0] * last / len(steps))
            row["ratio"] = (b[0] - a[0]) / (b[1] - a[1])
        rows.append(row)
    return rows


def last_json(text: str) -> Row | None:
    lines = [line for line in text.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else None


class Comparison:
    def __init__(self, options: argparse.Namespace, scratch: Path) -> None:
        self._options = options
        self._scratch = scratch
        self._seismic = Path(options.program[0]).name == "seismic"

    def run(self, codec: str | None) -> Row:
        o = self._options
        thinwire = [sys.executable, "-m", "thinwire"]
        name = "native" if codec is None else codec.replace("/", "_")
        report, trace, times = (
            self._scratch / f"{name}.{kind}" for kind in ("report", "trace", "times")
        )
        words = [*o.program, "--json"]
        if codec is None:
            words += o.native.split()
        if self._seismic:
            words += ["--step-times", str(times)]
            waves = str(self._scratch / "native.f32")
            words += ["--seismograms" if codec is None else "--reference", waves]
        words = ["mpirun", "-n", str(o.hosts), *words]
        if codec is not None:
            asked = ["--codec", codec, "--report", str(report), "--trace", str(trace)]
            words = [*thinwire, "run", *asked, "--", *words]
        lab = ["lab", "run", "--hosts", str(o.hosts), "--link", o.link, "--gpus", o.gpus]
        words = [*thinwire, *lab, "--", *words]
        row: Row = {"way": name, "link": o.link, "hosts": o.hosts}
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=o.limit)
        except subprocess.TimeoutExpired:
            return row | {"failed": f"no end in {o.limit} s"}
        figures = last_json(done.stdout)
        if figures is None:
            return row | {"failed": f"{done.stderr[:1500]} ... {done.stderr[-500:]}"}
        row["figures"] = figures
        row["code"] = done.returncode
        row["lab"] = [line for line in done.stderr.splitlines() if "drop" in line]
        if report.exists():
            row["report"] = json.loads(report.read_text())
        if times.exists():
            rank_0 = trace.with_name(trace.name + ".rank0")
            row["steps"] = steps_of(times, rank_0 if codec is not None else None)
        return row


def ratio_of(report: Row) -> float | None:
    calls = report.get("collectives", {})
    raw = report["bytes"] + calls.get("bytes", 0)
    sent = report["wire_bytes"] + calls.get("wire_bytes", 0)
    return raw / sent if sent else None


def seconds_of(figures: Row) -> tuple[float, float]:
    """Of a step, a transform or a product; and of its communication."""
    if figures["program"] == "seismic":
        return figures["step_ms"] * 1e-3, figures["comm_seconds"] / figures["steps"]
    if figures["program"] == "cannon":
        return figures["seconds"], figures["comm_seconds"]
    return (figures["forward_seconds"] + figures["backward_seconds"]) / 2, figures["comm_seconds"]


def judge(row: Row, native: Row) -> None:
    """Adds the ratio, and what it allows and what of that is reached, in all and by tenths."""
    if "report" not in row or "figures" not in native:
        return
    row["ratio"] = ratio_of(row["report"])
    seconds, communication = seconds_of(native["figures"])
    took = seconds_of(row["figures"])[0]
    row["speedup"] = seconds / took
    if row["ratio"]:
        row["allowed"] = seconds - communication * (1 - 1 / row["ratio"])
        row["reached"] = row["allowed"] / took
    for own, before in zip(row.get("steps", []), native.get("steps", []), strict=False):
        if "ratio" in own:
            own["native_ms"] = before["ms"]
            own["allowed_ms"] = before["ms"] - before["comm_ms"] * (1 - 1 / own["ratio"])
            own["reached"] = own["allowed_ms"] / own["ms"]


def told(row: Row) -> str:
    if "figures" not in row:
        return f"{row['way']:16} failed: {row['failed'][:900]}"
    figures = row["figures"]
    seconds, communication = seconds_of(figures)
    text = f"{row['way']:16} {seconds * 1e3:9.2f} ms, communication {communication * 1e3:9.2f} ms"
    for name, places in (("ratio", 3), ("speedup", 3), ("reached", 3)):
        if row.get(name):
            text += f", {name} {row[name]:.{places}f}"
    for name in ("misfit", "worst_misfit", "error", "field_error"):
        if name in figures:
            text += f", {name} {figures[name]:.3g}"
    return text + "".join(f" [{line}]" for line in row["lab"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--link", default="10gbit")
    parser.add_argument("--gpus", default="all")
    parser.add_argument("--native", default="", help="options of the native run alone")
    parser.add_argument("--codec", action="append", default=[])
    parser.add_argument("--limit", type=float, default=120, help="seconds for a run")
    parser.add_argument("--out", type=Path, help="a row of JSON a run is added to it")
    parser.add_argument("program", nargs="+", help="with its options, after --")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        comparison = Comparison(options, Path(scratch))
        native: Row = {}
        for codec in (None, *options.codec):
            row = comparison.run(codec)
            native = native or row
            judge(row, native)
            print(told(row), flush=True)
            if options.out is not None:
                with options.out.open("a") as out:
                    out.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
