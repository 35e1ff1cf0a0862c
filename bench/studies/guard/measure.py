"""Whether the library's choice keeps "never lose": a link that changes, a mixed stream,
incompressible values, predictions. About twelve minutes on a machine with nothing else to do.

    python bench/studies/guard/measure.py --page tables.md --json guard.json

Needs the lab, `make build`, and the fields of THINWIRE_DATA. A message that does not verify ends it
without figures.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import changed_link
import numpy as np
import streams
from fields import FIELDS, LOSSLESS, SHRINKS
from page import page

from thinwire.bench.programs import LabPlace, Loopback, Place
from thinwire.lab import Lab

MIB = 1 << 20
# Messages of a kind, one after another, in the mixed stream.
BLOCK = 100
# A codec and a field that gain on the slower link and lose on the faster one.
CHANGES = (
    ("ndzip", "nyx_32.f32", ("2gbit", "100mbit", "2gbit", "100mbit")),
    ("ndzip", "rtm_t150.f32", ("10gbit", "1gbit", "10gbit", "1gbit")),
)
NAMED = ("auto", *LOSSLESS, "zfp:rate=16", "szp:abs=1e-30", "blockq:bits=8")
BROADCAST = ("auto", "mpc")


@dataclass(frozen=True)
class Extent:
    """How much is measured on a link: blocks of the mixed stream, pairs of incompressible
    messages, the bytes of each, and messages of each field with nothing stated."""

    blocks: int
    mixed_bytes: int
    pairs: int
    noise_bytes: int
    plain: int = 0


# On a fast link what the turns themselves send would tell in smaller messages.
LINKS = {
    "100mbit": Extent(0, MIB, 20, MIB, plain=60),
    "1gbit": Extent(4, MIB, 60, 4 * MIB),
    "10gbit": Extent(4, 4 * MIB, 100, 4 * MIB),
}
LOOPBACK = Extent(0, MIB, 100, 4 * MIB)


def incompressible(path: Path, nbytes: int) -> Path:
    """Any sign, exponent and mantissa. What is infinite or no number lossy codecs of a fixed size
    decline, so that nothing comes out different, and szp stores all of it."""
    random = np.random.default_rng(7)
    random.integers(0, 1 << 32, nbytes // 4, dtype=np.uint32).tofile(path)
    return path


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Measure:
    def __init__(self, data: Path, scratch: Path) -> None:
        self._data = data
        self._noise = incompressible(scratch / "noise.f32", 16 * MIB)
        self.found: dict[str, Any] = {
            "changes": [],
            "mixed": [],
            "plain": [],
            "noise": [],
            "predictions": [],
        }
        self.drops = 0

    def changes(self) -> None:
        for codec, name, rates in CHANGES:
            rows = changed_link.measure(rates, codec, self._data / name, MIB, messages=40, say=say)
            for row in rows:
                self._add("changes", row)
            self.drops += rows[-1].drops

    def on(self, place: Place, extent: Extent) -> None:
        """What is measured on a link that stays."""
        if extent.blocks > 0:
            files = [self._data / SHRINKS, self._noise]
            row, sent = streams.mixed(
                place, LOSSLESS, files, extent.mixed_bytes, BLOCK, extent.blocks
            )
            say(f"{place.name}, mixed: {row.of_oracle:.3f} of the oracle")
            self._add("mixed", row)
            self._add("predictions", streams.predictions(place.name, "mixed", sent))
        for name in FIELDS if extent.plain > 0 else ():
            field = self._data / name
            self._add("plain", streams.plain(place, LOSSLESS, field, MIB, extent.plain, say))
        size, pairs = extent.noise_bytes, extent.pairs
        rows, sent = streams.noise(place, NAMED, self._noise, size, pairs, say)
        calls, _ = streams.noise(place, BROADCAST, self._noise, size, pairs, say, broadcasts=True)
        for each in [*rows, *calls]:
            self._add("noise", each)
        if place.bytes_per_second is not None:
            self._add("predictions", streams.predictions(place.name, "incompressible", sent))

    def _add(self, what: str, row: Any) -> None:
        self.found[what].append(asdict(row) | {"within": row.within})


def machine() -> dict[str, Any]:
    asked = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    models = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return {
        "date": time.strftime("%Y-%m-%d"),
        "commit": commit,
        "processors": len(os.sched_getaffinity(0)),
        "processor": models[0] if models else "unknown",
        "load_before": os.getloadavg()[0],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, help="where the page of results goes")
    parser.add_argument("--json", type=Path, help="where the rows go")
    data = os.environ.get("THINWIRE_DATA", "../shared/data")
    parser.add_argument("--data", type=Path, default=Path(data), help="the folder of the fields")
    options = parser.parse_args()
    start, where = time.monotonic(), machine()
    with tempfile.TemporaryDirectory(prefix="thinwire-guard-") as scratch:
        measured = Measure(options.data, Path(scratch))
        measured.changes()
        for link, extent in LINKS.items():
            with Lab(hosts=2, link=link) as lab:
                measured.on(LabPlace(lab), extent)
                measured.drops += lab.drops()
        measured.on(Loopback(), LOOPBACK)
    where |= {"load_after": os.getloadavg()[0], "drops": measured.drops}
    where["seconds"] = time.monotonic() - start
    found = {"machine": where, **measured.found}
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    text = page(found)
    if options.page:
        options.page.write_text(text)
    else:
        print(text)
    return 0 if all(row["within"] for name in measured.found for row in found[name]) else 1


if __name__ == "__main__":
    sys.exit(main())
