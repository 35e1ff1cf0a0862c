"""Tests of the preload library need an Open MPI to run programs under, and their build."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from shim_runs import PROGRAMS, TESTING

from thinwire.lab import Lab, LabUnavailable

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without an Open MPI at build time there is no library to test."""
    if shutil.which("mpirun") is not None:
        return
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="no mpirun"))


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    """A build that lacks the programs is a mistake, not a reason to skip."""
    for path in (PROGRAMS / "shim_conformance", TESTING):
        assert path.exists(), f"{path} is missing: run `make build-tests`"


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """Two hosts for two ranks each."""
    try:
        with Lab(hosts=2, link="none", ranks_per_host=2) as made:
            yield made
    except LabUnavailable as error:
        pytest.skip(f"no lab here: {error}")
