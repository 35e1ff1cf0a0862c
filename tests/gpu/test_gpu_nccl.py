"""NCCL programs under the preload library on one GPU: ranks are processes that share it."""

from pathlib import Path

import nccl_job
import pytest
from test_gpu_programs import program

ROUNDS = 28
# Of types in the order of the program's communicators.
TYPES = ("fp32", "bf16", "fp16", "fp64")

# A codec, the types that it takes, what a value of up to 512 may be off each time (none: exact),
# and ranks.
CODECS = [
    ("lossless", TYPES, None, 2),
    ("lossless", TYPES, None, 3),
    ("lossless", TYPES, None, 4),
    ("expack", ("fp32", "bf16", "fp16"), None, 2),
    ("mpc", ("fp32", "fp64"), None, 2),
    ("zfp:rate=16", ("fp32", "fp64"), "1", 2),
    ("szp:abs=0.05", ("fp32", "fp64"), "0.051", 2),
    ("blockq", ("fp32", "bf16", "fp16"), "4.1", 2),
]


def settings(codec: str, **more: str) -> dict[str, str]:
    return {"THINWIRE_CODEC": codec, "THINWIRE_THRESHOLD": "1KiB"} | more


@pytest.mark.parametrize(("codec", "types", "error", "ranks"), CODECS)
def test_every_operation_in_every_type(
    codec: str, types: tuple[str, ...], error: str | None, ranks: int, tmp_path: Path
) -> None:
    words = [program("nccl_every_gpu"), str(ROUNDS), *filter(None, [error])]
    job = nccl_job.run(words, ranks, tmp_path, settings(codec))
    assert [rank.output for rank in job.ranks] == ["ok\n"] * ranks, job.said()
    for rank in range(ranks):
        by_type = dict(zip(TYPES, job.communicators(rank), strict=True))
        for dtype, communicator in by_type.items():
            assert communicator["presence"].startswith(f"all {ranks} ranks ha")
            for name in nccl_job.OPERATIONS:
                figures = communicator["operations"][name]
                # A few rounds of a type; natively where the codec does not take it.
                least = 20 if dtype in types else 0
                assert (figures["compressed_calls"] >= max(least, 1)) == (dtype in types), (
                    rank,
                    dtype,
                    name,
                    figures,
                )
    if error is None:
        assert job.total("spilled_blocks") > 0


# Ranks of a program are 2 more than its seed's remainder by 3.
@pytest.mark.parametrize(
    ("seed", "calls", "more"),
    [
        (3, 10_000, {}),
        (4, 1500, {}),
        (5, 1500, {}),
        (6, 1500, {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}),
        (9, 1500, {"NCCL_LAUNCH_ORDER_IMPLICIT": "1"}),
    ],
)
def test_random_programs(seed: int, calls: int, more: dict[str, str], tmp_path: Path) -> None:
    words = [program("nccl_random_gpu"), str(seed), str(calls)]
    ranks = 2 + seed % 3
    job = nccl_job.run(words, ranks, tmp_path, settings("lossless", **more), seconds=150)
    assert [rank.output for rank in job.ranks] == ["ok\n"] * ranks, job.said()
    assert job.total("compressed_calls") > calls / 50
