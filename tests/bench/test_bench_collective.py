import csv
import io
import json

import numpy as np
import pytest
from made_up_links import FastLink

from thinwire.bench import collective, collective_rows
from thinwire.bench.collective import CollectiveSession
from thinwire.bench.collective_rows import bus_factor, make_rows, moved_bytes
from thinwire.bench.samples import Sample
from thinwire.comm.operation_names import operations

LOOPBACK = ("collective", "--loopback", "--ranks", "3", "--iterations", "2", "--data", "smooth")
LINE = {
    **{"operation": "allgather", "bytes": 1000, "ranks": 4, "nodes": 4, "memory": "host"},
    **{"codec": "zfp:rate=8", "asked_algorithm": "planned", "asked_coding": "planned"},
    **{"algorithm": "ring", "coding": "once", "reason": "", "iterations": 5},
    **{"seconds": 2e-6, "min": 1e-6, "max": 3e-6},
    **{"native_seconds": 6e-6, "native_min": 5e-6, "native_max": 7e-6},
    **{"wrong": 0, "native_wrong": 0, "identical": True, "max_error": 0.5, "bound": 0},
    **{"raw_bytes": 12000, "wire_bytes": 3000, "workspace_bytes": 7, "predicted": 0},
    **{"predicted_raw": 0, "encode_seconds": 1e-7, "decode_seconds": 1e-7},
}


class RatedLink(FastLink):
    def raw_rate(self) -> float:
        return 7.9e9


def row_of(dropped: int = 0, **changes):
    """A row from figures that no program measured."""
    sample = Sample("some", "f32", np.zeros(4, np.float32))
    kinds = dict.fromkeys(CollectiveSession.__annotations__) | {"data": sample}
    (row,) = make_rows(RatedLink(dropped), CollectiveSession(**kinds), [LINE | changes])
    return row


def test_bandwidths_are_those_of_nccl_tests():
    # Its PERFORMANCE.md: of 4 ranks.
    factors = {
        **{"bcast": 1, "reduce": 1, "allreduce": 1.5, "allgather": 0.75, "reduce-scatter": 0.75},
        **{"alltoall": 0.75, "gather": 0.75, "scatter": 0.75},
    }
    assert factors.keys() == operations().keys()
    for op, factor in factors.items():
        assert bus_factor(op, 4) == factor
        of_array = op in ("bcast", "reduce", "allreduce")
        assert moved_bytes(op, 100, 4) == (100 if of_array else 400)
    row = row_of()
    assert row.verified and row.note == ""
    assert row.algbw == pytest.approx(4000 / 2e-6 / 1e9) and row.busbw == row.algbw * 0.75
    assert row.speedup == pytest.approx(3) and row.ratio == 4
    assert (row.min_seconds, row.native_max_seconds) == (1e-6, 7e-6)
    assert row.predicted is None and row.raw_bits_per_second == 7.9e9


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"wrong": 3}, "3 elements are wrong"),
        ({"native_wrong": 2}, "2 elements of the MPI's own"),
        ({"identical": False}, "same bits"),
        ({"dropped": 4}, "4 packets dropped"),
        ({"native_seconds": 2.9e-6}, "MPI's own beat the link"),
        ({"seconds": 0.7e-6}, "compressed it beat the link"),
    ],
)
def test_what_is_not_right_has_no_figures(changes, words):
    row = row_of(**changes)
    assert not row.verified and words in row.note
    assert row.seconds is row.busbw is row.native_seconds is row.ratio is row.max_error is None


def test_ranks_that_share_a_link_have_no_rate_to_beat():
    assert row_of(nodes=2, native_seconds=1e-6).verified
    assert collective_rows.problems_of_rate(row_of(), None) == []


def test_raw_operations_and_refused_ones_say_why():
    row = row_of(reason="below the threshold", wire_bytes=12000, seconds=6e-6)
    assert row.verified and row.note == "raw: below the threshold" and row.ratio == 1
    refused = {name: value for name, value in LINE.items() if name.startswith("asked")}
    named = {name: LINE[name] for name in ("operation", "bytes", "ranks", "nodes", "memory")}
    lines = [refused | named | {"codec": "mpc", "error": "unsupported: there is no such schedule"}]
    sample = Sample("some", "f32", np.zeros(4, np.float32))
    kinds = dict.fromkeys(CollectiveSession.__annotations__) | {"data": sample}
    (row,) = make_rows(RatedLink(), CollectiveSession(**kinds), lines)
    assert not row.verified and "no such schedule" in row.note and row.algorithm == "planned"


@pytest.mark.multiproc
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_every_operation_is_verified(bench, program, dtype):
    words = ("--op", "all", "--size", "64KiB,256KiB", "--codec", "mpc", "--codec", "szp:abs=1e-3")
    path = program("collective")
    done = bench(*LOOPBACK, *words, "--dtype", dtype, "--program", path, "--json")
    assert done.exit_code == 0, done.stdout + done.stderr
    rows = json.loads(done.stdout)
    cases = [
        (op, codec, size)
        for op in operations()
        for size in (65536, 262144)
        for codec in ("mpc:stride=1", "szp:abs=0.001")
    ]
    assert [(row["op"], row["codec"], row["size"]) for row in rows] == cases
    for row in rows:
        assert row["verified"] and row["ranks"] == 3 and row["link"] == "loopback"
        assert row["speedup"] == pytest.approx(row["native_seconds"] / row["seconds"])
        assert row["min_seconds"] <= row["seconds"] <= row["max_seconds"]
        assert row["ratio"] > 1.2 and row["wrong"] == 0
        assert (row["max_error"] > 1e-5) == (row["codec"] != "mpc:stride=1")


@pytest.mark.multiproc
def test_sixteen_bit_values_of_a_file(bench, program, tmp_path):
    values = np.sin(np.arange(5000) / 100).astype(np.float16)
    values.tofile(tmp_path / "some.f16")
    words = ("--op", "bcast,alltoall", "--size", "128KiB", "--file", str(tmp_path / "some.f16"))
    path = program("collective")
    done = bench(*LOOPBACK, *words, "--codec", "expack", "--program", path, "--csv")
    assert done.exit_code == 0, done.stdout + done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["op"] for row in rows] == ["bcast", "alltoall"]
    for row in rows:
        assert row["verified"] == "True" and float(row["max_error"]) == 0
        assert row["data"] == "some.f16"


@pytest.mark.multiproc
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_sums_of_sixteen_bit_values(bench, program, tmp_path, dtype):
    values = np.sin(np.arange(5000) / 100).astype(np.float32)
    words = values.view(np.uint32) >> 16 if dtype == "bf16" else values.astype(np.float16)
    stored = words.astype(np.uint16) if dtype == "bf16" else words
    stored.tofile(tmp_path / f"some.{dtype}")
    words = ("--op", "all", "--size", "128KiB", "--file", str(tmp_path / f"some.{dtype}"))
    path = program("collective")
    done = bench(*LOOPBACK, *words, "--codec", "expack", "--program", path, "--json")
    assert done.exit_code == 0, done.stdout + done.stderr
    rows = json.loads(done.stdout)
    assert [row["op"] for row in rows] == list(operations())
    for row in rows:
        assert row["verified"] and row["wrong"] == 0 and row["note"] == ""
        reduces = row["op"] in ("reduce", "allreduce", "reduce-scatter")
        assert reduces or row["max_error"] == 0


@pytest.mark.multiproc
def test_algorithms_and_codings_are_rows_of_their_own(bench, program):
    words = ("--op", "bcast", "--algorithm", "chain,ring,binomial", "--coding", "once,per-hop")
    path = program("collective")
    done = bench(*LOOPBACK, *words, "--size", "256KiB", "--program", path, "--json")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert "skipped bcast ring per-hop: unsupported" in done.stderr
    rows = json.loads(done.stdout)
    assert [(row["algorithm"], row["coding"]) for row in rows] == [
        *(("chain", "once"), ("chain", "per-hop"), ("binomial", "once"), ("binomial", "per-hop"))
    ]


@pytest.mark.multiproc
def test_what_there_is_no_schedule_for_is_no_result(bench, program):
    words = ("--op", "bcast", "--algorithm", "pairwise", "--program", program("collective"))
    done = bench(*LOOPBACK, *words, "--size", "64KiB")
    assert done.exit_code == 1 and "NOT VERIFIED: unsupported" in done.stdout


@pytest.mark.multiproc
def test_raw_where_the_threshold_is_not_reached(bench, program):
    words = ("--op", "bcast", "--threshold", "1MiB", "--program", program("collective"))
    done = bench(*LOOPBACK, *words, "--size", "64KiB", "--json")
    assert done.exit_code == 0, done.stdout + done.stderr
    (row,) = json.loads(done.stdout)
    assert "below the threshold" in row["note"] and row["ratio"] <= 1 and row["max_error"] == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--op", "broadcast"), 2, "none of bcast"),
        (("--algorithm", "magic"), 2, "none of planned"),
        (("--size", "12"), 2, "no multiple of 8"),
        (("--root", "3"), 2, "no rank 3 of 3"),
        (("--data", "nothing"), 2, "none of wave"),
        (("--dtype", "bytes"), 2, "none of f32"),
        (("--memory", "disk"), 2, "not one of"),
        (("--program", "/nowhere/collective"), 1, "no collective program"),
        (("--program", "/bin/true"), 1, "shows no one MPI"),
    ],
)
def test_what_makes_no_sense_is_refused(bench, program, words, code, said):
    path = () if "--program" in words else ("--program", program("collective"))
    done = bench(*LOOPBACK, *words, *path)
    assert done.exit_code == code and said in done.stderr.replace("\n", " ")


@pytest.mark.multiproc
def test_a_program_that_fails_is_an_error(bench, program, monkeypatch):
    monkeypatch.setattr(collective, "transport_of", lambda program: "/nowhere/lib.so")
    path = program("collective")
    done = bench(*LOOPBACK, "--op", "bcast", "--size", "64KiB", "--program", path)
    assert done.exit_code == 1 and "/nowhere/lib.so" in done.stderr
    assert "NOT VERIFIED: failed" in done.stdout


@pytest.mark.parametrize("aware", [False, True])
def test_a_gpu_aware_mpi_gets_device_arrays_natively(aware, monkeypatch):
    monkeypatch.setattr(collective, "mpi_is_gpu_aware", lambda: aware)
    monkeypatch.setattr(collective, "transport_of", lambda program: program)
    kinds = dict.fromkeys(CollectiveSession.__annotations__, ())
    kinds |= {"data": Sample("some", "f32", np.zeros(4, np.float32)), "memory": "device"}
    words = collective._command(RatedLink(), CollectiveSession(**kinds), "bcast", "data.f32")
    assert words[words.index("--native") + 1] == ("device" if aware else "staged")
