"""Which MPI a program of a command line needs, found in files as the loader would."""

import sys
from pathlib import Path

import pytest
from mpi_stubs import make_library, make_program, make_script

from thinwire.launch import find_program


@pytest.mark.parametrize(
    ("soname", "mpis"),
    [
        ("libmpi.so.40", {"openmpi"}),
        ("libmpi.so.12", {"mpich"}),
        ("libmpich.so.12", {"mpich"}),
        ("libmpi_cray.so.12", {"mpich"}),
        ("libmpi_abi.so.0", {"abi"}),
        ("libmpi_abi.so.1", {"abi"}),
        ("libmpi.so.20", set()),
    ],
)
def test_the_soname_tells(tmp_path: Path, soname: str, mpis: set[str]) -> None:
    library = make_library(tmp_path, soname)
    program = make_program(tmp_path / "program", library)
    found = find_program([str(program)])
    assert found is not None
    assert found.mpis == mpis
    assert found.path == str(program)
    assert found.evidence == f"needs {soname} ({library})"


def test_a_library_between_and_one_that_is_missing(tmp_path: Path) -> None:
    mpi = make_library(tmp_path, "libmpi_cray.so.12")
    between = make_library(tmp_path, "libmpi_usempif08.so.40", mpi)
    program = make_program(tmp_path / "program", between)
    found = find_program([str(program)])
    assert found is not None and found.evidence == f"needs libmpi_cray.so.12 ({mpi})"
    mpi.unlink()
    found = find_program([str(program)])
    assert found is not None and found.evidence == "needs libmpi_cray.so.12 (not found)"
    assert found.mpis == {"mpich"}


def test_the_program_stands_behind_options_hosts_and_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = make_program(tmp_path / "program", make_library(tmp_path, "libmpi.so.12"))
    # An option's value that is a program's name as well.
    make_program(tmp_path / "node")
    make_script(tmp_path / "wrapper.sh", "#!/bin/sh")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    words = ["-n", "2", "--map-by", "node", "-host", "a,b", "wrapper.sh", "nice", "program", "x"]
    found = find_program(words)
    assert found is not None and found.path == str(program)


def test_a_script_is_what_its_interpreter_is(tmp_path: Path) -> None:
    interpreter = make_program(tmp_path / "mpirunner", make_library(tmp_path, "libmpi_abi.so.1"))
    script = make_script(tmp_path / "script", f"#!/usr/bin/env -S X=1 {interpreter} -u")
    found = find_program([str(script)])
    assert found is not None and found.mpis == {"abi"} and found.path == str(script)


def test_nothing_shows_in_a_shell_script_or_a_plain_program(tmp_path: Path) -> None:
    plain = make_program(tmp_path / "plain")
    shell = make_script(tmp_path / "run.sh", "#!/bin/sh")
    missing = make_script(tmp_path / "missing", "#!/no/such/interpreter")
    itself = make_script(tmp_path / "itself", f"#!{tmp_path}/itself")
    assert find_program([str(plain), str(shell), str(missing), str(itself), "/etc", "-x"]) is None


def _python_with_mpi4py(folder: Path, **extensions: str) -> Path:
    """A `python` whose mpi4py has these extensions: name and the library each is linked to."""
    package = folder / "mpi4py"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('imported')\n")
    for name, soname in extensions.items():
        make_library(package, f"MPI.{name}.so", make_library(folder, soname))
    python = folder / "python3.11"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={folder} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return python


def test_python_is_what_its_mpi4py_is(tmp_path: Path) -> None:
    python = _python_with_mpi4py(tmp_path, only="libmpi.so.12")
    found = find_program(["-n", "2", str(python), "program.py"])
    assert found is not None and found.mpis == {"mpich"}
    assert "mpi4py" in found.evidence and "libmpi.so.12" in found.evidence
    script = make_script(tmp_path / "program", f"#!/usr/bin/env {python}")
    found = find_program([str(script)])
    assert found is not None and found.mpis == {"mpich"} and found.path == str(script)


def test_an_mpi4py_for_several_mpis_leaves_it_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = _python_with_mpi4py(tmp_path, one="libmpi.so.12", two="libmpi.so.40")
    monkeypatch.delenv("MPI4PY_MPIABI", raising=False)
    found = find_program([str(python), "program.py"])
    assert found is not None and found.mpis == {"mpich", "openmpi"}
    # A certain answer goes before one that is not.
    program = make_program(tmp_path / "program", tmp_path / "libmpi.so.40")
    found = find_program([str(python), "run.py", str(program)])
    assert found is not None and found.path == str(program)
    monkeypatch.setenv("MPI4PY_MPIABI", "I_MPI")
    found = find_program([str(python), "program.py"])
    assert found is not None and found.mpis == {"mpich"}


def test_a_program_of_two_mpis_leaves_it_open(tmp_path: Path) -> None:
    two = [make_library(tmp_path, name) for name in ("libmpi.so.40", "libmpich.so.12")]
    found = find_program([str(make_program(tmp_path / "program", *two))])
    assert found is not None and found.mpis == {"openmpi", "mpich"}
    assert all(str(library) in found.evidence for library in two)
