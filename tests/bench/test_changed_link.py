"""A link that changes under a running program, and what the library makes of it."""

import os
import sys
from pathlib import Path

import pytest

from thinwire.lab import Lab, LabUnavailable

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "guard"))

import changed_link  # noqa: E402

BUILT = Path(os.environ.get("THINWIRE_BUILD_DIR", ROOT / "build" / "release")) / "bin" / "raw_turns"
pytestmark = [pytest.mark.multiproc, pytest.mark.alone]

# On a machine with other work raw messages may be no faster than the processor, so that either way
# is right. Nothing of it is left on the slow link.
CLOSE = 1.1


@pytest.mark.skipif(not BUILT.exists(), reason="raw_turns is not built")
def test_the_choice_is_right_again_within_twenty_messages(tmp_path: Path) -> None:
    try:
        with Lab(hosts=1, link="none"):
            pass
    except LabUnavailable as error:
        pytest.skip(f"no lab here: {error}")
    field = tmp_path / "field.f32"
    changed_link.write_field(field, 1 << 21)
    rates = ("2gbit", "50mbit", "2gbit")
    slower, faster = changed_link.measure(rates, "ndzip", field, 1 << 20, 40, print)
    assert slower.drops == faster.drops == 0
    assert slower.right == "compressed" and slower.within, slower
    assert faster.within or faster.gain < CLOSE, faster


@pytest.mark.parametrize(
    ("choices", "right", "until"),
    [
        ("CCCCCCCC", True, 0),
        ("..C.CCCCCCCC.", True, 4),
        (".......C........", False, 8),
        ("C.C.C.C.C.C.C.C.", True, None),
        ("", True, None),
    ],
)
def test_right_is_eight_in_a_row(choices: str, right: bool, until: int | None) -> None:
    assert changed_link.until_right([each == "C" for each in choices], right) == until
