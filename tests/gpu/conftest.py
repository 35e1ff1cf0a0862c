"""Without a GPU every test here is skipped, by name and with the reason."""

import ctypes
import os
import sys

import cuda_driver
import pytest

from thinwire import ThinwireError, gpu_count


def _no_gpu() -> str | None:
    """Why there is none to test on."""
    try:
        count = gpu_count()
    except ThinwireError as error:
        return f"no GPU: {error.args[0]}"
    return None if count else "no GPU"


def _no_driver() -> str | None:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no CUDA driver"
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    why = _no_gpu()
    for item in items:
        if item.path.parent.name != "gpu":
            continue
        item.add_marker(pytest.mark.gpu)
        if why:
            item.add_marker(pytest.mark.skip(reason=why))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """What failed is told at once: time on a machine with a GPU may end before pytest's summary."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        print(f"\nFAILED {report.nodeid}\n{report.longreprtext[-3000:]}", file=sys.__stderr__)


@pytest.fixture
def cuda() -> None:
    """The driver itself, with GPU 0 current."""
    why = _no_driver()
    if why:
        pytest.skip(why)
    cuda_driver.use_gpu(0)


@pytest.fixture
def second_gpu(cuda: None) -> int:
    if gpu_count() < 2:
        pytest.skip("one GPU only: memory of a second one is not tested")
    return 1
