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


def test_the_index_of_decisions_has_each_section() -> None:
    """Code names decisions by numbers, which the index leads to."""
    pages = ROOT / "docs" / "decisions"
    sections = [
        (heading, page.name)
        for page in pages.glob("*.md")
        for heading in re.findall(r"^## (\d{4}: .+)$", page.read_text(), re.M)
    ]
    index = (pages / "README.md").read_text()
    assert re.findall(r"^- \[(\d{4}: .+?)\]\((.+?)#", index, re.M) == sorted(sections)
    numbers = re.findall(r"^- \[?(\d{4})", index, re.M)
    assert numbers == sorted(set(numbers))
    command = ["git", "grep", "-hoE", r"decisions? [0-9]{4}( and [0-9]{4})?"]
    named = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert len(named) > 100 and set(re.findall(r"\d{4}", named)) <= set(numbers)


def test_pages_list_the_codecs_of_the_library() -> None:
    tool = ROOT / "tools" / "codec_pages"
    done = subprocess.run([sys.executable, tool, "--check"], stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout


def test_a_page_that_lists_other_codecs_is_written_anew() -> None:
    module, rows = loaded("codec_pages"), list(thinwire.codecs())
    for name, make in module.PAGES.items():
        page = (ROOT / name).read_text()
        assert make(page, rows[1:-1]) != page and make(make(page, rows[1:-1]), rows) == page


# The reference that `make docs` makes of headers and docstrings leaves nothing public out.

INCLUDE = ROOT / "include" / "thinwire"
sys.path.insert(0, str(ROOT / "docs" / "site"))

import commands  # noqa: E402, the site's own modules
import header  # noqa: E402

REFERENCE = ROOT / "docs" / "reference"


def headers_of(page: str) -> list[str]:
    return re.findall(r"<!-- site: header (\S+) -->", (REFERENCE / page).read_text())


def code_of(text: str) -> str:
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


@pytest.mark.parametrize("name", ["thinwire.h", "thinwire_mpi.h", "thinwire_nccl.h"])
def test_the_c_reference_has_each_declaration_once(name: str) -> None:
    code = code_of((INCLUDE / name).read_text().split("BEGIN declarations */")[1])
    made = header.as_markdown(name)
    assert "----" not in made
    functions = re.findall(r"^[a-z][^(){};]*?\b(tw_\w+)\(", code, re.M)
    listed = re.findall(r"^::::\{c:function\} [^(]*?(tw_\w+)\(", made, re.M)
    assert functions and sorted(listed) == sorted(functions)
    types = re.findall(
        r"^\} (tw_\w+);|^typedef [^{]*?(tw_\w+);|^typedef enum (tw_\w+) \{.*\}", code, re.M
    )
    named = {"".join(each) for each in types}
    assert set(re.findall(r"^::::\{c:(?:struct|enum|type)\} (\w+)", made, re.M)) == named


def test_each_text_over_a_function_is_in_the_c_reference() -> None:
    """By the first words of each comment that stands over a declaration."""
    made = re.sub(r"\{c:func\}|[`\\()]", "", header.as_markdown("thinwire.h"))
    body = (INCLUDE / "thinwire.h").read_text().split("BEGIN declarations */")[1]
    comments = re.findall(r"^/\* (?!----)([^\n*]{20,}?)[\n*]", body, re.M)
    assert len(comments) > 50
    missing = [text for text in comments if re.sub(r"[`()]", "", text).strip() not in made]
    assert [text for text in missing if "END decl" not in text] == []


def test_the_references_name_all_headers_and_all_of_the_package() -> None:
    headers = {str(path.relative_to(INCLUDE)) for path in INCLUDE.rglob("*.h*")}
    assert sorted(headers_of("c.md") + headers_of("cpp.md")) == sorted(headers)
    names = re.findall(r"<!-- site: python ([\w ]+) -->", (REFERENCE / "python.md").read_text())
    assert sorted(" ".join(names).split()) == sorted(thinwire.__all__)


def test_the_cpp_reference_has_no_bodies_and_nothing_private() -> None:
    made = "".join(map(header.as_markdown, headers_of("cpp.md")))
    assert not re.search(r"private:|^ +return |detail", made, re.M)
    for name in ("class Codec", "encode(", "decode(", "class Communicator", "class Scratch"):
        assert name in made


def test_the_command_line_reference_has_each_command() -> None:
    made = commands.as_markdown()
    for name in ("env", "run", "exec", "lab run", "bench collective", "advise"):
        shown = made.split(f"## thinwire {name}\n")[1].split("## ")[0]
        assert re.search(rf"Usage: thinwire {name}\b", shown) and "Options" in shown
    assert made.count("## thinwire") == made.count("Usage: thinwire")
