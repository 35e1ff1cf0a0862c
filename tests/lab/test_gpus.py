"""Which GPUs are found, how they are dealt out, and that each host sees its own."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from thinwire.lab import Lab
from thinwire.lab.gpus import deal, parse, variables, visible

Call = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]

VARIABLE = "CUDA_VISIBLE_DEVICES"
SHOW = [sys.executable, "-c", f"import os; print(os.environ.get('{VARIABLE}', 'unset'))"]


@pytest.fixture
def devices(tmp_path: Path) -> Path:
    """A /dev with three GPUs, which have kept the machine's numbers, and what lies beside them."""
    for name in (
        "nvidia2",
        "nvidia3",
        "nvidia11",
        "nvidiactl",
        "nvidia-uvm",
        "nvidia-caps",
        "null",
    ):
        (tmp_path / name).touch()
    return tmp_path


def test_gpus_are_counted_by_their_nodes(devices: Path, tmp_path: Path) -> None:
    assert visible({}, devices) == ("0", "1", "2")
    assert visible({}, tmp_path / "nothing") == ()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", ()),
        ("1", ("1",)),
        ("2,0", ("2", "0")),
        (" 1 , 2 ", ("1", "2")),
        ("GPU-8932f937-d72c-4106,1", ("GPU-8932f937-d72c-4106", "1")),
        ("0,-1,2", ("0",)),
        ("NoDevFiles", ()),
    ],
)
def test_the_callers_variable_comes_first(devices: Path, value: str, expected: tuple) -> None:
    assert visible({VARIABLE: value}, devices) == expected


def test_a_variable_makes_no_gpus(tmp_path: Path) -> None:
    assert visible({VARIABLE: "0,1"}, tmp_path) == ()


@pytest.mark.parametrize(
    ("gpus", "hosts", "expected"),
    [
        ("01", 2, ["0", "1"]),
        ("0", 3, ["0", "0", "0"]),
        ("01", 3, ["0", "1", "0"]),
        ("01234567", 2, ["0246", "1357"]),
        ("012", 2, ["02", "1"]),
        ("", 2, ["", ""]),
    ],
)
def test_gpus_are_dealt_like_cards(gpus: str, hosts: int, expected: list[str]) -> None:
    assert deal(tuple(gpus), hosts) == [tuple(hand) for hand in expected]


def test_hosts_with_lists_of_their_own() -> None:
    assert deal([["0", "1"], ["0", "1"]], 2) == [("0", "1"), ("0", "1")]
    assert deal([[3], ()], 2) == [("3",), ()]


@pytest.mark.parametrize(
    ("gpus", "match"),
    [
        ([1, 1], "twice"),
        ([[0], [1, 1]], "twice"),
        ([[0, 1]], "2 hosts, and lists of GPUs for 1"),
        ([[0], [1], [0]], "2 hosts, and lists of GPUs for 3"),
        ([[0], 1], "2 hosts, and lists of GPUs for 1"),
        (["first"], "no GPU"),
    ],
)
def test_what_two_hosts_cannot_have(gpus: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        Lab(hosts=2, gpus=gpus)


def test_words_of_the_command_line() -> None:
    assert parse("none", {}) == ()
    assert parse("2, 0", {}) == ("2", "0")
    assert parse("0,1: 1,0", {}) == [("0", "1"), ("1", "0")]
    for words in ("", "0,,1", "gpu0", "-1", "0,0", "0;1", "0:", "0,1:1,1", "0/1"):
        with pytest.raises(ValueError, match="GPU"):
            parse(words, {})


def test_the_order_of_numbers_goes_with_them() -> None:
    order = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    assert variables(("1",), order | {"X": "y"}) == {VARIABLE: "1", **order}
    assert variables((), {}) == {VARIABLE: ""}


@pytest.mark.multiproc
@pytest.mark.usefixtures("permitted")
class TestInALab:
    """What programs on the hosts see; no GPU is needed for that."""

    def seen(self, lab: Lab, host: int | None, env: dict[str, str] | None = None) -> str:
        done = lab.run(SHOW, host=host, env=env, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def test_each_host_has_its_own(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(VARIABLE, "7")
        with Lab(hosts=3, gpus=["4", 5, 6, "7"]) as lab:
            assert lab.gpus() == [("4", "7"), ("5",), ("6",)]
            assert [self.seen(lab, host) for host in (None, 0, 1, 2)] == ["4,7", "4,7", "5", "6"]
            assert self.seen(lab, 1, {**os.environ}) == "5"

    def test_hosts_may_have_the_same(self) -> None:
        with Lab(hosts=2, gpus=[[0, 1], [1, 0]]) as lab:
            assert lab.gpus() == [("0", "1"), ("1", "0")]
            assert [self.seen(lab, host) for host in (0, 1)] == ["0,1", "1,0"]

    def test_a_remote_login_has_them_too(self) -> None:
        script = f"\"$OMPI_MCA_plm_rsh_agent\" tw-lab-1 'echo ${VARIABLE}'"
        with Lab(hosts=2, gpus=[0, 1]) as lab:
            done = lab.run(["sh", "-c", script], capture_output=True, text=True, check=True)
        assert done.stdout == "1\n"

    def test_none_hides_and_no_gpus_leave_the_variable_alone(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with Lab(hosts=1, gpus=()) as lab:
            assert self.seen(lab, 0) == "" and lab.gpus() == [()]
        if visible({}):
            pytest.skip("this machine has GPUs")
        monkeypatch.setenv(VARIABLE, "3")
        with Lab(hosts=1) as lab:
            assert (self.seen(lab, None), self.seen(lab, 0)) == ("3", "unset")

    def test_the_command_line_deals_and_says_so(self, thinwire_lab: Call) -> None:
        program = ["sh", "-c", f'"$OMPI_MCA_plm_rsh_agent" tw-lab-1 env; echo first ${VARIABLE}']
        done = thinwire_lab(["run", "--gpus", "3,1", "--", *program])
        assert f"{VARIABLE}=1\n" in done.stdout and done.stdout.endswith("first 3\n")
        assert "lab: GPUs 3 on tw-lab-0; 1 on tw-lab-1\n" in done.stderr
        shared = thinwire_lab(["run", "--gpus", "0,1:0,1", "--", "true"])
        assert "lab: GPUs 0,1 on tw-lab-0; 0,1 on tw-lab-1\n" in shared.stderr
        uneven = thinwire_lab(["run", "--hosts", "3", "--gpus", "0,1:0,1", "--", "true"])
        assert uneven.returncode == 2 and "3 hosts, and lists of GPUs for 2" in uneven.stderr
        refused = thinwire_lab(["run", "--gpus", "some", "--", "true"])
        assert refused.returncode == 2 and "no GPU: give 'all'" in refused.stderr

    @pytest.mark.usefixtures("own_state")
    def test_a_lab_that_stays_keeps_its_gpus(self, thinwire_lab: Call) -> None:
        assert thinwire_lab(["up", "--name", "t1", "--gpus", "2,5"]).returncode == 0
        try:
            with Lab.attach("t1") as lab:
                assert lab.gpus() == [("2",), ("5",)]
                assert self.seen(lab, 1) == "5"
        finally:
            thinwire_lab(["down", "--name", "t1"])
