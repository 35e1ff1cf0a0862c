"""However a lab's owner ends, nothing of the lab is left."""

import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest
from lab_helpers import COMMAND_LINE, becomes_true, network_namespaces, processes_of

pytestmark = [
    pytest.mark.alone,
    pytest.mark.multiproc,
    pytest.mark.usefixtures("permitted"),
]

# Says that it is up by its folder, and would outlive its parent.
SLEEPER = 'setsid sh -c "sleep 300" & touch "$0"; wait'


def start(words: list[str], ready: Path) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [*COMMAND_LINE, "run", "--", *words, str(ready)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert becomes_true(ready.exists, 20), "the command did not start"
    return process


def test_killing_the_runner_leaves_nothing(own_state: Path, tmp_path: Path) -> None:
    interfaces = sorted(os.listdir("/sys/class/net"))
    runner = start(["sh", "-c", SLEEPER], tmp_path / "ready")
    outer, process = processes_of(own_state)
    namespaces = {os.stat(f"/proc/{process}/ns/net").st_ino}
    for entry in Path(f"/proc/{process}/fd").iterdir():
        if os.readlink(entry).startswith("net:"):
            namespaces.add(os.stat(entry).st_ino)
    assert len(namespaces) == 3, "the private network and two hosts"
    # Host 1 is empty: only a descriptor of the lab's process keeps it.
    assert len(namespaces & network_namespaces()) == 2

    runner.send_signal(signal.SIGKILL)
    runner.communicate()
    assert becomes_true(lambda: not processes_of(own_state))
    assert becomes_true(lambda: not namespaces & network_namespaces())
    assert sorted(os.listdir("/sys/class/net")) == interfaces


def test_killing_the_process_ends_the_run(own_state: Path, tmp_path: Path) -> None:
    runner = start(["sh", "-c", SLEEPER], tmp_path / "ready")
    os.kill(processes_of(own_state)[-1], signal.SIGKILL)
    _, errors = runner.communicate(timeout=10)
    assert runner.returncode != 0
    assert "the lab has ended" in errors
    assert not processes_of(own_state)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_reach_the_command(own_state: Path, tmp_path: Path, number: int) -> None:
    script = 'trap "echo orderly; exit 9" INT TERM; touch "$0"; while :; do sleep 0.05; done'
    runner = start(["sh", "-c", script], tmp_path / "ready")
    runner.send_signal(number)
    output, errors = runner.communicate(timeout=10)
    assert output == "orderly\n"
    assert runner.returncode == 9
    assert "0 packets dropped" in errors
    assert not processes_of(own_state)


def test_ctrl_c_reaches_the_command_once(own_state: Path, tmp_path: Path) -> None:
    ready, seen = tmp_path / "ready", tmp_path / "seen"
    script = 'trap "echo once >> $1" INT; touch "$0"; for i in $(seq 20); do sleep 0.05; done'
    child, terminal = pty.fork()
    if child == 0:
        words = [*COMMAND_LINE, "run", "--", "sh", "-c", script, str(ready), str(seen)]
        os.execv(words[0], words)
    try:
        assert becomes_true(ready.exists, 20), "the command did not start"
        os.write(terminal, b"\x03")
        assert becomes_true(lambda: not processes_of(own_state), 10)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        os.close(terminal)
    assert seen.read_text() == "once\n"
