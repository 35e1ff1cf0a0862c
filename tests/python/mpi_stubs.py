"""Programs and launchers that look like those of an MPI, made in a test's own folder."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from thinwire.launch.installation import calls_of
from thinwire.library import MPI_SHIMS, _header_path, library_folder

VERSIONS = {
    "openmpi-4.1": "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/",
    "openmpi-debian": "mpirun.openmpi (OpenRTE) 4.1.4\n\nReport bugs to http://www.open-mpi.org/",
    "openmpi-5": "mpirun (Open MPI) 5.0.11\n\nReport bugs to https://www.open-mpi.org/",
    "prrte": "mpirun (PRRTE) 3.0.12\n\nReport bugs to https://github.com/openpmix/prrte",
    "mpich-4.0": "HYDRA build details:\n    Version:                                 4.0.2\n",
    "mpich-4.3": "HYDRA build details:\n    Version:                                 4.3.2\n",
    "mpich-5.0": "HYDRA build details:\n    Version:                                 5.0.2\n",
    "intel": "Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 20230307\nCopyright 2023",
    "other": "HPE mpt 2.29  01/01/24 00:00:00",
}

# Exports of a preload library that does nothing, by its place in MPI_SHIMS: no program here calls
# these.
_IDLE_CALLS = ("MPI_Isend", "MPI_Isendrecv", "MPI_Request_get_status_all")

# Says its version; else shows what it was started with, as a line of JSON.
_LAUNCHER = """#!{python}
import json, os, sys
if sys.argv[1:2] == ["--version"]:
    print({text!r})
else:
    print(json.dumps({{"words": sys.argv[1:], "environment": dict(os.environ)}}))
"""


def make_launcher(path: Path, version: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_LAUNCHER.format(python=sys.executable, text=VERSIONS[version]))
    path.chmod(0o755)
    return path


def make_script(path: Path, first: str) -> Path:
    path.write_text(f"{first}\n")
    path.chmod(0o755)
    return path


def compile_with(*arguments: str | Path, compiler: str = "gcc") -> None:
    found = shutil.which(compiler)
    if found is None:
        pytest.skip(f"no {compiler} to make programs with")
    subprocess.run([found, *map(str, arguments)], check=True, timeout=60)


def make_library(folder: Path, soname: str, *needs: Path, calls: Iterable[str] = ()) -> Path:
    """A library of that name which needs others, as the loader sees it, and exports `calls`."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "calls.c"
    source.write_text("".join(f"int {call}(void) {{ return 0; }}\n" for call in sorted(calls)))
    library = folder / soname
    names = ["-shared", "-fPIC", f"-Wl,-soname,{soname}", "-Wl,--no-as-needed"]
    compile_with(*names, source, *needs, f"-Wl,-rpath,{folder}", "-o", library)
    return library


def make_program(path: Path, *needs: Path) -> Path:
    source = path.with_suffix(".c")
    source.write_text("int main(void) { return 0; }\n")
    places = [f"-Wl,-rpath,{library.parent}" for library in needs]
    compile_with(source, "-Wl,--no-as-needed", *needs, *places, "-o", path)
    return path


def make_installation(folder: Path, mpis: tuple[str, ...] = tuple(MPI_SHIMS)) -> Path:
    """A folder for THINWIRE_LIBRARY_DIR: this installation's core, and the preload libraries for
    each of `mpis`, the installation's own where it has them, else some that do nothing."""
    libraries = folder / "lib"
    libraries.mkdir(parents=True)
    (folder / "include").symlink_to(_header_path().parents[1])
    (libraries / "libthinwire.so.0").symlink_to(library_folder() / "libthinwire.so.0")
    for mpi in mpis:
        for place, name in enumerate(MPI_SHIMS[mpi]):
            own = library_folder() / name
            if own.exists():
                (libraries / name).symlink_to(own)
            else:
                make_library(libraries, name, calls=_IDLE_CALLS[: place + 1])
    return libraries


def make_mpi(folder: Path, soname: str, shim: Path) -> Path:
    """An MPI's library with the calls that `shim` is for, and one that is never taken."""
    return make_library(folder, soname, calls={*calls_of(shim), "MPI_Pcontrol"})


def call(
    *arguments: str | Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The `thinwire` command, as `run` runs it."""
    return run([sys.executable, "-m", "thinwire", *arguments], environment or {})


def run(
    words: Sequence[str | Path], environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """In this environment without what a launcher or Thinwire put there."""
    left_out = ("THINWIRE_", "OMPI_COMM", "PMI", "MPI_LOCAL", "SLURM_", "LD_PRELOAD")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    return subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        timeout=120,
        env={**clean, **environment},
        check=False,
    )


def started(result: subprocess.CompletedProcess[str]) -> tuple[list[str], dict[str, str]]:
    """The words and the environment that a launcher of make_launcher saw."""
    assert result.returncode == 0, result.stderr
    seen = json.loads(result.stdout)
    return seen["words"], seen["environment"]
