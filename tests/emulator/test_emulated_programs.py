"""The compiled programs of tests/gpu on the emulator: stages of codecs, reductions, collectives in
slots and forged input come to what the host makes of them, whichever order threads run in."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(os.environ.get("THINWIRE_BUILD_DIR", ROOT / "build/release")) / "emulator"
ORDERS = ["forward", "backward", "1"]

if not BUILT.is_dir():
    pytestmark = pytest.mark.skip(reason="no emulator: the build has no CUDA compiler")


def told(program: str, words: list[str], order: str, seconds: int) -> str:
    """The output of a program that finds no difference."""
    done = subprocess.run(
        [BUILT / program, *words],
        env=os.environ | {"LD_LIBRARY_PATH": str(BUILT), "THINWIRE_TEST_GPU_ORDER": order},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


SAMPLE = [
    ("gpu_reductions", [], ORDERS),
    ("gpu_slots", ["least"], ORDERS),
    ("gpu_forged", ["small"], ["backward"]),
]


@pytest.mark.parametrize(
    ("program", "words", "order"),
    [(program, words, order) for program, words, orders in SAMPLE for order in orders],
)
def test_a_few_of_each_agree(program: str, words: list[str], order: str) -> None:
    assert " 0 do not" in told(program, words, order, 400)


@pytest.fixture(scope="module")
def results_of_the_host() -> str:
    return told("gpu_host_stages", [], "forward", 400)


@pytest.mark.parametrize("order", ORDERS)
def test_stages_have_the_results_of_the_host(order: str, results_of_the_host: str) -> None:
    """One program has functions in the device's form, the other one in the host's."""
    device = told("gpu_stages", [], order, 400)
    assert " 0 do not" in device
    assert device == results_of_the_host


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("program", ["gpu_slots", "gpu_forged"])
def test_all_agree(program: str, order: str) -> None:
    assert " 0 do not" in told(program, [], order, 14400)


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_lent_memory_is_not_read_once_a_call_is_complete(order: str) -> None:
    assert told("gpu_slots_lent", [], order, 7200) == "0 results of gathers are wrong\n"
