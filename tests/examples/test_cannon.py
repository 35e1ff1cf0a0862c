"""Cannon's matrix product: the product is right, and compression without loss leaves it alone."""

import numpy as np
import pytest

pytestmark = pytest.mark.multiproc

MASK = (1 << 64) - 1


def mix(value):
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB & MASK
    return value ^ (value >> 31)


def checksum_of_product(product, side):
    """What the program prints for this fp64 product, computed from the definition."""
    total = 0
    rows = product.shape[0] // side
    for rank in range(side * side):
        row, column = divmod(rank, side)
        block = product[row * rows : (row + 1) * rows, column * rows : (column + 1) * rows]
        words = np.ascontiguousarray(block).view(np.uint64).ravel()
        own = mix(8 * words.size + 1)
        for word in words:
            own = mix((own + int(word) + 1) & MASK)
        total += mix((own + mix(rank + 1)) & MASK)
    return f"{total & MASK:016x}"


@pytest.mark.parametrize("ranks", [1, 4, 9])
def test_the_product_is_numpys(cannon, tmp_path, ranks):
    """Of whole numbers, so that every order of additions gives the same bits."""
    size, side = 24, round(ranks**0.5)
    values = np.random.default_rng(1).integers(-9, 10, 500).astype(np.float64)
    values.tofile(tmp_path / "whole.f64")
    a = np.resize(values, (size, size))
    b = np.resize(np.roll(values, -250), (size, size))
    options = ("--size", size, "--matrix", tmp_path / "whole.f64")
    line = cannon.figures(ranks, *options)
    assert line["verified"] and line["error"] == 0
    assert line["checksum"] == checksum_of_product(a @ b, side)


@pytest.mark.parametrize("precision", ["fp32", "fp64"])
@pytest.mark.parametrize("matrix", ["kernel", "random"])
def test_generated_matrices_are_multiplied_within_rounding(cannon, precision, matrix):
    line = cannon.figures(4, "--size", 192, "--precision", precision, "--matrix", matrix)
    epsilon = np.finfo(np.float32 if precision == "fp32" else np.float64).eps
    assert line["verified"] and 0 < line["error"] <= line["tolerance"]
    assert line["tolerance"] == pytest.approx(192 * epsilon)


def test_messages_are_those_of_the_algorithm(cannon):
    line = cannon.figures(9, "--size", 48, "--repeat", 2)
    # For A, six ranks in the skew and nine in each of two steps; for B the same.
    assert line["messages_sent"] == 2 * 2 * (6 + 2 * 9)
    assert line["bytes_sent"] == line["messages_sent"] * 16 * 16 * 8
    parts = [line[f"{part}_seconds"] for part in ("comm", "compute", "wait")]
    assert min(parts) > 0 and max(parts) <= line["seconds"] * 1.001
    assert 0 < line["least_comm_seconds"] <= line["most_comm_seconds"]
    assert line["comm_seconds"] <= line["most_comm_seconds"] * 1.001


@pytest.mark.parametrize(("precision", "codec"), [("fp64", "mpc"), ("fp32", "lorenzo")])
def test_without_loss_every_block_shrinks_and_the_product_stays(cannon, precision, codec):
    options = ("--size", 512, "--precision", precision)
    plain = cannon.figures(4, *options)
    ended = cannon.run(4, *options, codec=codec)
    assert ended.code == 0, ended.errors
    assert ended.line["verified"] and ended.line["checksum"] == plain["checksum"]
    # In the product that does not count too.
    assert ended.shim["compressed_messages"] == ended.shim["messages"] == 24
    assert ended.shim["bytes"] >= 2 * ended.shim["wire_bytes"]


@pytest.mark.parametrize("precision", ["fp32", "fp64"])
def test_random_blocks_stay_as_they_are(cannon, precision):
    options = ("--size", 256, "--precision", precision, "--matrix", "random")
    plain = cannon.figures(4, *options)
    ended = cannon.run(4, *options, codec="mpc")
    assert ended.code == 0, ended.errors
    assert ended.line["checksum"] == plain["checksum"]
    assert ended.shim["wire_bytes"] == pytest.approx(ended.shim["bytes"], rel=0.01)


def test_loss_is_found(cannon):
    options = ("--size", 256, "--precision", "fp32")
    ended = cannon.run(4, *options, codec="zfp:rate=4")
    assert ended.code == 1 and not ended.line["verified"]
    assert ended.line["error"] > ended.line["tolerance"]
    accepted = cannon.figures(4, *options, "--tolerance", 1e-3, codec="zfp:rate=4")
    assert accepted["verified"] and accepted["error"] == ended.line["error"]


@pytest.mark.parametrize(
    ("ranks", "options", "words"),
    [
        (2, [], "2 ranks make no square"),
        (4, ["--size", "7"], "--size must be a multiple of 2"),
        (4, ["--size", "x"], "--size takes an integer"),
        (1, ["--precision", "fp16"], "--precision takes fp32 or fp64"),
        (1, ["--length", "0"], "--length takes a number"),
        (1, ["--fast"], "unknown option: --fast"),
        (1, ["--matrix"], "missing value: --matrix"),
        (1, ["--staging"], "--staging is for --device gpu or auto"),
        (1, ["--matrix", "/nowhere.f64"], "cannot read /nowhere.f64"),
    ],
)
def test_what_cannot_be_done_is_said(cannon, ranks, options, words):
    assert words in cannon.refusal(ranks, *options)


@pytest.mark.parametrize(
    ("values", "words"),
    [(np.zeros(0), "has 0 bytes"), (np.zeros(3, np.uint8), "3 bytes"), ([np.nan], "holds NaN")],
)
def test_files_that_are_no_matrix_are_refused(cannon, tmp_path, values, words):
    np.asarray(values).tofile(tmp_path / "odd.f64")
    assert words in cannon.refusal(1, "--matrix", tmp_path / "odd.f64")


def test_auto_computes_on_gpus_or_as_the_cpu(cannon):
    line = cannon.figures(4, "--size", 64, "--device", "auto", "--staging")
    assert line["verified"] and line["device"] in ("cpu", "gpu")
    assert line["staging"] == (line["device"] == "gpu")
    assert (line["multiplier"] == "cublas") == (line["device"] == "gpu")


@pytest.mark.gpu
@pytest.mark.parametrize("codec", ["off", "mpc"])
def test_gpu_pointers_through_the_library_give_what_staging_gives(cannon, codec):
    options = ("--size", 256, "--device")
    if cannon.figures(4, *options, "auto", "--staging")["device"] == "cpu":
        pytest.skip("no GPU on this machine, or none in this build")
    staged = cannon.figures(4, *options, "gpu", "--staging")
    direct = cannon.figures(4, *options, "gpu", codec=codec)
    assert direct["verified"] and not direct["staging"]
    assert direct["checksum"] == staged["checksum"]
