"""The picture of where the time of operations goes."""

import re
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from thinwire.bench import breakdown
from thinwire.bench.breakdown import LONGEST, bars_of, draw


def row(**changes: Any) -> SimpleNamespace:
    made = {"link": "1gbit", "op": "bcast", "codec": "mpc", "size": 1 << 20, "seconds": 0.010}
    return SimpleNamespace(**{**made, "verified": True, **changes})


def test_parts_and_the_rest_add_up() -> None:
    (bar,) = bars_of([row(way="naive", encode_seconds=0.002, transfer_seconds=0.005)])
    assert bar.name == "1gbit bcast 1024 KiB naive mpc"
    assert [part[:2] for part in bar.parts] == [
        ("encoding", 0.002),
        ("transfer", 0.005),
        (breakdown.REST[0], pytest.approx(0.003)),
    ]


def test_parts_beside_each_other_are_no_longer_than_the_whole() -> None:
    native, coded = bars_of([row(native_seconds=0.02, encode_seconds=0.012, decode_seconds=0.008)])
    assert native.name.endswith("native") and native.parts[0][1] == 0.02
    assert [part[1] for part in coded.parts] == [pytest.approx(0.006), pytest.approx(0.004)]


def test_wrong_rows_have_no_bar() -> None:
    assert bars_of([row(verified=False), row(seconds=None)]) == []
    with pytest.raises(ValueError, match="no verified row"):
        draw([row(verified=False)])


def test_the_longest_bar_fills_its_room() -> None:
    text = draw([row(way="raw"), row(way="host", seconds=0.005, copy_seconds=0.002)])
    drawing = ElementTree.fromstring(text)
    rectangles = drawing.findall(".//{http://www.w3.org/2000/svg}rect")
    widths = [float(each.get("width", "")) for each in rectangles if each.find("*") is not None]
    assert widths == [LONGEST, pytest.approx(0.2 * LONGEST), pytest.approx(0.3 * LONGEST)]
    assert re.search(r"copies: 2 ms", text) and "GPU memory" not in text
