"""thinwire.torch on gloo: jobs of two to four ranks, each with many checks (checks_*.py)."""

import subprocess
from pathlib import Path

import pytest
from torch_jobs import PYTHON, checks_of, environment, needs_torch, passed, run_job

pytestmark = [needs_torch, pytest.mark.multiproc]


@pytest.mark.parametrize(
    ("module", "ranks"),
    [
        ("checks_policy", 2),
        ("checks_ddp", 2),
        ("checks_fsdp", 2),
        ("checks_three", 3),
        ("checks_mesh", 4),
    ],
)
def test_checks_of(module: str, ranks: int, tmp_path: Path) -> None:
    passed(run_job(module, ranks, tmp_path, 120), ranks, checks_of(module))


def test_the_guard(tmp_path: Path) -> None:
    job = run_job("checks_guard", 2, tmp_path, 120, THINWIRE_FORCE="0")
    passed(job, 2, checks_of("checks_guard"))


def test_a_rank_dies(tmp_path: Path) -> None:
    job = run_job("checks_faults", 2, tmp_path, 60)
    assert not job.errors, job.errors
    assert set(job.checks) == {"forgotten", "closed_and_used_again"}
    assert job.codes == [7, 9], job.output
    said = (tmp_path / "said").read_text()
    assert "thinwire.torch: allreduce on group dp:" in said, said


def test_ranks_of_one_node_stay_raw(tmp_path: Path) -> None:
    """Without THINWIRE_SAME_NODE nothing is gained on one node, so nothing is compressed."""
    job = run_job("checks_node", 2, tmp_path, 60, THINWIRE_SAME_NODE="0")
    passed(job, 2, checks_of("checks_node"))


def test_torch_that_is_too_old(tmp_path: Path) -> None:
    """What is wrong with a torch is said when thinwire.torch is imported."""
    for version, available, words in (
        ("2.10.1", True, "needs torch 2.11 or later, and this is 2.10.1"),
        ("2.11.0+cu130", False, "built without torch.distributed"),
    ):
        folder = tmp_path / version / "torch"
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(
            f"__version__ = {version!r}\nfrom torch import distributed\n"
        )
        (folder / "distributed.py").write_text(f"def is_available():\n    return {available}\n")
        variables = environment()
        variables["PYTHONPATH"] = f"{folder.parent}:{variables['PYTHONPATH']}"
        found = _import(variables)
        assert found.returncode == 1 and "ImportError" in found.stderr
        assert words in found.stderr, found.stderr


def _import(variables: dict[str, str]) -> subprocess.CompletedProcess:
    command = [PYTHON, "-c", "import thinwire.torch"]
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60)
