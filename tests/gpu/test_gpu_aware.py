"""Programs with buffers on GPUs on an MPI that takes device pointers itself, with the library in
front and without: the same results. `mpirun` on PATH must be such an MPI's."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from test_gpu_programs import program
from test_gpu_shim import environment, mpirun, run_under_shim  # noqa: F401

from thinwire.bench.programs import mpi_is_gpu_aware

pytestmark = pytest.mark.skipif(
    not mpi_is_gpu_aware(), reason="the mpirun on PATH is of no GPU-aware Open MPI"
)

# Each prints a digest of what its rank received; the same numbers whatever carried them.
PROGRAM = """
import hashlib, sys
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
def digest(*arrays):
    return hashlib.sha256(b"".join(to_host(array).tobytes() for array in arrays)).hexdigest()
{memory}
n = 1 << 19
smooth = np.sin(np.arange(n, dtype=np.float32) * 0.001) + rank
mine, theirs, third = to_gpu(smooth), to_gpu(np.zeros_like(smooth)), to_gpu(np.zeros_like(smooth))
finish()
right, left = (rank + 1) % size, (rank - 1) % size
comm.Sendrecv(mine, right, recvbuf=theirs, source=left)
requests = [comm.Irecv(third, left, 7), comm.Isend(mine, right, 7)]
MPI.Request.Waitall(requests)
points = digest(theirs, third)
# Two receives into one buffer, one after the other, as bandwidth tests post them.
for turn in range(2):
    receive = comm.Irecv(third, left, turn)
    comm.Send(theirs if turn else mine, right, turn)
    receive.Wait()
again = digest(third)
root = to_gpu(smooth if rank == 0 else np.zeros_like(smooth))
everyone = to_gpu(np.zeros(n * size, np.float32))
blocks = to_gpu(np.zeros(n // size * size, np.float32))
finish()
comm.Bcast(root, 0)
comm.Allgather(mine, everyone)
comm.Alltoall(mine[: n // size * size], blocks)
print("DIGEST", rank, points, again, digest(root, everyone, blocks), flush=True)
"""

CUPY = """
import cupy
cupy.cuda.Device(rank % cupy.cuda.runtime.getDeviceCount()).use()
to_gpu, to_host = cupy.asarray, cupy.asnumpy
finish = lambda: cupy.cuda.get_current_stream().synchronize()
"""

TORCH = """
import torch
torch.cuda.set_device(rank % torch.cuda.device_count())
to_gpu = lambda array: torch.from_numpy(array).cuda()
to_host = lambda array: array.cpu().numpy()
finish = torch.cuda.synchronize
"""


def run_natively(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env=environment(), capture_output=True, text=True, timeout=180, check=False
    )


def digests(output: str) -> list[str]:
    return sorted(line for line in output.splitlines() if line.startswith("DIGEST"))


@pytest.mark.parametrize("wire", ["auto", "pinned", "device"])
@pytest.mark.parametrize("codec", ["off", "mpc", "expack"])
@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_results_are_those_without_the_library(
    library: str,
    codec: str,
    wire: str,
    mpirun: str,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("mpi4py")
    pytest.importorskip(library)
    script, report = tmp_path / "exchange.py", tmp_path / "report.json"
    script.write_text(PROGRAM.format(memory=CUPY if library == "cupy" else TORCH))
    command = [mpirun, "-n", "3", sys.executable, str(script)]
    native = run_natively(command)
    assert native.returncode == 0, native.stdout + native.stderr
    assert len(digests(native.stdout)) == 3
    monkeypatch.setenv("THINWIRE_GPU_WIRE", wire)
    done = run_under_shim([], codec, report, command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert digests(done.stdout) == digests(native.stdout)
    totals = json.loads(report.read_text())
    assert totals["decoded_messages"] == totals["compressed_messages"]
    assert (totals["compressed_messages"] > 0) == (codec != "off")
    assert (totals["collectives"]["compressed"] > 0) == (codec != "off")
    assert totals["device_failures"] == totals["damaged_messages"] == 0
    # The MPI writes to the program's GPU memory itself; nothing is staged.
    assert totals["staged_messages"] == 0
    assert codec == "off" or totals["receives_in_place"] > 0


@pytest.mark.parametrize("wire", ["pinned", "device"])
@pytest.mark.parametrize(("codec", "bound"), [("off", "0"), ("mpc", "0"), ("zfp:rate=16", "1e-3")])
def test_every_call(
    codec: str,
    bound: str,
    wire: str,
    mpirun: str,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("THINWIRE_GPU_WIRE", wire)
    report = tmp_path / "report.json"
    command = [mpirun, "-n", "2", program("shim_exchange_gpu"), bound]
    done = run_under_shim([], codec, report, command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok " in done.stdout
    totals = json.loads(report.read_text())
    assert totals["decoded_messages"] == totals["compressed_messages"]
    assert (totals["compressed_messages"] > 0) == (codec != "off")
