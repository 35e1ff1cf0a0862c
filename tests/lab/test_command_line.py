"""`thinwire lab` as users type it."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from lab_helpers import COMMAND_LINE, becomes_true, best_rate, processes_of

from thinwire.lab import state

pytestmark = [
    pytest.mark.multiproc,
    pytest.mark.usefixtures("permitted"),
    pytest.mark.usefixtures("own_state"),
]

Call = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]


def test_run_passes_output_and_exit_code_on(thinwire_lab: Call) -> None:
    options = ["--hosts", "3", "--link", "1gbit", "--gpus", "none"]
    done = thinwire_lab(["run", *options, "--", "sh", "-c", "hostname; exit 5"])
    assert done.returncode == 5
    assert done.stdout == "tw-lab-0\n"
    assert done.stderr.splitlines() == [
        "lab: 3 hosts, link 1gbit (the first 65536 bytes after a pause are not slowed down)",
        "lab: 0 packets dropped",
    ]


def test_run_reports_the_signal_as_shells_do(thinwire_lab: Call) -> None:
    assert thinwire_lab(["run", "--", "sh", "-c", "kill -KILL $$"]).returncode == 137


def raw_rate(thinwire_lab: Call, *options: str) -> float:
    """In Mbit/s, as a run in that lab measures it."""
    done = thinwire_lab(["run", *options, "--measure", "--", "true"])
    rate = re.search(r"raw rate ([\d.]+) Mbit/s", done.stderr)
    assert rate is not None
    return float(rate[1])


@pytest.mark.alone
def test_measure_adds_the_raw_rate(thinwire_lab: Call) -> None:
    def megabits() -> float:
        return raw_rate(thinwire_lab, "--link", "200mbit")

    assert best_rate(megabits, least=180) == pytest.approx(200, rel=0.1)


def test_host_picks_one_without_mpi(thinwire_lab: Call) -> None:
    done = thinwire_lab(["run", "--host", "1", "--", "sh", "-c", "hostname; env"])
    assert done.stdout.startswith("tw-lab-1\n")
    assert "OMPI_MCA" not in done.stdout


def test_refusals_are_sentences(thinwire_lab: Call) -> None:
    done = thinwire_lab(["down", "--name", "nowhere"])
    assert done.returncode == 2 and done.stderr.startswith("lab: ")
    assert "Traceback" not in done.stderr
    mistaken = thinwire_lab(["run", "--link", "fast", "--", "true"])
    assert mistaken.returncode == 2 and "is not a rate" in mistaken.stderr
    assert "Traceback" not in mistaken.stderr


def test_up_run_status_down(thinwire_lab: Call, own_state: Path) -> None:
    assert thinwire_lab(["up", "--name", "t1", "--hosts", "2", "--link", "1gbit"]).returncode == 0
    try:
        assert thinwire_lab(["up", "--name", "t1"]).returncode == 2
        assert thinwire_lab(["status"]).stdout.startswith("t1\thosts=2\tlink=1gbit\t")
        for _ in range(2):
            done = thinwire_lab(["run", "--name", "t1", "--", "hostname"])
            assert done.stdout == "tw-t1-0\n"
    finally:
        down = thinwire_lab(["down", "--name", "t1"])
    assert down.returncode == 0
    assert not processes_of(own_state)
    assert thinwire_lab(["status"]).stdout == ""
    assert thinwire_lab(["down", "--name", "t1"]).returncode == 2


@pytest.mark.alone
def test_set_link_changes_a_lab_that_is_up(thinwire_lab: Call) -> None:
    def megabits() -> float:
        return raw_rate(thinwire_lab, "--name", "t1")

    assert thinwire_lab(["up", "--name", "t1", "--link", "10mbit"]).returncode == 0
    try:
        done = thinwire_lab(["set-link", "200mbit", "--name", "t1"])
        assert (done.returncode, done.stderr) == (0, "lab: 't1': every link has 200mbit now\n")
        assert "\tlink=200mbit\t" in thinwire_lab(["status"]).stdout
        assert best_rate(megabits, least=180) == pytest.approx(200, rel=0.1)
        for rate, said in (("fast", "is not a rate"), ("none", "has a rate")):
            refused = thinwire_lab(["set-link", rate, "--name", "t1"])
            assert refused.returncode == 2 and said in refused.stderr
        assert "\tlink=200mbit\t" in thinwire_lab(["status"]).stdout
    finally:
        thinwire_lab(["down", "--name", "t1"])
    assert thinwire_lab(["set-link", "1gbit", "--name", "t1"]).returncode == 2


def test_state_of_a_killed_lab_is_stale(thinwire_lab: Call, own_state: Path) -> None:
    for name in ("t1", "t2"):
        assert thinwire_lab(["up", "--name", name, "--hosts", "1"]).returncode == 0
    for process in processes_of(own_state):
        os.kill(process, signal.SIGKILL)
    assert becomes_true(lambda: not processes_of(own_state))
    down = thinwire_lab(["down", "--name", "t1"])
    assert (down.returncode, "had ended already" in down.stderr) == (0, True)
    assert thinwire_lab(["run", "--name", "t2", "--", "true"]).returncode == 2
    status = thinwire_lab(["status"])
    assert status.stdout == ""
    assert "'t2' had ended" in status.stderr
    assert not list((own_state / "thinwire-lab").glob("t*"))


def test_a_process_number_used_again_is_not_ours(thinwire_lab: Call, own_state: Path) -> None:
    bystander = subprocess.Popen(["sleep", "60"])
    try:
        started = state.start_time(bystander.pid)
        assert started is not None
        record = state.Record("old", 2, "none", 1, bystander.pid, started - 1, state.boot_id())
        state.save(record)
        assert thinwire_lab(["down", "--name", "old"]).returncode == 0
        other_boot = state.Record("old", 2, "none", 1, bystander.pid, started, "another boot")
        state.save(other_boot)
        assert thinwire_lab(["down", "--name", "old"]).returncode == 0
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_unavailable_says_why() -> None:
    # A user namespace may set its own limit, which binds nobody else.
    script = 'echo 0 > /proc/sys/user/max_net_namespaces && exec "$@"'
    words = ["unshare", "-U", "-r", "sh", "-c", script, "sh", *COMMAND_LINE, "run", "--", "true"]
    done = subprocess.run(words, capture_output=True, text=True)
    if "max_net_namespaces" in done.stderr:
        pytest.skip("the limit of namespaces cannot be set here")
    assert done.returncode == 69
    assert "namespaces are not permitted here" in done.stderr


def test_unavailable_without_pyroute2(tmp_path: Path) -> None:
    (tmp_path / "pyroute2.py").write_text("raise ImportError('No module named pyroute2')\n")
    environment = {**os.environ}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    words = [*COMMAND_LINE, "run", "--", "true"]
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert done.returncode == 69
    assert "thinwire[lab]" in done.stderr


def test_state_file_is_readable_json(thinwire_lab: Call, own_state: Path) -> None:
    thinwire_lab(["up", "--name", "t1", "--hosts", "1"])
    try:
        record = json.loads((own_state / "thinwire-lab/t1.json").read_text())
        assert [record["process"]] == processes_of(own_state)
    finally:
        thinwire_lab(["down", "--name", "t1"])
