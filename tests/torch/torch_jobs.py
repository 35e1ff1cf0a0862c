"""Jobs of ranks under the torch of `make torch`, which tests/torch/job.py runs."""

import ast
import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
VENV = Path(os.environ.get("THINWIRE_TEST_TORCH", ROOT / "build" / "torch-venv"))
PYTHON = VENV / "bin" / "python"

needs_torch = pytest.mark.skipif(
    not (VENV / ".ready").exists(), reason=f"no torch in {VENV}: `make torch` installs it"
)


@dataclass
class Job:
    codes: list[int]
    output: str
    checks: dict[str, set[int]] = field(default_factory=dict)  # ranks that passed it
    errors: list[str] = field(default_factory=list)


def checks_of(module: str) -> list[str]:
    """The names in the list CHECKS of a module, which is not imported: it needs torch."""
    for statement in ast.parse((HERE / f"{module}.py").read_text()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "CHECKS":
            return [ast.unparse(each) for each in statement.value.elts]
    raise AssertionError(f"{module} has no CHECKS")


def environment(**settings: str) -> dict[str, str]:
    """Ranks of one machine compress as if each had a node of its own, whatever it takes, unless
    told otherwise."""
    # Torch comes without compiled modules: each rank would compile it anew.
    left_out = ("THINWIRE_", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    paths = f"{ROOT / 'python'}:{HERE}"
    own = {"PYTHONPATH": paths, "THINWIRE_SAME_NODE": "1", "OMP_NUM_THREADS": "1"}
    own["THINWIRE_FORCE"] = "1"
    return {**kept, **own, "GLOO_SOCKET_IFNAME": "lo", **settings}


def run_job(
    module: str, ranks: int, folder: Path, seconds: float = 60, *checks: str, **settings: str
) -> Job:
    """Runs the checks of `module` on `ranks` processes; ends all of them after `seconds`."""
    started = []
    for rank in range(ranks):
        words = [module, str(rank), str(ranks), str(folder), str(seconds), *checks]
        log = (folder / f"rank-{rank}.log").open("w+")
        command = [PYTHON, HERE / "job.py", *words]
        process = subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, env=environment(**settings)
        )
        started.append((process, log))
    codes = []
    try:
        for process, _ in started:
            codes.append(process.wait(timeout=seconds + 20))
    finally:
        for process, _ in started:
            process.kill()
            process.wait()
    return _read(codes, [log for _, log in started])


def _read(codes: list[int], logs: list) -> Job:
    job = Job(codes, "")
    for rank, log in enumerate(logs):
        log.seek(0)
        text = log.read()
        log.close()
        job.output += f"---- rank {rank}: exit {codes[rank]}\n{text[-6000:]}\n"
        for line in text.splitlines():
            if not line.startswith('{"check"'):
                continue
            told = json.loads(line)
            if told["error"]:
                job.errors.append(f"{told['check']} on rank {rank}:\n{told['error']}")
            else:
                job.checks.setdefault(told["check"], set()).add(rank)
    return job


def passed(job: Job, ranks: int, names: list[str]) -> None:
    """All checks passed on all ranks, and nothing else went wrong."""
    assert not job.errors, "\n".join([*job.errors, job.output])
    for name in names:
        assert job.checks.get(name) == set(range(ranks)), f"{name}\n{job.output}"
    assert job.codes == [0] * ranks, job.output
