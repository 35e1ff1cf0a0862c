"""A Dask cluster on hosts of the lab, one worker each, and a program of this folder on it.

    python in_lab.py --hosts 4 --link 1gbit -- --codec lossless --size 4000

Words after "--" are the program's. The scheduler and the program run on the first host.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from thinwire.lab import Lab

HERE = Path(__file__).resolve().parent
PORT = 8786


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--link", default="1gbit")
    parser.add_argument("--threads", type=int, default=1, help="of a worker")
    parser.add_argument("--program", default="transpose_sum.py", help="or exchange.py")
    parser.add_argument("--seconds", type=float, default=600, help="after which all is ended")
    parser.add_argument("words", nargs="*", help="of the program, after --")
    words = parser.parse_args()
    with Lab(hosts=words.hosts, link=words.link, name=f"dask{os.getpid() % 10000}") as lab:
        first = lab.addresses()[0]
        scheduler = f"tcp://{first}:{PORT}"
        started = [lab.popen(of_scheduler(first), host=0, env=environment())]
        for host, address in enumerate(lab.addresses()):
            started.append(
                lab.popen(of_worker(scheduler, address, words), host=host, env=environment())
            )
        program = [sys.executable, str(HERE / words.program), scheduler]
        program += ["--workers", str(words.hosts), *words.words]
        try:
            done = lab.run(program, host=0, env=environment(), timeout=words.seconds)
        finally:
            end(started)
        print(f"lab: {words.hosts} hosts, {words.link}, {lab.drops()} packets dropped")
        return done.returncode or int(lab.drops() > 0)


def of_scheduler(address: str) -> list[str]:
    tool = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    return [*tool, "--host", address, "--port", str(PORT), "--no-dashboard"]


def of_worker(scheduler: str, address: str, words: argparse.Namespace) -> list[str]:
    tool = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler, "--host", address]
    return [*tool, "--no-nanny", "--no-dashboard", "--nthreads", str(words.threads)]


def environment() -> dict[str, str]:
    quiet = {"DASK_LOGGING__DISTRIBUTED": "critical", "OMP_NUM_THREADS": "1"}
    return {**os.environ, **quiet}


def end(started: list[subprocess.Popen[bytes]]) -> None:
    """Workers first, and those that do not end by themselves by force."""
    for process in reversed(started):
        process.terminate()
    deadline = time.monotonic() + 10
    for process in started:
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
