"""The compiled GPU programs: the codecs' stages, reductions, the bench on a small array."""

import importlib.util
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = [os.environ.get("THINWIRE_GPU_PROGRAMS", ""), "build/gpu/bin", "build/release/bin"]


def program(name: str) -> str:
    for folder in filter(None, FOLDERS):
        path = ROOT / folder / name
        if path.is_file():
            return str(path)
    pytest.skip(f"{name} is not built")


def libnccl() -> str:
    """As torch brings it, unless a variable names it; what the loader finds by itself is left to
    the program."""
    named = os.environ.get("THINWIRE_NCCL")
    if named:
        return named
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / "nccl" / "lib" / "libnccl.so.2"
        if path.is_file():
            return str(path)
    return "libnccl.so.2"


@pytest.mark.parametrize("name", ["gpu_stages", "gpu_reductions", "gpu_slots", "gpu_forged"])
def test_host_and_device_agree(name: str) -> None:
    done = subprocess.run([program(name)], capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 do not" in done.stdout


def test_lent_memory_is_not_read_once_a_call_is_complete() -> None:
    """The host overwrites it at once."""
    done = subprocess.run(
        [program("gpu_slots_lent")], capture_output=True, text=True, timeout=400, check=False
    )
    assert (done.returncode, done.stdout) == (0, "0 results of gathers are wrong\n"), done.stderr


@pytest.mark.parametrize("spec", ["mpc", "zfp:rate=8", "raw"])
def test_bench_verifies_what_it_times(spec: str, tmp_path: Path) -> None:
    smooth, noise = tmp_path / "smooth.f32", tmp_path / "noise.f32"
    np.sin(0.01 * np.arange(65536)).astype(np.float32).tofile(smooth)
    noise.write_bytes(np.random.default_rng(1).bytes(262144))
    requests = [
        ("ceiling", "262144"),
        ("codec", spec, "f32", "131072", str(smooth), "1"),
        ("codec", spec, "f32", "65536", str(noise), "0"),
        ("codec", "nonsense", "f32", "65536", str(noise), "0"),
    ]
    done = subprocess.run(
        [program("codec_gpu")],
        input="".join("\t".join(fields) + "\n" for fields in requests),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    machine, ceiling, good, other, bad = map(json.loads, done.stdout.splitlines())
    assert machine["gpu"] and ceiling["copy_us"] > 0 and ceiling["halve_us"] > 0
    for said in (good, other):
        assert said["verified"], said["note"]
        assert said["encode_us"] > 0 and said["ready_us"] > 0 and said["graph_ready_us"] > 0
        decodes = ("decode_us", "decoded_us", "decoded_synced_us")
        assert [name in said for name in decodes] == [not said["declined"]] * 3
    assert good["declined"] == (spec == "raw") and good["bytes"] == 524288
    assert other["declined"]
    assert not bad["verified"] and "nonsense" in bad["note"] and "encode_us" not in bad
