"""mpi4py of PyPI, its version pinned: the wheel, the tests of its source archive, and the same
version built from source with the compiler of an MPI. Nothing is installed."""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from debian_packages import TRIPLET
from program_runs import CACHE, ProgramMpi

VERSION = "4.1.2"
ROOT = CACHE / f"mpi4py-{VERSION}"
# Packages that build it; pip takes these in its own environment for the build.
BUILDERS = ("cython==3.3.1", "setuptools==80.9.0")
# The file is large, and nothing in it is to be fast.
FLAGS = {"CFLAGS": "-O0 -g0"}


@dataclass(frozen=True)
class Installed:
    site: Path
    tests: Path
    abi: str | None  # what the wheel is to load; one that is built knows it

    def environment(self, mpi: ProgramMpi) -> dict[str, str]:
        named = {} if self.abi is None else {"MPI4PY_MPIABI": self.abi}
        # Workers that a test spawns import the test's own functions.
        path = f"{self.site}:{self.tests}"
        return {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **named}


def wheel(mpi: ProgramMpi) -> Installed:
    with _lock():
        site = ROOT / "wheel"
        if not site.exists():
            _pip(["install", "--only-binary=:all:", f"mpi4py=={VERSION}"], site)
        return Installed(site, _tests(), mpi.family)


def built_from_source(mpi: ProgramMpi) -> Installed:
    with _lock():
        tests = _tests()
        site = ROOT / f"built-{mpi.name}"
        if not site.exists():
            constraints = ROOT / "constraints.txt"
            constraints.write_text("\n".join(BUILDERS) + "\n")
            settings = {"MPICC": mpi.compiler, "PIP_CONSTRAINT": str(constraints), **FLAGS}
            _pip(["install", ROOT / f"mpi4py-{VERSION}.tar.gz"], site, settings)
        return Installed(site, tests, None)


def libraries_for_wheel(mpi: ProgramMpi) -> list[Path]:
    """The wheel loads MPICH by the name that MPICH itself gives its library; Debian has another."""
    if mpi.name != "mpich":
        return []
    named = ROOT / "mpich-as-upstream"
    named.mkdir(parents=True, exist_ok=True)
    link = named / "libmpi.so.12"
    if not link.is_symlink():
        link.symlink_to(f"/usr/lib/{TRIPLET}/libmpich.so.12")
    return [named]


def _lock():
    ROOT.mkdir(parents=True, exist_ok=True)
    return _Locked(ROOT / ".lock")


class _Locked:
    def __init__(self, path: Path) -> None:
        self.file = path.open("w")

    def __enter__(self) -> None:
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_) -> None:
        self.file.close()


def _tests() -> Path:
    """Those of the source archive, which the wheel lacks."""
    folder = ROOT / f"mpi4py-{VERSION}" / "test"
    if not folder.exists():
        words = ["download", "--no-binary=mpi4py", f"mpi4py=={VERSION}"]
        _call([*_PIP, *words, "--no-deps", "--dest", ROOT])
        _call(["tar", "-xf", ROOT / f"mpi4py-{VERSION}.tar.gz", "-C", ROOT])
    return folder


_PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


def _pip(
    words: Sequence[str | Path], site: Path, settings: Mapping[str, str] | None = None
) -> None:
    unfinished = site.with_name(f"{site.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    _call([*_PIP, *words, "--no-deps", "--target", unfinished], settings)
    unfinished.rename(site)


def _call(words: Sequence[str | Path], settings: Mapping[str, str] | None = None) -> None:
    text, variables = [str(word) for word in words], {**os.environ, **(settings or {})}
    done = subprocess.run(text, capture_output=True, text=True, env=variables, timeout=3600)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        pytest.skip(f"{' '.join(text[:4])} failed: {last}")
