"""Policies from Python and from the command line."""

import os
import random
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import thinwire
from thinwire.cli.policy import Operation
from thinwire.library import library, text

GROUPS = """\
# The rules of a training program.
[[rule]]
name = "gradients"
communicator = "dp*"
operation = ["allreduce", "reduce-scatter"]
dtype = "bf16"
size-from = "1MiB"
codec = "blockq:bits=8"

[[rule]]
communicator = "tp*"
codec = "off"
"""


def call(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "thinwire", "policy", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "groups.toml"
    path.write_text(GROUPS)
    return path


def test_the_first_rule_that_matches_takes_a_call(file: Path) -> None:
    policy = thinwire.Policy(file)
    assert [rule.line for rule in policy.rules] == [2, 10]
    taken = policy.match("allreduce", "bf16", 4 << 20, communicator="dp1", ranks=8)
    assert taken is not None
    assert (taken.name, taken.codec) == ("gradients", "blockq:bits=8,block=32")
    assert policy.match("allreduce", "bf16", 1 << 19, communicator="dp1") is None
    assert policy.match("allreduce", "bf16", 4 << 20) is None
    off = policy.match("send", "f32", 1, communicator="tp", span="within-node")
    assert off is not None and off.codec == "off"
    assert policy.hash == thinwire.Policy(text=GROUPS + "# the end\n").hash
    assert policy.hash != thinwire.Policy(text='[[rule]]\ncodec = "off"\n').hash


def test_a_rule_says_what_bytes_hold(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('[[rule]]\noperation = "bcast"\nholds = "bf16"\ncodec = "expack"\n')
    policy = thinwire.Policy(path)
    taken = policy.match("bcast", "bytes", 1 << 20)
    assert taken is not None and (taken.codec, taken.holds) == ("expack:mode=auto", "bf16")
    assert policy.match("bcast", "bf16", 1 << 20) is None
    done = call("explain", str(path), "--op", "bcast", "--dtype", "bytes", "--size", "1MiB")
    assert "rule 1 (line 1): bcast, of bytes and 16-bit integers that hold bf16" in done.stdout
    assert thinwire.Policy(text=GROUPS).rules[0].holds == "bytes"


def test_wrong_words_are_refused() -> None:
    policy = thinwire.Policy(text=GROUPS)
    with pytest.raises(ValueError, match="operation: 'broadcast' is none of bcast, allgather"):
        policy.match("broadcast", "f32", 1)
    with pytest.raises(ValueError, match="dtype: 'fp32' is none of"):
        policy.match("send", "fp32", 1)
    with pytest.raises(ValueError, match="span: 'far' is none of within-node, between-nodes"):
        policy.match("send", "f32", 1, span="far")
    with pytest.raises(ValueError, match="of a file or of a text"):
        thinwire.Policy()
    with pytest.raises(thinwire.ThinwireError, match="policy:1: there is no"):
        thinwire.Policy(text="")


def test_the_command_has_the_operations_of_the_library() -> None:
    lib = library()
    texts = [lib.tw_operation_text(at) for at in range(lib.TW_POLICY_SEND)]
    assert {each.value for each in Operation} == {text(each) for each in texts} | {"send"}


def test_check_says_the_rules(file: Path) -> None:
    done = call("check", str(file))
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "rule 1 (line 2, gradients): allreduce and reduce-scatter on communicators" in said
    assert "rule 2 (line 10): all operations on communicators named tp*: off" in said


def test_a_wrong_file_is_named_with_its_line(file: Path) -> None:
    file.write_text(GROUPS + 'colour = "red"\n')
    done = call("check", str(file))
    assert done.returncode == 1
    assert f"{file}:13: 'colour' is no key of a rule" in done.stderr
    assert call("explain", str(file), "--op", "send", "--dtype", "f32", "--size", "1").returncode


def test_explain_says_which_rule(file: Path) -> None:
    common = ["explain", str(file), "--op", "allreduce", "--dtype", "bf16", "--size", "4MiB"]
    assert "rule 1 (line 2, gradients)" in call(*common, "--comm", "dp").stdout
    assert "rule 2 (line 10)" in call(*common, "--comm", "tp0").stdout
    assert call(*common).stdout == "no rule takes it: as without a policy\n"


def as_rules(text: str) -> list[dict[str, object]]:
    """As a TOML library has it."""
    found = tomllib.loads(text)
    assert list(found) == ["rule"]
    return list(found["rule"])


def test_under_a_wrong_policy_no_lossy_codec_is_made(file: Path) -> None:
    program = """if True:
        import sys, thinwire
        thinwire.Codec("lorenzo")
        try:
            thinwire.Codec("zfp:rate=8")
        except thinwire.ThinwireError as error:
            print(error)"""

    def run() -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "THINWIRE_POLICY": str(file)}
        words = [sys.executable, "-c", program]
        return subprocess.run(words, env=environment, capture_output=True, text=True, check=True)

    right = run()
    assert (right.stdout, right.stderr) == ("", "")
    file.write_text(GROUPS + 'colour = "red"\n')
    wrong = run()
    said = f"THINWIRE_POLICY: {file}:13: 'colour' is no key of a rule"
    assert wrong.stderr.startswith(f"thinwire: error: {said}")
    assert wrong.stderr.endswith("; none of its rules holds; no lossy codec is used\n")
    assert len(wrong.stderr.splitlines()) == 1
    assert f"zfp:rate=8 is lossy, and a setting is wrong: {said}" in wrong.stdout


def test_run_reads_the_policy_first(file: Path) -> None:
    words = [sys.executable, "-m", "thinwire", "exec", "--mpi", "mpich", "--policy", str(file)]
    file.write_text("[[rule]]\n")
    done = subprocess.run([*words, "true"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "the rule has no codec" in done.stderr


def test_what_is_taken_is_toml() -> None:
    """Changed at random; what the library still takes a TOML library reads with as many rules."""
    chance = random.Random(7)
    pieces = ["\n", " ", "#", '"', "'", "[", "]", "=", ",", "\t", "x", "9", "\\", "é", "\r\n"]
    taken = 0
    for _ in range(4000):
        text = list(GROUPS)
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(len(text))
            text[at : at + chance.randrange(2)] = chance.choice(pieces)
        changed = "".join(text)
        try:
            policy = thinwire.Policy(text=changed)
        except thinwire.ThinwireError:
            continue
        rules = as_rules(changed)
        assert len(rules) == len(policy.rules), changed
        for rule, known in zip(policy.rules, rules, strict=True):
            assert rule.name == known.get("name", "")
        taken += 1
    assert taken > 200
