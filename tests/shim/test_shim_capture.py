"""Captured samples: what is in them, that programs do not change, and what ends a capture."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mpis import ALL, BUILD, SYSTEM, Mpi
from shim_runs import PROGRAMS, SHRINK, Run, environment, mpirun
from test_shim_conformance import RANKS as RANKS_OF_FAMILY
from test_shim_conformance import families

from thinwire import traces
from thinwire.bench import samples
from thinwire.capture import make_index

pytestmark = pytest.mark.multiproc

RANKS = 3
ROUNDS = 40
WAVE = ["--nx", "72", "--ny", "64", "--nz", "40", "--steps", "60"]


def run(mpi: Mpi, folder: Path, *words: str, **more: str) -> Run:
    settings = {"THINWIRE_CODEC": "off", "THINWIRE_CAPTURE": str(folder)} | more
    program = [mpi.programs / "shim_traced", *(words or (str(ROUNDS),))]
    done = mpirun(RANKS, program, mpi.production, mpi=mpi, settings=settings)
    assert (done.code, done.output) == (0, "ok\n"), done.errors
    return done


def value(rank: int, turn: int, at: np.ndarray) -> np.ndarray:
    """As traced.c has it."""
    return (((at // 16 + 3 * turn) % 1000) / 8 + rank).astype(np.float32)


def is_of(sample: dict, folder: Path) -> bool:
    """Whether the file is what its rank sent in some round, or a part of that."""
    found = np.fromfile(folder / sample["file"], np.float32)
    at = np.arange(sample["of_bytes"] // 4)
    for turn in range(ROUNDS):
        sent = value(sample["rank"], turn, at)
        for start in np.flatnonzero(sent == found[0]):
            if np.array_equal(sent[start : start + found.size], found):
                return True
    return False


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_a_sample_of_everything_within_its_bound(mpi: Mpi, tmp_path: Path) -> None:
    folder, most = tmp_path / "sample", 6 << 20
    done = run(mpi, folder, THINWIRE_CAPTURE_MOST=str(most))
    assert done.thinwire_lines() == []
    found = make_index(folder, ["a", "program"])
    assert sum(sample["bytes"] for sample in found) <= most
    assert sum(sample["bytes"] for sample in found) > most // 2
    for sample in found:
        assert (folder / sample["file"]).stat().st_size == sample["bytes"]
    data = {path.name for path in folder.iterdir()} - {"index.json", "README.md"}
    assert data == {sample["file"] for sample in found}
    assert {sample["rank"] for sample in found} == set(range(RANKS))
    assert {sample["operation"] for sample in found} == {"send", "MPI_Bcast"}
    shapes = {sample["shape"] for sample in found}
    assert {"20000", "8x64x64", "40000"} <= shapes
    # Samples come from all 160 messages and broadcasts that rank 0 sends, not from the first ones
    # alone.
    numbers = [sample["number"] for sample in found if sample["rank"] == 0]
    assert min(numbers) < 50 and max(numbers) > 110
    assert all(is_of(sample, folder) for sample in found[:12] + found[-12:])


def test_the_index_is_read_by_the_other_tools(tmp_path: Path) -> None:
    folder = tmp_path / "sample"
    run(SYSTEM, folder, THINWIRE_CAPTURE_MOST="4MiB")
    found = make_index(folder, ["a", "program"])
    assert json.loads((folder / "index.json").read_text())["samples"] == found
    block = next(sample for sample in found if sample["shape"] == "8x64x64")
    assert samples.read_shaped(folder / block["file"], None, None).values.shape == (8, 64, 64)


def test_large_arrays_are_cut_to_whole_planes(tmp_path: Path) -> None:
    folder = tmp_path / "sample"
    run(SYSTEM, folder, THINWIRE_CAPTURE_MOST="1500KiB")  # of which a rank has 500 KiB
    found = make_index(folder, ["a", "program"])
    blocks = [sample for sample in found if sample["of_bytes"] == 4 * 8 * 64 * 64]
    assert blocks and {sample["shape"] for sample in blocks} == {"3x64x64"}
    assert all(is_of(sample, folder) for sample in found)


def test_the_same_program_gives_the_same_sample(tmp_path: Path) -> None:
    names = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        run(SYSTEM, folder, THINWIRE_CAPTURE_MOST="2MiB")
        names.append(sorted(path.name for path in folder.glob("*.f32")))
    assert names[0] == names[1]


def test_with_a_codec_the_sample_is_what_the_program_sent(tmp_path: Path) -> None:
    folder = tmp_path / "sample"
    run(
        SYSTEM,
        folder,
        THINWIRE_CODEC="mpc",
        THINWIRE_SAME_NODE="1",
        THINWIRE_CAPTURE_MOST="2MiB",
    )
    found = make_index(folder, ["a", "program"])
    assert all(is_of(sample, folder) for sample in found)


def test_a_full_disk_ends_the_capture_alone_with_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "sample"
    folder.mkdir()
    for rank in range(RANKS):
        (folder / f"rank{rank}-0.f32").symlink_to("/dev/full")
    done = run(SYSTEM, folder)
    (line,) = done.thinwire_lines()
    assert "No space left on device; nothing more is captured, the program goes on" in line
    # The links are the user's own, and stay.
    assert make_index(folder, ["a"]) == []
    assert all(path.is_symlink() for path in folder.glob("*.f32"))


def test_a_limit_on_files_ends_the_capture_alone(tmp_path: Path) -> None:
    folder = tmp_path / "sample"
    done = run(SYSTEM, folder, "5", "0", str(100 << 10), OMPI_MCA_btl="self,tcp")
    (line,) = done.thinwire_lines()
    assert "File too large; nothing more is captured" in line
    assert all(sample["bytes"] <= 100 << 10 for sample in make_index(folder, ["a"]))


def test_a_folder_that_cannot_be_made_ends_the_capture_alone(tmp_path: Path) -> None:
    done = run(SYSTEM, tmp_path / "no" / "folder")
    assert done.thinwire_lines() and all("nothing more" in each for each in done.thinwire_lines())


def test_capture_then_advise(tmp_path: Path) -> None:
    """The command, on an example, from end to end."""
    program = [str(BUILD / "bin" / "wave"), *WAVE]
    thinwire = [sys.executable, "-m", "thinwire"]
    settings = environment({})
    done = subprocess.run(
        [*thinwire, "capture", "--most", "4MiB", "-o", "sample", "--threshold", "4KiB", "--"]
        + ["mpirun", "--oversubscribe", "-n", "2", *program],
        cwd=tmp_path,
        env=settings,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "sample" / "index.json").read_text())["samples"]
    assert f"{len(found)} arrays" in done.stderr and found
    advised = subprocess.run(
        [*thinwire, "advise", str(tmp_path / "sample" / found[0]["file"]), "--link", "1gbit"]
        + ["--json", "--device", "cpu"],
        env=settings,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert advised.returncode == 0, advised.stderr
    said = json.loads(advised.stdout)
    assert said["dtype"] == found[0]["dtype"] and said["candidates"]
    again = subprocess.run(
        [*thinwire, "capture", "-o", "sample", "--", "true"],
        cwd=tmp_path,
        env=settings,
        capture_output=True,
        text=True,
    )
    assert again.returncode == 1 and "is there already" in again.stderr


# Programs of all kinds of calls under a trace and a capture: nothing of what they do changes, also
# where their arrays lie in memory that only a GPU could touch.

HOST = ("shim_conformance", SYSTEM.testing, {})
DEVICE = ("shim_conformance_device", SYSTEM.fake_device, {})
AWARE = {"THINWIRE_GPU_AWARE": "1", "FAKE_DEVICE_REACHABLE": "1"}
MEMORY = {"host": HOST, "device": DEVICE, "aware": (*DEVICE[:2], AWARE)}
MOST = 1 << 20


@pytest.mark.parametrize("memory", MEMORY)
@pytest.mark.parametrize("family", ["sends", "persistent", "collectives"])
def test_calls_do_as_without(family: str, memory: str, tmp_path: Path) -> None:
    assert family in families(SYSTEM)
    program, library, more = MEMORY[memory]
    watched = {
        "THINWIRE_TRACE": str(tmp_path / "trace"),
        "THINWIRE_CAPTURE": str(tmp_path / "sample"),
        "THINWIRE_CAPTURE_MOST": str(MOST),
    }
    done = mpirun(
        RANKS_OF_FAMILY[family],
        [PROGRAMS / program, family],
        library,
        SHRINK | more | watched,
        tmp_path / "report",
    )
    assert done.code == 0, done.errors
    lines = done.output.splitlines()
    assert lines and all(line.startswith("PASS ") for line in lines), done.output
    warnings: list[str] = []
    found = traces.merge(traces.read_all([tmp_path / "trace"], warnings.append), warnings)
    assert done.report is not None and warnings == []
    for name in ("messages", "bytes", "wire_bytes", "compressed_messages", "raw_by_reason"):
        assert found.totals[name] == done.report[name], name
    samples = make_index(tmp_path / "sample", ["conformance"])
    assert samples and 0 < sum(sample["bytes"] for sample in samples) <= MOST


# The library's counters as performance variables of MPI's tools interface.


def test_variables_stand_behind_the_mpis_own() -> None:
    settings = {
        "THINWIRE_CODEC": "mpc",
        "THINWIRE_SAME_NODE": "1",
        "THINWIRE_FORCE": "1",
        "THINWIRE_LINK": "10mbit",
    }
    program = [SYSTEM.programs / "shim_variables"]
    done = mpirun(2, program, SYSTEM.production, mpi=SYSTEM, settings=settings)
    assert (done.code, done.output) == (0, "ok\nok\n"), done.errors
