"""The script of docs/guide/pytorch.md, started as the page says."""

import re
import subprocess
from pathlib import Path

import pytest
from torch_jobs import PYTHON, ROOT, environment, needs_torch

pytestmark = [needs_torch, pytest.mark.multiproc]


def test_the_guides_script_prints_what_it_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "guide" / "pytorch.md").read_text()
    script = re.search(r"<!-- example: file hooked.py -->\n```python\n(.*?)```", page, re.S)
    said = re.search(r"```text\n(.*?)```", page, re.S)
    assert script and said
    (tmp_path / "hooked.py").write_text(script[1])
    command = [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    run = subprocess.run(
        [*command, "hooked.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert said[1].strip() in run.stdout, run.stdout
