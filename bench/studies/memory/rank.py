"""One rank of measure.py: makes sums and says how much of its GPU's memory is taken at each point.
By the driver's C interface, or over the libnccl of the tests, whose memory is the
host's; no package is needed.

    rank.py LIBRARY FOLDER BYTES DATA CALLS...     RANK, WORLD_SIZE and LOCAL_RANK as torchrun's

DATA is `ones`, which any codec makes smaller, or `noise`, which none does. CALLS are the numbers of
calls after which memory is read. Ranks meet in FOLDER, as several may share a GPU.
"""

import ctypes
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

FLOAT32, SUM = 7, 0
ONE = 0x3F800000


class UniqueId(ctypes.Structure):
    _fields_ = (("internal", ctypes.c_byte * 128),)


class Failed(Exception):
    """A call of CUDA or NCCL."""


def check(code: int, what: str) -> None:
    if code != 0:
        raise Failed(f"{what} returned {code}")


class Gpu:
    """The rank's, through the driver."""

    def __init__(self, ordinal: int) -> None:
        self._driver = ctypes.CDLL("libcuda.so.1")
        device, context, self.stream = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self._call("cuInit", 0)
        self._call("cuDeviceGet", ctypes.byref(device), ordinal)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._call("cuCtxSetCurrent", context)
        self._call("cuStreamCreate", ctypes.byref(self.stream), 1)

    def _call(self, name: str, *arguments: Any) -> None:
        check(getattr(self._driver, name)(*arguments), name)

    def array(self, content: bytes) -> int:
        made = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(made), ctypes.c_size_t(len(content)))
        self._call("cuMemcpyHtoD_v2", made, content, ctypes.c_size_t(len(content)))
        return made.value

    def read(self, at: int, nbytes: int) -> bytes:
        found = ctypes.create_string_buffer(nbytes)
        size = ctypes.c_size_t(nbytes)
        self._call("cuMemcpyDtoH_v2", found, ctypes.c_uint64(at), size)
        return found.raw

    def finish(self) -> None:
        self._call("cuStreamSynchronize", self.stream)

    def taken(self) -> int:
        """By all processes that share the GPU."""
        free, whole = ctypes.c_size_t(), ctypes.c_size_t()
        self._call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(whole))
        return whole.value - free.value


class Host:
    """The same of the libnccl of the tests."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._kept: dict[int, Any] = {}
        self.stream = ctypes.c_void_p()
        library.cudaStreamSynchronize.argtypes = [ctypes.c_void_p]
        check(library.cudaStreamCreate(ctypes.byref(self.stream)), "cudaStreamCreate")

    def array(self, content: bytes) -> int:
        made = ctypes.create_string_buffer(content, len(content))
        self._kept[ctypes.addressof(made)] = made
        return ctypes.addressof(made)

    def read(self, at: int, nbytes: int) -> bytes:
        return ctypes.string_at(at, nbytes)

    def finish(self) -> None:
        check(self._library.cudaStreamSynchronize(self.stream), "cudaStreamSynchronize")

    def taken(self) -> int:
        free, whole = ctypes.c_size_t(), ctypes.c_size_t()
        check(
            self._library.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(whole)), "cudaMemGetInfo"
        )
        return whole.value - free.value


def load(path: str) -> Any:
    nccl = ctypes.CDLL(path)
    handle, count = ctypes.c_void_p, ctypes.c_size_t
    nccl.ncclCommInitRank.argtypes = [handle, ctypes.c_int, UniqueId, ctypes.c_int]
    number = ctypes.c_int
    nccl.ncclAllReduce.argtypes = [handle, handle, count, number, number, handle, handle]
    nccl.ncclCommDestroy.argtypes = [handle]
    return nccl


class Meeting:
    """Waits for all ranks, by files."""

    def __init__(self, folder: Path, rank: int, ranks: int) -> None:
        self.folder, self.rank, self.ranks, self._times = folder, rank, ranks, 0

    def wait(self) -> None:
        self._times += 1
        Path(self.folder, f"met.{self._times}.{self.rank}").touch()
        for other in range(self.ranks):
            self.wait_for(f"met.{self._times}.{other}")

    def wait_for(self, name: str) -> Path:
        deadline = time.monotonic() + 120
        path = self.folder / name
        while not path.exists():
            if time.monotonic() > deadline:
                raise Failed(f"another rank did not come: no {name}")
            time.sleep(0.001)
        return path

    def id_of(self, nccl: Any) -> UniqueId:
        made = UniqueId()
        if self.rank == 0:
            check(nccl.ncclGetUniqueId(ctypes.byref(made)), "ncclGetUniqueId")
            Path(self.folder, "id.new").write_bytes(bytes(made))
            Path(self.folder, "id.new").rename(self.folder / "id")
            return made
        return UniqueId.from_buffer_copy(self.wait_for("id").read_bytes())


def run(nccl: Any, folder: Path, nbytes: int, data: str, calls: list[int]) -> dict[str, int]:
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    gpu: Any = (
        Host(nccl) if hasattr(nccl, "pncclOnHostMemory") else Gpu(int(os.environ["LOCAL_RANK"]))
    )
    meeting = Meeting(folder, rank, ranks)
    given = ONE.to_bytes(4, "little") * (nbytes // 4) if data == "ones" else os.urandom(nbytes)
    send, receive = gpu.array(given), gpu.array(bytes(nbytes))

    def taken() -> int:
        """At a moment in which no rank does anything."""
        gpu.finish()
        meeting.wait()
        found: int = gpu.taken()
        meeting.wait()
        return found

    found = {"before": taken()}
    comm = ctypes.c_void_p()
    unique = meeting.id_of(nccl)
    check(nccl.ncclCommInitRank(ctypes.byref(comm), ranks, unique, rank), "ncclCommInitRank")
    found["communicator"] = taken()
    for call in range(1, max(calls) + 1):
        arguments = (send, receive, nbytes // 4, FLOAT32, SUM, comm, gpu.stream)
        check(nccl.ncclAllReduce(*arguments), f"call {call}")
        gpu.finish()
        if call in calls:
            found[f"call {call}"] = taken()
    expected = ctypes.c_float(ranks)
    if data == "ones" and gpu.read(receive, nbytes) != bytes(expected) * (nbytes // 4):
        raise Failed("a sum is wrong")
    check(nccl.ncclCommDestroy(comm), "ncclCommDestroy")
    return found


def main() -> None:
    library, folder, nbytes, data, *calls = sys.argv[1:]
    found = run(load(library), Path(folder), int(nbytes), data, [int(each) for each in calls])
    Path(folder, f"taken.{os.environ['RANK']}").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
