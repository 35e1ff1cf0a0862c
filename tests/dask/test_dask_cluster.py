"""Workers with Thinwire and without it, in one cluster of processes."""

import time
from collections.abc import Iterator
from typing import Any

import dask.array as da
import numpy as np
import pytest
from arrays_of_kinds import COMPRESSED, NESTED, PLAIN, check, error_of, make
from cluster import WITHOUT, cluster
from distributed import Client, wait

import thinwire.dask

pytestmark = pytest.mark.multiproc

SECONDS = 60


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    names = {"one": "", "two": "", "without": WITHOUT, "preloaded": "thinwire.dask"}
    with cluster(tmp_path_factory.mktemp("workers"), names) as client:
        # Connections between the workers are there before the plugin is.
        for place in ("two", "without"):
            x = client.submit(make, "f8", workers=["one"], pure=False)
            assert client.submit(len, x, workers=[place], pure=False).result(SECONDS)
        client.register_plugin(
            thinwire.dask.ThinwirePlugin("lossless", same_host=True, force=True, min_bytes=1)
        )
        # The preloaded one goes by its environment again.
        client.run(_preload_again, workers=[_address(client, "preloaded")])
        yield client


async def _preload_again(dask_worker: Any) -> None:
    await thinwire.dask.dask_setup(dask_worker)


def _address(client: Client, name: str) -> str:
    workers = client.scheduler_info(n_workers=-1)["workers"]
    return next(address for address, row in workers.items() if row["name"] == name)


def moved(client: Client, kind: str, start: str, end: str) -> bool:
    """Whether an array that is made on one worker is the same on another."""
    x = client.submit(make, kind, workers=[start], pure=False)
    wait(x, timeout=SECONDS)
    return bool(client.submit(check, x, kind, workers=[end], pure=False).result(SECONDS))


def counts(client: Client, name: str) -> thinwire.dask.DaskStats:
    address = _address(client, name)
    return client.run(thinwire.dask.stats, reset=True, workers=[address])[address]


def test_arrays_of_all_kinds(client: Client) -> None:
    for name in ("one", "two"):
        counts(client, name)
    for kind in COMPRESSED + NESTED + PLAIN:
        assert moved(client, kind, "one", "two"), kind
    sent, come = counts(client, "one"), counts(client, "two")
    assert sent.compressed == len(COMPRESSED) + 3 == come.decoded
    assert sent.compressed_bytes > 1.3 * sent.wire_bytes
    assert set(sent.plain_by_reason) == {"type not compressed"}


def test_a_worker_without_thinwire_gets_plain_arrays(client: Client) -> None:
    for name in ("one", "two"):
        counts(client, name)
    for kind in ("f4", "f8", "fortran", "in_list"):
        assert moved(client, kind, "one", "without"), kind
        assert moved(client, kind, "without", "one"), kind
    sent = counts(client, "one")
    assert (sent.compressed, sent.decoded) == (0, 0)
    assert dict(sent.plain_by_reason) == {"receiver without thinwire": 5}


def test_a_preloaded_worker(client: Client) -> None:
    """Sends by its own configuration, and takes what others send."""
    counts(client, "one")
    counts(client, "preloaded")
    assert moved(client, "f4", "preloaded", "one") and moved(client, "f4", "one", "preloaded")
    sent = counts(client, "preloaded")
    assert (dict(sent.codecs), sent.decoded) == ({"ndzip": 1}, 1)


def make_marked(kind: str) -> Any:
    return thinwire.dask.lossy(make(kind), abs=1e-3)


def test_lossy_is_for_the_way_alone(client: Client) -> None:
    x = client.submit(make_marked, "f8", workers=["one"], pure=False)
    # In this order: of two copies Dask may keep the other one.
    here = client.submit(error_of, x, "f8", workers=["one"], pure=False).result(SECONDS)
    there = client.submit(error_of, x, "f8", workers=["two"], pure=False).result(SECONDS)
    assert 0 < there <= 1e-3 and here == 0


def test_a_dask_array_of_marked_chunks(client: Client) -> None:
    """Over all workers, one of which knows nothing of marks."""
    grid = np.sin(np.arange(480)[:, None] / 50 + np.arange(480) / 30)
    x = thinwire.dask.lossy(da.from_array(grid, chunks=120), abs=1e-3).persist()
    wait(x, timeout=SECONDS)
    y = (x + x.T).persist()
    wait(y, timeout=SECONDS)
    error = np.abs(client.compute(y).result(SECONDS) - (grid + grid.T)).max()
    assert 0 < error <= 2e-3
    with pytest.raises(ValueError, match="for floats"):
        thinwire.dask.lossy(da.arange(10), abs=1e-3)


def damage_frames() -> None:
    """From now on this worker's frames have one wrong bit."""
    from thinwire.dask import coding

    plain = coding._coded

    def damaged(*words: Any) -> Any:
        frame = bytearray(plain(*words))
        frame[len(frame) // 2] ^= 1
        coding._coded = plain
        return bytes(frame)

    coding._coded = damaged


def test_a_damaged_frame_is_asked_for_again(client: Client) -> None:
    counts(client, "two")
    x = client.submit(make, "f8", workers=["one"], pure=False)
    wait(x, timeout=SECONDS)
    client.run(damage_frames, workers=[_address(client, "one")])
    y = client.submit(check, x, "f8", workers=["two"], pure=False)
    assert y.result(SECONDS)
    come = counts(client, "two")
    assert (come.damaged, come.decoded) == (1, 1)


def test_counters_reach_the_scheduler(client: Client) -> None:
    """As metrics of workers, which the dashboard's table of workers shows."""
    assert moved(client, "f8", "one", "two")
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        metrics = client.scheduler_info(n_workers=-1)["workers"][_address(client, "one")]["metrics"]
        if metrics.get("thinwire_arrays", 0) > 0:
            break
        time.sleep(0.2)
    assert metrics["thinwire_bytes"] > metrics["thinwire_wire_bytes"] > 0
    assert metrics["thinwire_ratio"] > 1


def test_without_the_plugin_again(client: Client) -> None:
    """The last test: workers send raw arrays, and decode what comes."""
    client.unregister_worker_plugin("thinwire")
    counts(client, "one")
    assert moved(client, "f8", "one", "two")
    assert counts(client, "one").arrays == 0
