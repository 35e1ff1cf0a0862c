"""The host's time to enqueue a call of NCCL: natively, under the preload library, and the least
that a compressed call asks of the host: its exchanges, and as many launches of an empty kernel.

    python bench/studies/host_time/measure.py [--layout hosts|2x2|both] [--sizes 64KiB,1MiB]
        [--codec lossless] [--nccl LIBNCCL] [--build DIR] [--json FILE]

Four ranks, as processes on this machine's GPUs, one or more; NCCL takes them for four hosts, or two
of two ranks (which need two GPUs). Microseconds of the slowest rank: of 200 calls apart, each after
a barrier with nothing under way, and of 20 calls in a row, ten times. Every call is compressed, and
the values are compared with NCCL's own.
"""

import argparse
import json
import os
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from thinwire.bench.nccl_ranks import find_nccl
from thinwire.library import parse_size

ROOT = Path(__file__).resolve().parents[3]
LAYOUTS = {"hosts": (0, 1, 2, 3), "2x2": (0, 0, 1, 1)}
WAYS = ("native", "launches", "large launches", "exchanges", "least", "compressed")
SECONDS = 120


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def lines_of(layout: str, given: argparse.Namespace) -> list[dict[str, Any]]:
    nodes = LAYOUTS[layout]
    words = [
        str(given.build / "bin" / "host_time"),
        "--library",
        given.nccl,
        "--codec",
        given.codec,
    ]
    words += ["--sizes", ",".join(str(parse_size(size)) for size in given.sizes.split(","))]
    words += ["--nodes", ",".join(map(str, nodes))]
    port = str(free_port())
    kept = {name: value for name, value in os.environ.items() if not name.startswith("THINWIRE_")}
    with tempfile.TemporaryDirectory(prefix="thinwire-host-time-") as folder:
        own = kept | {
            "LD_PRELOAD": str(given.build / "shim" / "nccl" / "libthinwire_nccl.so"),
            "LD_LIBRARY_PATH": os.pathsep.join(
                [str(given.build / "src" / "capi"), *os.environ.get("LD_LIBRARY_PATH", "").split()]
            ),
            "THINWIRE_CODEC": given.codec,
            "THINWIRE_FORCE": "1",
            "THINWIRE_REPORT": str(Path(folder, "report")),
            "WORLD_SIZE": str(len(nodes)),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port,
            "NCCL_SOCKET_IFNAME": "lo",
            "NCCL_NET": "Socket",
        }
        started = [
            subprocess.Popen(
                words,
                env=own
                | {"RANK": str(rank), "LOCAL_RANK": str(rank), "NCCL_HOSTID": f"thinwire-{node}"},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank, node in enumerate(nodes)
        ]
        try:
            said = [each.communicate(timeout=SECONDS) for each in started]
        finally:
            for each in started:
                each.kill()
    if any(each.returncode for each in started):
        raise SystemExit(f"{layout}: " + "\n".join(errors for _, errors in said if errors)[-2000:])
    return [{**json.loads(line), "layout": layout} for line in said[0][0].splitlines()]


def show(lines: list[dict[str, Any]]) -> None:
    print(
        "us, median of the slowest rank | " + " | ".join(WAYS) + " | more than least | than native"
    )
    cases: dict[tuple[Any, ...], dict[str, float]] = {}
    for line in lines:
        key = (line["layout"], line["operation"], line["bytes"], line["mode"])
        case = cases.setdefault((*key, line["kernels"], line["messages"]), {})
        case[line["way"]] = line["median"]
    for (layout, operation, size, mode, kernels, messages), of in cases.items():
        figures = " | ".join(f"{of[way]:.1f}" for way in WAYS)
        print(
            f"{layout} {operation} {size >> 10} KiB, {mode}, {kernels} kernels, {messages} messages"
            f" | {figures} | {of['compressed'] - of['least']:.1f}"
            f" | {of['compressed'] - of['native']:.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layout", choices=(*LAYOUTS, "both"), default="both")
    parser.add_argument("--sizes", default="64KiB,1MiB")
    parser.add_argument("--codec", default="lossless")
    parser.add_argument("--nccl", default=None)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--json", type=Path, default=None)
    given = parser.parse_args()
    given.nccl = find_nccl(Path(given.nccl) if given.nccl else None)
    lines: list[dict[str, Any]] = []
    for layout in LAYOUTS if given.layout == "both" else (given.layout,):
        found = lines_of(layout, given)
        show(found)
        lines += found
    if given.json is not None:
        given.json.write_text("\n".join(map(json.dumps, lines)) + "\n")


if __name__ == "__main__":
    main()
