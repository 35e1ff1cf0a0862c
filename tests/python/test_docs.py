"""What pages say of the code: links lead to files, the table of codecs is the registry's."""

import re
import subprocess
from pathlib import Path

import pytest

import thinwire

ROOT = Path(__file__).parents[2]
PAGES = subprocess.run(
    ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
).stdout.split()
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
TYPES = {"fp32": "f32", "fp64": "f64", "fp16": "f16", "bf16": "bf16"}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files(page: str) -> None:
    path = ROOT / page
    text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(), flags=re.S)
    missing = [link for link in LINK.findall(text) if not (path.parent / link).exists()]
    assert missing == []


def types_in(cell: str) -> set[str]:
    return {name for word, name in TYPES.items() if word in cell}


def test_the_readme_says_what_each_codec_takes() -> None:
    """MPI's own datatypes are of fp32 and fp64, and a codec of GPUs alone is refused there."""
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
        assert types_in(rows[name][3]) == taken & {"f32", "f64"}
        assert rows[name][1].startswith("lossless" if registry[name].lossless else "lossy")
