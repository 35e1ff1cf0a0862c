"""Some hundred ranks in one job, each a process with few file descriptors."""

import re
from pathlib import Path

import pytest
from test_nccl_shim import PROGRAMS, run

pytestmark = pytest.mark.multiproc

CROWD = PROGRAMS / "nccl_crowd"


def test_a_mesh_and_messages_of_all_to_all(tmp_path: Path) -> None:
    """The program checks all values, that the ranks of every communicator find each other, and that
    a rank has at most 64 descriptors more than at first once nobody has anything to say."""
    words = ("1024", "3", "3", "150", "4", "4", "2")
    named = {"CODEC": "lossless", "THRESHOLD": "1KiB", "LOG": "off"}
    output, _ = run(CROWD, tmp_path / "id", *words, **named)
    assert "32 ranks, present in 4 communicators, 0 wrong" in output
    compressed = re.search(r"(\d+) messages", output)
    assert compressed is not None
    assert int(compressed[1]) > 0, output


def test_a_hundred_ranks_of_the_libnccl_itself(tmp_path: Path) -> None:
    words = ("64", "2", "2", "10", "10", "5", "2")
    output, _ = run(CROWD, tmp_path / "id", *words, preload=False)
    assert "100 ranks, present in 0 communicators, 0 wrong" in output
