import json

import numpy as np
import pytest

from thinwire.demo.links import Loopback
from thinwire.demo.runs import DemoError, Size, find_wave, run_wave, thinwire_command

pytestmark = pytest.mark.multiproc

SMALL = ["--nx", "72", "--ny", "64", "--nz", "40", "--gather-every", "40"]


def with_steps(steps):
    return [*SMALL, "--steps", str(steps)]


def solve(loopback, wave, path, ranks, options):
    done = loopback.run(
        ["mpirun", "-n", str(ranks), str(wave), *options, "--output", str(path)], {}
    )
    assert done.returncode == 0, done.stderr
    line = json.loads(done.stdout.strip().splitlines()[-1])
    return line, np.fromfile(path, dtype=np.float32).reshape(line["grid"])


def test_field_does_not_depend_on_the_ranks(loopback, wave, tmp_path):
    fields = [solve(loopback, wave, tmp_path / f"{n}.f32", n, with_steps(90))[1] for n in (1, 2, 3)]
    assert fields[0].any()
    for other in fields[1:]:
        assert np.array_equal(fields[0].view(np.uint32), other.view(np.uint32))


def test_field_is_finite_and_the_source_travels(loopback, wave, tmp_path):
    line, field = solve(loopback, wave, tmp_path / "field.f32", 2, with_steps(180))
    assert np.isfinite(field).all()
    assert line["peak"] == pytest.approx(float(np.max(np.abs(field))), rel=1e-6)
    # Along x from the source, which lies in the middle at 3/10 of the depth.
    far = (12, 32, slice(36 + 16, 36 + 20))
    assert np.abs(field[far]).max() > 1e-2 * line["peak"]
    _, early = solve(loopback, wave, tmp_path / "early.f32", 2, with_steps(60))
    assert np.abs(early[far]).max() < 1e-6 * np.abs(early).max()


def test_energy_leaves_through_the_sponge(loopback, wave, tmp_path):
    energies = []
    for steps in (180, 700):
        _, field = solve(loopback, wave, tmp_path / "field.f32", 2, with_steps(steps))
        energies.append(float(np.sum(field.astype(np.float64) ** 2)))
    assert 0 < energies[1] < 0.5 * energies[0]


def test_bytes_sent_are_those_of_the_decomposition(loopback, wave, tmp_path):
    line, _ = solve(loopback, wave, tmp_path / "field.f32", 2, with_steps(90))
    halo, slab, steps, gathers = 4 * 64 * 72 * 4, 20 * 64 * 72 * 4, 90, 3
    assert line["bytes_sent"] == 2 * steps * halo + gathers * slab
    assert line["busiest_bytes_sent"] == steps * halo + gathers * slab
    assert line["messages_sent"] == 2 * steps + gathers
    assert line["busiest_messages_sent"] == steps + gathers


@pytest.mark.parametrize("options", [["--nx", "3"], ["--steps", "x"], ["--fast"], ["--nz", "17"]])
def test_bad_options_are_refused(loopback, wave, options):
    done = loopback.run(["mpirun", "-n", "5", str(wave), *options], {})
    assert done.returncode != 0 and "wave: " in done.stderr


def test_the_engine_runs_it_without_the_shim(loopback, wave, tmp_path):
    size = Size(nx=48, ny=40, nz=32, steps=20, gather_every=0, shots=1)
    run = run_wave(loopback, "none", size, wave, tmp_path)
    assert run.field.shape == (32, 40, 48) and run.shim is None
    assert 0 < run.wave["comm_seconds"] <= run.seconds


def test_a_failing_program_is_named(loopback, wave, tmp_path):
    size = Size(nx=48, ny=40, nz=32, steps=0, gather_every=0, shots=1)
    with pytest.raises(DemoError, match="steps"):
        run_wave(loopback, "none", size, wave, tmp_path)


def test_a_missing_program_is_named(tmp_path):
    with pytest.raises(DemoError, match="make build"):
        find_wave(tmp_path / "nothing")


# The wave program's choice of device, and, where there are GPUs, that they compute the same.

GRID = ["--nx", "72", "--ny", "50", "--nz", "43", "--steps", "60", "--gather-every", "25"]
OPTIONS = [*GRID, "--shots", "3"]


def start(loopback, wave, ranks, *options):
    return loopback.run(["mpirun", "-n", str(ranks), str(wave), *OPTIONS, *options], {})


def wave_gpu_solve(loopback, wave, path, ranks, *options):
    """The program's line and its field."""
    done = start(loopback, wave, ranks, *options, "--output", str(path))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1]), np.fromfile(path, np.uint32)


@pytest.fixture(scope="session")
def no_gpu(wave):
    """Why the program cannot use a GPU here; empty if it can."""
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
    _, expected = wave_gpu_solve(loopback, wave, tmp_path / "cpu.f32", 2)
    line, field = wave_gpu_solve(
        loopback, wave, tmp_path / "auto.f32", 2, "--device", "auto", "--staging"
    )
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
    _, expected = wave_gpu_solve(loopback, wave, tmp_path / "cpu.f32", 1)
    options = ("--device", "gpu", "--staging")
    line, field = wave_gpu_solve(loopback, wave, tmp_path / "gpu.f32", ranks, *options)
    assert (line["device"], line["staging"]) == ("gpu", True)
    assert expected.any() and np.array_equal(field, expected)


@pytest.mark.parametrize("codec", ["off", "mpc"])
def test_gpu_pointers_through_the_shim_agree_too(loopback, wave, no_gpu, tmp_path, codec):
    if no_gpu:
        pytest.skip(no_gpu)
    _, expected = wave_gpu_solve(loopback, wave, tmp_path / "cpu.f32", 1)
    options = ["--codec", codec, "--same-node", "--threshold", "4KiB"]
    program = ["mpirun", "-n", "2", str(wave), *OPTIONS, "--device", "gpu"]
    command = [*thinwire_command(), "run", *options, "--", *program]
    done = loopback.run([*command, "--output", str(tmp_path / "gpu.f32")], {})
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.fromfile(tmp_path / "gpu.f32", np.uint32), expected)
