"""What thinwire.torch gives torch for NCCL's communicators reaches the preload library: names, by
which it chooses codecs, and a policy. Over the NCCL of tests/nccl, which needs no GPU."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from torch_jobs import HERE, PYTHON, ROOT, environment, needs_torch

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


@pytest.mark.skipif(not (SHIM.exists() and FAKE.exists()), reason="no preload library for NCCL")
def test_names_and_policy_reach_the_preload_library(tmp_path: Path) -> None:
    told = run(PYTHON, HERE / "preload_config.py", TMPDIR=str(tmp_path))
    asked = json.loads(told)
    assert asked["names"] == {"dp": "dp", "tp": "tp"}
    assert "the preload library is not in this process" in asked["refused"]
    report = tmp_path / "report"
    run(
        *(sys.executable, HERE / "preload_ranks.py", FAKE, told),
        LD_PRELOAD=str(SHIM),
        THINWIRE_POLICY=asked["policy"],
        THINWIRE_FORCE="1",
        THINWIRE_REPORT=str(report),
    )
    said = json.loads(next(tmp_path.glob("report*")).read_text())
    coded = {each["name"]: 0 for each in said["communicators"]}
    for each in said["communicators"]:
        coded[each["name"]] += each["operations"]["AllReduce"]["compressed_calls"]
    assert set(coded) == {"dp", "tp"}
    assert coded["dp"] > 0 and coded["tp"] == 0, coded
    assert said["rules"][0]["codec"].startswith("blockq") and said["rules"][0]["compressed_calls"]
