"""THINWIRE_LOG=plan: a line a class of messages, at each change and at the end; and the table of
costs that takes the place of measuring at the start."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from mpis import ALL, SYSTEM, Mpi
from shim_runs import PRODUCTION, ZFP, mpirun

from thinwire.bench import tune
from thinwire.codec import CodecCost
from thinwire.costs import CostRow

pytestmark = pytest.mark.multiproc

PLAN = {"THINWIRE_CODEC": "mpc", "THINWIRE_SAME_NODE": "1", "THINWIRE_LOG": "plan"}
CLASS = "rank 0: send of f32, 256 KiB to 512 KiB, to its node, mpc:stride=1: "


def lines(settings: dict[str, str], *words: str, mpi: Mpi = SYSTEM) -> list[str]:
    done = mpirun(2, [mpi.programs / "shim_exchange", *words], mpi.production, settings, mpi=mpi)
    assert done.code == 0, done.errors
    begin = "thinwire: plan: "
    return [line.removeprefix(begin) for line in done.errors.splitlines() if begin in line]


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_a_line_at_the_first_and_one_at_the_end(mpi: Mpi) -> None:
    said = lines({**PLAN, "THINWIRE_LINK": "10mbit"}, "262144", "10", mpi=mpi)
    first, last = (line for line in said if line.startswith(CLASS))
    words = r"compressed; predicted \d+ ms raw, \d+ ms compressed, which needs a ratio of 1\.\d\d, "
    words += r"at 1\.25 MB/s \(stated\); "
    words += r"took encode [\d.]+ [mu]s, 262144 bytes as \d+, ratio \d\.\d\d"
    assert re.fullmatch(re.escape(CLASS) + words, first)
    assert f"{CLASS}in all 10 messages: 10 compressed; took encode " in last
    assert "2621440 bytes as " in last
    assert last.endswith("; 0 changes of the choice; of this size came 10 compressed, 0 raw")
    assert len(said) == 4


def test_what_stays_raw_has_its_reason() -> None:
    said = lines({**PLAN, "THINWIRE_LINK": "100GB/s"}, "262144", "5")
    assert any(f"{CLASS}raw, would not gain; predicted" in line for line in said)
    (last,) = (line for line in said if f"{CLASS}in all 5 messages: 5 raw, would not gain" in line)
    assert last.endswith("; of this size came 0 compressed, 5 raw")
    without = lines(PLAN)
    assert any("compressed; no prediction without a link's rate" in line for line in without)


def test_data_that_is_declined_lately_is_a_change_and_not_a_line_a_message() -> None:
    """Noise is declined, then skipped, tried, declined: shown up to the eighth change."""
    program = [SYSTEM.programs / "shim_declines", "send", "300", "20"]
    done = mpirun(2, program, PRODUCTION, {**PLAN, "THINWIRE_THRESHOLD": "4KiB"})
    said = [line for line in done.errors.splitlines() if " now " in line]
    assert done.code == 0 and any("now raw, not tried: data declined" in line for line in said)
    by_class: dict[str, int] = {}
    for line in said:
        name = line.partition(": after ")[0]
        by_class[name] = by_class.get(name, 0) + 1
    assert max(by_class.values()) <= 8


def test_collectives_have_classes_too() -> None:
    forced = {"THINWIRE_LINK": "10mbit", "THINWIRE_FORCE": "1"}
    settings = {**PLAN, **forced, "THINWIRE_THRESHOLD": "512"}
    done = mpirun(2, [SYSTEM.programs / "shim_coll"], PRODUCTION, settings)
    assert done.code == 0, done.errors
    said = [line for line in done.thinwire_lines() if "rank 0: bcast of f32" in line]
    assert any(re.search(r"on 2 ranks, mpc:stride=1: compressed; predicted", each) for each in said)
    assert any(re.search(r"in all \d+ calls: \d+ compressed; took encode", each) for each in said)


def test_silent_at_other_levels() -> None:
    assert lines({**PLAN, "THINWIRE_LOG": "info"}) == []
    assert lines({**PLAN, "THINWIRE_LOG": "debug"}) != []


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Where the library looks for this machine's table under XDG_CACHE_HOME=tmp_path."""
    code = "from thinwire.costs import own_path; print(own_path())"
    variables = {"PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": str(tmp_path)}
    asked = [sys.executable, "-c", code]
    said = subprocess.run(asked, capture_output=True, text=True, check=True, env=variables)
    return Path(said.stdout.strip())


def with_table(table: Path) -> dict[str, str]:
    cache = table.parent.parent
    return {**PLAN, "THINWIRE_LINK": "1gbit", "XDG_CACHE_HOME": str(cache)}


def test_the_machines_table_takes_the_place_of_measuring(table: Path) -> None:
    slow, fast = CodecCost(1e6, 1e6, 1.5), CodecCost(1e12, 1e12, 4.0)
    for cost, chosen in ((slow, "raw, would not gain"), (fast, "compressed; predicted 2.1 ms raw")):
        row = CostRow("mpc:stride=1", "f32", 1 << 20, False, cost)
        tune.write(table, tune.table_of([row]))
        said = lines(with_table(table))
        assert any(f"{CLASS}{chosen}" in line for line in said), said
    # A quarter of 2.097 ms, and half a microsecond for the codec.
    assert any("525 us compressed, which needs a ratio of 1.00" in line for line in said)


def test_collectives_go_by_the_table_of_the_slowest(table: Path) -> None:
    row = CostRow("mpc:stride=1", "f32", 1 << 20, False, CodecCost(1e5, 1e5, 1.5))
    tune.write(table, tune.table_of([row]))
    settings = {**with_table(table), "THINWIRE_THRESHOLD": "512"}
    done = mpirun(2, [SYSTEM.programs / "shim_coll"], PRODUCTION, settings)
    assert done.code == 0, done.errors
    said = [line for line in done.thinwire_lines() if "rank 0: bcast of f32" in line]
    assert said and all("raw, would not gain" in line for line in said)


@pytest.mark.parametrize("text", ["thinwire-costs 1\n", "\x00" * 4000, "machine"])
def test_a_wrong_table_is_one_line_a_job_and_costs_are_measured(table: Path, text: str) -> None:
    table.parent.mkdir()
    table.write_text(text)
    program = [SYSTEM.programs / "shim_exchange"]
    settings = {**ZFP, "THINWIRE_LINK": "10mbit", "XDG_CACHE_HOME": str(table.parent.parent)}
    done = mpirun(2, program, PRODUCTION, settings, table.parent / "report")
    (line,) = done.thinwire_lines()
    assert line.startswith(f"thinwire: warning: {table}:") and "costs are measured" in line
    assert done.report is not None and done.report["compressed_messages"] == 6
