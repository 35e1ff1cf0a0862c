"""What others put beforehand where a preload library for MPI writes: the program goes on and ends
as it would have, nothing of theirs is written to, and a line says so."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from mpis import SYSTEM
from shim_runs import Run, mpirun

pytestmark = [
    pytest.mark.multiproc,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to plant as another user"),
]

NOBODY = 65534
# By setting: what rank 0 writes below the path that the setting names.
WRITTEN = {
    "THINWIRE_REPORT": "it",
    "THINWIRE_TRACE": "it.rank0",
    "THINWIRE_METRICS": "it.rank0.prom.draft",
    "THINWIRE_CAPTURE": "it/rank0.jsonl",
}


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder as /tmp is, with a file that nobody is to write to."""
    folder = Path(f"/tmp/thinwire-test-planted-{os.getpid()}")
    folder.mkdir()
    folder.chmod(0o1777)
    (folder / "victim").write_text("another's")
    yield folder
    shutil.rmtree(folder)


def run(setting: str, folder: Path) -> Run:
    settings = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1", setting: str(folder / "it")}
    program = [SYSTEM.programs / "shim_traced", "6"]
    done = mpirun(2, program, SYSTEM.production, settings=settings)
    assert (done.code, done.output) == (0, "ok\n"), done.errors
    return done


def plant(what: str, path: Path, victim: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    if path.parent.name == "it":
        path.parent.chmod(0o1777)
    if what == "link":
        path.symlink_to(victim)
    elif what == "link to nothing":
        path.symlink_to(f"{victim}-new")
    elif what == "pipe":
        os.mkfifo(path)
    elif what == "second name":
        os.link(victim, path)
    else:
        path.mkdir()
    if what != "second name":
        os.lchown(path, NOBODY, NOBODY)


@pytest.mark.parametrize("what", ["link", "link to nothing", "pipe", "folder"])
@pytest.mark.parametrize("setting", WRITTEN)
def test_what_is_planted_is_not_written_to(shared: Path, setting: str, what: str) -> None:
    victim = shared / "victim"
    plant(what, shared / WRITTEN[setting], victim)
    done = run(setting, shared)
    said = [line for line in done.thinwire_lines() if setting in line and "cannot write" in line]
    assert len(said) == 1, done.errors
    assert victim.read_text() == "another's"
    assert not Path(f"{victim}-new").exists()


def test_a_second_name_of_anothers_file_gives_way_to_a_new_one(shared: Path) -> None:
    victim = shared / "victim"
    for setting in ("THINWIRE_REPORT", "THINWIRE_TRACE"):
        path = shared / WRITTEN[setting]
        plant("second name", path, victim)
        assert run(setting, shared).thinwire_lines() == []
        assert victim.read_text() == "another's" and path.read_text().startswith("{")


def test_a_report_of_the_run_before_is_written_over(shared: Path) -> None:
    for _ in range(2):
        assert run("THINWIRE_REPORT", shared).thinwire_lines() == []
    assert (shared / "it").read_text().startswith("{")
