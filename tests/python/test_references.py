"""Communicators that code calls against results of earlier ones."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from thread_ranks import checked, on_ranks

import thinwire

RANKS = 3
BLOCK = 100_000


def weights(step: int, layer: int = 0) -> np.ndarray:
    """bf16 words, of which each step changes one in 40."""
    random = np.random.default_rng(layer)
    words = random.normal(0, 0.02, RANKS * BLOCK).astype(np.float32).view(np.uint32) >> 16
    for each in range(step):
        words[each % 40 :: 40] += 1
    return words.astype(np.uint16)


def gather(comm: thinwire.Communicator, array: np.ndarray) -> thinwire.CollectiveReport:
    out = np.zeros_like(array)
    own = array[comm.rank * BLOCK : (comm.rank + 1) * BLOCK].copy()
    report = comm.Allgather([own, "bf16"], [out, "bf16"])
    assert np.array_equal(out, array)
    return report


def broadcast(comm: thinwire.Communicator, array: np.ndarray) -> thinwire.CollectiveReport:
    out = array.copy() if comm.rank == 1 else np.zeros_like(array)
    report = comm.Bcast([out, "bf16"], 1)
    assert np.array_equal(out, array)
    return report


@pytest.mark.parametrize("move", [gather, broadcast])
def test_a_call_is_coded_against_an_earlier_one(move):
    before = thinwire.stats().library
    for references in (None, "4MiB", 4 << 20):
        group = thinwire.local_ranks(RANKS, codec="expack", references=references)

        def body(comm, move=move):
            return [move(comm, weights(step)) for step in range(3)]

        reports = checked(on_ranks(group, body))
        sends = reports[1]  # has a block in both
        used = [report.delta_packets > 0 for report in sends]
        assert used == [False, references is not None, references is not None]
        for report in sends[1:]:
            if references is None:
                assert report.reference_bytes == report.reference_results == 0
                continue
            assert report.ratio > 3 * sends[0].ratio
            assert report.delta_bytes > 3 * report.delta_wire_bytes > 0
            assert report.reference_results == 1
            assert 2 * RANKS * BLOCK < report.reference_bytes <= 4 << 20
    after = thinwire.stats().library
    assert after.delta_packets > before.delta_packets
    assert after.delta_bytes - before.delta_bytes > after.delta_wire_bytes - before.delta_wire_bytes


def test_layers_that_do_not_fit_go_as_without():
    group = thinwire.local_ranks(RANKS, codec="expack", references=3 * 2 * RANKS * BLOCK + 8192)

    def body(comm):
        return [gather(comm, weights(step, layer)) for step in range(3) for layer in range(4)]

    for reports in checked(on_ranks(group, body)):
        assert all(report.reference_results <= 3 for report in reports)
        assert sum(report.delta_packets > 0 for report in reports) >= 4


def test_the_log_says_what_references_cost_and_when_they_are_used():
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_references import *\n"
        "group = thinwire.local_ranks(RANKS, codec='expack', references='4MiB')\n"
        "checked(on_ranks(group, lambda comm: [gather(comm, weights(s)) for s in range(3)]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, os.path.dirname(__file__)],
        env=os.environ | {"THINWIRE_LOG": "plan"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line for line in done.stderr.splitlines() if "references" in line]
    assert re.search(r"up to 4194304 bytes on each rank; they cost [0-9.]+ ns a byte", lines[0])
    assert re.search(r"first call that is coded against an earlier result; \d+ bytes", lines[1])
    assert len(lines) == 2
