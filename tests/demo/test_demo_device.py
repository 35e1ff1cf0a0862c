"""The demo on GPUs, as far as it goes without one: the choice, the commands, the words."""

import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest
from demo_stand_ins import make_run
from typer.testing import CliRunner

from thinwire.cli import command_line
from thinwire.demo import device, engine, links, runs
from thinwire.demo.report import case_name
from thinwire.demo.table import heading, legend
from thinwire.lab.gpus import visible

WAVE = Path("wave")
NO_DRIVER = "wave: --device gpu: there is no GPU to use here (no driver)"


@pytest.fixture
def machine(monkeypatch):
    """Sets how many GPUs the machine shows, and what the program says of them."""

    def have(gpus: int, said: str = "") -> None:
        monkeypatch.setattr(device, "visible", lambda environment: tuple("0123"[:gpus]))
        done = subprocess.CompletedProcess([], 2 if said else 0, "", f"noise\n{said}\n")
        monkeypatch.setattr(links.Loopback, "run", lambda self, command, env: done)

    return have


def choose(asked):
    told = []
    return device.choose_device(asked, WAVE, told.append), told


def test_gpus_are_used_where_there_are_some(machine):
    machine(2)
    assert choose("auto") == ("gpu", []) and choose("gpu") == ("gpu", [])
    assert choose("cpu") == ("cpu", [])


def test_without_gpus_the_demo_is_the_cpus(machine):
    machine(0)
    assert choose("auto") == ("cpu", [])
    with pytest.raises(runs.DemoError, match="no GPU"):
        choose("gpu")


def test_gpus_that_the_program_cannot_use_are_named(machine):
    machine(2, NO_DRIVER)
    chosen, (told,) = choose("auto")
    assert chosen == "cpu" and NO_DRIVER in told
    with pytest.raises(runs.DemoError, match="no driver"):
        choose("gpu")


def test_one_gpu_is_said_to_be_shared(machine):
    machine(1)
    chosen, (told,) = choose("auto")
    assert chosen == "gpu" and "share" in told


def test_other_devices_are_refused():
    with pytest.raises(runs.DemoError, match="cpu, gpu or auto"):
        choose("tpu")


def test_each_device_has_its_size_and_links():
    assert device.rates_for("cpu") == ("100mbit", "1gbit")
    assert device.rates_for("gpu") == ("10gbit", "25gbit")
    assert device.size_for("cpu", quick=True) == runs.QUICK
    assert device.size_for("gpu", quick=False) == runs.GPU_FULL
    # Bytes that the link's bucket gives away before a halo must be few compared to it.
    halo = 4 * runs.GPU_FULL.nx * runs.GPU_FULL.ny * 4
    assert halo > 10 * 2 * 312_500


@pytest.mark.multiproc
def test_here_the_demo_chooses_the_cpu(wave):
    if visible({}):
        pytest.skip("this machine has GPUs")
    assert device.choose_device("auto", wave, pytest.fail) == "cpu"
    assert device.why_not(wave).startswith("wave: --device gpu: ")
    done = CliRunner().invoke(command_line(), ["demo", "--device", "gpu", "--wave", str(wave)])
    assert done.exit_code == 1 and "this machine has no GPU" in done.stderr


def test_what_the_program_and_the_shim_are_told(monkeypatch, tmp_path):
    monkeypatch.setattr(runs, "thinwire_command", lambda: ["thinwire"])
    assert runs.device_options("none", "cpu") == runs.device_options("off", "cpu") == []
    assert runs.device_options("none", "gpu") == ["--device", "gpu", "--staging"]
    assert runs.device_options("zfp:rate=8", "gpu") == ["--device", "gpu"]
    report = tmp_path / "r.json"
    assert runs.shim_command("none", report, False, "gpu") == ([], {})
    # Disabled, the shim would leave GPU memory to an MPI that cannot take it.
    words, environment = runs.shim_command("off", report, False, "gpu")
    assert words[2:4] == ["--codec", "off"] and environment == {}


def test_the_run_on_gpus_gets_them(monkeypatch, tmp_path):
    seen = []

    class Recorder(links.Loopback):
        def run(self, command, env):
            seen.append(command)
            return subprocess.CompletedProcess(command, 1, "", "stopped here")

    for codec in ("none", "off"):
        with pytest.raises(runs.DemoError, match="stopped here"):
            runs.run_wave(Recorder(), codec, runs.GPU_QUICK, WAVE, tmp_path, "gpu")
    assert "--staging" in seen[0] and "--device" in seen[0] and "thinwire" not in seen[0]
    assert "--staging" not in seen[1] and "--device" in seen[1] and "thinwire" in seen[1]


class FastLink(links.Loopback):
    name = "10gbit"

    def raw_rate(self):
        return 150_000.0

    def facts(self):
        return {"burst_bytes": 125_000, "drops": 0}


def test_the_report_says_what_runs_where(monkeypatch):
    devices = []

    def stand_in(link, codec, size, wave, scratch, where):
        devices.append(where)
        seconds = {"none": 10.0, "off": 9.5}.get(codec, 5.0)
        return make_run(codec, seconds, 1e-4 if codec.startswith("zfp") else 0.0)

    monkeypatch.setattr(engine, "run_wave", stand_in)
    session = engine.Session(WAVE, runs.GPU_QUICK, 1, lambda words: nullcontext(), "gpu")
    rows = engine.run_all(session, [FastLink()]).rows
    assert devices == ["gpu"] * 5 and all(row.verified and row.device == "gpu" for row in rows)
    assert [case_name(row) for row in rows] == ["staged", "codec off", *runs.CODECS]
    said = "\n".join([heading(session), *legend(session)])
    assert "on the GPUs of each" in said and "through pinned memory" in said
    assert "pointers to GPU memory" in said
