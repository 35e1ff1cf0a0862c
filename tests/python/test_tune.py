"""`thinwire tune`: a table of costs of this machine, and what is made of wrong ones."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import thinwire
from thinwire import ThinwireError
from thinwire.bench import tune
from thinwire.choose import Chooser, Retry
from thinwire.cli import command_line
from thinwire.cli import tune as command
from thinwire.codec import CodecCost
from thinwire.costs import CostRow, Costs, machine, own_path
from thinwire.library import version

ROW = CostRow("mpc:stride=1", "f32", 1 << 20, False, CodecCost(1.5e9, 2e9, 1.25))
HEAD = f"thinwire-costs 1\nmachine: {machine()}\nversion: {version()}\n"


def call(cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    return subprocess.run(
        [sys.executable, "-m", "thinwire", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=variables,
    )


def test_a_table_is_measured_written_and_read_back(tmp_path: Path) -> None:
    """Of the smallest size alone: the whole takes seconds."""
    wanted = [
        job
        for job in tune.jobs([thinwire.Codec("zfp:rate=12")], with_gpu=False)
        if job.bytes == 65536
    ]
    assert {"zfp:rate=12", "mpc:stride=1"} <= {job.codec.spec for job in wanted}
    assert not {"auto", "raw"} & {job.codec.spec for job in wanted}
    assert len({(job.codec.spec, job.dtype, job.on_gpu) for job in wanted}) == len(wanted)
    failed: list[str] = []
    rows = list(tune.measure(wanted[:6], _no_steps, failed.append))
    assert failed == [] and len(rows) == 6
    path = tmp_path / "deep" / "costs"
    tune.write(path, tune.table_of(rows))
    table = Costs(path)
    assert [row.codec for row in table.rows] == [row.codec for row in rows]
    for row, read in zip(rows, table.rows, strict=True):
        assert read.cost.ratio == pytest.approx(row.cost.ratio, rel=1e-3)
        assert table.find(thinwire.Codec(row.codec), row.dtype, 1 << 30) == read.cost
    assert table.find(thinwire.Codec("zfp:rate=31"), "f32", 1 << 20) is None
    assert [each.name for each in path.parent.iterdir()] == ["costs"]


class _no_steps:
    """Progress that shows nothing."""

    def __init__(self, total: int) -> None:
        assert total > 0

    def __enter__(self) -> "_no_steps":
        return self

    def __exit__(self, *_: object) -> None: ...

    def __call__(self, _words: str) -> "_no_steps":
        return self


def path_below(cache: Path) -> Path:
    """This machine's table under that XDG_CACHE_HOME."""
    path = own_path()
    assert path is not None
    return cache / "thinwire" / path.name


def test_show_and_explain_read_the_machines_table(tmp_path: Path) -> None:
    path = path_below(tmp_path)
    missing = call(tmp_path, "tune", "--show")
    assert missing.returncode == 1 and "`thinwire tune` makes it" in missing.stderr
    assert str(path) in missing.stderr
    tune.write(path, tune.table_of([ROW]))
    shown = json.loads(call(tmp_path, "tune", "--show", "--json").stdout)
    assert shown["path"] == str(path) and shown["machine"] == machine()
    assert shown["rows"][0]["cost"]["encode_bytes_per_second"] == 1.5e9
    assert "1 rows of" in call(tmp_path, "tune", "--show").stdout
    asked = ("explain", "--bytes", "16MiB", "--codec", "mpc", "--link", "1gbit", "--json")
    found = json.loads(call(tmp_path, *asked).stdout)
    assert found["costs"] == f"this machine's table, {path}"
    assert found["rows"][1]["ratio"] == 1.25
    assert found["rows"][1]["encode_seconds"] == pytest.approx(16 * 2**20 / 1.5e9)


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        (HEAD.replace(machine(), "Babbage's, 1 processors"), 2, "of another machine"),
        (HEAD.replace(version(), "0.0.9"), 3, "is of Thinwire '0.0.9'"),
        (HEAD + "mpc:stride=1 f32 1048576 host 1e9 1e9 1.5\n", 4, "cut short"),
        (HEAD + "mpc:stride=1 f32 1048576 host 1e9 1e9 1e99\nend 1\n", 4, "no rate or ratio"),
        ("\x00\xff" * 300, 1, "no table of costs"),
        ("", 1, "no table of costs"),
    ],
    ids=["machine", "version", "cut", "hostile", "binary", "empty"],
)
def test_a_wrong_table_is_named_with_its_line(
    text: str, line: int, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "costs"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ThinwireError, match=why) as raised:
        Costs(path)
    assert f"{path}:{line}: " in str(raised.value)


def test_a_wrong_table_is_not_used(tmp_path: Path) -> None:
    path = path_below(tmp_path)
    path.parent.mkdir()
    path.write_text(HEAD)
    shown = call(tmp_path, "tune", "--show")
    assert shown.returncode == 1 and f"{path}:3: " in shown.stderr
    asked = call(tmp_path, "explain", "--bytes", "1MiB", "--codec", "mpc", "--link", "1gbit")
    assert asked.returncode == 0 and "measured now" in asked.stdout
    (said,) = asked.stderr.splitlines()
    assert "cut short" in said and said.endswith("costs are measured when they are needed")


def test_the_command_measures_all_and_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one size, in this process."""
    path = path_below(tmp_path)
    monkeypatch.setattr(tune, "SIZES", (65536,))
    monkeypatch.setattr(command, "own_path", lambda: path)
    done = CliRunner().invoke(command_line(), ["tune", "--codec", "zfp:rate=12", "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert Path(said["path"]) == path
    rows = [row for row in said["rows"] if not row["on_gpu"]]
    assert len({row["codec"] for row in rows}) >= 10
    assert {row["dtype"] for row in rows if row["codec"] == "zfp:rate=12"} == {"f32", "f64"}
    assert len(Costs(path).rows) == len(said["rows"])


def test_a_text_is_a_table_too() -> None:
    assert Costs(text=HEAD + "end 0\n").rows == []
    with pytest.raises(ThinwireError, match="table:2: "):
        Costs(text="thinwire-costs 1\nmachine\n")
    with pytest.raises(ValueError, match="a table is of"):
        Costs()


def test_without_a_cache_folder_nothing_is_measured() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "thinwire", "tune"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 1 and "names a folder" in done.stderr


# Choosers and retries from Python; the rule itself is tested in C++.


def ways(of: Chooser, calls: int, raw: float, compressed: float) -> str:
    """How calls went that take so many seconds, in capitals in a timing round."""
    found = ""
    for _ in range(calls):
        if of.due:
            of.adopt(of.own())
        turn = of.next(1e-3, 0.5e-3)
        way = "c" if turn.compressed else "r"
        found += way.upper() if turn.in_round else way
        if turn.timed:
            of.took(turn.compressed, compressed if turn.compressed else raw)
    return found


def test_it_keeps_to_the_faster_way() -> None:
    assert ways(Chooser(), 20, 1e-3, 0.5e-3) == "RCCRCRRCCRRCRCCRcccc"
    of = Chooser(once=True, begins_compressed=True, calls=4)
    assert of.compresses and of.rounds == 0
    assert ways(of, 12, 1.0, 1.1) == "CRRCRCCRrrrr"
    assert not of.compresses and of.rounds == 1


def test_ranks_agree_on_the_largest() -> None:
    one, other = Chooser(calls=2), Chooser(calls=2)
    ways(one, 4, 1.0, 0.5)
    ways(other, 4, 1.0, 3.0)
    assert one.due and other.due
    largest = [max(pair) for pair in zip(one.own(), other.own(), strict=True)]
    assert largest == [1e9, 3e9, 1e9, 3e9]
    for each in (one, other):
        each.adopt(largest)
        assert not each.compresses


def test_misuse_is_told() -> None:
    with pytest.raises(ThinwireError, match="2, 4 or 8"):
        Chooser(calls=3)
    with pytest.raises(ValueError, match="calls"):
        Chooser(calls=-1)
    of = Chooser()
    with pytest.raises(ThinwireError, match="nothing is due"):
        of.adopt([1.0] * 4)
    with pytest.raises(ThinwireError, match="below 0"):
        of.next(-1.0, 1.0)
    of.next(math.inf, math.inf)
    with pytest.raises(ValueError):
        of.adopt([1.0])
    of.took(True, 0.0)
    of.took(True, 1e300)


def test_attempts_in_vain_become_rare() -> None:
    retry, tried = Retry(), []
    for array in range(200):
        if retry.next():
            tried.append(array)
            retry.tell(False)
    assert tried == [0, 1, 3, 6, 11, 20, 37, 70, 134, 197]
    while not retry.next():
        continue
    retry.tell(True)
    assert all(retry.next() for _ in range(100))
