"""Jobs on every host at once, and what tells NCCL that the hosts are hosts."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from thinwire.lab import Lab
from thinwire.lab.gpus import visible

pytestmark = [pytest.mark.multiproc, pytest.mark.usefixtures("permitted")]

Call = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]

ENVIRONMENT = [
    sys.executable,
    "-c",
    "import json, os, socket; print(json.dumps({**os.environ, 'HOST': socket.gethostname()}))",
]


def everywhere(lab: Lab, **options: object) -> list[dict[str, str]]:
    """The environments of a job's processes, and their hosts' names."""
    processes = lab.popen_everywhere(ENVIRONMENT, stdout=subprocess.PIPE, text=True, **options)
    return [json.loads(process.communicate(timeout=60)[0]) for process in processes]


def test_ranks_are_told_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINWIRE_TEST_MARK", "here")
    monkeypatch.setenv("RANK", "7")
    with Lab(hosts=2, ranks_per_host=2, gpus=[4, 5]) as lab:
        found = everywhere(lab)
        first = lab.addresses()[0]
    assert [each["RANK"] for each in found] == ["0", "1", "2", "3"]
    assert [each["LOCAL_RANK"] for each in found] == ["0", "1", "0", "1"]
    assert [each["HOST"] for each in found] == ["tw-lab-0"] * 2 + ["tw-lab-1"] * 2
    assert [each["CUDA_VISIBLE_DEVICES"] for each in found] == ["4", "4", "5", "5"]
    for each in found:
        assert each["NCCL_HOSTID"] == each["HOST"] and each["NCCL_SOCKET_IFNAME"] == "tw0"
        assert (each["WORLD_SIZE"], each["LOCAL_WORLD_SIZE"]) == ("4", "2")
        assert each["MASTER_ADDR"] == first and each["MASTER_PORT"].isdigit()
        assert each["THINWIRE_TEST_MARK"] == "here"


def test_a_torchrun_is_one_of_each_host() -> None:
    with Lab(hosts=2, ranks_per_host=3) as lab:
        found = everywhere(lab, env={"PATH": os.environ["PATH"]}, torchrun=True)
        addresses = lab.addresses()
    assert [each["PET_NODE_RANK"] for each in found] == ["0", "1"]
    assert [each["PET_LOCAL_ADDR"] for each in found] == addresses
    for each in found:
        assert (each["PET_NNODES"], each["PET_NPROC_PER_NODE"]) == ("2", "3")
        assert each["PET_MASTER_ADDR"] == addresses[0]
        assert each["NCCL_HOSTID"] == each["HOST"]
        assert "RANK" not in each


def test_logins_of_a_lab_with_gpus_name_the_host_to_nccl() -> None:
    script = "\"$OMPI_MCA_plm_rsh_agent\" tw-lab-1 'echo $NCCL_HOSTID $NCCL_SOCKET_IFNAME'"
    own = "; echo $NCCL_HOSTID $NCCL_SOCKET_IFNAME"
    with Lab(hosts=2, gpus=[0]) as lab:
        done = lab.run(["sh", "-c", script + own], capture_output=True, text=True, check=True)
    assert done.stdout == "tw-lab-1 tw0\ntw-lab-0 tw0\n"


@pytest.mark.skipif(bool(visible(os.environ)), reason="this machine has GPUs")
def test_without_gpus_launchers_are_left_as_they_are() -> None:
    """Hydra hands on all variables but where a host has some of its own."""
    with Lab(hosts=2) as lab:
        words = ["sh", "-c", 'echo "${NCCL_HOSTID-none} ${HYDRA_ENV-none}"']
        assert lab.run(words, capture_output=True, text=True).stdout == "none none\n"


def test_a_command_on_every_host(thinwire_lab: Call) -> None:
    words = ["sh", "-c", 'echo "$(hostname) $RANK of $WORLD_SIZE"']
    done = thinwire_lab(["run", "--hosts", "3", "--every-host", "--", *words])
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"tw-lab-{i} {i} of 3" for i in range(3)]
    refused = thinwire_lab(["run", "--every-host", "--host", "1", "--", "true"])
    assert refused.returncode == 2 and "exclude each other" in refused.stderr


@pytest.mark.parametrize("before", [[], ["env", "--"]], ids=["alone", "handed on"])
def test_torchrun_is_started_on_every_host(
    before: list[str], thinwire_lab: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torchrun = tmp_path / "torchrun"
    torchrun.write_text('#!/bin/sh\necho "$(hostname) $PET_NODE_RANK $PET_NNODES $*"\n')
    torchrun.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    done = thinwire_lab(["run", "--hosts", "2", "--", *before, "torchrun", "train.py"])
    assert done.returncode == 0, done.stderr
    lines = sorted(done.stdout.splitlines())
    assert lines == ["tw-lab-0 0 2 train.py", "tw-lab-1 1 2 train.py"]
    alone = thinwire_lab(["run", "--host", "1", "--", *before, str(torchrun), "train.py"])
    assert alone.stdout == "tw-lab-1   train.py\n"


def test_the_job_ends_with_the_first_that_fails(thinwire_lab: Call) -> None:
    begin = time.monotonic()
    words = ["sh", "-c", "test $RANK = 1 && exit 3; exec sleep 50"]
    done = thinwire_lab(["run", "--hosts", "3", "--every-host", "--", *words])
    assert done.returncode == 3
    assert time.monotonic() - begin < 40
