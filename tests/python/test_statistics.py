"""`thinwire.stats()`: counters of the library's calls, of MPI and of NCCL calls under a preload
library."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import thinwire
from thinwire.comm.transport import in_threads
from thinwire.library import MPI_SHIMS, built_shims

PROGRAM = """
import os
from mpi4py import MPI
import numpy as np
import thinwire
comm = MPI.COMM_WORLD
values = np.sin(1e-3 * np.arange(40000)).astype(np.float32)
other = np.empty_like(values)
before = thinwire.stats().mpi
for each in range(3):
    comm.Sendrecv(values, 1 - comm.rank, recvbuf=other, source=1 - comm.rank)
comm.Bcast(values)
comm.Sendrecv(values[:10], 1 - comm.rank, recvbuf=other, source=1 - comm.rank)
after = thinwire.stats().mpi
assert after.messages - before.messages == 4, after
assert after.compressed_messages - before.compressed_messages == 3, after
assert after.decoded_messages - before.decoded_messages == 3, after
assert after.compressed_bytes == 3 * values.nbytes > after.compressed_wire_bytes > 0, after
assert after.encode_nanoseconds > 0 and after.decode_nanoseconds > 0, after
assert after.collectives == 1, after
if "THINWIRE_LINK" in os.environ:
    assert 0 < after.predicted_nanoseconds < after.predicted_raw_nanoseconds, after
    assert 0 < after.saved_nanoseconds < after.predicted_raw_nanoseconds, after
else:
    assert after.saved_nanoseconds == 0, after
    assert after.predicted_nanoseconds == after.predicted_raw_nanoseconds == 0, after
assert after.raw_by_reason == {"below the threshold": 1}, after
assert thinwire.stats().library.messages == 0
assert after.messages_without_memory == after.device_failures == 0 < after.pool_peak_bytes, after
if "THINWIRE_METRICS" not in os.environ:
    assert thinwire.stats_kinds() == []  # counted from here on
for each in range(2):
    comm.Sendrecv(values, 1 - comm.rank, recvbuf=other, source=1 - comm.rank)
sends = 5 if "THINWIRE_METRICS" in os.environ else 2
(sent,) = [kind for kind in thinwire.stats_kinds() if kind.operation == "send"]
assert sent.communicator == "MPI_COMM_WORLD" and sent.place == "same node", sent
assert sent.codec.startswith("mpc") and sent.raw == "" and sent.peer == 1 - comm.rank, sent
assert sent.calls == sends and sent.bytes == sends * values.nbytes > sent.wire_bytes, sent
assert sent.sizes == {17: sends} and sum(sent.times.values()) == sends, sent
assert sent.nanoseconds > 0, sent
if "THINWIRE_LINK" in os.environ:
    assert sum(sent.predictions.values()) == sends and sent.predicted_nanoseconds > 0, sent
    assert sent.raw_nanoseconds > sent.whole_nanoseconds > sent.nanoseconds, sent
else:
    assert sent.raw_nanoseconds == 0 and sent.predictions == {}, sent
os.write(1, b"ok\\n")  # at once: the launcher merges what ranks write
"""


def test_the_librarys_own_calls_are_counted() -> None:
    values = np.sin(1e-3 * np.arange(50000)).astype(np.float32)
    before = thinwire.stats().library
    frame = thinwire.compress(values, "zfp:rate=8")
    thinwire.decompress(frame)
    thinwire.compress(np.full(50000, np.nan, np.float32), "zfp:rate=8")
    after = thinwire.stats().library
    assert after.messages - before.messages == 2
    assert after.compressed_messages - before.compressed_messages == 1
    assert after.bytes - before.bytes == 2 * values.nbytes
    assert after.compressed_wire_bytes - before.compressed_wire_bytes == len(frame)
    assert after.decoded_messages - before.decoded_messages == 1
    declined = "data declined by the codec"
    assert after.raw_by_reason[declined] - before.raw_by_reason.get(declined, 0) == 1


def test_collectives_are_counted() -> None:
    before = thinwire.stats().library
    comms = thinwire.local_ranks(2, codec="mpc", nodes=[0, 1])
    values = np.sin(1e-3 * np.arange(50000)).astype(np.float32)
    in_threads([lambda comm=comm: comm.Bcast(values.copy()) for comm in comms])
    after = thinwire.stats().library
    assert after.collectives - before.collectives == 2
    assert after.collective_bytes - before.collective_bytes == values.nbytes
    wire = after.collective_wire_bytes - before.collective_wire_bytes
    assert 0 < wire < values.nbytes
    assert after.collective_nanoseconds > before.collective_nanoseconds


def test_without_a_preload_library_there_is_nothing_of_mpi() -> None:
    assert thinwire.stats().mpi is None and thinwire.stats().nccl is None
    assert thinwire.stats_kinds() == []


@pytest.mark.multiproc
@pytest.mark.parametrize("is_metered", [False, True], ids=["", "metered"])
@pytest.mark.parametrize("link", [{}, {"THINWIRE_LINK": "10mbit"}], ids=["", "link"])
def test_a_program_reads_what_its_preload_library_counts(
    link: dict[str, str], is_metered: bool, tmp_path: Path
) -> None:
    pytest.importorskip("mpi4py")
    if "openmpi" not in built_shims():
        pytest.skip("no library for Open MPI is built")
    library = next(path for path in built_shims()["openmpi"] if path.name in MPI_SHIMS["openmpi"])
    settings = {
        "THINWIRE_CODEC": "mpc",
        "THINWIRE_FORCE": "1",
        "THINWIRE_SAME_NODE": "1",
        "MPI4PY_MPIABI": "openmpi",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    words = ["env", f"LD_PRELOAD={library}", sys.executable, "-c", PROGRAM]
    done = subprocess.run(
        ["mpirun.openmpi", "--oversubscribe", "-n", "2", *words],
        env=os.environ
        | settings
        | link
        | ({"THINWIRE_METRICS": str(tmp_path / "metrics")} if is_metered else {}),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "ok\nok\n"), done.stderr
