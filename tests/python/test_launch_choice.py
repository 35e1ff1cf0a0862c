"""Which MPI is taken, what is refused, and what is said of a doubt."""

from pathlib import Path

import pytest

from thinwire.launch import Launcher, Program, Refused, choose

OPEN_MPI = Launcher("/o/mpirun", ("openmpi", "abi"), "open_mpi", "/o/bin/mpirun")
HYDRA = Launcher("/m/mpiexec", ("mpich", "abi"), "hydra", "/m/bin/mpiexec")
PRTERUN = Launcher("/p/prterun", ("openmpi", "mpich", "abi"), "prterun", "/p/bin/prterun")
SRUN = Launcher("/s/srun", (), "srun", "/s/bin/srun")


def program(name: str, *mpis: str) -> Program:
    return Program(f"/home/{name}", frozenset(mpis), f"needs lib{name}.so.1 (/lib)")


@pytest.mark.parametrize(
    ("mpi", "launcher"),
    [
        ("openmpi", OPEN_MPI),
        ("mpich", HYDRA),
        ("abi", HYDRA),
        ("mpich", PRTERUN),
        ("openmpi", SRUN),
        ("mpich", SRUN),
        ("abi", None),
    ],
)
def test_the_program_decides(mpi: str, launcher: Launcher | None) -> None:
    choice = choose([program("one", mpi), program("two", mpi)], launcher)
    assert (choice.mpi, choice.doubt) == (mpi, None)


@pytest.mark.parametrize(
    ("mpi", "launcher", "names"),
    [
        ("openmpi", HYDRA, ["Open MPI", "MPICH", "/m/mpiexec", "/home/one", "libone.so.1"]),
        ("mpich", OPEN_MPI, ["MPICH", "Open MPI", "/o/mpirun", "/home/one", "libone.so.1"]),
    ],
)
def test_a_launcher_of_another_mpi_is_refused(
    mpi: str, launcher: Launcher, names: list[str]
) -> None:
    with pytest.raises(Refused) as refusal:
        choose([None, program("one", mpi)], launcher)
    assert all(name in str(refusal.value) for name in [*names, "--mpi"])


@pytest.mark.parametrize("launcher", [HYDRA, PRTERUN, SRUN, None])
def test_two_mpis_in_one_command_are_refused(launcher: Launcher | None) -> None:
    with pytest.raises(Refused) as refusal:
        choose([program("one", "mpich"), program("two", "abi")], launcher)
    said = str(refusal.value)
    assert "/home/one" in said and "/home/two" in said and "thinwire exec" in said


def test_a_foreign_mpi_is_refused() -> None:
    with pytest.raises(Refused, match=r"/home/one needs libone\.so\.1.*no preload library"):
        choose([program("one")], OPEN_MPI)


@pytest.mark.parametrize(("launcher", "mpi"), [(OPEN_MPI, "openmpi"), (HYDRA, "mpich")])
def test_the_launcher_decides_where_no_program_does(launcher: Launcher, mpi: str) -> None:
    choice = choose([None], launcher)
    assert choice.mpi == mpi
    assert choice.doubt is not None and launcher.title in choice.doubt


@pytest.mark.parametrize("launcher", [SRUN, None])
def test_nothing_decides(launcher: Launcher | None) -> None:
    with pytest.raises(Refused, match="--mpi"):
        choose([None], launcher)
    with pytest.raises(Refused, match="--mpi"):
        choose([program("python", "mpich", "openmpi")], launcher)


def test_hydra_may_start_programs_of_two_abis(tmp_path: Path) -> None:
    hydra = Launcher("mpiexec", ("mpich", "abi"), "hydra", str(tmp_path / "bin" / "mpiexec"))
    doubt = choose([None], hydra).doubt
    assert doubt is not None and "--mpi abi" not in doubt
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libmpi_abi.so.1").touch()
    doubt = choose([None], hydra).doubt
    assert doubt is not None and "--mpi abi" in doubt


def test_the_launcher_decides_among_several() -> None:
    anything = program("python", "mpich", "openmpi")
    assert choose([anything], HYDRA).doubt is None
    assert choose([anything], HYDRA).mpi == "mpich"
    assert choose([anything], OPEN_MPI).mpi == "openmpi"
    # A second program leaves one that both can be.
    both = choose([anything, program("two", "mpich")], SRUN)
    assert (both.mpi, both.doubt) == ("mpich", None)
    open_still = choose([program("python", "mpich", "abi")], HYDRA)
    assert open_still.mpi == "mpich"
    assert open_still.doubt is not None and "/home/python" in open_still.doubt


def test_a_program_that_shows_nothing_beside_one_that_does() -> None:
    choice = choose([program("one", "openmpi"), None], OPEN_MPI)
    assert choice.mpi == "openmpi"
    assert choice.doubt is not None and "/home/one" in choice.doubt


def test_the_standard_abi_of_another_mpi_under_open_mpi(tmp_path: Path) -> None:
    launcher = Launcher("mpirun", ("openmpi", "abi"), "open_mpi", str(tmp_path / "bin" / "mpirun"))
    choice = choose([program("one", "abi")], launcher)
    assert choice.mpi == "abi"
    assert choice.doubt is not None and "may not find each other" in choice.doubt
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libmpi_abi.so.1").touch()
    assert choose([program("one", "abi")], launcher).doubt is None
