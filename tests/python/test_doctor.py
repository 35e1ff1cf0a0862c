"""`thinwire doctor`: faults that are planted, each found, with what to type."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from mpi_stubs import call, compile_with, make_launcher, make_library, make_program, make_script

WRONG = "wrong"


class Node(NamedTuple):
    """A folder with an Open MPI, its launcher first on PATH, and a program of it."""

    folder: Path
    program: Path
    environment: dict[str, str]


@pytest.fixture
def node(tmp_path: Path) -> Node:
    make_launcher(tmp_path / "bin" / "mpirun", "openmpi-4.1")
    library = make_library(tmp_path / "lib", "libmpi.so.40", calls=["MPI_Init"])
    program = make_program(tmp_path / "program", library)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return Node(tmp_path, program, {"PATH": path})


def findings(*words: str | Path, environment: dict[str, str]) -> tuple[int, list[dict[str, str]]]:
    result = call("doctor", "--json", *(["--", *words] if words else []), environment=environment)
    assert result.stdout, result.stderr
    return result.returncode, json.loads(result.stdout)


def test_a_sound_command_has_no_fault(node: Node) -> None:
    code, found = findings("mpirun", "-n", "2", node.program, environment=node.environment)
    assert code == 0, found
    assert [each for each in found if each["state"] == WRONG] == []
    said = {each["subject"]: each["says"] for each in found if each["state"] == "ok"}
    assert "Open MPI" in said["MPI"] and "is in force in a child" in said["preload"]


class Fault(NamedTuple):
    """What is wrong, how it is planted, the words of a finding about it and of what to do."""

    name: str
    plant: Callable[[Node], tuple[list[str | Path], dict[str, str]]]
    subject: str
    says: str
    do: str


def with_variable(**variables: str) -> Callable[[Node], tuple[list[str | Path], dict[str, str]]]:
    return lambda node: (["mpirun", node.program], variables)


def config(text: str | None) -> Callable[[Node], tuple[list[str | Path], dict[str, str]]]:
    def plant(node: Node) -> tuple[list[str | Path], dict[str, str]]:
        path = node.folder / "site.conf"
        if text is not None:
            path.write_text(text)
        return ["mpirun", node.program], {"THINWIRE_CONFIG": str(path)}

    return plant


def program_of_another_mpi(node: Node) -> tuple[list[str | Path], dict[str, str]]:
    library = make_library(node.folder / "other", "libmpich.so.12", calls=["MPI_Init"])
    return ["mpirun", make_program(node.folder / "of_mpich", library)], {}


def unknown_launcher(node: Node) -> tuple[list[str | Path], dict[str, str]]:
    return [make_launcher(node.folder / "other" / "mpirun", "other"), node.program], {}


def no_command(node: Node) -> tuple[list[str | Path], dict[str, str]]:
    return ["no-such-launcher", node.program], {}


def not_executable(node: Node) -> tuple[list[str | Path], dict[str, str]]:
    make_script(node.folder / "job.sh", "#!/bin/sh").chmod(0o644)
    return [node.folder / "job.sh"], {}


def with_rights_of_its_own(node: Node) -> tuple[list[str | Path], dict[str, str]]:
    node.program.chmod(0o4755)
    return ["mpirun", node.program], {}


def no_program(node: Node) -> tuple[list[str | Path], dict[str, str]]:
    return ["mpirun", "-n", "2", node.folder / "gone"], {}


def static_program(node: Node) -> tuple[list[str | Path], dict[str, str]]:
    source = node.folder / "static.c"
    source.write_text("int main(void) { return 0; }\n")
    compile_with("-static", source, "-o", node.folder / "static")
    return ["mpirun", node.folder / "static"], {}


def musl_program(node: Node) -> tuple[list[str | Path], dict[str, str]]:
    source = node.folder / "musl.c"
    source.write_text("int main(void) { return 0; }\n")
    loader = "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1"
    compile_with(source, loader, "-o", node.folder / "musl")
    return ["mpirun", node.folder / "musl"], {}


def srun_without_pmi(node: Node) -> tuple[list[str | Path], dict[str, str]]:
    make_script(node.folder / "bin" / "srun", "#!/bin/sh")
    config_says = "#!/bin/sh\necho 'MpiDefault              = none'"
    make_script(node.folder / "bin" / "scontrol", config_says)
    return ["srun", "-n", "2", node.program], {}


def nccl_inside(node: Node) -> tuple[list[str | Path], dict[str, str]]:
    source = node.folder / "inside.c"
    source.write_text('const char* said = "NCCL version 2.28.9";\nint main(void) { return 0; }\n')
    compile_with(source, "-o", node.folder / "inside")
    return [node.folder / "inside"], {}


def library_that_does_not_load(node: Node) -> tuple[list[str | Path], dict[str, str]]:
    """An installation for another kind of machine."""
    from thinwire.library import MPI_SHIMS, _header_path, library_folder

    libraries = node.folder / "installation" / "lib"
    libraries.mkdir(parents=True)
    (libraries.parent / "include").symlink_to(_header_path().parents[1])
    (libraries / "libthinwire.so.0").symlink_to(library_folder() / "libthinwire.so.0")
    for name in MPI_SHIMS["openmpi"]:
        (libraries / name).write_bytes(b"\x7fELF\x02\x01\x01" + bytes(200))
    return ["mpirun", node.program], {"THINWIRE_LIBRARY_DIR": str(libraries)}


FAULTS = [
    Fault(
        "a setting that is misspelt",
        with_variable(THINWIRE_TRESHOLD="1MiB"),
        *("THINWIRE_TRESHOLD", "the nearest is THINWIRE_THRESHOLD", "unset"),
    ),
    Fault(
        "a setting with a wrong value",
        with_variable(THINWIRE_SAME_NODE="yes"),
        *("THINWIRE_SAME_NODE", "neither 0 nor 1", "unset"),
    ),
    Fault(
        "a file of settings that is not there",
        config(None),
        *("THINWIRE_CONFIG", "No such file", "can read"),
    ),
    Fault(
        "a wrong line in it",
        config("THINWIRE_CODEC=mpc\n\nTHINWIRE_LINK=fast\n"),
        *("THINWIRE_CONFIG", "line 3: THINWIRE_LINK", "mend"),
    ),
    Fault(
        "turned off",
        with_variable(THINWIRE_DISABLE="1"),
        *("THINWIRE_DISABLE", "as without", "unset"),
    ),
    Fault(
        "no codec",
        with_variable(THINWIRE_CODEC="off"),
        *("THINWIRE_CODEC", "all goes raw", "unset"),
    ),
    Fault(
        "a library preloaded that is gone",
        with_variable(LD_PRELOAD="/gone/libthinwire_mpi_openmpi4.so"),
        *("LD_PRELOAD", "does not exist here", "container"),
    ),
    Fault(
        "a program of another MPI", program_of_another_mpi, "MPI", "belongs to Open MPI", "--mpi"
    ),
    Fault("an unknown launcher", unknown_launcher, "launcher", "is not known", "thinwire exec"),
    Fault("a command that is not there", no_command, "command", "is not found", "path"),
    Fault("one that may not be executed", not_executable, "command", "may not be", "chmod +x"),
    Fault("rights of its own", with_rights_of_its_own, "program", "rights of its own", "copy"),
    Fault("a program that is not there", no_program, "program", "does not exist", "path"),
    Fault("a static program", static_program, "program", "linked statically", "dynamically"),
    Fault("a program of musl", musl_program, "program", "is of musl", "glibc"),
    Fault("srun that serves nothing", srun_without_pmi, "srun", "--mpi=none", "--mpi=pmix"),
    Fault("NCCL inside", nccl_inside, "NCCL", "linked into it", "libnccl.so.2"),
    Fault(
        "a library of another machine",
        library_that_does_not_load,
        *("preload", "is not in force", "reinstall"),
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_found_and_what_to_do_is_said(node: Node, fault: Fault) -> None:
    if fault.plant is static_program and not shutil.which("gcc"):
        pytest.skip("no gcc")
    words, variables = fault.plant(node)
    code, found = findings(*words, environment={**node.environment, **variables})
    assert code == 1
    faults = [each for each in found if each["state"] == WRONG]
    told = [each for each in faults if each["subject"] == fault.subject]
    assert any(fault.says in each["says"] and fault.do in each["do"] for each in told), faults


def test_lines_for_people(node: Node) -> None:
    variables = {**node.environment, "THINWIRE_DISABLE": "1", "COLUMNS": "200"}
    result = call("doctor", "--", "mpirun", node.program, environment=variables)
    assert result.returncode == 1
    lines = result.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("wrong  THINWIRE_DISABLE"))
    assert lines[at + 1].strip() == "-> unset THINWIRE_DISABLE"
    assert lines[-1] == "1 wrong"


def test_without_a_command_it_looks_at_the_node_and_starts_nothing(node: Node) -> None:
    result = call("doctor", environment=node.environment)
    assert result.returncode == 0, result.stdout
    assert "Name your command, too" in result.stdout


def test_nothing_of_the_command_is_started(node: Node) -> None:
    mark = node.folder / "started"
    script = make_script(node.folder / "job.sh", f"#!/bin/sh\ntouch {mark}")
    findings(sys.executable, script, environment=node.environment)
    assert not mark.exists()
