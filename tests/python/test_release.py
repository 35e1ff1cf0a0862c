"""What `tools/release` finds in the way of a release, and that the tree says one version."""

import shutil
import subprocess
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FILES = ("pyproject.toml", "CMakeLists.txt", "CHANGELOG.md")


@pytest.fixture(scope="module")
def tool() -> Any:
    loader = SourceFileLoader("release", str(ROOT / "tools" / "release"))
    spec = spec_from_loader("release", loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path: Path, tool: Any) -> Path:
    """A repository of what the tool reads, as it would be released."""
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "tests/abi" / tool.version_of(ROOT).rpartition(".")[0]).mkdir(parents=True)
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "all"]):
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True)
    return tmp_path


def test_the_tree_says_one_version_and_lists_what_is_in_it(tool: Any) -> None:
    version = tool.version_of(ROOT)
    assert tool.library_version(ROOT) == version.split(".dev")[0]
    assert tool.sections(ROOT).get(version.split(".dev")[0]) or ".dev" in version


def test_an_entry_of_the_change_log_is_a_line_of_twenty_words(tool: Any) -> None:
    for line in (ROOT / "CHANGELOG.md").read_text().splitlines():
        assert not line.startswith("  "), line
        assert not line.startswith("- ") or len(line[2:].split()) <= 20, line


def test_nothing_stands_in_the_way_of_a_sound_tree(tool: Any, tree: Path) -> None:
    log = tree / "CHANGELOG.md"
    kept = log.read_text().partition("## Unreleased")
    log.write_text(f"{kept[0]}## Unreleased\n\n## {kept[2].partition('## ')[2]}")
    assert tool.faults_of_files(tree) == []
    subprocess.run(["git", "checkout", "-q", "."], cwd=tree, check=True)
    assert tool.faults_of_git(tree) == []


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("pyproject.toml", 'version = "', 'version = "9.', "is none of a release"),
        ("CMakeLists.txt", "thinwire VERSION ", "thinwire VERSION 9", "CMakeLists.txt: version 9"),
        ("CHANGELOG.md", "\n- ", "\n* ", "nothing is listed"),
        ("CHANGELOG.md", "## Unreleased\n", "## Unreleased\n\n- More.\n", "belong under"),
    ],
)
def test_what_stands_in_the_way_is_said(
    tool: Any, tree: Path, name: str, old: str, new: str, said: str
) -> None:
    path = tree / name
    path.write_text(path.read_text().replace(old, new))
    assert any(said in fault for fault in tool.faults_of_files(tree))
    assert "the tree has changes" in "".join(tool.faults_of_git(tree))


def test_a_tag_and_a_branch_are_looked_at(tool: Any, tree: Path) -> None:
    tag = f"v{tool.version_of(tree)}"
    subprocess.run(["git", "tag", tag], cwd=tree, check=True)
    subprocess.run(["git", "checkout", "-qb", "other"], cwd=tree, check=True)
    shutil.rmtree(tree / "tests/abi")
    assert tool.faults_of_git(tree) == [
        "the branch is other, not main",
        f"the tag {tag} is there already",
    ]
    assert any("copy include/thinwire" in fault for fault in tool.faults_of_files(tree))
