"""Settings of the environment: one table, one rule for what is wrong."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mpi_stubs import call, make_installation, make_launcher, make_script, started

from thinwire.cli.values import Level
from thinwire.settings import all_settings, check_setting, in_force, wrong_settings

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"
LIST = "OMPI_MCA_mca_base_env_list"


def test_the_page_has_the_tables_that_are_made_of_the_library() -> None:
    tool = PAGE.parents[2] / "tools" / "settings_page"
    done = subprocess.run([sys.executable, tool, "--check"], stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout


def test_sources_read_no_name_that_is_not_in_the_table() -> None:
    root = PAGE.parents[2]
    reads = re.compile(
        r"""(?:getenv\(|setting_value\(|size_or\(|is_on\(|environ\w*(?:\.get\(|\[)|
                        envvar=|for_each_word\()\s*"(THINWIRE_\w+)\"""",
        re.X,
    )
    known = {setting.name for setting in all_settings()}
    files = [
        path
        for folder in ("src", "shim", "python/thinwire", "bench", "examples", "tests", "tools")
        for path in (root / folder).rglob("*")
        if path.is_file() and path.suffix in (".cpp", ".h", ".c", ".cu", ".py", "")
    ]
    found = {name for path in files for name in reads.findall(path.read_text(errors="replace"))}
    assert {"THINWIRE_CODEC", "THINWIRE_LIBRARY_DIR", "THINWIRE_MPIS"} <= found
    unknown = {name for name in found - known if not name.startswith("THINWIRE_TEST_")}
    # base/settings_test.cpp has a misspelt one.
    assert unknown <= {"THINWIRE_TRESHOLD"}


NAMED = re.compile(r'"(THINWIRE_[A-Z_]+)"')


def named_in(*folders: str) -> set[str]:
    """Names of settings that sources have between quotes."""
    known = {setting.name for setting in all_settings() if not setting.of_tools}
    found = set()
    for folder in folders:
        for path in (PAGE.parents[2] / folder).rglob("*"):
            if path.suffix in (".cpp", ".h"):
                found |= set(NAMED.findall(path.read_text()))
    return found & known


@pytest.mark.parametrize("shim", ["MPI", "NCCL"])
def test_the_page_says_which_settings_a_preload_library_reads(shim: str) -> None:
    (line,) = re.findall(rf"\| the preload librar\w+ for {shim} \|(.*)\|", PAGE.read_text())
    (of_core,) = re.findall(r"\| the core, in every program.*?\|(.*)\|", PAGE.read_text())
    listed = set(re.findall(r"`(THINWIRE_\w+)`", line))
    own = named_in(f"shim/{shim.lower()}")
    assert own - listed <= set(re.findall(r"`(THINWIRE_\w+)`", of_core))
    assert listed <= own | named_in("shim/common") | {"THINWIRE_POLICY"}


def test_env_shows_every_setting_and_what_is_wrong() -> None:
    given = {"THINWIRE_THRESHOLD": "many", "THINWIRE_TRESHOLD": "1MiB", "THINWIRE_POOL": "1MiB"}
    shown = thinwire("env", **given, COLUMNS="250").stdout
    for setting in all_settings():
        assert setting.of_tools or setting.name in shown
    for name in ("THINWIRE_THRESHOLD", "THINWIRE_TRESHOLD"):
        assert re.search(rf"^ *{name} .*WRONG", shown, re.M)
    assert re.search(r"^ *THINWIRE_POOL +1MiB", shown, re.M)


def test_values_and_names_are_judged() -> None:
    check_setting("THINWIRE_CODEC", "zfp:rate=16")
    wrong = {
        "THINWIRE_CODEC": "zpf",
        "THINWIRE_LOG": "loud",
        "THINWIRE_SAME_NODE": "2",
        "THINWIRE_TRESHOLD": "1",
        "THINWIRE_DISABLE": "yes",
    }
    right = {"THINWIRE_LINK": "1gbit", "THINWIRE_TEST_X": "1", "THINWIRE_POOL": "", "PATH": "/"}
    assert set(wrong_settings({**wrong, **right})) == set(wrong)
    assert "THINWIRE_THRESHOLD" in wrong_settings(wrong)["THINWIRE_TRESHOLD"]


def test_what_is_started_inherits_no_wrong_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"THINWIRE_TRESHOLD": "1", "THINWIRE_DISABLE": "yes", "THINWIRE_POOL": "1MiB"}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    kept = in_force(os.environ)
    assert "THINWIRE_TRESHOLD" not in kept
    assert (kept["THINWIRE_DISABLE"], kept["THINWIRE_POOL"]) == ("1", "1MiB")


def thinwire(*words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "thinwire", *words],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **variables},
        check=False,
    )


MAKES_A_CODEC = "import sys, thinwire; print(thinwire.Codec(sys.argv[1]).spec)"


# RANK is torchrun's.
@pytest.mark.parametrize(
    ("name", "rank"),
    [("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_RANK", "1"), ("RANK", "0"), ("RANK", "1")],
)
@pytest.mark.parametrize("codec", ["mpc", "zfp:rate=16"])
def test_python_names_it_once_and_makes_no_lossy_codec(codec: str, name: str, rank: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MAKES_A_CODEC, codec],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "THINWIRE_TRESHOLD": "1MiB", name: rank},
        check=False,
    )
    logged = [line for line in done.stderr.splitlines() if line.startswith("thinwire: ")]
    assert len(logged) == (1 if rank == "0" else 0)
    assert all("THINWIRE_TRESHOLD" in line and "THINWIRE_THRESHOLD" in line for line in logged)
    if codec == "mpc":
        assert (done.returncode, done.stdout) == (0, "mpc:stride=1\n")
    else:
        assert done.returncode == 1 and "is lossy, and a setting is wrong" in done.stderr


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An Open MPI that says what it was started with, a program, and the libraries for it."""
    make_launcher(tmp_path / "mpirun", "openmpi-4.1")
    make_script(tmp_path / "job.sh", "#!/bin/sh")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path)
    folder = make_installation(tmp_path / "installation")
    return {"THINWIRE_LIBRARY_DIR": str(folder), "THINWIRE_LOG": "error"}


def test_run_names_it_and_its_ranks_do_not(machine: dict[str, str]) -> None:
    given = {**machine, "THINWIRE_SAME_NODE": "2", "THINWIRE_POOL": "1MiB"}
    result = call("run", "--codec", "mpc", "--", "mpirun", "./job.sh", environment=given)
    assert result.stderr.count("THINWIRE_SAME_NODE: '2' is neither 0 nor 1; 0 holds") == 1
    _, environment = started(result)
    assert "SAME_NODE" not in environment[LIST] and "THINWIRE_POOL=1MiB" in environment[LIST]
    assert "THINWIRE_SAME_NODE" not in environment


@pytest.fixture
def config(tmp_path: Path) -> str:
    (tmp_path / "site.conf").write_text("# ours\nTHINWIRE_CODEC = mpc\nTHINWIRE_POOL=1MiB\n")
    return str(tmp_path / "site.conf")


def test_a_file_has_what_the_environment_leaves_out(config: str) -> None:
    given = {"THINWIRE_CONFIG": config, "THINWIRE_POOL": "2MiB", "COLUMNS": "250"}
    shown = thinwire("env", **given).stdout
    assert re.search(r"^ *THINWIRE_CODEC +mpc", shown, re.M)
    assert re.search(r"^ *THINWIRE_POOL +2MiB", shown, re.M)


@pytest.mark.parametrize(("options", "codec"), [([], "mpc"), (["--codec", "ndzip"], "ndzip")])
def test_run_goes_by_the_file(
    machine: dict[str, str], config: str, options: list[str], codec: str
) -> None:
    given = {**machine, "THINWIRE_CONFIG": config}
    result = call("run", *options, "--", "mpirun", "./job.sh", environment=given)
    _, environment = started(result)
    handed = environment[LIST].split(";")
    assert f"THINWIRE_CONFIG={config}" in handed
    assert [each for each in handed if each.startswith("THINWIRE_CODEC=")] == [
        f"THINWIRE_CODEC={codec}"
    ]


def test_a_line_of_the_file_that_is_wrong_is_named(config: str) -> None:
    Path(config).write_text("THINWIRE_CODEC=mpc\nTHINWIRE_TRESHOLD=1MiB\n")
    for codec, code in (("mpc", 0), ("zfp:rate=16", 1)):
        done = subprocess.run(
            [sys.executable, "-c", MAKES_A_CODEC, codec],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "THINWIRE_CONFIG": config},
            check=False,
        )
        assert done.returncode == code, done.stderr
        assert f"{config}: line 2: THINWIRE_TRESHOLD: no setting has this name" in done.stderr


def test_run_starts_nothing_lossy(machine: dict[str, str]) -> None:
    given = {**machine, "THINWIRE_SAME_NODE": "2"}
    result = call("run", "--codec", "zfp:rate=8", "--", "mpirun", "./job.sh", environment=given)
    assert (result.returncode, result.stdout) == (1, "")
    assert "zfp:rate=8 is lossy" in result.stderr


def test_a_wrong_codec_of_the_environment_is_named() -> None:
    result = thinwire("run", "--", "true", THINWIRE_CODEC="zpf:rate=8", COLUMNS="200")
    assert result.returncode == 2
    assert "THINWIRE_CODEC: " in result.stderr and "no codec named 'zpf'" in result.stderr


@pytest.mark.parametrize("command", ["run", "exec"])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--bogus", "--", "true"], "No such option: --bogus"),
        (["--bogus", "true"], "No such option: --bogus"),
        (["--treshold", "1MiB", "--", "true"], "--threshold"),
        (["--report", "--", "true"], "Option '--report' requires an argument"),
        (["--codec", "mpc", "--report", "--", "true"], "Option '--report' requires"),
        (["--report", "--same-node", "--", "true"], "Option '--report' requires"),
        (["--link"], "Option '--link' requires an argument"),
    ],
)
def test_options_before_the_command(command: str, options: list[str], said: str) -> None:
    result = thinwire(command, *options, COLUMNS="200")
    assert result.returncode == 2
    assert said in result.stderr and "Usage: " in result.stderr


def test_a_log_level_is_checked() -> None:
    result = thinwire("run", "--log", "lound", "--", "true", COLUMNS="200")
    assert result.returncode == 2
    assert "'off', 'error', 'warning', 'info', 'plan', 'debug'" in result.stderr
    words = next(row.words for row in all_settings() if row.name == "THINWIRE_LOG")
    assert not words or set(words) == set(Level)
    for level in Level:
        check_setting("THINWIRE_LOG", level)


@pytest.mark.parametrize("separator", [["--"], []])
def test_what_follows_is_the_programs(machine: dict[str, str], separator: list[str]) -> None:
    words = ["-n", "2", "--report", "--", "./job.sh", "--bogus"]
    result = call("run", "--codec", "mpc", *separator, "mpirun", *words, environment=machine)
    assert started(result)[0] == words


def test_lab_run_needs_its_values() -> None:
    result = thinwire("lab", "run", "--name", "--", "true", COLUMNS="200")
    assert result.returncode == 2 and "Option '--name' requires an argument" in result.stderr
