"""Which MPI is taken, what is refused, and what is said of a doubt."""

from pathlib import Path

import pytest
from mpi_stubs import compile_with, make_library

from thinwire.launch import Launcher, Program, Refused, best_fit, choose
from thinwire.launch.elf import exported_names

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


# Which of several preload libraries fits an MPI, by the names that each exports.

BASE = ("MPI_Recv", "MPI_Send")
NEWER = (*BASE, "MPI_Isendrecv")
NEWEST = (*NEWER, "MPI_Recv_c")


@pytest.fixture
def built(tmp_path: Path) -> list[Path]:
    sets = {"base": BASE, "newer": NEWER, "newest": NEWEST}
    return [make_library(tmp_path, f"{name}.so", calls=calls) for name, calls in sets.items()]


def mpi_with(folder: Path, *calls: str) -> Path:
    return make_library(folder, "libmpi.so.40", calls=calls)


@pytest.mark.parametrize(
    ("calls", "place"),
    [
        (BASE, 0),
        ((*BASE, "MPI_Probe"), 0),
        # Some of the next set's names, or later ones without earlier ones, are not the set.
        ((*BASE, "MPI_Recv_c"), 0),
        (NEWER, 1),
        (NEWEST, 2),
        ((*NEWEST, "MPI_Of_a_later_version"), 2),
    ],
)
def test_the_largest_whose_names_the_mpi_has(
    built: list[Path], tmp_path: Path, calls: tuple[str, ...], place: int
) -> None:
    found = best_fit(built, [mpi_with(tmp_path / "mpi", *calls)])
    assert (found.library, found.doubt) == (built[place], None)


def test_programs_of_two_versions_get_what_both_have(built: list[Path], tmp_path: Path) -> None:
    both = [mpi_with(tmp_path / "new", *NEWEST), mpi_with(tmp_path / "old", *NEWER)]
    assert best_fit(built, both).library == built[1]


def test_an_mpi_that_lacks_what_every_library_shows(built: list[Path], tmp_path: Path) -> None:
    mpi = mpi_with(tmp_path / "mpi", "MPI_Recv")
    found = best_fit(built, [mpi])
    assert found.library == built[0]
    assert found.doubt is not None and "MPI_Send" in found.doubt and str(mpi) in found.doubt


def test_an_mpi_that_does_not_show_its_names(built: list[Path], tmp_path: Path) -> None:
    nothing = best_fit(built, [])
    assert nothing.library == built[0]
    assert nothing.doubt is not None and "no library" in nothing.doubt
    script = tmp_path / "libmpi.so"
    script.write_text("INPUT(libmpi.so.40)\n")
    unread = best_fit(built, [script])
    assert unread.library == built[0]
    assert unread.doubt is not None and str(script) in unread.doubt


def test_names_that_are_asked_for_or_hidden_are_not_exported(tmp_path: Path) -> None:
    source = tmp_path / "own.c"
    source.write_text(
        'int MPI_Send(void); __attribute__((visibility("hidden"))) int MPI_Recv(void) { return 1; }'
        "int MPI_Isend(void) { return MPI_Send() + MPI_Recv(); }"
        "static int MPI_Probe(void) { return 2; } int (*MPI_Data)(void) = MPI_Probe;"
    )
    compile_with("-shared", "-fPIC", source, "-o", tmp_path / "own.so")
    found = {name for name in exported_names(tmp_path / "own.so") if name.startswith("MPI_")}
    assert found == {"MPI_Isend", "MPI_Data"}


def test_a_damaged_file_shows_nothing_or_what_it_has(built: list[Path], tmp_path: Path) -> None:
    whole = built[2].read_bytes()
    names = exported_names(built[2])
    assert set(NEWEST) <= names
    assert exported_names(tmp_path / "missing") == frozenset()
    for cut in range(0, len(whole), 97):
        (tmp_path / f"cut{cut}.so").write_bytes(whole[:cut])
        assert exported_names(tmp_path / f"cut{cut}.so") <= names
    for place in range(0, 64):
        path = tmp_path / f"bent{place}.so"
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        exported_names(path)
