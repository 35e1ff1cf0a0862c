"""What thinwire.torch gives torch for NCCL's communicators reaches the preload library: names, by
which it chooses codecs, and a policy. Over the NCCL of tests/nccl, which needs no GPU."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from torch_jobs import HERE, PYTHON, ROOT, checks_of, environment, needs_torch, passed, run_job

BUILT = Path(os.environ.get("THINWIRE_BUILD_DIR", ROOT / "build" / "release"))
SHIM = BUILT / "shim" / "nccl" / "libthinwire_nccl.so"
FAKE = BUILT / "tests" / "nccl" / "lib" / "libnccl.so.2"

pytestmark = [needs_torch, pytest.mark.multiproc]


def run(*command: object, **settings: str) -> str:
    variables = environment(TMPDIR=settings.pop("TMPDIR", "/tmp"), **settings)
    words = [str(each) for each in command]
    done = subprocess.run(words, env=variables, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


needs_preload = pytest.mark.skipif(
    not (SHIM.exists() and FAKE.exists()), reason="no preload library for NCCL"
)
ROWS = """
import importlib, json, sys
from unittest.mock import patch
import thinwire.torch as tt
report = json.loads(sys.argv[1])
with patch.object(importlib.import_module("thinwire.torch.stats"), "nccl_report", lambda: report):
    print(json.dumps(tt.scalars("")))
"""


@needs_preload
def test_names_and_policy_reach_the_preload_library(tmp_path: Path) -> None:
    told = run(PYTHON, HERE / "preload_config.py", TMPDIR=str(tmp_path))
    asked = json.loads(told)
    assert asked["names"] == {"dp": "dp", "tp": "tp"}
    assert "the preload library is not in this process" in asked["refused"]
    said = run(
        *(sys.executable, HERE / "preload_ranks.py", FAKE, told),
        LD_PRELOAD=str(SHIM),
        THINWIRE_POLICY=asked["policy"],
        THINWIRE_FORCE="1",
    )
    report = json.loads(said)
    assert report["rules"][0]["codec"].startswith("blockq")
    assert report["rules"][0]["compressed_calls"] > 0
    # Nobody asked for a report: what it counted is there all the same.
    rows = json.loads(run(PYTHON, "-c", ROWS, said))
    calls = {name: rows[f"/{name}/allreduce/calls"] for name in ("dp", "tp")}
    coded = {name: rows[f"/{name}/allreduce/compressed"] for name in ("dp", "tp")}
    assert calls == {"dp": 400, "tp": 400}, "two ranks of this process"
    assert coded["dp"] > 0 and coded["tp"] == 0, coded
    assert rows["/dp/allreduce/ratio"] > 3 and rows["/tp/allreduce/ratio"] == 1
    assert {name.split("/")[1] for name in rows} == {"dp", "tp"}


@needs_preload
def test_a_policy_beside_the_preload_library(tmp_path: Path) -> None:
    """What set_policy says of it, in ranks that have it loaded and go by gloo."""
    settings = {"LD_PRELOAD": str(SHIM), "THINWIRE_CODEC": "zfp:rate=8"}
    job = run_job("checks_preload", 2, tmp_path, 120, **settings)
    passed(job, 2, checks_of("checks_preload"))
    # Nothing of the end of a program whose hooks were used.
    assert "nothing has gone by it" not in job.output, job.output
