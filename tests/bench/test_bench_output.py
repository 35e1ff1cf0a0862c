"""What benches print and draw: every cell of a table is whole, and a plot shows what rows say."""

import io
import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest
from rich.console import Console
from rich.text import Text

from thinwire.bench import plot
from thinwire.bench.codec import CodecRow
from thinwire.bench.layout import print_cells

# Tables on terminals: every cell is whole, whatever the width.

HEADINGS = ("codec", "data", "dtype", "encode GB/s", "decode GB/s", "max error", "of bound", "")
ROWS = [
    (
        "zfp:rate=16,shape=?x224x224",
        "wave",
        "f32",
        "1.234",
        "2.345",
        "1.1e-05",
        "0.031",
        "verified",
    ),
    ("mpc", "turbulence", "f64", "0.5", "0.75", "0", "-", Text("NOT VERIFIED: " + "why " * 30)),
]


def printed(width: int, terminal: bool) -> str:
    console = Console(width=width, force_terminal=terminal, color_system=None, file=io.StringIO())
    print_cells(console, HEADINGS, ROWS)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [30, 40, 60, 80, 100, 300])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, printed(width, terminal=True).splitlines())) <= width


@pytest.mark.parametrize("width", [30, 40, 60, 80, 100, 300])
def test_no_cell_is_cut_on_a_terminal(width: int) -> None:
    said = printed(width, terminal=True)
    words = said.split()
    for cell in (str(cell) for row in ROWS for cell in row):
        assert all(word in words for word in cell.split())
    for heading in HEADINGS[2:]:  # the two names of a row need none
        assert all(word in words for word in heading.split())
    assert "…" not in said


def test_wide_terminals_have_a_table_and_narrow_ones_paragraphs() -> None:
    assert printed(300, terminal=True).count("encode GB/s") == 1
    folded = printed(104, terminal=True).splitlines()
    assert folded[0].split() == ["encode", "decode", "max", "of"]
    assert printed(60, terminal=True).count("encode GB/s") == len(ROWS)


def test_what_is_piped_is_a_line_a_row() -> None:
    assert len(printed(80, terminal=False).splitlines()) == 1 + len(ROWS)


# The picture of ratio against speed.

SVG = "{http://www.w3.org/2000/svg}"
ROW = CodecRow(
    codec="a:k=1",
    data="wave",
    dtype="f32",
    shape="4096",
    bytes=16384,
    frame_bytes=8192,
    ratio=2.0,
    encode_gb_per_second=10.0,
    decode_gb_per_second=40.0,
    verified=True,
)


def test_a_codec_is_shown_once_at_its_best_and_largest() -> None:
    rows = [
        replace(ROW, bytes=4096, ratio=9.0),
        ROW,
        replace(ROW, shape="16x16x16", ratio=3.0, encode_gb_per_second=8.0),
        replace(ROW, codec="b", verified=False, ratio=None, decode_gb_per_second=None),
        replace(ROW, data="turb"),
    ]
    panels = plot.panels_of(rows)
    assert list(panels) == ["wave f32, 0.01638 MB", "turb f32, 0.01638 MB"]
    assert panels["wave f32, 0.01638 MB"] == [plot.Mark("a:k=1", 8.0, 40.0, 3.0)]


def test_encode_and_decode_are_marked_at_their_speed_and_ratio() -> None:
    rows = [ROW, replace(ROW, codec="b<&", ratio=8.0, encode_gb_per_second=100.0)]
    tree = ElementTree.fromstring(plot.draw(rows))
    groups = [each for each in tree.iter(f"{SVG}g") if each.find(f"{SVG}title") is not None]
    assert [each.find(f"{SVG}text").text for each in groups] == ["a:k=1", "b<&"]
    (encode, decode), (other, _) = (each.findall(f"{SVG}circle") for each in groups)
    assert float(encode.get("cx")) < float(decode.get("cx")) < float(other.get("cx"))
    assert encode.get("cy") == decode.get("cy") and float(other.get("cy")) < float(encode.get("cy"))


def test_equal_ratios_have_labels_apart() -> None:
    rows = [replace(ROW, codec=f"c{index}") for index in range(20)]
    tree = ElementTree.fromstring(plot.draw(rows))
    groups = [each for each in tree.iter(f"{SVG}g") if each.find(f"{SVG}title") is not None]
    heights = sorted(float(each.find(f"{SVG}text").get("y")) for each in groups)
    assert all(b - a >= plot.LINE - 1e-6 for a, b in zip(heights, heights[1:], strict=False))


def test_it_is_legible_on_dark_paper_too() -> None:
    text = plot.draw([ROW])
    assert "prefers-color-scheme: dark" in text

    def light(colour: str) -> float:
        """Relative luminance."""
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for on_light, on_dark in plot.PALETTE:
        assert 1.05 / (light(on_light) + 0.05) >= 4.5
        assert (light(on_dark) + 0.05) / (light("#0d1117") + 0.05) >= 4.5


def test_nothing_verified_is_no_picture() -> None:
    with pytest.raises(ValueError, match="no verified row"):
        plot.draw([replace(ROW, verified=False)])


@pytest.mark.usefixtures("small_cubes")
def test_the_command_writes_it(bench, tmp_path) -> None:
    words = ("codec", "--device", "cpu", "--size", "64KiB", "--runs", "1", "--codec", "mpc")
    done = bench(*words, "--json", "--plot", str(tmp_path / "p.svg"))
    assert done.exit_code == 0
    arrays = {(row["data"], row["dtype"]) for row in json.loads(done.stdout)}
    text = (tmp_path / "p.svg").read_text()
    assert all(f">{name} {dtype}, " in text for name, dtype in arrays)
