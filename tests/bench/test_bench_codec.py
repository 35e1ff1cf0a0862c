import csv
import io
import json

import numpy as np
import pytest

from thinwire import Codec, codecs
from thinwire.bench.buffers import FrameBuffers

SMALL = ("codec", "--device", "cpu", "--size", "128KiB", "--runs", "2")
RECIPES = {
    ("wave", "f32"),
    ("wave", "f64"),
    ("wave-zeros", "f32"),
    ("turb", "f32"),
    ("gradients", "f32"),
    ("gradients", "bf16"),
    ("repetitive", "f32"),
    ("random", "f32"),
}

pytestmark = pytest.mark.usefixtures("small_cubes")


def test_every_codec_of_the_registry_is_measured_and_verified(bench):
    done = bench(*SMALL, "--json")
    rows = json.loads(done.stdout)
    assert done.exit_code == 0, done.stdout + done.stderr
    wanted = {dtype for _, dtype in RECIPES}
    taken = {row.name for row in codecs() if wanted & {*row.dtypes} and not row.gpu_only}
    assert {row["codec"].partition(":")[0] for row in rows} - {"auto"} == taken
    assert {"zfp:rate=8", "zfp:rate=16"} <= {row["codec"] for row in rows}
    assert {(row["data"], row["dtype"]) for row in rows} <= RECIPES
    for row in rows:
        assert row["verified"] and row["bytes"] == 128 * 1024
        assert row["encode_gb_per_second"] > 0 and row["decode_gb_per_second"] > 0


def test_auto_says_what_it_chose_and_is_for_the_cpu(bench):
    if not Codec("auto").ids:
        pytest.skip("auto has nothing to choose among in this build")
    rows = json.loads(bench(*SMALL, "--codec", "auto", "--json").stdout)
    by_name = {(row["data"], row["dtype"], row["shape"]): row for row in rows}
    assert by_name["random", "f32", "32768"]["note"] == "went raw"
    chosen = by_name["wave-zeros", "f32", "32768"]["note"].partition(":")[0]
    assert chosen in {row.name for row in codecs() if row.lossless and row.name != "raw"}
    done = bench("codec", "--device", "gpu", "--codec", "auto")
    assert done.exit_code == 2 and "no one codec" in done.stderr


def test_each_recipe_can_be_had_in_one_dtype(bench):
    words = ("--codec", "zfp:rate=16", "--dtype", "f64", "--json")
    rows = json.loads(bench(*SMALL, *words).stdout)
    assert {(row["data"], row["dtype"]) for row in rows} == {(name, "f64") for name, _ in RECIPES}


def test_a_codec_of_volumes_gets_the_volume_and_the_line(bench):
    rows = json.loads(bench(*SMALL, "--codec", "zfp:rate=8", "--json").stdout)
    waves = [row for row in rows if (row["data"], row["dtype"]) == ("wave", "f32")]
    assert [row["shape"] for row in waves] == ["32768", "8x64x64"]
    assert waves[0]["max_error"] > waves[1]["max_error"] > 0


def test_figures_are_those_of_the_codec(bench, tmp_path):
    np.random.default_rng(1).standard_normal(32768).astype(np.float32).tofile(tmp_path / "n.f32")
    words = ("--codec", "raw", "--codec", "zfp:rate=8", "--file", str(tmp_path / "n.f32"))
    raw, zfp = json.loads(bench(*SMALL, *words, "--json").stdout)
    assert raw["max_error"] == 0 and raw["psnr"] is None
    assert raw["ratio"] == pytest.approx(1, rel=2e-3)
    assert zfp["ratio"] == pytest.approx(4, rel=2e-2)
    assert 0 < zfp["max_error"] < 2 and 20 < zfp["psnr"] < 100
    assert zfp["error_over_bound"] is None and 6 < zfp["range"] < 12


def test_a_file_is_taken_in_the_dtype_and_shape_that_are_said(bench, tmp_path):
    np.sin(np.arange(4096) / 9).astype(np.float64).tofile(tmp_path / "field.dat")
    words = ("--codec", "zfp:rate=16", "--file", str(tmp_path / "field.dat"), "--dtype", "f64")
    rows = json.loads(bench(*SMALL, *words, "--shape", "16x16x16", "--json").stdout)
    assert [(row["dtype"], row["shape"]) for row in rows] == [("f64", "4096"), ("f64", "16x16x16")]
    wrong = bench(*SMALL, *words, "--shape", "16x16x17", "--json")
    assert wrong.exit_code == 1 and "do not have the shape" in wrong.stderr
    assert bench(*SMALL, *words, "--shape", "16xmany").exit_code == 2
    assert bench(*SMALL, "--shape", "16x16").exit_code == 2


def test_more_axes_than_a_codec_takes_become_fewer(bench, tmp_path):
    np.sin(np.arange(4096) / 9).astype(np.float32).tofile(tmp_path / "field.f32")
    words = ("--codec", "zfp:rate=16", "--file", str(tmp_path / "field.f32"))
    rows = json.loads(bench(*SMALL, *words, "--shape", "4x4x16x16", "--json").stdout)
    assert [row["shape"] for row in rows] == ["4096", "16x16x16"]


def test_csv_has_a_line_per_row(bench):
    done = bench(*SMALL, "--codec", "zfp:rate=16", "--csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert {row["data"] for row in rows} == {name for name, _ in RECIPES}
    assert all(row["verified"] == "True" and float(row["ratio"]) > 0.99 for row in rows)


def test_files_are_taken_by_their_suffix_and_others_named(bench, tmp_path, monkeypatch):
    np.linspace(0, 1, 40000, dtype=np.float32).tofile(tmp_path / "line.f32")
    np.linspace(0, 1, 4000, dtype=np.float16).tofile(tmp_path / "line.f16")
    (tmp_path / "odd.f32").write_bytes(b"12345")
    (tmp_path / "picture.png").write_bytes(b"1234")
    monkeypatch.setenv("THINWIRE_DATA", str(tmp_path))
    done = bench(*SMALL, "--codec", "zfp:rate=16", "--json")
    assert done.exit_code == 0
    assert [row["data"] for row in json.loads(done.stdout)][-1] == "line.f32"
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
        assert not row["verified"] and (reason in row["note"] or row["data"] == "random")
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


@pytest.mark.parametrize("words", [("--codec", "off"), ("--dtype", "f12")])
def test_what_cannot_be_measured_is_refused(bench, words):
    assert bench("codec", *words).exit_code == 2
