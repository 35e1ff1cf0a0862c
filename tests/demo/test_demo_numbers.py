"""The demo's model of a run, its bars, and how it verifies."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from demo_stand_ins import make_run

from thinwire.demo import model
from thinwire.demo.bars import bars_of, write_bars
from thinwire.demo.verify import field_error, problems_of

RAW = model.RawRun(seconds=10.0, comm_seconds=8.0, bytes_one_way=80_000_000)


def test_no_run_passes_the_limit():
    # The least arithmetic of the three is 1.5 s.
    runs = [(10.0, 8.0), (3.0, 1.5), (4.0, 2.0)]
    limit = model.speedup_limit(RAW, runs)
    assert limit == pytest.approx(10 / 1.5)
    assert all(RAW.seconds / seconds <= limit for seconds, _ in runs)


def test_ratio():
    assert model.compression_ratio(1000, 250) == 4
    assert model.compression_ratio(0, 0) == 1


def test_link_share_is_the_explained_part():
    assert model.link_share(RAW, 10e6) == pytest.approx(1.0)
    assert model.link_share(RAW, 20e6) == pytest.approx(0.5)


def test_every_message_pays_for_its_burst():
    # 5 s and 100 messages of 50 kB at 10 MB/s: 5.5 s.
    assert model.speedup_without_bursts(RAW, 5.0, 100, 50_000, 10e6) == pytest.approx(10 / 5.5)
    assert model.speedup_without_bursts(RAW, 5.0, 100, 0, 10e6) == 2


# The demo's chart as SVG, and the one that the README shows.

ROOT = Path(__file__).resolve().parents[2]
SHOWN = ROOT / "docs" / "results" / "demo"
SVG = "{http://www.w3.org/2000/svg}"


def row(codec, seconds, speedup=1.0, link="100mbit", verified=True):
    return {
        "link": link,
        "codec": codec,
        "seconds": seconds,
        "speedup": speedup,
        "device": "cpu",
        "verified": verified,
    }


def drawn(rows):
    root = ElementTree.fromstring(bars_of(rows))
    bars = [each for each in root.iter(f"{SVG}rect") if each.get("y")]
    return bars, [each.text for each in root.iter(f"{SVG}text")]


def test_a_bar_is_as_long_as_its_seconds():
    bars, words = drawn([row("none", 8.0), row("zfp:rate=8", 2.0, 4.0), row("off", 10.0, 0.8)])
    native, fast, off = (float(bar.get("width")) for bar in bars)
    assert abs(native / fast - 4) < 0.01 and off > native
    assert words == ["100 Mbit/s", "native", "8.00 s", "zfp:rate=8", "2.00 s (4.00x)"] + [
        "codec off",
        "10.00 s (0.80x)",
    ]


def test_what_is_not_verified_has_no_bar():
    bars, words = drawn([row("none", 8.0), row("lossless", 2.0, 4.0, verified=False)])
    assert len(bars) == 1 and words[-1] == "not verified" and "2.00" not in " ".join(words)


def test_each_link_has_a_panel(tmp_path):
    rows = [row("none", 8.0), row("none", 1.0, link="1gbit"), row("none", 1.0, link="loopback")]
    (tmp_path / "report.json").write_text(json.dumps(rows))
    write_bars(tmp_path / "report.json", tmp_path / "bars.svg")
    said = (tmp_path / "bars.svg").read_text()
    assert re.search(r"<title>.*100 Mbit/s: native 8.00 s. 1 Gbit/s: native 1.00 s", said)
    assert [word for word in drawn(rows)[1] if "/s" in word or word == "loopback"] == [
        "100 Mbit/s",
        "1 Gbit/s",
        "loopback",
    ]


def test_the_chart_of_the_readme_is_that_of_the_figures_beside_it():
    rows = json.loads((SHOWN / "report.json").read_text())
    assert (SHOWN / "bars.svg").read_text() == bars_of(rows)
    assert all(row["verified"] for row in rows) and len({row["link"] for row in rows}) == 2


REFERENCE = make_run("none", 1.0).field


def test_good_runs_have_no_problems():
    assert problems_of(make_run("none", 1.0), REFERENCE) == []
    assert problems_of(make_run("off", 1.0), REFERENCE) == []
    assert problems_of(make_run("zfp:rate=8", 1.0, noise=0.01), REFERENCE) == []


def test_shim_off_must_be_bit_identical():
    assert problems_of(make_run("off", 1.0, noise=1e-6), REFERENCE)
    negative_zero = make_run("off", 1.0)
    negative_zero.field[0, 0, 0] = -0.0  # equal as a number to the reference's 0, not as bits
    assert problems_of(negative_zero, REFERENCE)


@pytest.mark.parametrize(
    ("shim", "words"),
    [
        ({"decoded_messages": 19}, "20 messages were encoded but 19 decoded"),
        ({"compressed_messages": 0, "decoded_messages": 0}, "no message was compressed"),
        ({"bytes": 1}, "the shim saw 1 bytes"),
    ],
)
def test_counters_must_agree(shim, words):
    problems = problems_of(make_run("zfp:rate=16", 1.0, **shim), REFERENCE)
    assert any(words in problem for problem in problems)


def test_error_limit_depends_on_the_rate():
    assert problems_of(make_run("zfp:rate=16", 1.0, noise=0.1), REFERENCE)
    assert not problems_of(make_run("zfp:rate=8", 1.0, noise=0.1), REFERENCE)
    assert problems_of(make_run("zfp:rate=8", 1.0, noise=0.5), REFERENCE)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_finite_is_a_problem(value):
    run = make_run("zfp:rate=8", 1.0)
    run.field[1, 1, 1] = value
    assert "the field is not finite" in problems_of(run, REFERENCE)


def test_field_error_by_hand():
    error = field_error(np.float32([0, 2, -4]), np.float32([0, 2.5, -4]))
    assert (error.absolute, error.relative) == (0.5, 0.125)
