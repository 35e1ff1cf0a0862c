"""What `tools/results_pages` makes of rows: tables and charts that say what the rows say, and a
word about each mistake in them."""

import re
import sys
from decimal import Decimal
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from results import charts, pages, rows, tables  # noqa: E402, the tool's own modules

RUNS = """
[first]
date = "2026-11-26"
machine = "a machine"
commit = "abc"
verified = "every row"
command = "true --again"
"""
ROWS = "run,link,codec,native,coded,faster\n"
ROWS += "first,slow,mpc,10,5,2.00\nfirst,slow,zfp,10,12.5,0.80\nfirst,fast,mpc,1,2,0.50\n"
SPEC = """
[table.all]
rows = "times"
columns = ["link", ["codec", "under"], "coded", "faster"]
code = ["codec"]
same = ["link"]
bold = { faster = "< 1" }

[chart.slow]
rows = "times"
where = { link = "slow" }
label = ["codec"]
series = ["native", ["coded", "compressed"]]
plain = ["native"]
axis = "ms"
title = "How long?"
"""
TEXT = "# Times\n\n<!-- chart slow -->\n\n<!-- table all -->\n\n<!-- runs first -->\n"
NAMES = ("runs.toml", "rows.md", "page.toml", "page.md.in")


def as_block(text: str) -> str:
    return f"# Rows\n\n## times\n\n```text\n{text}```\n"


def folder(at: Path, **other: str) -> Path:
    """A folder of data, of which the files that `other` names by their stems are changed."""
    made = at / "bench" / "results" / "times"
    made.mkdir(parents=True)
    for name, text in zip(NAMES, (RUNS, ROWS, SPEC, TEXT), strict=True):
        changed = text if name == "page.md.in" else other.get(name.partition(".")[0], text)
        (made / name).write_text(as_block(changed) if name == "rows.md" else changed)
    return made


def test_a_page_has_table_chart_machine_and_command(tmp_path: Path) -> None:
    made = pages.Page(folder(tmp_path), tmp_path).made()
    page = made[tmp_path / "docs/results/times.md"]
    assert (
        "| link | under | coded | faster |\n|---|---|---|---|\n| slow | `mpc` | 5 | 2.00 |" in page
    )
    assert "|  | `zfp` | 12.5 | **0.80** |\n| fast | `mpc` | 2 | **0.50** |" in page
    assert "2026-11-26, a machine, abc ([data](../../bench/results/times/rows.md#times" in page
    assert "![How long?](charts/times-slow.svg)" in page and "true --again" in page
    assert all(len(line) <= 100 for line in page.splitlines() if not line.startswith("|"))


def test_a_chart_without_a_table_says_the_machine(tmp_path: Path) -> None:
    alone = SPEC.replace("[chart.slow]", "[chart.slow]\nalone = true")
    page = pages.Page(folder(tmp_path, page=alone), tmp_path).made()[
        tmp_path / "docs/results/times.md"
    ]
    assert page.count("2026-11-26, a machine, abc (") == 1
    assert page.index("a machine") < page.index("| link |") < page.index("The same ([data]")


def test_a_table_of_many_runs_says_from_when_to_when(tmp_path: Path) -> None:
    more = [RUNS.replace("first", f"x{day}").replace("-26", f"-{day}") for day in (20, 21, 22)]
    all_rows = ROWS + "".join(f"x{day},slow,c{day},1,2,3\n" for day in (20, 21, 22))
    made = folder(tmp_path, runs=RUNS + "".join(more), rows=all_rows)
    page = pages.Page(made, tmp_path).made()[tmp_path / "docs/results/times.md"]
    said = " ".join(page.split())
    assert "4 runs from 2026-11-20 to 2026-11-26, which each row names" in said


def test_a_chart_draws_the_numbers_and_names_its_axis(tmp_path: Path) -> None:
    made = pages.Page(folder(tmp_path), tmp_path).made()
    svg = ElementTree.fromstring(made[tmp_path / "docs/results/charts/times-slow.svg"])
    said = [each.text for each in svg.iter() if each.tag.endswith("text")]
    assert {"How long?", "ms", "mpc", "zfp", "native", "compressed", "12.5"} <= set(said)
    bars = [each for each in svg.iter() if each.tag.endswith("rect") and each.get("height") == "11"]
    wide = {(each.get("class"), float(each.get("width", "0"))) for each in bars}
    longest = max(width for _, width in wide)
    assert {round(12.5 * width / longest, 1) for kind, width in wide if kind == "s0"} >= {5, 12.5}
    assert "prefers-color-scheme" in made[tmp_path / "docs/results/charts/times-slow.svg"]


def test_dots_share_a_line_and_what_is_cut_says_its_number() -> None:
    spec = {"label": ["of"], "series": ["x"], "axis": "a", "title": "t", "kind": "dots", "most": 2}
    made = charts.as_svg(spec, [{"of": "a", "x": each} for each in ("1", "1.4", "7.25", "")])
    assert made.count("<circle") == 3 and ">7.25<" in made and ">1.4<" not in made


@pytest.mark.parametrize(
    ("stem", "text", "said"),
    [
        ("rows", ROWS.replace("first,fast", "second,fast"), "no run `second`"),
        ("rows", ROWS + "first,fast\n", "rows.md:times:10: more or fewer"),
        ("rows", ROWS.replace("run,", "of,", 1), "wants a column `run`"),
        ("runs", RUNS.replace("2026-11-26", ""), "says no date"),
        ("runs", RUNS.replace('command = "true --again"', ""), "says no command or how"),
        ("runs", RUNS + RUNS.replace("[first]", "[idle]"), "no row is of ['idle']"),
        ("runs", RUNS + 'place = "x"\n', "place"),
        ("page", TEXT.replace("table all", "table none"), "no table `none`"),
        ("page", TEXT.replace("runs first", "runs last"), "no command of a run `last` is shown"),
        ("page", TEXT.replace("<!-- chart slow -->", ""), "no place for [('chart', 'slow')]"),
    ],
)
def test_what_is_wrong_in_the_data_is_said(tmp_path: Path, stem: str, text: str, said: str) -> None:
    made = folder(tmp_path)
    files = {"rows": "rows.md", "runs": "runs.toml", "page": "page.md.in"}
    (made / files[stem]).write_text(as_block(text) if stem == "rows" else text)
    with pytest.raises(rows.BadData) as caught:
        pages.Page(made, tmp_path).made()
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("\n## more\n\n```text\nrun,x\nfirst,1\n```\n", "neither shows nor links ['more']"),
        ("\n## times\n\n```text\nrun,x\nfirst,1\n```\n", "rows.md:14: a table wants a heading"),
        ("\n```text\nrun,x\nfirst,1\n```\n", "rows.md:12: a table wants a heading"),
        ("run,x\nfirst,1\n", "rows.md:11: neither a heading nor a table"),
    ],
)
def test_a_table_that_no_page_shows_or_that_stands_wrong_is_named(
    tmp_path: Path, more: str, said: str
) -> None:
    made = folder(tmp_path)
    with (made / "rows.md").open("a") as file:
        file.write(more)
    with pytest.raises(rows.BadData) as caught:
        pages.Page(made, tmp_path).made()
    assert said in str(caught.value)


def test_rows_are_summed_up_with_how_many_are_short() -> None:
    spec = {"rows": "a", "group": ["of"], "columns": ["x"], "count": {"x": "< 1"}}
    many = [{"of": "a", "x": each} for each in ("0.95", "2.00", "1.10", "1.15")]
    few = [{"of": "b", "x": "3"}, {"of": "c", "x": "0.9"}]
    assert tables.as_markdown(spec, [*many, *few])[2:] == [
        "| a | 4 | 0.95 to 2.00, median 1.13; **1 < 1** |",
        "| b | 1 | 3 |",
        "| c | 1 | **0.9** |",
    ]


def test_numbers_are_told_from_words() -> None:
    assert rows.number("5.34e+03") == Decimal("5340") and rows.number("1e-6") == Decimal("0.000001")
    assert all(rows.number(each) is None for each in ("", "2 of 3", "nan", "inf", "12 ms"))


def test_the_pages_are_what_the_data_make() -> None:
    made = {}
    for each in pages.folders(ROOT):
        made |= pages.Page(each, ROOT).made()
    assert made
    wrong = [path.name for path, text in made.items() if path.read_text() != text]
    assert wrong == [], "run tools/results_pages"


def test_pages_are_short_enough_to_be_read() -> None:
    """Words as a reader counts them: bars of tables are none."""
    for each in pages.folders(ROOT):
        assert len(each.joinpath("page.md.in").read_text().split()) <= 900, each.name
    text = " ".join(path.read_text() for path in (ROOT / "docs" / "results").glob("*.md"))
    assert len(re.findall(r"[^\s|]*\w[^\s|]*", text)) <= 10_300
