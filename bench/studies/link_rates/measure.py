"""The link's rate below which each codec pays, by operation of NCCL, between two GPUs.

    python bench/studies/link_rates/measure.py FOLDER [--build DIR] [--size 16MiB] [--csv FILE]
        [--file NAME ...] [--lab]

FOLDER holds `grad_gpt_step250.bf16` and `rtm_t500.f32`. Links: 1, 10 and 25 Gbit/s between two
hosts of the lab; two GPUs of one host that meet in its memory (peer access off); NVLink, or what
joins them; the last two not under `--lab`, as two hosts can share a GPU and two ranks of a host
cannot. `thinwire bench nccl` times native and compressed calls by turns, forced, and verifies
values.

A gain is native by compressed time. The rate below which a codec pays is between the two links
where gains cross 1, on a straight line between them in logarithms. The model's is what the codec's
own times say (`pays_below` of `thinwire bench codec`, the same values repeated to 64 MiB): bytes
that are saved take as long on the link as encoding and decoding do.
"""

import argparse
import csv
import json
import math
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from thinwire.codec import Codec
from thinwire.library import parse_size

OPERATIONS = "send_recv,all_gather,reduce_scatter,all_reduce"
DATA = {
    "grad_gpt_step250.bf16": ("bf16", ["expack", "ans", "blockq:format=mxfp8"]),
    # A bound of 1e-4 of the values' range.
    "rtm_t500.f32": (
        "f32",
        ["lorenzo", "mpc", "ans", "zfp:rate=8", "szp:abs=4e-4", "cast:to=bf16"],
    ),
}
# The rates that the links between two GPUs are taken to have: of host memory and of NVLink as
# measured by native messages.
LAB = ("1gbit", "10gbit", "25gbit")
HERE = {"host memory": {"NCCL_P2P_DISABLE": "1"}, "NVLink": {}}


def here(given: argparse.Namespace) -> dict[str, dict[str, str]]:
    return {} if given.lab else HERE


def run(words: list[str], more: dict[str, str]) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "thinwire", "bench", *words, "--json"]
    done = subprocess.run(command, env=os.environ | more, stdout=subprocess.PIPE, text=True)
    try:
        return list(json.loads(done.stdout))
    except ValueError:
        sys.exit(f"{' '.join(command)}: {done.stdout[-2000:]}")


def calls(name: str, given: argparse.Namespace) -> list[dict[str, Any]]:
    """Rows of all links, each with its name as `link`."""
    dtype, codecs = DATA[name]
    words = ["nccl", "--file", str(given.folder / name), "--dtype", dtype, "--op", OPERATIONS]
    words += ["--size", given.size, "--no-per-hop", "--iterations", "3", "--ranks", "2"]
    words += ["--program", str(given.build / "bin" / "nccl")]
    words += [word for codec in codecs for word in ("--codec", codec)]
    rows = run([*words, "--link", ",".join(LAB)], {})
    for link, settings in here(given).items():
        rows += [{**row, "link": link} for row in run([*words, "--loopback"], settings)]
    return [row for row in rows if row["way"] == "coded"]


def modelled(name: str, given: argparse.Namespace) -> dict[str, str]:
    """Gbit/s below which each codec pays, by its own times."""
    dtype, codecs = DATA[name]
    words = ["codec", "--device", "gpu", "--no-sums", "--dtype", dtype]
    words += ["--file", str(given.folder / name), "--program", str(given.build / "bin/codec_gpu")]
    words += [word for codec in codecs for word in ("--codec", codec)]
    found: dict[str, str] = {}
    for row in run(words, {}):
        if row["verified"] and row["pays_below_gb_per_second"]:
            rate = 8 * row["pays_below_gb_per_second"]
            found.setdefault(Codec(row["codec"]).spec, f"{rate:.0f}")
    return found


def rate_of(row: dict[str, Any]) -> float:
    """Bits a second: the lab's, or what native messages reach."""
    if row["link"] in LAB:
        return float(row["link"].removesuffix("gbit")) * 1e9
    return float(row["native_rate"])


def crossing(rows: list[dict[str, Any]]) -> str:
    """Gbit/s where the gain falls to 1, or the links between which it is not."""
    ordered = sorted(rows, key=rate_of)
    if ordered[0]["speedup"] < 1:
        return f"< {rate_of(ordered[0]) / 1e9:.0f}"
    for low, high in zip(ordered, ordered[1:], strict=False):
        if high["speedup"] < 1:
            share = math.log(low["speedup"]) / math.log(low["speedup"] / high["speedup"])
            between = rate_of(low) * (rate_of(high) / rate_of(low)) ** share
            return f"{between / 1e9:.0f}"
    return f"> {rate_of(ordered[-1]) / 1e9:.0f}"


def lines_of(name: str, given: argparse.Namespace) -> list[dict[str, str]]:
    rows, by_model = calls(name, given), modelled(name, given)
    nbytes = int(parse_size(given.size))
    for link in here(given):
        native = next(
            row["raw_seconds"] for row in rows if row["link"] == link and row["op"] == "send_recv"
        )
        for row in rows:
            if row["link"] == link:
                row["native_rate"] = 8 * nbytes / native
    lines = []
    for op, codec in dict.fromkeys((row["op"], row["codec"]) for row in rows):
        own = [row for row in rows if (row["op"], row["codec"]) == (op, codec) and row["verified"]]
        line = {"operation": op, "type": own[0]["dtype"], "codec": codec}
        line["ratio"] = f"{own[0]['ratio']:.2f}"
        for link in (*LAB, *here(given)):
            gain = next((row["speedup"] for row in own if row["link"] == link), None)
            line[link] = "" if gain is None else f"{gain:.2f}"
        line["pays below"] = crossing(own)
        line["by the model"] = by_model.get(Codec(codec).spec, "")
        lines.append(line)
    for link in here(given):
        rate = next(rate_of(row) for row in rows if row["link"] == link)
        print(f"{name}: native messages over {link}: {rate / 1e9:.0f} Gbit/s")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--build", type=Path, default=Path("build/gpu"))
    parser.add_argument("--size", default="16MiB")
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--file", action="append", choices=DATA, help="of these alone")
    parser.add_argument("--lab", action="store_true", help="between hosts of the lab alone")
    given = parser.parse_args()
    lines: list[dict[str, str]] = []
    for name in given.file or DATA:
        lines += lines_of(name, given)
        with given.csv.open("w") if given.csv else nullcontext(sys.stdout) as target:
            writer = csv.DictWriter(target, list(lines[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)


if __name__ == "__main__":
    main()
