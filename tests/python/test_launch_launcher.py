"""What starts the ranks: launchers by what they say, and ranks by what they were given."""

from pathlib import Path

import pytest
from mpi_stubs import make_launcher

from thinwire.launch import from_environment, from_path, is_launcher, on_path
from thinwire.launch.launcher import has_standard_abi


@pytest.mark.parametrize(
    ("version", "style", "mpis"),
    [
        ("openmpi-4.1", "open_mpi", ("openmpi", "abi")),
        ("openmpi-debian", "open_mpi", ("openmpi", "abi")),
        ("openmpi-5", "open_mpi", ("openmpi", "abi")),
        ("prrte", "prterun", ("openmpi", "mpich", "abi")),
        ("mpich-4.0", "hydra", ("mpich", "abi")),
        ("mpich-4.3", "hydra", ("mpich", "abi")),
        ("mpich-5.0", "hydra", ("mpich", "abi")),
        ("intel", "hydra", ("mpich", "abi")),
        ("other", "unknown", ()),
    ],
)
def test_a_launcher_says_what_it_is(
    tmp_path: Path, version: str, style: str, mpis: tuple[str, ...]
) -> None:
    launcher = from_path(str(make_launcher(tmp_path / "mpirun", version)))
    assert (launcher.style, launcher.mpis) == (style, mpis)


def test_what_a_launcher_says_is_kept_for_messages(tmp_path: Path) -> None:
    assert from_path(str(make_launcher(tmp_path / "a", "mpich-5.0"))).said == "HYDRA 5.0.2"
    assert from_path(str(make_launcher(tmp_path / "b", "openmpi-5"))).said.endswith("5.0.11")


def test_srun_and_prterun_are_known_by_name(tmp_path: Path) -> None:
    srun = from_path(str(make_launcher(tmp_path / "srun", "other")))
    assert (srun.style, srun.mpis) == ("srun", ())
    assert from_path(str(make_launcher(tmp_path / "prterun", "other"))).style == "prterun"


@pytest.mark.parametrize(
    ("word", "is_one"),
    [
        ("mpirun", True),
        ("/opt/mpi/bin/mpiexec.hydra", True),
        ("mpirun.openmpi", True),
        ("orterun", True),
        ("srun", True),
        ("./mpirunner", False),
        ("sruns", False),
        ("./program", False),
    ],
)
def test_launchers_have_the_usual_names(word: str, is_one: bool) -> None:
    assert is_launcher(word) == is_one


def test_mpirun_comes_before_mpiexec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_launcher(tmp_path / "mpiexec", "mpich-5.0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [launcher.mpis[0] for launcher in on_path()] == ["mpich"]
    make_launcher(tmp_path / "mpirun", "openmpi-5")
    assert [launcher.mpis[0] for launcher in on_path()] == ["openmpi", "mpich"]


@pytest.mark.parametrize("place", ["lib/libmpi_abi.so.1", "lib/x86_64-linux-gnu/libmpi_abi.so.0"])
def test_the_standard_abi_is_a_library_of_the_installation(tmp_path: Path, place: str) -> None:
    real = make_launcher(tmp_path / "mpi" / "bin" / "mpiexec.hydra", "mpich-5.0")
    link = tmp_path / "mpirun"
    link.symlink_to(real)
    launcher = from_path(str(link))
    assert not has_standard_abi(launcher)
    library = tmp_path / "mpi" / place
    library.parent.mkdir(parents=True)
    library.touch()
    assert has_standard_abi(launcher)


@pytest.mark.parametrize(
    ("names", "mpis"),
    [
        (["OMPI_COMM_WORLD_RANK", "PMIX_RANK"], ("openmpi", "abi")),
        (["PMIX_RANK"], ("openmpi", "mpich", "abi")),
        (["PMI_RANK", "MPI_LOCALNRANKS"], ("mpich", "abi")),
        (["PMI_RANK"], ("mpich", "abi")),
        (["SLURM_PROCID", "PMI_RANK"], ()),
        (["SLURM_PROCID", "PMIX_RANK"], ()),
        (["SLURM_PROCID", "PMI_RANK", "MPI_LOCALNRANKS"], ("mpich", "abi")),
        (["SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"], ("openmpi", "abi")),
    ],
)
def test_a_rank_knows_its_launcher(names: list[str], mpis: tuple[str, ...]) -> None:
    launcher = from_environment(dict.fromkeys(names, "1"))
    assert launcher is not None and launcher.mpis == mpis


def test_a_process_that_no_launcher_started() -> None:
    assert from_environment({"SLURM_JOB_ID": "7", "OMPI_MCA_btl": "tcp"}) is None
