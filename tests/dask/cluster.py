"""A cluster of processes: two workers to be given the plugin, one on which Thinwire cannot be
imported, and one that preloads it."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from distributed import Client, LocalCluster

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
HOST = "127.0.0.1"
WITHOUT = "import sys; sys.modules['thinwire'] = None"
PRELOADED = {
    "DASK_THINWIRE__CODEC": "ndzip",
    "DASK_THINWIRE__MIN_BYTES": "1KiB",
    "DASK_THINWIRE__SAME_HOST": "True",
    "DASK_THINWIRE__FORCE": "True",
}


@contextmanager
def cluster(
    folder: Path, names: dict[str, str], hosts: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Client]:
    """A client of a scheduler in this process, with workers of these names; each preloads the text
    or module beside its name, "" for nothing. `hosts`: addresses of this machine beside
    127.0.0.1."""
    with (
        LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as local,
        Client(local) as client,
    ):
        started = [
            _start(local.scheduler_address, name, hosts.get(name, HOST), names[name], folder)
            for name in names
        ]
        try:
            client.wait_for_workers(len(names), timeout=90)
            yield client
            client.shutdown()
        finally:
            _end(started)


def _start(
    scheduler: str, name: str, host: str, preload: str, folder: Path
) -> subprocess.Popen[bytes]:
    tool = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler, "--name", name]
    words = ["--no-nanny", "--no-dashboard", "--nthreads", "1", "--host", host]
    words += ["--local-directory", str(folder)]
    if preload:
        words += ["--preload", preload]
    paths = os.pathsep.join([str(HERE), str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])
    own = PRELOADED if preload == "thinwire.dask" else {}
    log = (folder / f"{name}.log").open("w")
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", **own}
    return subprocess.Popen([*tool, *words], stdout=log, stderr=log, env=environment)


def _end(started: list[subprocess.Popen[bytes]]) -> None:
    for process in started:
        process.terminate()
    deadline = time.monotonic() + 10
    for process in started:
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
