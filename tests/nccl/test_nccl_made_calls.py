"""The calls of NCCL and CUDA that the library makes for one compressed call in stream order, which
wakes one thread at most: the service thread, if it sleeps.

Streams are queues of host functions here: a stage of the call is one of them. The kernels that
stages are on a GPU: tests/device/stream_calls_test.cpp.
"""

from pathlib import Path

import pytest
from test_nccl_nodes import run_on
from test_nccl_shim import PROGRAMS, SHIM

pytestmark = pytest.mark.multiproc

COUNTER = PROGRAMS / "libnccl_counted_calls.so"
# Asked at every call: whether its stream is captured, and which stream it is.
ALWAYS = {"cudaStreamGetCaptureInfo_v2": 1, "cudaStreamGetId": 1}


def made(stages: int, messages: int = 0, gathers: int = 0) -> dict[str, int]:
    """A call in so many stages, of a group between two each; so many messages each way, or
    NCCL's own gathers."""
    groups = stages - 1
    counts = {"cudaLaunchHostFunc": stages, "pncclGroupStart": groups, "pncclGroupEnd": groups}
    counts |= {"pncclSend": messages, "pncclRecv": messages, "pncclAllGather": gathers}
    return ALWAYS | {name: count for name, count in counts.items() if count > 0}


EXPECTED = {
    "four hosts": {
        "AllGather": made(2, gathers=1),
        "ReduceScatter": made(2, messages=3),
        "AllReduce": made(3, messages=3, gathers=1),
    },
    # Between the hosts a message each way, and inside one another for each block.
    "2x2": {
        "AllGather": made(3, messages=3),
        "ReduceScatter": made(3, messages=3),
        "AllReduce": made(5, messages=4),
    },
}
NODES = {"four hosts": [0, 1, 2, 3], "2x2": [0, 0, 1, 1]}


def counts_of(path: Path) -> dict[str, dict[str, int]]:
    found = {}
    for line in path.read_text().splitlines():
        operation, *words = line.split()
        found[operation] = {name: int(count) for name, count in (word.split("=") for word in words)}
    return found


@pytest.mark.parametrize("name", NODES)
def test_of_a_compressed_call(name: str, tmp_path: Path) -> None:
    nodes = NODES[name]
    own = {"LD_PRELOAD": f"{SHIM}:{COUNTER}", "MADE_CALLS": str(tmp_path / "made.")}
    run_on(nodes, ["nccl_made_calls"], tmp_path, [own] * 4, CODEC="lossless", FORCE="1")
    for rank in range(4):
        counts = counts_of(tmp_path / f"made.{rank}")
        print(name, rank, counts)
        assert counts == EXPECTED[name], rank
