"""The wave program's choice of device, and, where there are GPUs, that they compute the same."""

import json

import numpy as np
import pytest

from thinwire.demo.links import Loopback
from thinwire.demo.runs import thinwire_command

pytestmark = pytest.mark.multiproc

GRID = ["--nx", "72", "--ny", "50", "--nz", "43", "--steps", "60", "--gather-every", "25"]
OPTIONS = [*GRID, "--shots", "3"]


def start(loopback, wave, ranks, *options):
    return loopback.run(["mpirun", "-n", str(ranks), str(wave), *OPTIONS, *options], {})


def solve(loopback, wave, path, ranks, *options):
    """The program's line and its field."""
    done = start(loopback, wave, ranks, *options, "--output", str(path))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1]), np.fromfile(path, np.uint32)


@pytest.fixture(scope="session")
def no_gpu(wave):
    """Why the program cannot use a GPU here; empty where it can."""
    words = ["--nx", "16", "--ny", "16", "--nz", "16", "--steps", "1"]
    command = ["mpirun", "-n", "1", str(wave), "--device", "gpu", "--staging", *words]
    done = Loopback().run(command, {})
    lines = [line for line in done.stderr.splitlines() if line.startswith("wave: ")]
    assert (done.returncode == 0) == (not lines), done.stderr
    return lines[0] if lines else ""


def test_gpu_is_refused_in_a_sentence_where_there_is_none(loopback, wave, no_gpu):
    if not no_gpu:
        pytest.skip("this machine has a GPU")
    done = start(loopback, wave, 2, "--device", "gpu")
    assert done.returncode == 2 and no_gpu.startswith("wave: --device gpu: ")
    assert no_gpu in done.stderr and not done.stdout.startswith("{")


def test_auto_without_a_gpu_is_the_cpu(loopback, wave, no_gpu, tmp_path):
    if not no_gpu:
        pytest.skip("this machine has a GPU")
    _, expected = solve(loopback, wave, tmp_path / "cpu.f32", 2)
    line, field = solve(loopback, wave, tmp_path / "auto.f32", 2, "--device", "auto", "--staging")
    assert (line["device"], line["staging"]) == ("cpu", False)
    assert np.array_equal(field, expected)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--device", "tpu"], "--device takes cpu, gpu or auto"),
        (["--device"], "missing value: --device"),
        (["--staging"], "--staging is for --device gpu or auto"),
        (["--device", "cpu", "--staging"], "--staging is for --device gpu or auto"),
    ],
)
def test_device_options_are_checked(loopback, wave, options, words):
    done = start(loopback, wave, 1, *options)
    assert done.returncode == 2 and words in done.stderr


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_gpu_and_cpu_agree_bit_for_bit(loopback, wave, no_gpu, tmp_path, ranks):
    if no_gpu:
        pytest.skip(no_gpu)
    _, expected = solve(loopback, wave, tmp_path / "cpu.f32", 1)
    options = ("--device", "gpu", "--staging")
    line, field = solve(loopback, wave, tmp_path / "gpu.f32", ranks, *options)
    assert (line["device"], line["staging"]) == ("gpu", True)
    assert expected.any() and np.array_equal(field, expected)


@pytest.mark.parametrize("codec", ["off", "mpc"])
def test_gpu_pointers_through_the_shim_agree_too(loopback, wave, no_gpu, tmp_path, codec):
    if no_gpu:
        pytest.skip(no_gpu)
    _, expected = solve(loopback, wave, tmp_path / "cpu.f32", 1)
    options = ["--codec", codec, "--same-node", "--threshold", "4KiB"]
    program = ["mpirun", "-n", "2", str(wave), *OPTIONS, "--device", "gpu"]
    command = [*thinwire_command(), "run", *options, "--", *program]
    done = loopback.run([*command, "--output", str(tmp_path / "gpu.f32")], {})
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.fromfile(tmp_path / "gpu.f32", np.uint32), expected)
