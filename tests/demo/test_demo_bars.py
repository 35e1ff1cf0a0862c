"""The demo's chart as SVG, and the one that the README shows."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

from thinwire.demo.bars import bars_of, write_bars

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
