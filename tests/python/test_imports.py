"""What is imported, and when: each rank that `thinwire exec` starts pays for it."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

import thinwire
from thinwire import api, dtypes
from thinwire.cli import COMMANDS, command_line, list_of_commands


def loaded(program: str) -> set[str]:
    """The packages that a process has loaded behind `program`."""
    told = f"{program}; import sys; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", told], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


def test_the_launchers_import_no_numpy() -> None:
    program = "from thinwire.cli import command_line; command_line(['run', 'exec'])"
    assert "typer" in loaded(program) and "numpy" not in loaded(program)


@pytest.mark.parametrize("word", ["--version", "--help", "", "no-such"])
def test_what_names_no_command_imports_none(word: str) -> None:
    program = f"import sys; sys.argv = ['thinwire', *{word.split()!r}]; from thinwire import start"
    run = "exec('try: start.main()\\nexcept SystemExit: pass')"
    told = "print('MODULES', *sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}; {run}; {told}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    said, _, names = done.stdout.rpartition("MODULES ")
    assert (said or done.stderr).count("\n") > (0 if word == "--version" else 3)
    modules = set(names.split())
    of_commands = {f"thinwire.cli.{command.module}" for command in COMMANDS.values()}
    assert "thinwire.cli" in modules and not modules & of_commands
    assert not modules & {"numpy", "pyroute2", "multiprocessing", "thinwire.bench", "thinwire.lab"}
    assert ("_cffi_backend" in modules) == (word == "--version")


def test_the_list_of_commands_says_what_they_say() -> None:
    runner = CliRunner()
    said = [runner.invoke(app, ["--help"]).output for app in (command_line(), list_of_commands())]
    assert said[0] == said[1] and all(name in said[0] for name in COMMANDS)


def test_a_command_after_dashes_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "thinwire", "--", "codecs", "--json"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert '"zfp"' in done.stdout


def test_public_names_come_when_they_are_used() -> None:
    assert "numpy" not in loaded("import thinwire")
    assert "numpy" in loaded("import thinwire; thinwire.compress")
    assert "numpy" in loaded("from thinwire import *; Codec")


def test_the_package_has_what_its_interface_has() -> None:
    assert sorted(thinwire.__all__) == sorted(api.__all__)
    assert {*thinwire.__all__} <= {*dir(thinwire)}
    for name in thinwire.__all__:
        assert getattr(thinwire, name) is getattr(api, name)
    assert [*dtypes.NUMPY] == [*dtypes.CODES]
    for module in (thinwire, dtypes):
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            module.nothing  # noqa: B018
