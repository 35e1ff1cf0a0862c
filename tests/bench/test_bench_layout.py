"""Tables on terminals: every cell is whole, whatever the width."""

import io

import pytest
from rich.console import Console
from rich.text import Text

from thinwire.bench.layout import print_cells

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
