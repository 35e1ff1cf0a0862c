"""Which of several preload libraries fits an MPI, by the names that each exports."""

from pathlib import Path

import pytest
from mpi_stubs import compile_with, make_library

from thinwire.launch import best_fit
from thinwire.launch.elf import exported_names

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
