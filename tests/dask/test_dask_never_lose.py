"""Compressed transfers stay where they are faster, and only there: over this host's loopback, of
which the plugin is told that it is slow, and over a slow link of the lab."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cluster import cluster
from distributed import Client, wait

import thinwire.dask
from thinwire.dask.counters import SLOWER, TIMED
from thinwire.lab import Lab, LabUnavailable

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60
COUNT = 1 << 20

pytestmark = [pytest.mark.multiproc, pytest.mark.alone]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Of two workers with an address each, which are taken for two hosts."""
    folder = tmp_path_factory.mktemp("workers")
    with cluster(folder, {"from": "", "to": ""}, {"from": "127.0.0.2"}) as client:
        yield client


def waves(shift: int) -> Any:
    return np.sin(np.arange(COUNT) / 5000 + shift).astype("f4")


def is_same(x: Any, shift: int) -> bool:
    return bool(np.array_equal(x, waves(shift)))


def set_force(value: str) -> None:
    os.environ["THINWIRE_FORCE"] = value


def send(client: Client, count: int, first: int = 0) -> thinwire.dask.DaskStats:
    """So many arrays one after another, each of which is looked at where it comes; what the sender
    counted."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    source, end = (next(a for a in workers if workers[a]["name"] == n) for n in ("from", "to"))
    client.run(thinwire.dask.stats, reset=True)
    for shift in range(first, first + count):
        x = client.submit(waves, shift, workers=[source], pure=False)
        wait(x, timeout=SECONDS)
        there = client.submit(is_same, x, shift, workers=[end], pure=False)
        assert there.result(SECONDS)
    return client.run(thinwire.dask.stats, workers=[source])[source]


def test_on_a_fast_link_transfers_become_plain_after_a_few(client: Client) -> None:
    client.register_plugin(thinwire.dask.ThinwirePlugin("lossless", link="20mbit"))
    counted = send(client, 40)
    reasons = dict(counted.plain_by_reason)
    assert counted.arrays == 40 and counted.compressed <= 9, reasons
    assert set(reasons) == {TIMED, SLOWER} and reasons[SLOWER] >= 22
    (row,) = (row for row in counted.classes.values() if row.faster)
    assert row.faster == "plain" and row.timed_rate < row.timed_plain_rate
    assert row.predicted_rate > row.predicted_plain_rate, "the prediction would have sufficed"
    metrics = thinwire.dask.counters.metrics()
    assert {"thinwire_timed_gain", "thinwire_predicted_gain"} < set(metrics)
    assert send(client, 5).compressed == 0


def test_what_is_forced_is_not_timed(client: Client) -> None:
    client.register_plugin(thinwire.dask.ThinwirePlugin("lossless", force=True))
    assert send(client, 5).compressed == 5
    client.run(set_force, "1")
    client.register_plugin(thinwire.dask.ThinwirePlugin("lossless", link="20mbit"))
    assert send(client, 5).compressed == 5
    client.run(set_force, "0")
    client.register_plugin(thinwire.dask.ThinwirePlugin("lossless", link="20mbit"))
    assert send(client, 5).plain_by_reason[SLOWER] == 5


def test_over_a_slow_link_transfers_stay_compressed() -> None:
    """Of one array each."""
    try:
        with Lab(hosts=1, link="none"):
            pass
    except LabUnavailable as error:
        pytest.skip(f"no lab here: {error}")
    paths = [str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]
    example = [sys.executable, str(ROOT / "examples" / "dask" / "in_lab.py"), "--hosts", "2"]
    example += ["--link", "20mbit", "--program", "exchange.py", "--", "--codec", "lossless"]
    example += ["--chunk", "300", "--blocks", "12", "--repeats", "3"]
    single = {"DASK_DISTRIBUTED__WORKER__TRANSFER__MESSAGE_BYTES_LIMIT": "1"}
    done = subprocess.run(
        example,
        env={**os.environ, **single, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    last = [row for row in rows if row["way"] == "lossless"][-1]
    assert last["compressed"] == last["arrays"] == 24 and not last["plain"], last
    assert last["timed"] and all(told[0] == "compressed" for told in last["timed"].values()), last
