"""Image stacking: the stack, what is said of its quality, and that all ranks hold the same."""

import math

import numpy as np
import pytest

pytestmark = pytest.mark.multiproc

SMALL = ("--shape", "12x40x50", "--repeat", 2)


def image_file(path, values):
    np.asarray(values, np.float32).tofile(path)
    return path


def test_whole_numbers_add_up_exactly(stacking, tmp_path):
    values = np.random.default_rng(1).integers(-99, 100, 600)
    image = image_file(tmp_path / "whole.f32", values)
    line = stacking.figures(4, "--image", image, "--shape", "30x20", "--noise", 0)
    assert line["max_error"] == line["nrmse"] == 0 and line["psnr"] is None
    assert line["range"] == 4 * (values.max() - values.min())


def test_quality_is_that_of_the_definition(stacking, tmp_path):
    """Three equal images: their sum in fp32 is known, whatever the order of the additions."""
    image = np.random.default_rng(2).normal(size=600).astype(np.float32)
    options = ("--image", image_file(tmp_path / "image.f32", image), "--noise", 0)
    line = stacking.figures(3, *options, "--shape", "6x100")
    exact = 3 * image.astype(np.float64)
    error = (image + image) + image - exact
    spread = exact.max() - exact.min()
    rmse = math.sqrt(np.mean(error**2))
    assert line["range"] == pytest.approx(spread)
    assert line["max_error"] == pytest.approx(np.abs(error).max())
    assert line["nrmse"] == pytest.approx(rmse / spread)
    assert line["psnr"] == pytest.approx(20 * math.log10(spread / rmse))


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_all_ranks_hold_one_stack(stacking, ranks):
    line = stacking.figures(ranks, *SMALL)
    assert line["identical"] and line["bytes"] == 12 * 40 * 50 * 4
    # fp32 rounds each of a few additions, of values within the range.
    assert line["max_error"] <= 4 * 2.0**-24 * 2 * line["range"]
    assert 0 < line["least_seconds"] <= line["seconds"]


def test_a_short_file_is_repeated_and_an_aperture_leaves_zeros(stacking, tmp_path):
    ones = image_file(tmp_path / "ones.f32", np.ones(7))
    options = ("--image", ones, "--shape", "20x9", "--noise", 0)
    assert stacking.figures(2, *options)["range"] == 0
    assert stacking.figures(2, *options, "--aperture", 0.3)["range"] == 1


def test_noise_is_each_ranks_own(stacking):
    """Seen in the range: noise that all ranks shared would add up, their own averages out."""
    quiet = stacking.figures(4, *SMALL, "--noise", 0)
    noisy = stacking.figures(4, *SMALL, "--noise", 0.5)
    # Four times a normal deviate of the same standard deviation, and twice.
    assert 1.5 * quiet["range"] < noisy["range"] < 2.5 * quiet["range"]
    assert noisy["checksum"] != quiet["checksum"]


def test_auto_leaves_the_sum_alone(stacking):
    """Reductions stay the MPI's own under `auto`, bit for bit."""
    plain = stacking.figures(4, *SMALL)
    ended = stacking.run(4, *SMALL, codec="auto", link="100mbit")
    assert ended.code == 0, ended.errors
    assert ended.shim is not None and ended.line["checksum"] == plain["checksum"]


@pytest.mark.parametrize("codec", ["mpc", "lorenzo"])
def test_lossless_codecs_change_the_order_of_additions_at_most(stacking, codec):
    line = stacking.figures(4, *SMALL, codec=codec)
    assert line["identical"] and line["max_error"] <= 4 * 2.0**-24 * 2 * line["range"]


@pytest.mark.parametrize("shape", ["", ",shape=12x40x50"])
@pytest.mark.parametrize(
    ("bound", "largest"),
    [
        ("allreduce-abs=1e-3", 1e-3),
        # Each coding may add that much: at most two for every rank.
        ("abs=1e-3", 8e-3),
    ],
)
def test_a_bound_holds_for_the_stack(stacking, bound, largest, shape):
    line = stacking.figures(4, *SMALL, codec=f"szp:{bound}{shape}")
    assert line["identical"] and line["max_error"] <= largest
    assert line["psnr"] >= 20 * math.log10(line["range"] / largest)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--shape", "3x0x2"], "--shape takes extents"),
        (["--shape", "3x"], "--shape takes extents"),
        (["--shape", "70000x70000"], "fewer than 2^31 values"),
        (["--shape", "99999999999x99999999999"], "--shape takes extents"),
        (["--aperture", "0"], "--aperture must lie above 0"),
        (["--aperture", "1.5"], "--aperture must lie above 0"),
        (["--noise", "-1"], "--noise takes a number"),
        (["--repeat", "0"], "--repeat takes an integer"),
        (["--staging"], "--staging is for --device gpu or auto"),
        (["--image", "/nowhere.f32"], "cannot read /nowhere.f32"),
    ],
)
def test_what_cannot_be_done_is_said(stacking, options, words):
    assert words in stacking.refusal(2, *options)


def test_auto_stacks_on_gpus_or_as_the_cpu(stacking):
    plain = stacking.figures(4, *SMALL)
    line = stacking.figures(4, *SMALL, "--device", "auto", "--staging")
    assert line["staging"] == (line["device"] == "gpu")
    assert line["identical"] and line["checksum"] == plain["checksum"]


@pytest.mark.gpu
def test_gpu_pointers_through_the_library_give_what_staging_gives(stacking):
    if stacking.figures(4, *SMALL, "--device", "auto", "--staging")["device"] == "cpu":
        pytest.skip("no GPU on this machine, or none in this build")
    staged = stacking.figures(4, *SMALL, "--device", "gpu", "--staging")
    direct = stacking.figures(4, *SMALL, "--device", "gpu", codec="off")
    assert direct["identical"] and direct["checksum"] == staged["checksum"]
