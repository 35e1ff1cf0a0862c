"""`thinwire reproduce`: rows are whole, their commands are commands, and what cannot run here says
why."""

import itertools
import json
import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from thinwire.bench import nccl
from thinwire.cli import command_line
from thinwire.codec import Codec
from thinwire.comm.operation_names import algorithms, operations
from thinwire.reproduce import needs, run
from thinwire.reproduce.rows import (
    FIGURES,
    SOURCES,
    STATUSES,
    Case,
    Row,
    as_json,
    counted,
    read_rows,
)

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from results import headlines  # noqa: E402, the tool's own module
from results.rows import BadData  # noqa: E402

ROWS = read_rows()
NAMES = [row.name for row in ROWS]
COMMANDS = {
    f"{row.name} {kind}": command
    for row in ROWS
    for kind, command in (("whole", row.command), ("quick", row.quick))
    if command.startswith("thinwire ")
}


def call(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(command_line(), ["reproduce", *words], env={"COLUMNS": "300"})
    return done.exit_code, done.output if done.exit_code else done.stdout


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_a_row_has_every_field_that_its_status_asks_for(row: Row) -> None:
    said = (row.name, row.at, row.what, row.ran, row.against, row.why)
    assert all(said) and row.cases and all(case.of for case in row.cases)
    assert row.status in STATUSES and row.figure in FIGURES and row.source in SOURCES
    measured = row.status != "not run"
    assert row.has_figures == measured
    assert all(
        bool(each) == measured for each in (row.recorded, row.ours_ran, row.unit and measured)
    )
    assert bool(row.command) == measured
    assert not row.quick_needs or row.quick
    for need in (*row.needs, *row.quick_needs):
        assert need.split()[0] in needs.WORDS
    assert not any(need.startswith("gpus") for need in row.quick_needs)


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_figures_of_ours_are_whole_pairs(row: Row) -> None:
    for case in row.cases:
        assert bool(case.native) == bool(case.coded) and (not case.raw or case.native)
        assert not case.recorded or row.ours(case)


def test_rows_are_counted_by_what_they_have() -> None:
    row = next(row for row in ROWS if row.name == "alltoall")
    assert not row.is_paired and row.has_figures
    paired = next(row for row in ROWS if row.name == "scatter-64")
    bare = next(row for row in ROWS if row.name == "awp-512")
    said = counted([row, paired, bare])
    assert "3 rows: 2 measured, 0 simulated, 1 not run; 1 of the measured ones" in said
    assert "1 of 7 printed figures" in said


def test_names_are_of_one_row_each_and_every_source_has_some() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert {row.source for row in ROWS} == set(SOURCES)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_of_a_row_is_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its words parse, options and all: `--help` after them is reached only then."""
    words = shlex.split(COMMANDS[name])[1:]
    inner = words[: words.index("--")] if "--" in words else words
    monkeypatch.chdir(ROOT)
    for at, word in enumerate(inner):
        if word.startswith("@"):
            inner[at] = "README.md"
    known = CliRunner().invoke(
        command_line(), [*inner[: 2 if inner[0] != "simulate" else 1], "--help"]
    )
    assert known.exit_code == 0
    for option in (word for word in inner if word.startswith("--")):
        assert option in known.output, option
    done = CliRunner().invoke(command_line(), [*inner, "--help"])
    assert done.exit_code == 0, done.output
    for option, value in itertools.pairwise(inner):
        if option == "--codec":
            assert value == "off" or Codec(value).spec
        if option == "--algorithm":
            assert set(value.split(",")) <= set(algorithms())
        if option == "--op":
            known_names = nccl.OPERATIONS if inner[1] == "nccl" else operations()
            assert set(value.split(",")) <= set(known_names)


def test_figures_of_ours_follow_from_recorded_times() -> None:
    row = next(row for row in ROWS if row.name == "latency-edr")
    assert row.ours(row.cases[1]) == "-87.3%" and row.ours(row.cases[1], "raw") == "-87.3%"
    faster = Case("x", "", native="100", raw="50", coded="10")
    assert replace(row, figure="times").ours(faster) == "10x"
    assert replace(row, figure="times").ours(faster, "raw") == "5x"
    assert replace(row, figure="more").ours(faster) == "+900.0%"
    assert row.ours(Case("x", "-1%")) == ""


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"native": "29.272"}, "29.272 is not in mpi/gpu-messages:gpu-messages"),
        ({"source": "mpi/gpu-messages:none"}, "has no row of `none`"),
        ({"source": "mpi/none:gpu-messages"}, "in none"),
        ({"source": "mpi"}, "no PAGE/TABLE:RUN"),
    ],
)
def test_a_number_that_was_not_recorded_is_found(changed: dict[str, str], said: str) -> None:
    row = next(row for row in ROWS if row.name == "latency-edr")
    headlines.check(ROOT, [row])
    wrong = replace(row, cases=(replace(row.cases[0], **changed),))
    with pytest.raises(BadData, match=re.escape(said)):
        headlines.check(ROOT, [wrong])


def test_the_list_has_every_row_and_counts_them() -> None:
    code, said = call()
    assert code == 0 and all(f" {name} " in said for name in NAMES)
    assert f"{len(ROWS)} rows: " in said
    code, said = call("--json")
    assert code == 0 and [each["name"] for each in json.loads(said)] == NAMES
    assert json.loads(said)[0] == json.loads(json.dumps(as_json(ROWS[0])))


def test_a_row_that_cannot_run_here_says_why() -> None:
    code, said = call("awp-512")
    assert code == 0 and "+18%" in said and "not run here: no machine of 128 GPUs" in said
    code, said = call("hybrid")
    assert code == 0 and "of the source tree: run it there by hand" in said
    code, said = call("none-such")
    assert code == 2 and "there is no row 'none-such'" in said


def test_missing_files_and_gpus_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert "it takes 4 GPUs, and there are 0" in needs.unmet(["gpus 4"], "")
    monkeypatch.delenv("THINWIRE_DATA", raising=False)
    assert "names no folder, of which it takes a.f32" in needs.unmet([], "x @data/a.f32")[0]
    monkeypatch.setenv("THINWIRE_DATA", str(tmp_path))
    assert f"{tmp_path} has no a.f32" in needs.unmet([], "x @data/a.f32")
    (tmp_path / "a.f32").write_bytes(b"")
    assert needs.unmet([], "x @data/a.f32") == []


def test_a_command_runs_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINWIRE_DATA", "/a folder")
    assert run.words_of("thinwire bench x --file @data/a.f32")[3:] == [
        "bench",
        "x",
        "--file",
        "/a folder/a.f32",
    ]
    outcome = run.run("codecs", "thinwire codecs", 60, as_json=True)
    assert outcome.code == 0 and outcome.result[0]["name"]
    late = run.run("late", "sleep 5", 0.1, as_json=False)
    assert late.code is None and late.reasons == ["it did not end in 0 s"]


def test_a_simulated_row_is_run_and_gives_its_figures() -> None:
    code, said = call("allreduce-512", "--quick", "--json")
    assert code == 0, said
    made = json.loads(said)
    assert "no measure" in made["note"]
    rows = made["outcomes"][0]["result"]
    assert made["outcomes"][0]["code"] == 0 and rows["rows"][-1]["nodes"] == 128
