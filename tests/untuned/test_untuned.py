"""The recipes give the files whose hashes were committed before anybody measured them."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import halves  # noqa: E402


@pytest.mark.slow
@pytest.mark.parametrize("half", halves.HALVES)
def test_files_are_those_whose_hashes_were_committed(half: str, tmp_path: Path) -> None:
    committed = halves.HASHES.read_text().splitlines()
    expected = [line for line in committed if line.split()[1].startswith(f"{half}/")]
    assert halves.hash_lines(half, halves.write(half, tmp_path)) == expected
