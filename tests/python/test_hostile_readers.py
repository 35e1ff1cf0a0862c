"""Readers of files that anybody may have written: in words what is wrong, or what the file says,
and at once; never another error."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from changed import changed, limit, seeds
from made_traces import TOTALS, rank_lines

from thinwire import capture, checked, statistics, traces
from thinwire.bench import samples
from thinwire.lab import state
from thinwire.traces.page import page

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus" / "trace"


def _shown(path: Path) -> bool:
    """Whether a trace is one, having been shown in both ways."""
    warnings: list[str] = []
    try:
        found = traces.read_all([path], warnings.append)
    except traces.NotATrace as error:
        assert path.name in str(error)
        return False
    merged = traces.merge(found, warnings)
    json.dumps(merged.as_dict()).encode()
    page(merged, "job").encode()
    return True


def _trace_lines() -> list[Any]:
    lines = json.loads(json.dumps(rank_lines(0, 2, "node", bins=2)))
    rules = [{"line": 1, "name": "a", "messages": 3}]
    lines[-1]["totals"] = {**json.loads(json.dumps(TOTALS)), "rules": rules}
    return lines  # type: ignore[no-any-return]


@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda path: path.name)
def test_traces_that_once_broke_the_report_are_refused(path: Path) -> None:
    with limit(3):
        assert not _shown(path)


def test_changed_traces_are_shown_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "job.rank0"
    outcomes = {True: 0, False: 0}
    for seed in seeds("traces"):
        path.write_text(changed(_trace_lines, seed), errors="surrogatepass")
        try:
            with limit(3):
                outcomes[_shown(path)] += 1
        except BaseException as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error
    assert min(outcomes.values()) > sum(outcomes.values()) / 50


def test_a_sound_trace_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "job.rank0"
    path.write_text("".join(json.dumps(line) + "\n" for line in _trace_lines()))
    assert _shown(path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[1]", "no object"),
        ('{"a": NaN}', "NaN is no number"),
        ('{"a": 1e999}', "not finite"),
        ('{"a": "\\ud800"}', "half a character"),
        ("[" * 100_000, "nested too deep"),
        ('{"a": ' * 20 + "1" + "}" * 20, "nested too deep"),
    ],
)
def test_what_is_no_object_of_json_is_named(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        checked.parse(text)


def _report_lines() -> list[Any]:
    return [{**dict.fromkeys(statistics.REPORT_COUNTS, 3), "raw_by_reason": {"a reason": 3}}]


def test_changed_reports_are_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "report"
    outcomes = {True: 0, False: 0}
    for seed in seeds("reports"):
        path.write_text(changed(_report_lines, seed), errors="surrogatepass")
        try:
            with limit(3):
                found = statistics.read_report(path)
            assert sum(found[name] for name in statistics.REPORT_COUNTS) >= 0
            assert sum(found["raw_by_reason"].values()) >= 0
            outcomes[True] += 1
        except ValueError as error:
            assert str(path) in str(error)
            outcomes[False] += 1
        except BaseException as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error
    assert min(outcomes.values()) > sum(outcomes.values()) / 50


def _sample_lines() -> list[Any]:
    each: dict[str, Any] = {"file": "a.f32", "shape": "2x5", "operation": "send"}
    each |= {"rank": 0, "number": 0, "bytes": 40}
    return [each, {**each, "number": 1}]


def test_changed_lists_of_captures_are_indexed_or_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.f32").write_bytes(bytes(40))
    for seed in seeds("lists of captures"):
        listed = changed(_sample_lines, seed)
        (tmp_path / "rank0.jsonl").write_text(listed, errors="surrogatepass")
        try:
            with limit(3):
                for sample in capture.make_index(tmp_path, ["./program"]):
                    assert (tmp_path / sample["file"]).parent == tmp_path
                samples.stated_shape(tmp_path / "a.f32")
        except BaseException as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error


OUTSIDE = ["../victim", "..", ".", "a/../../victim", "./a.f32", "a.f32/", "/etc/passwd"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_list_of_captures_names_no_file_of_another_folder(tmp_path: Path, name: str) -> None:
    folder, victim = tmp_path / "sample", tmp_path / "victim"
    folder.mkdir()
    victim.write_bytes(bytes(40))
    (folder / "a.f32").write_bytes(bytes(40))
    rows = [_sample_lines()[0], {**_sample_lines()[0], "file": name}]
    (folder / "rank0.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [each["file"] for each in capture.make_index(folder, ["./program"])] == ["a.f32"]
    assert f"| {name} |" not in (folder / "README.md").read_text()
    assert victim.read_bytes() == bytes(40)
    # Nor does a table of files that somebody wrote by hand.
    (folder / "README.md").write_text(TABLE.replace("a.f32", name))
    assert samples.stated_shape(victim) is None
    assert samples.stated_shape(folder / "a.f32") is None


def test_a_list_of_captures_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "a.f32").write_bytes(bytes(40))
    (tmp_path / "rank0.jsonl").write_text(json.dumps(_sample_lines()[0]) + "\n")
    os.mkfifo(tmp_path / "rank1.jsonl")
    code = "import sys, pathlib, thinwire.capture as c; c.make_index(pathlib.Path(sys.argv[1]), [])"
    subprocess.run([sys.executable, "-c", code, tmp_path], check=True, timeout=30)
    assert len(json.loads((tmp_path / "index.json").read_text())["samples"]) == 1
    assert (tmp_path / "rank1.jsonl").exists()


TABLE = (
    "# Data\n\n| file | shape | of |\n|---|---|---|\n| a.f32 | 2x5 | made |\n| b.f32 | 4 | made |\n"
)


def test_changed_tables_of_folders_state_a_shape_or_none(tmp_path: Path) -> None:
    data = tmp_path / "a.f32"
    data.write_bytes(bytes(40))
    for seed in seeds("tables of folders"):
        chance = random.Random(seed)
        text = list(TABLE)
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(text))
            text[at : at + chance.randrange(3)] = chance.choice(["|", "\n", "x", "²", "9" * 30, ""])
        (tmp_path / "README.md").write_text("".join(text))
        try:
            with limit(3):
                assert samples.stated_shape(data) in (None, (2, 5), (5, 2), (10,))
        except BaseException as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error


def test_a_readme_that_is_no_text_states_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.f32").write_bytes(bytes(40))
    (tmp_path / "README.md").write_bytes(b"| file | shape |\n\xff\xfe\n| a.f32 |\n")
    assert samples.stated_shape(tmp_path / "a.f32") is None
    (tmp_path / "README.md").unlink()
    (tmp_path / "README.md").mkdir()
    assert samples.stated_shape(tmp_path / "a.f32") is None


RECORD = {
    "name": "lab", "hosts": 2, "link": "1gbit", "ranks_per_host": 1, "process": 0, "started": 1,
    "boot": "",
}  # fmt: skip


def _folder_of_labs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return state.root()


def _record_lines() -> list[Any]:
    return [{**RECORD, "process": os.getpid(), "boot": state.boot_id()}]


def test_changed_records_of_labs_name_labs_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = _folder_of_labs(monkeypatch, tmp_path)
    for seed in seeds("records of labs"):
        (folder / "lab.json").write_text(changed(_record_lines, seed), errors="surrogatepass")
        for record in state.records():
            assert state.check_name(record.name) == "lab"
            assert type(record.process) is int and record.process > 1
            assert record.alive in (True, False)


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "../victim"},
        {"name": "another"},
        {"process": -1, "started": None},
        {"process": 1},
        {"process": 0},
        {"process": True},
        {"hosts": "2"},
    ],
    ids=str,
)
def test_a_record_that_is_none_removes_and_kills_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wrong: dict[str, Any]
) -> None:
    folder = _folder_of_labs(monkeypatch, tmp_path)
    victim = tmp_path / "victim.json"
    victim.write_text("{}")
    (folder / "lab.json").write_text(json.dumps({**RECORD, "boot": state.boot_id(), **wrong}))
    killed: list[int] = []
    monkeypatch.setattr(os, "kill", lambda process, _signal: killed.append(process))
    for record in state.records():
        assert record.name == "lab"
        state.end(record)
    assert killed == [] and victim.exists()
    assert state.records() == []


@pytest.mark.parametrize("words", ["up", "down", "run --name {} -- true", "set-link 1gbit"])
@pytest.mark.parametrize("name", ["../victim", "..", "/victim", "lab/../../victim", "lab\n"])
def test_a_name_of_a_lab_leads_nowhere_else(tmp_path: Path, name: str, words: str) -> None:
    folder = tmp_path / "thinwire-lab"
    folder.mkdir(mode=0o700)
    victims = [tmp_path / "victim.json", tmp_path / "victim.socket"]
    for victim in victims:
        victim.write_text(json.dumps({**RECORD, "name": "victim", "process": os.getpid()}))
    given = [word.format(name) for word in words.split()]
    given += [] if "{}" in words else ["--name", name]
    done = subprocess.run(
        [sys.executable, "-m", "thinwire", "lab", *given],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
    )
    assert done.returncode != 0, done.stderr
    assert done.stderr.startswith("lab: ") and done.stderr.count("\n") == 1, done.stderr
    assert all(victim.exists() for victim in victims)
    assert not list(folder.glob("*.json")) and not list(tmp_path.glob("*.draft"))
