"""16-bit floats that a program sends as bytes and as integers, under a policy that says so."""

from pathlib import Path

import pytest
from mpis import ALL, SYSTEM, Mpi
from shim_runs import PRODUCTION, PROGRAMS, Run, mpirun

pytestmark = pytest.mark.multiproc

RANKS = 3
RULE = '[[rule]]\nname = "weights"\ncommunicator = "weights"\nholds = "bf16"\ncodec = "{}"\n'
# Calls of the rule's communicator, on each rank: two messages, and another that is no whole number
# of words; five collectives that are coded.
MESSAGES, ODD_MESSAGES, COLLECTIVES = 2, 1, 5
# Calls of one communicator that are native for what they carry. Two of them differ with the rule, a
# broadcast of integers and a sum of them; one has a block of an odd number of bytes.
OF_INTEGERS = 3
ALL_CALLS = "on,gatherv,alltoallv"


def run(mpi: Mpi, folder: Path, *words: str, text: str, codec: str = "mpc") -> Run:
    (folder / "policy.toml").write_text(text)
    settings = {
        "THINWIRE_POLICY": str(folder / "policy.toml"),
        "THINWIRE_CODEC": codec,
        "THINWIRE_SAME_NODE": "1",
        "THINWIRE_THRESHOLD": "4096",
        "THINWIRE_COLLECTIVES": ALL_CALLS,
    }
    program = [mpi.programs / "shim_held", *words]
    report = folder / "report"
    done = mpirun(RANKS, program, mpi.production, settings, report, mpi=mpi)
    assert done.code == 0, done.output + done.errors
    assert done.output == RANKS * "all right\n"
    return done


def taken(done: Run) -> dict[str, tuple[int, int]]:
    assert done.report is not None
    return {
        each["rule"]: (each["calls"], each["compressed_calls"]) for each in done.report["rules"]
    }


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_words_that_hold_floats_are_compressed(mpi: Mpi, tmp_path: Path) -> None:
    done = run(mpi, tmp_path, text=RULE.format("expack"))
    calls = MESSAGES + COLLECTIVES
    assert taken(done) == {"weights": (RANKS * (calls + ODD_MESSAGES), RANKS * calls)}
    assert done.report["compressed_messages"] == RANKS * MESSAGES
    collectives = done.report["collectives"]
    assert collectives["compressed"] == RANKS * COLLECTIVES
    native = collectives["native_by_reason"]
    others = COLLECTIVES + 2 * OF_INTEGERS
    assert native == {"datatype not taken by the codec": RANKS * others}
    assert 0 < collectives["wire_bytes"] < 0.8 * collectives["bytes"]
    assert done.thinwire_lines() == []


def test_loss_is_where_the_rule_names_it(tmp_path: Path) -> None:
    """Also with a lossy codec for all that no rule takes: words are none of that."""
    exact = run(SYSTEM, tmp_path, text=RULE.format("lorenzo"), codec="zfp:rate=16")
    lossy = run(SYSTEM, tmp_path, "0.06", text=RULE.format("blockq:bits=8"))
    assert taken(exact) == taken(lossy)
    assert lossy.report["compressed_messages"] == RANKS * MESSAGES


def test_what_no_rule_speaks_of_stays_raw(tmp_path: Path) -> None:
    """A rule that names a type of floats takes none that are sent as something else."""
    text = '[[rule]]\nname = "floats"\ndtype = "bf16"\ncodec = "expack"\n'
    done = run(SYSTEM, tmp_path, text=text)
    assert taken(done) == {"floats": (0, 0)}
    assert done.report["compressed_messages"] == done.report["collectives"]["compressed"] == 0


def test_rules_that_differ_leave_collectives_native(tmp_path: Path) -> None:
    """Bytes that one rank takes for bf16 and another for fp16 are compressed by none."""
    other = tmp_path / "other.toml"
    other.write_text(RULE.format("expack").replace("bf16", "f16"))
    path = tmp_path / "policy.toml"
    path.write_text(RULE.format("expack"))
    program = SYSTEM.programs / "shim_held"
    choose = f'test "$OMPI_COMM_WORLD_RANK" = 2 && export THINWIRE_POLICY={other}; exec {program}'
    settings = {"THINWIRE_POLICY": str(path), "THINWIRE_SAME_NODE": "1"}
    settings |= {"THINWIRE_THRESHOLD": "4096", "THINWIRE_CODEC": "mpc"}
    words = ["sh", "-c", choose]
    done = mpirun(RANKS, words, SYSTEM.production, settings, tmp_path / "report")
    assert (done.code, done.output) == (0, RANKS * "all right\n"), done.errors
    assert done.report["collectives"]["compressed"] == 0
    assert done.report["compressed_messages"] == RANKS * MESSAGES
    assert len(done.thinwire_lines()) == 1


# Integers in the bits of floats, under lossy codecs: doubles arrive exact, fp32 is compressed.


PROGRAM = PROGRAMS / "shim_integer_bits"
WHY = "holds integers in the bits of doubles"
LOSSY = ["szp:rel=1e-6", "szp:abs=1e-3", "zfp:rate=16"]


def run_kind(kind: str, codec: str, ranks: int, report: Path, **settings: str) -> Run:
    chosen = {"THINWIRE_CODEC": codec, "THINWIRE_SAME_NODE": "1", **settings}
    return mpirun(ranks, [PROGRAM, kind], PRODUCTION, chosen, report)


@pytest.mark.parametrize("kind", ["doubles", "mixed"])
@pytest.mark.parametrize("codec", LOSSY)
def test_doubles_arrive_exact_and_the_report_says_why(
    kind: str, codec: str, tmp_path: Path
) -> None:
    done = run_kind(kind, codec, 3, tmp_path / "report")
    assert (done.code, done.output, done.errors) == (0, "", "")
    assert done.report is not None
    assert done.report["raw_by_reason"][WHY] >= 1
    assert done.report["compressed_messages"] == 0
    assert done.report["collectives"]["compressed"] > 0
    why_raw = done.report["collectives"]["raw_packets_by_reason"]
    assert why_raw[WHY] > 0
    assert done.report["collectives"]["raw_packets"] == sum(why_raw.values())
    # Other ranks pass on raw a packet for which one rank had a reason.
    assert set(why_raw) <= {WHY, "came raw from another rank", "not tried: data declined lately"}
    assert done.report["integers"]["declined"] > done.report["raw_by_reason"][WHY]


@pytest.mark.parametrize("codec", LOSSY)
def test_the_setting_has_them_coded(codec: str, tmp_path: Path) -> None:
    done = run_kind("doubles", codec, 2, tmp_path / "report", THINWIRE_INTEGERS="code")
    assert done.report is not None
    assert WHY not in done.report["raw_by_reason"]
    assert done.report["integers"]["declined"] == 0
    if codec != "szp:rel=1e-6":  # whose bound of such a range is stored exactly
        assert done.code != 0


@pytest.mark.parametrize("codec", ["szp:abs=1e-3", "zfp:rate=16"])
def test_floats_that_fade_out_stay_compressed_and_are_counted(codec: str, tmp_path: Path) -> None:
    done = run_kind("floats", codec, 2, tmp_path / "report")
    assert (done.code, done.output, done.errors) == (0, "", "")
    assert done.report is not None
    assert done.report["compressed_messages"] == 4
    assert done.report["integers"] == {"declined": 0, "coded": 4}
