"""What `tools/wrap_markdown` does to a page: lines get shorter, and the page reads the same."""

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "wrap_markdown"


@pytest.fixture(scope="module")
def tool():
    loader = SourceFileLoader("wrap_markdown", str(TOOL))
    spec = spec_from_loader("wrap_markdown", loader)
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


LONG = "word " * 30
PAGES = {
    "paragraph": LONG + "\n",
    "list": f"- {LONG}\n- short\n\n1. {LONG}\n   - {LONG}\n",
    "quotation": f"> {LONG}\n> short\n",
    "begins no list": "words12 " * 12 + "- 3 + 4. # 5 and so on " + LONG + "\n",
}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_long_lines_are_wrapped_and_the_page_reads_the_same(tool, page):
    new = tool.wrapped(page)
    assert max(map(len, new.split("\n"))) <= 100
    assert tool.html_of(new) == tool.html_of(page)
    assert tool.wrapped(new) == new


@pytest.mark.parametrize(
    "page",
    [
        "short\nlines\n",
        f"| {LONG} |\n|---|\n| {LONG} |\n",
        f"```\n{LONG}\n```\n",
        f"# {LONG}\n",
        f"[link](https://{'x' * 120})\n",
        f"`{LONG.strip()}`\n",
    ],
    ids=["short", "table", "fence", "heading", "link", "code"],
)
def test_what_cannot_be_wrapped_stays(tool, page):
    assert tool.wrapped(page) == page


def test_a_code_span_stays_on_one_line(tool):
    new = tool.wrapped("words12 " * 11 + "`a span of code` follows\n")
    assert "\n`a span of code` follows" in new
