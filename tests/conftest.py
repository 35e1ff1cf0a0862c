"""Tests of two processes side by side (`pytest -n 2`) do not meet in the file system."""

import os
import shutil
import tempfile

import pytest
from exhaustive import mark_exhaustive

IN_COMPANY = "PYTEST_XDIST_WORKER" in os.environ


def pytest_configure(config: pytest.Config) -> None:
    """A scratch folder for each: launchers of Open MPI share one there, and the last job to end
    removes it, also where the next is about to put its files in. Sockets in it have short names."""
    if IN_COMPANY:
        os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="tw-")
        tempfile.tempdir = None  # it is looked up again


def pytest_unconfigure(config: pytest.Config) -> None:
    if IN_COMPANY:
        shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before pytest deselects by marks."""
    mark_exhaustive(items)


@pytest.fixture(scope="session")
def permitted() -> None:
    """A lab can be made here. Loaded by those tests alone that ask for one."""
    from thinwire.lab import Lab, LabUnavailable

    try:
        with Lab(hosts=1, link="none"):
            pass
    except LabUnavailable as error:
        pytest.skip(f"no lab here: {error}")
