"""The 3-D FFT: it is numpy's, on any number of ranks, and what codecs lose is what it reports."""

import numpy as np
import pytest

pytestmark = pytest.mark.multiproc

SMALL = ("--size", 32, "--repeat", 1)


def cube(path, size=32):
    return np.fromfile(path, np.complex64).reshape(size, size, size)


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_the_transform_is_numpys(fft, tmp_path, ranks):
    files = ("--field", tmp_path / "field", "--spectrum", tmp_path / "spectrum")
    line = fft.figures(ranks, *SMALL, *files)
    spectrum = cube(tmp_path / "spectrum")
    exact = np.fft.fftn(cube(tmp_path / "field").astype(np.complex128))
    assert np.linalg.norm(spectrum - exact) < 1e-6 * np.linalg.norm(exact)
    assert line["error"] < 1e-6 and line["field_error"] < 3e-6
    # A field of mean square 1 whose energy is gone above a third of the wave numbers.
    assert np.mean(np.abs(cube(tmp_path / "field")) ** 2) == pytest.approx(1, rel=0.2)
    assert np.abs(spectrum[11:22]).max() < 1e-5 * np.abs(spectrum).max()


def test_no_bit_depends_on_the_number_of_ranks(fft, tmp_path):
    spectra = []
    for ranks in (1, 2, 4):
        fft.figures(ranks, *SMALL, "--spectrum", tmp_path / "spectrum")
        spectra.append(cube(tmp_path / "spectrum").tobytes())
    assert spectra[0] == spectra[1] == spectra[2]


def test_messages_are_those_of_the_algorithm(fft):
    line = fft.figures(4, *SMALL, "--repeat", 3)
    # There and back; each rank keeps a quarter of its part.
    assert line["calls"] == 6
    assert line["bytes_sent"] == 6 * 32**3 * 8 * 3 // 4
    assert 0 < line["comm_share"] < 1 and line["forward_seconds"] > 0


def test_without_loss_the_spectrum_stays(fft):
    plain = fft.figures(2, *SMALL)
    ended = fft.run(2, *SMALL, codec="mpc")
    assert ended.code == 0, ended.errors
    assert ended.line["checksum"] == plain["checksum"]
    assert ended.line["field_error"] == plain["field_error"]
    assert ended.shim["collectives"]["compressed"] > 0


@pytest.mark.parametrize(
    ("codec", "least", "most"),
    [("zfp:rate=16", 1e-5, 1e-2), ("szp:rel=1e-4", 1e-6, 2e-2), ("zfp:rate=4", 0.1, 2)],
)
def test_what_is_lost_is_reported(fft, tmp_path, codec, least, most):
    fft.figures(2, *SMALL, "--spectrum", tmp_path / "exact")
    line = fft.figures(2, *SMALL, "--spectrum", tmp_path / "lossy", codec=codec)
    exact, lossy = cube(tmp_path / "exact"), cube(tmp_path / "lossy")
    error = np.linalg.norm(lossy - exact) / np.linalg.norm(exact)
    assert least < line["error"] < most
    assert line["error"] == pytest.approx(error, rel=1e-2)
    assert line["field_error"] > least


@pytest.mark.parametrize(
    ("ranks", "options", "words"),
    [
        (3, ["--size", "32"], "--size 32 does not divide into slabs for 3 ranks"),
        (2, ["--size", "2"], "--size takes an integer"),
        (1, ["--staging"], "--staging is for --device gpu or auto"),
        (1, ["--field", "/nowhere/field"], "cannot write /nowhere/field"),
    ],
)
def test_what_cannot_be_done_is_said(fft, ranks, options, words):
    assert words in fft.refusal(ranks, *options)


@pytest.mark.gpu
def test_gpu_pointers_through_the_library_give_what_staging_gives(fft):
    if fft.figures(2, *SMALL, "--device", "auto", "--staging")["device"] == "cpu":
        pytest.skip("no GPU on this machine, or none in this build")
    staged = fft.figures(2, *SMALL, "--device", "gpu", "--staging")
    direct = fft.figures(2, *SMALL, "--device", "gpu", codec="mpc")
    assert staged["transforms"] == "cufft" and staged["error"] < 1e-6
    assert direct["checksum"] == staged["checksum"]
