"""What pages say of the code: links that lead nowhere are found, codecs are listed as the registry
has them."""

import re
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

import thinwire

ROOT = Path(__file__).parents[2]


def loaded(tool: str) -> Any:
    loader = SourceFileLoader(tool, str(ROOT / "tools" / tool))
    spec = spec_from_loader(tool, loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("link", "fault"),
    [
        ("docs/guide/mpi.md#is-it-faster", ""),
        ("docs/guide/mpi.md#is-it-slower", "no heading"),
        ("#where-next", ""),
        ("#nothing", "no heading"),
        ("docs/guide/none.md", "no file"),
        ("docs/guide", "no file"),
        ("../elsewhere.md", "no file"),
        ("https://example.org/#x", ""),
    ],
)
def test_a_link_that_leads_nowhere_is_found(link: str, fault: str) -> None:
    """`make lint` goes through all of them; this is about what it finds."""
    said = loaded("check_links").fault_of(ROOT / "README.md", link)
    assert fault in said and bool(said) == bool(fault)


def test_headings_have_the_anchors_of_web_views(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A `tw_x()` & b\n\n## Same\n\n## Same\n\n```\n# none\n```\n[x](y.md) `[z](w.md)`\n"
    )
    module = loaded("check_links")
    assert module.anchors_of(page) == {"a-tw_x--b", "same", "same-1"}
    module.ROOT = tmp_path
    assert module.faults_of(page) == ["y.md leads to no file of the tree"]


def test_the_readme_is_a_screen() -> None:
    """A picture before a reader has to turn the page, and no more words than are read."""
    text = (ROOT / "README.md").read_text()
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", "\n".join(text.splitlines()[:24]))
    assert pictures and all((ROOT / each).is_file() for each in pictures)
    assert 600 <= len(text.split()) <= 800


def test_pages_list_the_codecs_of_the_library() -> None:
    tool = ROOT / "tools" / "codec_pages"
    done = subprocess.run([sys.executable, tool, "--check"], stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout


def test_a_page_that_lists_other_codecs_is_written_anew() -> None:
    module, rows = loaded("codec_pages"), list(thinwire.codecs())
    for name, make in module.PAGES.items():
        page = (ROOT / name).read_text()
        assert make(page, rows[1:-1]) != page and make(make(page, rows[1:-1]), rows) == page
