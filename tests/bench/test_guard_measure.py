"""What `bench/studies/guard` makes of its messages: the oracle, shares of predictions, the page."""

import os
import sys
from pathlib import Path

import pytest

from thinwire.lab import Lab, LabUnavailable

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "studies" / "guard"))

import page  # noqa: E402
import streams  # noqa: E402
from ways import Message, Way  # noqa: E402

MIB = 1 << 20


class Place:
    name = "1gbit"


class FakeTurns:
    """Each way takes a time of its own for each file; the guarded one lags behind the best."""

    seconds = {"native": (8.0, 8.0), "mpc": (4.0, 9.0), "ndzip": (5.0, 8.5), "guarded": (4.2, 8.0)}

    def __init__(
        self,
        place: Place,
        ways: list[Way],
        files: list[Path],
        largest: int,
        broadcasts: bool = False,
    ) -> None:
        self._names = [way.name for way in ways]

    def __enter__(self) -> "FakeTurns":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def send(self, nbytes: int, file: int = 0) -> dict[str, Message]:
        return {
            name: Message(nbytes, file, self.seconds[name][file], 0.0, file == 0)
            for name in self._names
        }


def test_the_oracle_sends_each_kind_the_best_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "Turns", FakeTurns)
    row, guarded = streams.mixed(Place(), ["mpc", "ndzip"], [Path("a"), Path("b")], MIB, 100, 2)
    assert (row.shrinking, row.noise) == ("mpc", "native")
    assert row.messages == len(guarded) == 200 - streams.SETTLING
    assert row.of_oracle == pytest.approx((80 * 4.2 + 100 * 8) / (80 * 4 + 100 * 8))
    assert row.of_native == pytest.approx((80 * 4.2 + 100 * 8) / (180 * 8))
    assert (row.compressed_shrinking, row.compressed_noise) == (1.0, 0.0)
    assert row.within


def test_nothing_stated_is_beside_the_best_way_of_all_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streams, "Turns", FakeTurns)
    row = streams.plain(Place(), ["mpc", "ndzip"], Path("a.f32"), MIB, 30, lambda text: None)
    assert (row.field, row.best, row.messages, row.compressed) == ("a.f32", "mpc", 30, 1.0)
    assert row.of_best == pytest.approx(4 / 4.2)
    assert row.of_native == pytest.approx(4.2 / 8)
    assert row.within
    monkeypatch.setattr(FakeTurns, "seconds", {**FakeTurns.seconds, "guarded": (4.5, 8.0)})
    row = streams.plain(Place(), ["mpc"], Path("a.f32"), MIB, 30, lambda text: None)
    assert row.of_best == pytest.approx(4 / 4.5) and not row.within


def test_noise_is_judged_by_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "Turns", FakeTurns)
    (row,), sent = streams.noise(Place(), ["mpc"], Path("a"), MIB, 30, lambda text: None)
    assert (row.call, row.pairs, len(sent), row.compressed) == ("message", 30, 30, 30)
    assert row.ratio == row.ratio_95 == pytest.approx(4.2 / 8)
    assert row.within


def test_predictions_are_of_large_messages_that_had_one() -> None:
    sent = [Message(MIB, 0, seconds, 1.0, False) for seconds in (0.9, 1.0, 1.14, 1.3)]
    sent += [Message(MIB, 0, 9.0, 0.0, False), Message(MIB - 4, 0, 9.0, 1.0, False)]
    row = streams.predictions("1gbit", "mixed", sent)
    assert (row.messages, row.within_15) == (4, 0.75)
    assert row.median_off == pytest.approx(0.07)
    assert not row.within
    assert not streams.predictions("1gbit", "mixed", []).within


def test_the_page_says_what_is_not_within() -> None:
    change = {
        **dict.fromkeys(("before", "after", "codec", "right"), "x"),
        "bytes": MIB,
        "gain": 1.25,
        "until_right": None,
        "within": False,
        "choices": "..C",
    }
    machine = dict.fromkeys(("date", "commit", "processors", "processor"), "x")
    machine |= dict.fromkeys(("load_before", "load_after", "seconds", "drops"), 0)
    found = {"machine": machine, "changes": [change], "mixed": [], "plain": []}
    found |= {"noise": [], "predictions": []}
    lines = page.page(found).splitlines()
    assert "| x | x | x | 1048576 | x | 1.25 | never | **no** | `..C` |" in lines


# A link that changes under a running program, and what the library makes of it.

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "studies" / "guard"))

import changed_link  # noqa: E402

BUILT = Path(os.environ.get("THINWIRE_BUILD_DIR", ROOT / "build" / "release")) / "bin" / "raw_turns"

# On a machine with other work raw messages may be no faster than the processor, so that either way
# is right. Nothing of it is left on the slow link.
CLOSE = 1.1


@pytest.mark.multiproc
@pytest.mark.alone
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


@pytest.mark.multiproc
@pytest.mark.alone
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
