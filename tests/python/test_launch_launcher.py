"""What starts the ranks: launchers by what they say, and ranks by what they were given."""

from pathlib import Path

import pytest
from mpi_stubs import make_launcher

from thinwire.launch import (
    Launcher,
    Refused,
    forward,
    from_environment,
    from_path,
    is_launcher,
    on_path,
)
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


# How the preload and the settings reach the ranks: the words and variables of each launcher.

WANTED = {"THINWIRE_CODEC": "zfp:rate=8,shape=2x3", "LD_PRELOAD": "/own.so:/t/lib.so"}
SETTINGS = {"THINWIRE_CODEC": WANTED["THINWIRE_CODEC"]}
PAIRS = "THINWIRE_CODEC=zfp:rate=8,shape=2x3;LD_PRELOAD=/own.so:/t/lib.so"
OPTIONS_X = ["-x", f"THINWIRE_CODEC={SETTINGS['THINWIRE_CODEC']}"]
OPTIONS_X += ["-x", "LD_PRELOAD=/own.so:/t/lib.so"]
LIST = "OMPI_MCA_mca_base_env_list"


def run(style: str, words: str, **environment: str) -> tuple[list[str], dict[str, str]]:
    launcher = Launcher("mpirun", (), style, "/bin/mpirun")
    return forward(launcher, words.split(), WANTED, environment)


def test_open_mpi_takes_a_list_from_the_environment() -> None:
    assert run("open_mpi", "mpirun -n 2 ./p") == (
        ["mpirun", "-n", "2", "./p"],
        {**SETTINGS, LIST: PAIRS},
    )
    # A list that is there already stays, also beside -x.
    words, changes = run("open_mpi", "mpirun -n 2 ./p -x", **{LIST: "A=1"})
    assert words == ["mpirun", "-n", "2", "./p", "-x"]
    assert changes == {**SETTINGS, LIST: f"A=1;{PAIRS}"}


def test_open_mpi_gets_options_beside_the_users_own() -> None:
    words, changes = run("open_mpi", "mpirun -x A -n 1 ./p : -n 1 ./q")
    expected = [
        "mpirun",
        *OPTIONS_X,
        "-x",
        "A",
        "-n",
        "1",
        "./p",
        ":",
        *OPTIONS_X,
        "-n",
        "1",
        "./q",
    ]
    assert words == expected
    assert changes == SETTINGS


def test_open_mpi_gets_a_longer_list_on_the_command_line() -> None:
    words, changes = run("open_mpi", "mpirun --mca mca_base_env_list A=1;B -n 1 ./p")
    assert words == ["mpirun", "--mca", "mca_base_env_list", f"A=1;B;{PAIRS}", "-n", "1", "./p"]
    assert changes == SETTINGS


def test_prterun_takes_options() -> None:
    words, changes = run("prterun", "prterun -n 2 ./p")
    assert words == ["prterun", *OPTIONS_X, "-n", "2", "./p"]
    assert changes == SETTINGS


def test_hydra_takes_options_for_all_programs() -> None:
    words, changes = run("hydra", "mpiexec -n 1 ./p : -n 1 ./q")
    options = [word for pair in WANTED.items() for word in ("-genv", *pair)]
    assert words == ["mpiexec", *options, "-n", "1", "./p", ":", "-n", "1", "./q"]
    assert changes == SETTINGS


@pytest.mark.parametrize(
    ("words", "environment", "export", "rest"),
    [
        ("srun -n 2 ./p", {}, "ALL", "-n 2 ./p"),
        ("srun --export=ALL,A=1 ./p", {}, "ALL,A=1", "./p"),
        ("srun --export A,B=2 ./p", {}, "A,B=2,THINWIRE_CODEC", "./p"),
        ("srun ./p", {"SLURM_EXPORT_ENV": "A"}, "A,THINWIRE_CODEC", "./p"),
        ("srun --export=NONE ./p", {}, "THINWIRE_CODEC", "./p"),
    ],
)
def test_srun_exports(words: str, environment: dict[str, str], export: str, rest: str) -> None:
    said, changes = run("srun", words, **environment)
    assert said == ["srun", f"--export={export},LD_PRELOAD=/own.so:/t/lib.so", *rest.split()]
    # Names stand for srun's own environment: a value with commas would end the option.
    assert changes == SETTINGS


def test_srun_without_the_users_environment_is_refused() -> None:
    with pytest.raises(Refused, match="thinwire exec"):
        run("srun", "srun --export=NIL ./p")


def test_an_unknown_launcher_gets_it_all_by_its_environment() -> None:
    assert run("unknown", "mpirun -n 2 ./p") == (["mpirun", "-n", "2", "./p"], WANTED)


@pytest.mark.parametrize(
    "words", ["mpirun -x LD_PRELOAD ./p", "mpirun -n 2 env LD_PRELOAD=/a.so ./p"]
)
@pytest.mark.parametrize("style", ["open_mpi", "prterun", "hydra", "srun", "unknown"])
def test_a_command_that_sets_the_preload_is_refused(style: str, words: str) -> None:
    with pytest.raises(Refused, match="LD_PRELOAD"):
        run(style, words)
