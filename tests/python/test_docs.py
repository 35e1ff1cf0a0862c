"""What pages say of the code: links that lead nowhere are found, the table of codecs is the
registry's."""

import re
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

import thinwire

ROOT = Path(__file__).parents[2]
TYPES = {"fp32": "f32", "fp64": "f64", "fp16": "f16"} | {
    name: name for name in ("bf16", "e4m3", "e5m2")
}


def links() -> Any:
    loader = SourceFileLoader("check_links", str(ROOT / "tools" / "check_links"))
    spec = spec_from_loader("check_links", loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("link", "fault"),
    [
        ("docs/guide/mpi.md#is-it-faster", ""),
        ("docs/guide/mpi.md#is-it-slower", "no heading"),
        ("#settings", ""),
        ("#nothing", "no heading"),
        ("docs/guide/none.md", "no file"),
        ("docs/guide", "no file"),
        ("../elsewhere.md", "no file"),
        ("https://example.org/#x", ""),
    ],
)
def test_a_link_that_leads_nowhere_is_found(link: str, fault: str) -> None:
    """`make lint` goes through all of them; this is about what it finds."""
    said = links().fault_of(ROOT / "README.md", link)
    assert fault in said and bool(said) == bool(fault)


def test_headings_have_the_anchors_of_web_views(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A `tw_x()` & b\n\n## Same\n\n## Same\n\n```\n# none\n```\n[x](y.md) `[z](w.md)`\n"
    )
    module = links()
    assert module.anchors_of(page) == {"a-tw_x--b", "same", "same-1"}
    module.ROOT = tmp_path
    assert module.faults_of(page) == ["y.md leads to no file of the tree"]


def types_in(cell: str) -> set[str]:
    return {name for word, name in TYPES.items() if word in cell}


def test_the_readme_says_what_each_codec_takes() -> None:
    """MPI's own datatypes are of fp32 and fp64, what else it sends a rule says, and a codec of GPUs
    alone is refused there."""
    rows = {}
    for line in (ROOT / "README.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        name = re.fullmatch(r"`([a-z]+(?:-\*)?)`", cells[0])
        if name and len(cells) == 5:
            rows[name[1]] = cells
    registry = {info.name: info for info in thinwire.codecs() if info.name != "raw"}
    foreign = {name for name in registry if name.startswith("nvcomp-")}
    assert set(rows) == set(registry) - foreign | {"nvcomp-*"}
    assert rows["nvcomp-*"][3] == "no" and all(registry[name].gpu_only for name in foreign)
    for name in set(registry) - foreign:
        taken = set(registry[name].dtypes)
        assert types_in(rows[name][2]) == taken - {"bytes"}
        own, _, by_rule = rows[name][3].partition(";")
        assert types_in(own) == taken & {"f32", "f64"}
        assert types_in(by_rule) == taken - {"bytes", "f32", "f64"} and ("by rule" in by_rule) == (
            by_rule != ""
        )
        assert rows[name][1].startswith("lossless" if registry[name].lossless else "lossy")
