"""The real wave program, where it is built, and the link to run it on."""

import os
import shutil
from pathlib import Path

import pytest

from thinwire.demo.links import Loopback
from thinwire.demo.runs import DemoError, find_wave


@pytest.fixture(scope="session")
def wave() -> Path:
    """The wave program: $THINWIRE_WAVE or the release build."""
    if shutil.which("mpirun") is None:
        pytest.skip("no mpirun on this machine")
    given = os.environ.get("THINWIRE_WAVE")
    try:
        return find_wave(Path(given) if given else None)
    except DemoError as error:
        pytest.skip(str(error))


@pytest.fixture
def loopback() -> Loopback:
    return Loopback()
