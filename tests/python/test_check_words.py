"""What `tools/check_words` finds wrong in comments and pages, and what it leaves alone."""

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "check_words"


@pytest.fixture(scope="module")
def tool():
    loader = SourceFileLoader("check_words", str(TOOL))
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
def test_fragments_and_banned_words_are_found(tool, name, text, line):
    found = tool.breaches_of_code(name, text)
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
def test_the_rest_of_a_sentence_and_code_are_left_alone(tool, name, text):
    assert tool.breaches_of_code(name, text) == []


def test_pages_are_held_to_the_words_of_users(tool):
    page = "a probation\none behind it\nleft behind\nthe field `probations`\n"
    found = tool.breaches_of_page("a.md", page)
    assert [each.split(":")[1] for each in found] == ["1", "2"]


def test_the_tree_holds_it(tool):
    assert tool.breaches() == []


def test_a_pattern_of_a_folder_that_is_gone_is_a_breach(tool, monkeypatch):
    names = ["include/a.h", "src/base/b.h"]
    monkeypatch.setattr(tool, "HELD", ["include/*", "src/base/*"])
    monkeypatch.setattr(tool, "NOT_HELD", ["src/gone/*"])
    monkeypatch.setattr(tool, "PAGES", [])
    (found,) = tool.unmatched(names)
    assert "src/gone/*" in found
