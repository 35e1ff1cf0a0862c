"""How the preload and the settings reach the ranks: the words and variables of each launcher."""

import pytest

from thinwire.launch import Launcher, Refused, forward

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
    ],
)
def test_srun_exports(words: str, environment: dict[str, str], export: str, rest: str) -> None:
    said, changes = run("srun", words, **environment)
    assert said == ["srun", f"--export={export},LD_PRELOAD=/own.so:/t/lib.so", *rest.split()]
    # Names stand for srun's own environment: a value with commas would end the option.
    assert changes == SETTINGS


def test_srun_that_exports_nothing_is_refused() -> None:
    with pytest.raises(Refused, match="thinwire exec"):
        run("srun", "srun --export=NONE ./p")


def test_an_unknown_launcher_gets_it_all_by_its_environment() -> None:
    assert run("unknown", "mpirun -n 2 ./p") == (["mpirun", "-n", "2", "./p"], WANTED)


@pytest.mark.parametrize(
    "words", ["mpirun -x LD_PRELOAD ./p", "mpirun -n 2 env LD_PRELOAD=/a.so ./p"]
)
@pytest.mark.parametrize("style", ["open_mpi", "prterun", "hydra", "srun", "unknown"])
def test_a_command_that_sets_the_preload_is_refused(style: str, words: str) -> None:
    with pytest.raises(Refused, match="LD_PRELOAD"):
        run(style, words)
