import csv
import io
import json

import numpy as np
import pytest

from thinwire import codecs
from thinwire.bench.buffers import FrameBuffers

SMALL = ("codec", "--device", "cpu", "--size", "256KiB", "--runs", "2")


def test_every_codec_of_the_registry_is_measured_and_verified(bench):
    done = bench(*SMALL, "--json")
    rows = json.loads(done.stdout)
    assert done.exit_code == 0, done.stdout + done.stderr
    on_cpu = {row.name for row in codecs() if not row.gpu_only}
    assert {row["codec"].partition(":")[0] for row in rows} == on_cpu
    assert {"zfp:rate=8", "zfp:rate=16"} <= {row["codec"] for row in rows}
    for row in rows:
        assert row["verified"] and row["bytes"] == 256 * 1024
        assert row["encode_gb_per_second"] > 0 and row["decode_gb_per_second"] > 0


def test_figures_are_those_of_the_codec(bench):
    rows = json.loads(bench(*SMALL, "--codec", "raw", "--codec", "zfp:rate=8", "--json").stdout)
    by_name = {(row["codec"], row["data"]): row for row in rows}
    assert by_name["raw", "random"]["max_error"] == 0
    assert by_name["raw", "random"]["ratio"] == pytest.approx(1, rel=2e-3)
    assert by_name["zfp:rate=8", "random"]["ratio"] == pytest.approx(4, rel=2e-2)
    smooth, random = (by_name["zfp:rate=8", data]["max_error"] for data in ("smooth", "random"))
    assert 0 < smooth < random < 2


def test_csv_has_a_line_per_row(bench):
    done = bench(*SMALL, "--codec", "zfp:rate=16", "--csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["data"] for row in rows] == ["smooth", "random"]
    assert all(row["verified"] == "True" and float(row["ratio"]) > 1.9 for row in rows)


def test_files_are_taken_by_their_suffix_and_others_named(bench, tmp_path, monkeypatch):
    np.linspace(0, 1, 40000, dtype=np.float32).tofile(tmp_path / "line.f32")
    np.linspace(0, 1, 4000, dtype=np.float16).tofile(tmp_path / "line.f16")
    (tmp_path / "odd.f32").write_bytes(b"12345")
    (tmp_path / "picture.png").write_bytes(b"1234")
    monkeypatch.setenv("THINWIRE_DATA", str(tmp_path))
    done = bench(*SMALL, "--codec", "zfp:rate=16", "--json")
    assert done.exit_code == 0
    assert [row["data"] for row in json.loads(done.stdout)] == ["smooth", "random", "line.f32"]
    for name in ("line.f16", "odd.f32", "picture.png"):
        assert f"skipped {name}" in done.stderr


def test_values_that_a_codec_declines_go_raw_and_say_so(bench, tmp_path):
    values = np.ones(40000, np.float32)
    values[123] = np.nan
    values.tofile(tmp_path / "nan.f32")
    words = ("--codec", "zfp:rate=16", "--data", str(tmp_path / "nan.f32"), "--json")
    row = json.loads(bench(*SMALL, *words).stdout)[-1]
    assert row["verified"] and row["note"] == "went raw" and row["max_error"] == 0


def flip_a_bit(buffers: FrameBuffers) -> None:
    buffers.decoded[17] ^= 1


def lose_the_tail(buffers: FrameBuffers) -> None:
    buffers.decoded[-4:] = 0xFF


@pytest.mark.parametrize(
    ("spec", "harm", "reason"),
    [
        ("raw", flip_a_bit, "not what went in"),
        ("zfp:rate=16", lose_the_tail, "NaN or infinity"),
    ],
)
def test_a_wrong_decode_is_caught(bench, monkeypatch, spec, harm, reason):
    decode = FrameBuffers.decode

    def wrong(self: FrameBuffers) -> None:
        decode(self)
        harm(self)

    monkeypatch.setattr(FrameBuffers, "decode", wrong)
    done = bench(*SMALL, "--codec", spec, "--json")
    assert done.exit_code == 1
    for row in json.loads(done.stdout):
        assert not row["verified"] and reason in row["note"]
        assert row["encode_gb_per_second"] is row["ratio"] is row["max_error"] is None


def test_a_decoder_that_leaves_values_out_is_caught(bench, monkeypatch):
    monkeypatch.setattr(FrameBuffers, "decode", lambda self: None)
    done = bench(*SMALL, "--codec", "zfp:rate=16", "--json")
    assert done.exit_code == 1
    assert not any(row["verified"] for row in json.loads(done.stdout))


def test_an_encoder_that_changes_its_mind_is_caught(bench, monkeypatch):
    encode, calls = FrameBuffers.encode, []

    def wrong(self: FrameBuffers) -> None:
        encode(self)
        calls.append(1)
        self.frame[-1] = len(calls) % 251

    monkeypatch.setattr(FrameBuffers, "encode", wrong)
    # The checksum would stop the real one before the frames are compared.
    monkeypatch.setattr(FrameBuffers, "decode", lambda self: None)
    done = bench(*SMALL, "--codec", "zfp:rate=16", "--json")
    assert done.exit_code == 1
    assert all("different bytes" in row["note"] for row in json.loads(done.stdout))


@pytest.mark.parametrize("words", [("--codec", "auto"), ("--dtype", "f12")])
def test_what_cannot_be_measured_is_refused(bench, words):
    assert bench("codec", *words).exit_code == 2
