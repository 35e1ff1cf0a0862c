"""What is imported, and when: each rank that `thinwire exec` starts pays for it."""

import subprocess
import sys

import pytest

import thinwire
from thinwire import api, dtypes


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
