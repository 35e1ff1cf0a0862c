"""`thinwire run`, `exec` and `shim mpi` among MPIs, with launchers and programs made for it."""

import os
from pathlib import Path

import pytest
from mpi_stubs import (
    call,
    make_installation,
    make_launcher,
    make_library,
    make_mpi,
    make_program,
    make_script,
    started,
)

from thinwire.library import MPI_SHIMS

SONAMES = {"openmpi": "libmpi.so.40", "mpich": "libmpi.so.12", "abi": "libmpi_abi.so.1"}
# Which of its libraries each of these MPIs needs.
FITTING = {"openmpi": 0, "mpich": 1, "abi": 0}
VERSION_OF = {"openmpi": "openmpi-5", "mpich": "mpich-5.0", "abi": "mpich-5.0"}
LIST = "OMPI_MCA_mca_base_env_list"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of each MPI, and an installation for all three."""
    folder = tmp_path_factory.mktemp("made")
    libraries = make_installation(folder / "installation")
    for mpi, soname in SONAMES.items():
        shim = libraries / MPI_SHIMS[mpi][FITTING[mpi]]
        make_program(folder / mpi, make_mpi(folder, soname, shim))
    return folder


@pytest.fixture
def machine(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, first on PATH, with those programs and a script."""
    for mpi in SONAMES:
        (tmp_path / mpi).symlink_to(made / mpi)
    make_script(tmp_path / "job.sh", "#!/bin/sh")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    # The path where the MPI of a launcher is looked for that has no installation.
    monkeypatch.setenv("LD_LIBRARY_PATH", str(made))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def libraries(made: Path) -> dict[str, str]:
    return {"THINWIRE_LIBRARY_DIR": str(made / "installation" / "lib")}


def preload(libraries: dict[str, str], mpi: str) -> str:
    return f"{libraries['THINWIRE_LIBRARY_DIR']}/{MPI_SHIMS[mpi][FITTING[mpi]]}"


def test_run_under_open_mpi(machine: Path, libraries: dict[str, str]) -> None:
    make_launcher(machine / "mpirun", "openmpi-4.1")
    settings = {**libraries, "THINWIRE_POOL": "1MiB"}
    result = call("run", "--", "mpirun", "-n", "2", "./openmpi", environment=settings)
    words, environment = started(result)
    assert words == ["-n", "2", "./openmpi"]
    listed = dict(pair.split("=", 1) for pair in environment[LIST].split(";"))
    assert listed["LD_PRELOAD"] == preload(libraries, "openmpi")
    assert listed["THINWIRE_CODEC"] == "auto" and listed["THINWIRE_POOL"] == "1MiB"
    assert "THINWIRE_LIBRARY_DIR" not in listed
    assert "LD_PRELOAD" not in environment
    assert result.stderr == ""


@pytest.mark.parametrize(("version", "mpi"), [("mpich-5.0", "abi"), ("intel", "mpich")])
def test_run_under_hydra(machine: Path, libraries: dict[str, str], version: str, mpi: str) -> None:
    make_launcher(machine / "mpiexec", version)
    result = call("run", "--", "mpiexec", "-n", "2", f"./{mpi}", environment=libraries)
    words, environment = started(result)
    place = words.index("LD_PRELOAD")
    assert words[place - 1] == "-genv" and words[place + 1] == preload(libraries, mpi)
    assert words[-3:] == ["-n", "2", f"./{mpi}"]
    assert "LD_PRELOAD" not in environment and LIST not in environment
    assert result.stderr == ""


def test_run_under_srun(machine: Path, libraries: dict[str, str]) -> None:
    make_launcher(machine / "srun", "other")
    result = call("run", "--", "srun", "-n", "2", "./abi", environment=libraries)
    words, environment = started(result)
    assert words[0] == f"--export=ALL,LD_PRELOAD={preload(libraries, 'abi')}"
    assert "LD_PRELOAD" not in environment and environment["THINWIRE_CODEC"] == "auto"


def test_what_is_preloaded_already_stays_in_front(machine: Path, libraries: dict[str, str]) -> None:
    other = make_library(machine, "libother.so")
    make_launcher(machine / "mpirun", "mpich-4.0")
    given = {**libraries, "LD_PRELOAD": str(other)}
    words, _ = started(call("run", "--", "mpirun", "./mpich", environment=given))
    assert words[words.index("LD_PRELOAD") + 1] == f"{other}:{preload(libraries, 'mpich')}"


def test_a_program_of_another_mpi_than_the_launcher(
    machine: Path, libraries: dict[str, str]
) -> None:
    launcher = make_launcher(machine / "mpirun", "mpich-5.0")
    command = ["--", "mpirun", "-n", "2", "./openmpi"]
    result = call("run", *command, environment=libraries)
    assert result.returncode == 1 and result.stdout == ""
    said = result.stderr
    for part in (str(machine / "openmpi"), str(launcher), "Open MPI", "MPICH", "--mpi"):
        assert part in said
    words, _ = started(call("run", "--mpi", "openmpi", *command, environment=libraries))
    assert preload(libraries, "openmpi") in words


def test_two_mpis_in_one_command(machine: Path, libraries: dict[str, str]) -> None:
    make_launcher(machine / "mpirun", "mpich-5.0")
    command = ["mpirun", "-n", "1", "./mpich", ":", "-n", "1", "./abi"]
    result = call("run", "--", *command, environment=libraries)
    assert result.returncode == 1 and "two MPIs in one command" in result.stderr


def test_a_script_is_of_the_launchers_mpi(machine: Path, libraries: dict[str, str]) -> None:
    make_launcher(machine / "mpirun", "mpich-4.0")
    result = call("run", "--", "mpirun", "./job.sh", environment=libraries)
    words, _ = started(result)
    assert preload(libraries, "mpich") in words
    assert "warning" in result.stderr and "MPICH" in result.stderr
    quiet = call("run", "--log", "error", "--", "mpirun", "./job.sh", environment=libraries)
    assert quiet.stderr == ""
    # After a script the program shows.
    words, _ = started(call("run", "--", "mpirun", "./job.sh", "./abi", environment=libraries))
    assert preload(libraries, "abi") in words


def test_an_unknown_launcher_is_named(machine: Path, libraries: dict[str, str]) -> None:
    launcher = make_launcher(machine / "mpirun", "other")
    result = call("run", "--", "mpirun", "./mpich", environment=libraries)
    _, environment = started(result)
    assert environment["LD_PRELOAD"] == preload(libraries, "mpich")
    assert str(launcher) in result.stderr and "HPE mpt" in result.stderr


def test_a_library_that_this_build_lacks(machine: Path) -> None:
    make_launcher(machine / "mpirun", "mpich-5.0")
    folder = str(make_installation(machine / "some", ("openmpi", "mpich")))
    given = {"THINWIRE_LIBRARY_DIR": folder}
    result = call("run", "--", "mpirun", "./abi", environment=given)
    assert result.returncode == 1
    assert f"{folder}/libthinwire_mpi_abi.so does not exist" in result.stderr
    assert "it has: openmpi, mpich; for a program that calls NCCL alone: --nccl" in result.stderr


@pytest.mark.parametrize(("command", "mpi"), [("run", "mpich"), ("exec", "abi")])
def test_a_program_alone_gets_its_own_library(
    machine: Path, libraries: dict[str, str], command: str, mpi: str
) -> None:
    make_launcher(machine / "mpirun", "openmpi-4.1")
    # The program of that MPI is an argument, which is found as one after a script is.
    shown = call(command, "--", "printenv", "LD_PRELOAD", f"./{mpi}", environment=libraries)
    assert shown.stdout.strip() == preload(libraries, mpi)


@pytest.mark.parametrize(
    ("rank", "mpi"),
    [("OMPI_COMM_WORLD_RANK", "openmpi"), ("PMIX_RANK", "openmpi"), ("PMI_RANK", "mpich")],
)
def test_exec_goes_by_its_launcher_where_the_program_shows_nothing(
    machine: Path, libraries: dict[str, str], rank: str, mpi: str
) -> None:
    make_launcher(machine / "mpirun", "intel" if mpi == "openmpi" else "openmpi-5")
    words = ["exec", "--", "printenv", "LD_PRELOAD"]
    first = call(*words, environment={**libraries, rank: "0"})
    assert first.stdout.strip() == preload(libraries, mpi)
    assert "warning" in first.stderr
    # A thousand ranks say it once.
    second = call(*words, environment={**libraries, rank: "1"})
    assert second.stdout == first.stdout and second.stderr == ""


def test_exec_under_srun_goes_by_the_program_then_by_mpirun(
    machine: Path, libraries: dict[str, str]
) -> None:
    make_launcher(machine / "mpirun", "mpich-4.3")
    make_launcher(machine / "mpiexec", "mpich-4.3")
    slurm = {**libraries, "SLURM_PROCID": "0", "PMIX_RANK": "0"}
    show = ["exec", "--", "printenv", "LD_PRELOAD"]
    assert call(*show, "./openmpi", environment=slurm).stdout.strip() == preload(
        libraries, "openmpi"
    )
    by_path = call(*show, environment=slurm)
    assert by_path.stdout.strip() == preload(libraries, "mpich")
    assert str(machine / "mpirun") in by_path.stderr


def test_exec_refuses_a_program_of_another_mpi(machine: Path, libraries: dict[str, str]) -> None:
    rank = {**libraries, "OMPI_COMM_WORLD_RANK": "0"}
    result = call("exec", "--", "./mpich", environment=rank)
    assert result.returncode == 1 and "OMPI_COMM_WORLD_RANK" in result.stderr


@pytest.mark.parametrize(
    ("version", "mpi"),
    [("openmpi-debian", "openmpi"), ("mpich-4.0", "mpich")],
)
def test_shim_goes_by_mpirun(
    machine: Path, libraries: dict[str, str], version: str, mpi: str
) -> None:
    make_launcher(machine / "mpirun", version)
    make_launcher(machine / "mpiexec", version)
    result = call("shim", "mpi", environment=libraries)
    assert (result.stdout, result.stderr) == (preload(libraries, mpi) + "\n", "")


def test_shim_with_launchers_of_two_mpis(machine: Path, libraries: dict[str, str]) -> None:
    mpirun = make_launcher(machine / "mpirun", "openmpi-5")
    mpiexec = make_launcher(machine / "mpiexec", "intel")
    result = call("shim", "mpi", environment=libraries)
    assert result.returncode == 1 and result.stdout == ""
    assert f"{mpirun} (Open MPI) and {mpiexec} (MPICH)" in result.stderr
    named = call("shim", "mpi", "--mpi", "abi", environment=libraries)
    assert named.stdout.strip() == preload(libraries, "abi")


def test_shim_where_mpirun_says_nothing_known(machine: Path, libraries: dict[str, str]) -> None:
    mpirun = make_launcher(machine / "mpirun", "other")
    result = call("shim", "mpi", environment=libraries)
    assert result.returncode == 1 and str(mpirun) in result.stderr and "HPE mpt" in result.stderr


def test_env_names_both_launchers(machine: Path, libraries: dict[str, str]) -> None:
    make_launcher(machine / "mpirun", "openmpi-5")
    make_launcher(machine / "mpiexec", "mpich-4.3")
    said = call("env", environment={**libraries, "COLUMNS": "300"}).stdout
    assert f"{machine / 'mpirun'}, of Open MPI: mpirun (Open MPI) 5.0.11" in said
    assert f"{machine / 'mpiexec'}, of MPICH: HYDRA 4.3.2" in said


LEVELS = [(mpi, name) for mpi, files in MPI_SHIMS.items() for name in files]


@pytest.mark.parametrize(("mpi", "name"), LEVELS, ids=[name for _, name in LEVELS])
def test_the_library_has_the_names_of_the_programs_mpi(
    machine: Path, libraries: dict[str, str], tmp_path: Path, mpi: str, name: str
) -> None:
    wanted = Path(libraries["THINWIRE_LIBRARY_DIR"], name)
    library = make_mpi(tmp_path / "own", SONAMES[mpi], wanted)
    make_program(tmp_path / "program", library)
    words = ["run", "--mpi", mpi, "--", "printenv", "LD_PRELOAD", "./program"]
    shown = call(*words, environment={**libraries, "LD_LIBRARY_PATH": ""})
    assert (shown.stdout.strip(), shown.stderr) == (str(wanted), "")
    # By the installation of the launcher, if there is no program.
    launcher = make_launcher(tmp_path / "own" / "bin" / "mpirun", VERSION_OF[mpi])
    (tmp_path / "own" / "lib").mkdir()
    library.rename(tmp_path / "own" / "lib" / library.name)
    bare = {**libraries, "PATH": f"{launcher.parent}:{os.environ['PATH']}"}
    shown = call("shim", "mpi", "--mpi", mpi, environment=bare)
    assert (shown.stdout.strip(), shown.stderr) == (str(wanted), "")
