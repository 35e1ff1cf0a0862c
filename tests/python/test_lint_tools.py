"""The tools of `make lint`: what each finds wrong, and what it leaves alone."""

import subprocess
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

# tools/check_types, on pairs of types.

TOOL = Path(__file__).resolve().parents[2] / "tools" / "check_types"


@pytest.fixture(scope="module")
def tool():
    loader = SourceFileLoader("check_types", str(TOOL))
    spec = spec_from_loader("check_types", loader)
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def within(namespace: str, text: str) -> str:
    return f"namespace {namespace} {{\n\n{text}\n\n}}  // namespace {namespace}\n"


def test_two_types_of_one_name_are_refused(tool) -> None:
    texts = {
        "a.h": within("one::two", "class Nodes {\n};"),
        "b.cpp": within("one::two", "struct Nodes final : Base {\n};"),
    }
    assert tool.breaches_of(texts) == ["a.h:3 and b.cpp:3: both have one::two::Nodes"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (within("one", "class Nodes {\n};"), within("two", "class Nodes {\n};")),
        (within("one", "class Nodes {\n};"), within("one", "class Nodes;")),
        (within("one", "class Nodes {\n};"), within("one", "class Nodes::Inner {\n};")),
        (
            within("one", "class Nodes {\n};"),
            within("one", "class Other {\n  class Nodes {\n  };\n};"),
        ),
        (within("one", "class Nodes {\n};"), within("one", "namespace {\nclass Nodes {\n};\n}")),
        (within("one", "class Nodes {\n};"), within("one", "// class Nodes {")),
        (
            within("one", "template <>\nstruct Of<int> {\n};"),
            within("one", "struct Of<long> {\n};"),
        ),
    ],
    ids=["namespaces", "declaration", "member", "inner", "unnamed", "comment", "specialisations"],
)
def test_others_are_not(tool, first: str, second: str) -> None:
    assert tool.breaches_of({"a.h": first, "b.h": second}) == []


def test_the_tree_has_none(tool) -> None:
    assert tool.main() == 0


# tools/check_words, on comments and pages.

WORDS_TOOL = Path(__file__).resolve().parents[2] / "tools" / "check_words"


@pytest.fixture(scope="module")
def words_tool():
    loader = SourceFileLoader("check_words", str(WORDS_TOOL))
    spec = spec_from_loader("check_words", loader)
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.h", "int a;\n\n// Of a call.\nint b;\n", 3),
        ("a.h", "/* What it is. */\n", 1),
        ("a.h", "/* Sound, and\n * one behind the other. */\n", 2),
        ("a.h", "int a;  // behind the last\n", 1),
        ("a.py", "# Where it lies.\n", 1),
        ("a.cmake", "# That one.\n", 1),
    ],
)
def test_fragments_and_banned_words_are_found(words_tool, name, text, line):
    found = words_tool.breaches_of_code(name, text)
    assert len(found) == 1 and found[0].startswith(f"{name}:{line}: ")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.h", "// The bytes of a call,\n// of which there are some.\n"),
        ("a.h", "// Bytes that a codec left behind.\n"),
        ("a.h", "#define Of 1\nint behind = 0;\n"),
        ("a.py", "behind = 1  \n"),
    ],
)
def test_the_rest_of_a_sentence_and_code_are_left_alone(words_tool, name, text):
    assert words_tool.breaches_of_code(name, text) == []


def test_pages_are_held_to_the_words_of_users(words_tool):
    page = "a probation\none behind it\nleft behind\nthe field `probations`\n"
    found = words_tool.breaches_of_page("a.md", page)
    assert [each.split(":")[1] for each in found] == ["1", "2"]


def test_the_tree_holds_it(words_tool):
    assert words_tool.breaches() == []


def test_a_pattern_of_a_folder_that_is_gone_is_a_breach(words_tool, monkeypatch):
    names = ["include/a.h", "src/base/b.h"]
    monkeypatch.setattr(words_tool, "HELD", ["include/*", "src/base/*"])
    monkeypatch.setattr(words_tool, "NOT_HELD", ["src/gone/*"])
    monkeypatch.setattr(words_tool, "PAGES", [])
    (found,) = words_tool.unmatched(names)
    assert "src/gone/*" in found


# tools/check_layers, on layers.toml and the tree's includes.

LAYERS_TOOL = Path(__file__).parents[2] / "tools" / "check_layers"


def checker() -> Any:
    loader = SourceFileLoader("check_layers", str(LAYERS_TOOL))
    spec = spec_from_loader("check_layers", loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_a_folder_without_a_line_has_that_of_all_folders_of_its_parent() -> None:
    folders = {"src/codec": [], "src/codec/*": ["src/codec"], "src/codec/own": []}
    module = checker()
    for path, folder, line in (
        ("src/codec/x.h", "src/codec", "src/codec"),
        ("src/codec/new/x.h", "src/codec/new", "src/codec/*"),
        ("src/codec/own/x.h", "src/codec/own", "src/codec/own"),
    ):
        assert module.folder_of(Path(path), folders) == folder
        assert module.line_of(folder, folders) == line
    assert module.folder_of(Path("src/x.h"), folders) is None


@pytest.mark.parametrize(
    ("folders", "in_circles"),
    [
        ({"a": [], "b": ["a"], "c": ["a", "b"]}, 0),
        ({"a": ["b"], "b": ["a"], "c": ["a", "b"]}, 3),
        ({"a": ["c"], "b": ["a"], "c": ["b"], "d": []}, 3),
        ({"a": ["a/x"], "a/*": ["a"]}, 2),
    ],
)
def test_folders_that_include_each_other_are_found(folders: dict, in_circles: int) -> None:
    """A folder that leads into a circle is named with it."""
    assert len(checker().ways_back(folders)) == in_circles


def test_a_folder_of_all_includes_no_other(tmp_path: Path) -> None:
    module = checker()
    module.ROOT = tmp_path
    for name in ("src/codec/one/one.h", "src/codec/two/two.h"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text('#include "codec/two/two.h"\n')
    folders = {"src/codec": [], "src/codec/*": ["src/codec"]}
    (breach,) = module.breaches_of(Path("src/codec/one/one.h"), folders, [])
    assert "src/codec/one may not include src/codec/two" in breach
    assert module.breaches_of(Path("src/codec/two/two.h"), folders, []) == []


def test_rooms_that_all_lead_to_each_other_are_a_knot(tmp_path: Path) -> None:
    """A header and its source are one room; what leads into a knot is not of it."""
    module = checker()
    module.ROOT = tmp_path
    (tmp_path / "src").mkdir()
    includes = {"a.h": [], "a.cpp": ["a", "b"], "b.h": ["c"], "c.cpp": ["a"], "c.h": []}
    includes |= {"d.cpp": ["a", "d"], "d.h": ["e"], "e.h": []}
    for name, others in includes.items():
        lines = "".join(f'#include "{other}.h"\n' for other in others)
        (tmp_path / "src" / name).write_text(lines)
    rooms = module.rooms_that_lead_on([Path("src", name) for name in includes])
    assert module.knots(rooms) == {frozenset(Path("src", name) for name in "abc")}


def test_a_folder_is_drawn_above_all_that_it_includes() -> None:
    folders = {"src/a": [], "src/c": ["src/a", "src/b"], "src/b": ["src/a"], "src/x": ["src/a"]}
    drawn = [line.split() for line in checker().drawing(folders).splitlines()]
    assert drawn == [["c"], ["b", "x"], ["a"]]


# tools/wrap_markdown, on pages: lines get shorter, and the page reads the same.

WRAP_MARKDOWN_TOOL = Path(__file__).resolve().parents[2] / "tools" / "wrap_markdown"


@pytest.fixture(scope="module")
def wrap_markdown_tool():
    loader = SourceFileLoader("wrap_markdown", str(WRAP_MARKDOWN_TOOL))
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
def test_long_lines_are_wrapped_and_the_page_reads_the_same(wrap_markdown_tool, page):
    new = wrap_markdown_tool.wrapped(page)
    assert max(map(len, new.split("\n"))) <= 100
    assert wrap_markdown_tool.html_of(new) == wrap_markdown_tool.html_of(page)
    assert wrap_markdown_tool.wrapped(new) == new


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
def test_what_cannot_be_wrapped_stays(wrap_markdown_tool, page):
    assert wrap_markdown_tool.wrapped(page) == page


def test_a_code_span_stays_on_one_line(wrap_markdown_tool):
    new = wrap_markdown_tool.wrapped("words12 " * 11 + "`a span of code` follows\n")
    assert "\n`a span of code` follows" in new


def test_device_code_calls_no_builtin_that_nvcc_leaves_out():
    """nvcc compiles __builtin_mul_overflow in device code without its product."""
    command = ["git", "grep", "-lE", "__builtin_(add|sub|mul)_overflow", "--", "src"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    # The first has the other way for device code, the second is the host's.
    assert done.stdout.split() == ["src/base/dtype.h", "src/device/memory_layout.cpp"]
