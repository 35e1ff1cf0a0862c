"""Which pairs of types `tools/check_types` refuses, and which it leaves alone."""

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

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
