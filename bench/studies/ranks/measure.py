"""What a rank of a job of many ranks takes: start-up, memory, descriptors, natively and under the
preload libraries.

    python bench/studies/ranks/measure.py [--mpi 4,16,64,256] [--nccl 4,64,256,1024] [--build DIR]

Every rank is a process of this machine. MPI jobs are those of tests/shim/many_ranks.c, under Open
MPI (PMIx) and MPICH (PMI-1); NCCL jobs those of tests/nccl/crowd_program.cpp over the libnccl of
the tests: a communicator of all ranks and a split along each side of a square, one gather and one
sum in each. The programs check every value; a job with a wrong one, or that fails, has no figures,
and its row says so. Rows are comma-separated: seconds and KiB, the most of all ranks.
"""

import argparse
import json
import math
import os
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
COMPRESS = {
    "THINWIRE_CODEC": "lossless",
    "THINWIRE_FORCE": "1",
    "THINWIRE_SAME_NODE": "1",
    "THINWIRE_THRESHOLD": "1KiB",
    "THINWIRE_LOG": "off",
}
MPI_COLUMNS = ("start", "first", "again", "private_kib", "pss_kib", "descriptors", "threads")
MPIS = {
    "Open MPI, PMIx": (("mpirun", "--oversubscribe"), "shim_many_ranks", "openmpi4"),
    "MPICH, PMI-1": (("mpiexec.mpich",), "mpich/shim_many_ranks", "mpich4"),
}
SECONDS = 300


def clean() -> dict[str, str]:
    """This process' environment without our settings."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("THINWIRE_", "RANK"))}
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return kept | allowed


def output_of(words: list[str], env: dict[str, str]) -> str:
    """Nothing if it fails, or takes too long."""
    try:
        done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout if done.returncode == 0 else ""


def mpi_row(name: str, ranks: int, library: bool, build: Path) -> list[str]:
    launcher, program, shim = MPIS[name]
    words = [*launcher, "-n", str(ranks)]
    if library:
        words += ["env", f"LD_PRELOAD={build}/shim/mpi/libthinwire_mpi_{shim}.so"]
        words += [f"{setting}={value}" for setting, value in COMPRESS.items()]
    found = output_of([*words, str(build / "tests" / "shim" / program)], clean())
    lines = [line for line in found.splitlines() if line.startswith("{")]
    figures = json.loads(lines[0]) if lines else {"wrong": 1}
    if figures["wrong"]:
        return ["failed"]
    return [f"{figures[column]:.4g}" for column in MPI_COLUMNS]


def nccl_row(ranks: int, library: bool, build: Path) -> list[str]:
    side = math.isqrt(ranks)
    with tempfile.TemporaryDirectory() as folder:
        env = clean()
        if library:
            env |= COMPRESS | {"LD_PRELOAD": f"{build}/shim/nccl/libthinwire_nccl.so"}
        words = [
            str(build / "tests" / "nccl" / "nccl_crowd"),
            f"{folder}/id",
            "1024",
            "1",
            "0",
            "1",
        ]
        text = output_of([*words, str(side), str(ranks // side)], env)
    seconds = re.search(r"world (\S+), parts (\S+), there (\S+), collectives (\S+),", text)
    numbers = re.search(r"(\d+) at most, (\d+) idle; (\d+) threads", text)
    memory = re.search(r"memory: (\d+) KiB private, (\d+) KiB by PSS", text)
    if seconds is None or numbers is None or memory is None:
        return ["failed"]
    return [*seconds.groups(), *memory.groups(), *numbers.groups()]


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",") if word]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mpi", type=numbers, default=[4, 16, 64, 256])
    parser.add_argument("--nccl", type=numbers, default=[4, 64, 256, 1024])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    given = parser.parse_args()
    print("launcher,ranks,way,", ",".join(MPI_COLUMNS), sep="", flush=True)
    for name in MPIS if given.mpi else ():
        for ranks in given.mpi:
            for way in ("natively", "library"):
                row = mpi_row(name, ranks, way == "library", given.build)
                print(f'"{name}"', ranks, way, *row, sep=",", flush=True)
    print("ranks,way,made,split,present,calls,private_kib,pss_kib,descriptors,idle,threads")
    for ranks in given.nccl:
        for way in ("natively", "library"):
            print(ranks, way, *nccl_row(ranks, way == "library", given.build), sep=",", flush=True)


if __name__ == "__main__":
    main()
