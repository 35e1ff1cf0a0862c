"""sync_weights on gloo (checks_weights*.py), and the script of its guide."""

import re
import subprocess
from pathlib import Path

import pytest
from torch_jobs import PYTHON, ROOT, checks_of, environment, needs_torch, passed, run_job

pytestmark = [needs_torch, pytest.mark.multiproc]


@pytest.mark.parametrize(
    ("module", "ranks"),
    [
        ("checks_weights", 4),
        ("checks_weights_faults", 3),
        ("checks_weights_choice", 3),
        ("checks_weights_format", 1),
    ],
)
def test_checks_of(module: str, ranks: int, tmp_path: Path) -> None:
    passed(run_job(module, ranks, tmp_path, 120), ranks, checks_of(module))


def test_the_guides_script_prints_what_it_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "guide" / "weights.md").read_text()
    script = re.search(r"<!-- example: file served.py -->\n```python\n(.*?)```", page, re.S)
    said = re.search(r"```text\n(.*?)```", page, re.S)
    assert script and said
    (tmp_path / "served.py").write_text(script[1])
    command = [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    run = subprocess.run(
        [*command, "served.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stdout == said[1], run.stdout
