"""MPI programs under a policy: messages and collectives have codecs by their communicator."""

from pathlib import Path

import pytest
from mpis import ALL, SYSTEM, Mpi
from shim_runs import Run, mpirun

pytestmark = pytest.mark.multiproc

RANKS = 3
ROUNDS = 8
EACH = RANKS * ROUNDS
GROUPS = """\
[[rule]]
name = "gradients"
communicator = "dp*"
operation = "allreduce"
codec = "szp:abs=1e-1"

[[rule]]
name = "messages"
communicator = "dp*"
operation = "send"
size-from = "100KiB"
codec = "zfp:rate=16"

[[rule]]
name = "tensor parallel"
communicator = "tp*"
codec = "off"
"""


def run(
    mpi: Mpi, folder: Path, *words: str, text: str = GROUPS, codec: str = "mpc", **more: str
) -> Run:
    path = folder / "policy.toml"
    path.write_text(text)
    settings = {"THINWIRE_POLICY": str(path), "THINWIRE_CODEC": codec, "THINWIRE_SAME_NODE": "1"}
    program = [mpi.programs / "shim_policy", *words]
    done = mpirun(
        RANKS, program, mpi.production, mpi=mpi, settings=settings | more, report=folder / "report"
    )
    assert (done.code, done.output) == (0, "ok\n"), done.errors
    return done


def rules(done: Run) -> dict[str, dict]:
    assert done.report is not None
    return {rule["rule"]: rule for rule in done.report["rules"]}


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_each_rule_has_its_codec(mpi: Mpi, tmp_path: Path) -> None:
    done = run(mpi, tmp_path)
    found = rules(done)
    assert done.thinwire_lines() == []
    assert [rule["line"] for rule in done.report["rules"]] == [1, 7, 14]
    for name in ("gradients", "messages"):
        assert found[name]["calls"] == found[name]["compressed_calls"] == EACH, name
        assert 0 < found[name]["wire_bytes"] < found[name]["bytes"] * 0.6
    off = found["tensor parallel"]
    assert off["calls"] == EACH and off["compressed_calls"] == 0
    assert done.report["raw_by_reason"]["codec off"] == EACH
    collectives = done.report["collectives"]
    assert collectives["compressed"] == EACH
    assert collectives["native_by_reason"]["codec off"] == EACH


def test_what_no_rule_takes_goes_by_the_environment(tmp_path: Path) -> None:
    """Loss is where a rule names it alone: the program has exact results on the other one."""
    only = "[[rule]]" + GROUPS.split("[[rule]]")[2]
    done = run(SYSTEM, tmp_path, text=only, codec="lorenzo")
    assert rules(done)["messages"]["compressed_calls"] == EACH
    assert done.report["compressed_messages"] == 2 * EACH
    assert done.report["collectives"]["compressed"] == 2 * EACH


def test_a_new_name_counts_for_messages_from_then_on(tmp_path: Path) -> None:
    found = rules(run(SYSTEM, tmp_path, "rename"))
    assert found["messages"]["calls"] == EACH // 2
    assert found["tensor parallel"]["calls"] == EACH + EACH // 2
    # The name of collectives is that of the first call.
    assert found["gradients"]["compressed_calls"] == EACH


@pytest.mark.parametrize("pattern", ["dp*", "dp0"])
def test_names_that_differ_count_where_a_rule_tells_them_apart(
    pattern: str, tmp_path: Path
) -> None:
    text = GROUPS.replace('"dp*"', f'"{pattern}"')
    done = run(SYSTEM, tmp_path, "by-rank", text=text)
    found = rules(done)
    if pattern == "dp*":
        assert found["gradients"]["compressed_calls"] == EACH
        return
    # Messages are each sender's own decision.
    assert found["messages"]["compressed_calls"] == ROUNDS
    assert found["gradients"]["calls"] == 0
    assert (
        done.report["collectives"]["native_by_reason"]["the settings of the ranks differ"] == EACH
    )
    assert len(done.thinwire_lines()) == 1
    assert "the ranks call it differently" in done.thinwire_lines()[0]


def test_ranks_of_different_policies_leave_collectives_native(tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(GROUPS.replace("szp:abs=1e-1", "szp:abs=1e-2"))
    program = SYSTEM.programs / "shim_policy"
    path = tmp_path / "policy.toml"
    path.write_text(GROUPS)
    choose = f'test "$OMPI_COMM_WORLD_RANK" = 2 && export THINWIRE_POLICY={other}; exec {program}'
    settings = {
        "THINWIRE_POLICY": str(path),
        "THINWIRE_CODEC": "mpc",
        "THINWIRE_SAME_NODE": "1",
    }
    words = ["sh", "-c", choose]
    done = mpirun(RANKS, words, SYSTEM.production, settings=settings, report=tmp_path / "report")
    assert (done.code, done.output) == (0, "ok\n"), done.errors
    assert done.report["collectives"]["compressed"] == 0
    native = done.report["collectives"]["native_by_reason"]
    assert native["the settings of the ranks differ"] == 2 * EACH
    assert rules(done)["messages"]["compressed_calls"] == EACH
    assert len(done.thinwire_lines()) == 1


def test_a_wrong_policy_is_named_once_and_loses_nothing(tmp_path: Path) -> None:
    done = run(SYSTEM, tmp_path, text=GROUPS + 'colour = "red"\n', codec="zfp:rate=16")
    assert len(done.thinwire_lines()) == 1
    assert "policy.toml:18: 'colour' is no key of a rule" in done.thinwire_lines()[0]
    assert "rules" not in done.report and done.report["compressed_messages"] == 0
