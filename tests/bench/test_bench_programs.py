import csv
import io
import json
import os

import numpy as np
import pytest

from thinwire.bench import p2p_rows
from thinwire.bench.programs import clean_environment
from thinwire.bench.specs import Error

pytestmark = pytest.mark.multiproc

LOOPBACK = ("p2p", "--loopback", "--iterations", "3", "--rounds", "1")


def test_p2p_verifies_what_was_sent_under_each_codec(bench, program):
    words = ("--sizes", "16KiB,64KiB,256KiB", "--codec", "zfp:rate=8", "--codec", "zfp:rate=16")
    done = bench(*LOOPBACK, *words, "--program", program("p2p"), "--json")
    assert done.exit_code == 0, done.stdout + done.stderr
    rows = json.loads(done.stdout)
    assert [(row["codec"], row["bytes"]) for row in rows] == [
        (codec, size) for codec in ("zfp:rate=8", "zfp:rate=16") for size in (16384, 65536, 262144)
    ]
    for row in rows:
        assert row["verified"] and row["link"] == "loopback"
        assert row["speedup"] == pytest.approx(row["native_seconds"] / row["codec_seconds"])
        compressed = row["bytes"] >= 65536
        assert (row["ratio"] > 1.9) == compressed and (row["max_error"] > 0) == compressed
        assert ("below the threshold" in row["note"]) != compressed


def test_p2p_sends_the_values_of_a_file_over_and_over(bench, program, tmp_path):
    values = np.random.default_rng(3).standard_normal(1000).astype(np.float32)
    values.tofile(tmp_path / "some.f32")
    words = ("--sizes", "64KiB", "--codec", "zfp:rate=16", "--data", str(tmp_path / "some.f32"))
    done = bench(*LOOPBACK, *words, "--program", program("p2p"), "--csv")
    assert done.exit_code == 0, done.stdout + done.stderr
    (row,) = csv.DictReader(io.StringIO(done.stdout))
    assert row["verified"] == "True" and float(row["max_error"]) > 1e-4


def test_p2p_catches_values_that_the_codec_does_not_make(bench, program, monkeypatch):
    # The wrong expectation stands for a wrong arrival: nothing else tells them apart.
    import thinwire.bench.expected as expected

    wrong = Error(largest=1e-9, range=1, psnr=None, bound=None)
    monkeypatch.setattr(expected, "error_of", lambda spec, sample, decoded: wrong)
    words = ("--sizes", "64KiB", "--codec", "zfp:rate=16", "--program", program("p2p"))
    done = bench(*LOOPBACK, *words, "--json")
    assert done.exit_code == 1
    (row,) = json.loads(done.stdout)
    assert not row["verified"] and "where the codec makes 1e-09" in row["note"]
    assert row["codec_seconds"] is row["speedup"] is None


def test_p2p_without_the_shim_at_work_is_no_result(bench, program, monkeypatch):
    import thinwire.bench.p2p as p2p

    real = p2p.under_shim
    monkeypatch.setattr(
        p2p, "under_shim", lambda spec, report, options, command: real("off", report, [], command)
    )
    words = ("--sizes", "64KiB", "--codec", "zfp:rate=16", "--program", program("p2p"))
    done = bench(*LOOPBACK, *words)
    assert done.exit_code == 1 and "0 messages were compressed" in done.stdout


@pytest.mark.alone
@pytest.mark.parametrize("options", [(), ("--threads",), ("--threads", "--same-node")])
def test_overhead_compares_the_same_messages(bench, program, options):
    words = ("--alternations", "2", "--batches", "20", "--program", program("overhead"))
    done = bench("overhead", *words, *options, "--json")
    assert done.exit_code == 0, done.stdout + done.stderr
    rows = json.loads(done.stdout)
    assert [row["bytes"] for row in rows] == [4, 64, 1024, 16368]
    for row in rows:
        assert row["verified"] and row["messages"] == 2 * (20 + 20) * 200
        added = row["shim_nanoseconds"] - row["native_nanoseconds"]
        assert row["added_nanoseconds"] == pytest.approx(added)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--sizes", "8"), 2),
        (("--sizes", "65537"), 2),
        (("--codec", "off"), 2),
        (("--program", "/nowhere/p2p"), 1),
        (("--link", "fast"), 2),
    ],
)
def test_p2p_refuses_what_makes_no_sense(bench, program, words, code):
    program = () if "--program" in words else ("--program", program("p2p"))
    assert bench("p2p", *words, *program).exit_code == code


def test_a_native_run_has_nothing_of_the_shim(monkeypatch):
    monkeypatch.setenv("THINWIRE_CODEC", "zfp:rate=8")
    monkeypatch.setenv("THINWIRE_LIBRARY_DIR", "/somewhere")
    monkeypatch.setenv("LD_PRELOAD", "/somewhere/libthinwire_mpi_openmpi.so")
    found = clean_environment()
    assert "THINWIRE_CODEC" not in found and "LD_PRELOAD" not in found
    assert found["THINWIRE_LIBRARY_DIR"] == "/somewhere" and found["PATH"] == os.environ["PATH"]


def test_reports_that_do_not_add_up_are_named():
    runs = p2p_rows.Runs([{65536: {"messages": 8}}], [{}])
    expected = {65536: p2p_rows.Expected(compressed=True, identical=False)}
    sound = {"compressed_messages": 8, "decoded_messages": 8, "damaged_messages": 0}
    for change, count in (({}, 0), ({"decoded_messages": 7}, 1), ({"damaged_messages": 1}, 1)):
        runs.reports[0] = sound | change
        assert len(p2p_rows.problems_of_reports(runs, expected)) == count
