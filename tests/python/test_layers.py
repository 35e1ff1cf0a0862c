"""What `tools/check_layers` finds wrong in layers.toml and in the tree's includes."""

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "check_layers"


def checker() -> Any:
    loader = SourceFileLoader("check_layers", str(TOOL))
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
