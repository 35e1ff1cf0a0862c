"""Each host is a machine of its own, and the machine beneath them stays as it was."""

import json
import os
import sys
from pathlib import Path

import pytest

from thinwire.lab import Lab, LabError
from thinwire.lab.environments import NETWORKS
from thinwire.lab.gpus import visible

pytestmark = [pytest.mark.multiproc, pytest.mark.usefixtures("permitted")]

ENVIRONMENT = "import json, os; print(json.dumps(dict(os.environ)))"
# A host's GPUs belong to it, if the machine has any.
GPUS = {"CUDA_VISIBLE_DEVICES", "NCCL_HOSTID"} if visible(os.environ) else set()
LOGIN = {"HOME", "USER", "LOGNAME", "SHELL", "PATH", *NETWORKS} | GPUS
# Python sets LC_CTYPE, and shells set the others, by themselves.
SET_BY_PROGRAMS = {"LANG", "LC_CTYPE", "PWD", "SHLVL", "_", "OLDPWD"}


def output(lab: Lab, words: list[str], host: int | None = None) -> str:
    return lab.run(words, host=host, capture_output=True, text=True, check=True).stdout.strip()


def test_hosts_have_names_and_addresses_of_their_own() -> None:
    resolve = "import socket; print(socket.gethostname(), socket.gethostbyname('tw-lab-2'))"
    with Lab(hosts=3, link="1gbit") as lab:
        assert lab.host_names() == ["tw-lab-0", "tw-lab-1", "tw-lab-2"]
        for host, name in enumerate(lab.host_names()):
            seen = output(lab, [sys.executable, "-c", resolve], host)
            assert seen == f"{name} {lab.addresses()[2]}"
    assert os.uname().nodename not in ("tw-lab-0", "tw-lab-1", "tw-lab-2")


def test_the_machine_is_left_alone() -> None:
    interfaces = sorted(os.listdir("/sys/class/net"))
    routes = Path("/proc/net/route").read_text()
    with Lab(hosts=2) as lab:
        assert output(lab, ["cat", "/proc/net/route"]) != routes.strip()
        assert sorted(os.listdir("/sys/class/net")) == interfaces
        assert Path("/proc/net/route").read_text() == routes
    assert sorted(os.listdir("/sys/class/net")) == interfaces


def test_only_the_main_command_inherits_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINWIRE_TEST_MARK", "here")
    program = [sys.executable, "-c", ENVIRONMENT]
    with Lab(hosts=2) as lab:
        main = json.loads(output(lab, program))
        other = json.loads(output(lab, program, host=1))
    assert main["THINWIRE_TEST_MARK"] == "here"
    assert main["OMPI_MCA_btl_tcp_if_include"] == "10.77.0.0/16"
    assert set(other) - SET_BY_PROGRAMS == LOGIN


def test_agent_gives_a_login_shell_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "")
    monkeypatch.setenv("THINWIRE_TEST_MARK", "here")
    script = '"$OMPI_MCA_plm_rsh_agent" tw-lab-1 "hostname;" env'
    with Lab(hosts=2) as lab:
        name, *lines = output(lab, ["sh", "-c", script]).splitlines()
        failed = lab.run(["sh", "-c", '"$OMPI_MCA_plm_rsh_agent" tw-lab-1 exit 7'])
        unknown = lab.run(["sh", "-c", '"$OMPI_MCA_plm_rsh_agent" elsewhere true'])
    assert name == "tw-lab-1"
    assert {line.partition("=")[0] for line in lines} - SET_BY_PROGRAMS == LOGIN
    assert failed.returncode == 7
    assert unknown.returncode == 255


def test_the_folder_stays_and_the_exit_status_comes_back(tmp_path: Path) -> None:
    with Lab(hosts=1) as lab:
        here = lab.run(["pwd"], cwd=tmp_path, capture_output=True, text=True)
        assert here.stdout.strip() == str(tmp_path)
        assert lab.run(["sh", "-c", "exit 5"]).returncode == 5
        assert lab.run(["sh", "-c", "kill -TERM $$"]).returncode == -15
        assert lab.run(["/no/such/program"], capture_output=True).returncode == 127


def test_two_labs_at_once_do_not_see_each_other(tmp_path: Path) -> None:
    with Lab(hosts=2, name="one") as one, Lab(hosts=2, name="two") as two:
        assert output(one, ["hostname"]) == "tw-one-0"
        assert output(two, ["hostname"]) == "tw-two-0"
        output(one, ["touch", "/dev/shm/thinwire-test"])
        assert one.run(["test", "-e", "/dev/shm/thinwire-test"]).returncode == 0
        assert two.run(["test", "-e", "/dev/shm/thinwire-test"]).returncode == 1
        one.raw_rate()
        received = [row["received_bytes"] for row in two.counters() if row["interface"] == "tw0"]
        assert max(received) < 100_000
    assert not Path("/dev/shm/thinwire-test").exists()


def test_wrong_settings_and_closed_labs_are_refused() -> None:
    with pytest.raises(ValueError, match="hosts"):
        Lab(hosts=0)
    with pytest.raises(LabError, match="name"):
        Lab(name="Not A Name")
    with pytest.raises(LabError, match="with"):
        Lab().run(["true"])
    with Lab(hosts=1) as lab, pytest.raises(ValueError, match="hosts 0 to 0"):
        lab.run(["true"], host=1)


def test_sys_names_a_hosts_own_interfaces() -> None:
    """Libraries below an MPI look there for the networks of their host."""
    with Lab(hosts=2) as lab:
        for host in (None, 1):
            found = lab.run(["ls", "/sys/class/net"], host=host, capture_output=True, text=True)
            assert found.stdout.split() == ["lo", "tw0"]
            assert lab.run(["test", "-r", "/sys/class/net/tw0/mtu"], host=host).returncode == 0
        script = '"$OMPI_MCA_plm_rsh_agent" tw-lab-1 ls /sys/class/net'
        assert output(lab, ["sh", "-c", script]).split() == ["lo", "tw0"]
