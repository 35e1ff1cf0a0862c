"""What goes beside large messages is not taken for the link: small messages, small reductions, an
upload of the program's own. At 10 Gbit/s no message should be compressed for them; at 100 Mbit/s
the same programs compress."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from mpis import SYSTEM
from shim_runs import Run, over_hosts

from thinwire.lab import Lab, LabUnavailable

pytestmark = [pytest.mark.multiproc, pytest.mark.alone]

PROGRAM = SYSTEM.programs / "shim_beside"
AUTO = {"THINWIRE_CODEC": "auto", "THINWIRE_FORCE": "0"}
HOST_OF_RANK_0 = "10.77.0.1"
ROUNDS, ATTEMPTS = 40, 4
# A message takes 4 ms natively. On a machine that is busy the link is as slow as it seems.
BUSY_MILLISECONDS = 8


@pytest.fixture
def made(request: pytest.FixtureRequest) -> Iterator[Lab]:
    try:
        with Lab(hosts=2, link=request.param) as lab:
            yield lab
    except LabUnavailable as error:
        pytest.skip(f"no lab here: {error}")


def beside(lab: Lab, what: str, settings: dict[str, str], report: Path) -> tuple[Run, float]:
    words = [PROGRAM, what, str(ROUNDS), HOST_OF_RANK_0]
    done = over_hosts(lab, 2, words, settings, report, "--map-by", "node", timeout=120)
    assert done.code == 0, done.errors
    assert "0 wrong" in done.output
    (milliseconds,) = re.findall(r"(\S+) ms", done.output)
    return done, float(milliseconds)


@pytest.mark.parametrize("made", ["10gbit"], indirect=True)
@pytest.mark.parametrize("what", ["small", "reductions", "upload"])
def test_a_fast_link_is_not_taken_for_a_slow_one(made: Lab, what: str, tmp_path: Path) -> None:
    for _ in range(ATTEMPTS):
        done, milliseconds = beside(made, what, AUTO, tmp_path / "report.json")
        assert done.report is not None
        # The codec's own tries are few.
        if done.report["compressed_messages"] <= ROUNDS // 20:
            return
        native = {"THINWIRE_CODEC": "off"}
        _, natively = beside(made, what, native, tmp_path / "native.json")
        assert natively > BUSY_MILLISECONDS, (done.report, milliseconds, natively)
    pytest.skip("the machine is busy: messages take as long as on a slow link")


@pytest.mark.parametrize("made", ["100mbit"], indirect=True)
@pytest.mark.parametrize("what", ["small", "reductions", "upload"])
def test_a_slow_link_is_known_beside_them(made: Lab, what: str, tmp_path: Path) -> None:
    done, _ = beside(made, what, AUTO, tmp_path / "report.json")
    assert done.report is not None
    assert done.report["compressed_messages"] >= ROUNDS * 3 // 4
