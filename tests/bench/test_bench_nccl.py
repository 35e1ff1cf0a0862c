"""`thinwire bench nccl`: its rows, and the command over the libnccl of host memory."""

import json
import os
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_links import FastLink

from thinwire.bench import nccl, nccl_ranks, nccl_rows
from thinwire.bench.nccl import OPERATIONS, NcclSession, goes, promises_of
from thinwire.bench.nccl_rows import bus_bytes, make_rows
from thinwire.bench.programs import Loopback
from thinwire.bench.samples import Sample
from thinwire.lab import Lab, LabUnavailable

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("THINWIRE_BUILD_DIR", ROOT / "build" / "release"))
LIBNCCL = BUILD / "tests" / "nccl" / "lib" / "libnccl.so.2"
SAMPLE = Sample("some", "bf16", np.zeros(4, np.uint16))
WORDS = ("--program", str(BUILD / "bin" / "nccl"), "--library", str(LIBNCCL), "--json")

LINE: dict[str, Any] = {
    **{"operation": "all_gather", "bytes": 1000, "ranks": 4, "memory": "host", "gpu": ""},
    **{"way": "raw", "codec": "lossless", "nccl_version": 22809, "iterations": 5},
    **{"seconds": 6e-6, "min": 5e-6, "max": 7e-6, "host_seconds": 2e-6},
    **{"wrong": 0, "sound": True, "identical": True, "max_error": 0.0, "relative_error": 0.0},
    **{"calls": 0, "compressed_calls": 0, "raw_bytes": 0, "wire_bytes": 0, "spilled_blocks": 0},
    **{"warm_up_calls": 0, "why_raw": "", "algorithm": "planned"},
}
CODED: dict[str, Any] = LINE | {
    **{"way": "coded", "seconds": 4e-6, "min": 3e-6, "max": 5e-6, "host_seconds": 5e-6},
    **{"calls": 20, "compressed_calls": 20, "raw_bytes": 20000, "wire_bytes": 10000},
    **{"warm_up_calls": 6},
}


class Link(FastLink):
    hosts, address = 4, "10.77.0.1"

    def raw_rate(self) -> float:
        return 7.9e9


def session(**changes: Any) -> NcclSession:
    kinds = dict.fromkeys(NcclSession.__annotations__, ()) | {"data": SAMPLE}
    return NcclSession(**kinds | changes)


def coded_row(dropped: int = 0, **changes: Any) -> Any:
    """The row of compressed calls, beside one of raw ones, from figures that nobody measured."""
    _, row = make_rows(Link(dropped), session(), [LINE, CODED | changes])
    return row


def test_figures_are_those_of_nccl_tests() -> None:
    # Its PERFORMANCE.md, of 4 ranks; sizes of one rank's block in the first two and the last three.
    factors = dict(zip(OPERATIONS, (3.0, 3.0, 1.5, 1.0, 1.0, 3.0, 3.0, 3.0), strict=True))
    assert {op: bus_bytes(op, 100, 4) / 100 for op in OPERATIONS} == factors
    raw, coded = make_rows(Link(), session(), [LINE, CODED])
    assert (
        raw.verified and raw.note == "" and (raw.ratio, raw.speedup, raw.share) == (1, None, None)
    )
    assert raw.busbw == pytest.approx(3000 / 6e-6 / 1e9)
    assert coded.verified and coded.note == "" and coded.raw_seconds == 6e-6
    assert coded.busbw == pytest.approx(3000 / 4e-6 / 1e9)
    assert (coded.ratio, coded.speedup) == (2, pytest.approx(1.5))
    assert coded.share == pytest.approx(0.75)
    assert coded.added_host_seconds == pytest.approx(3e-6)
    assert (coded.min_seconds, coded.max_seconds, coded.hosts) == (3e-6, 5e-6, 4)


def test_blocks_that_did_not_fit_count_for_the_ratio() -> None:
    row = coded_row(spilled_blocks=10)
    assert row.ratio == 1 and row.note == "10 blocks did not fit their slots"
    changes = {"operation": "all_reduce", "way": "per-hop", "spilled_blocks": 10}
    assert coded_row(**changes).ratio == 20000 / (10000 + 10 * 250)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"wrong": 3, "sound": False}, "3 elements are wrong"),
        ({"sound": False, "relative_error": 1.0}, "errors are 1 of the values"),
        ({"identical": False}, "same bits"),
        ({"dropped": 4}, "4 packets dropped"),
        ({"seconds": 1e-6}, "it beat the link"),
    ],
)
def test_what_is_not_right_has_no_figures(changes: dict[str, Any], words: str) -> None:
    row = coded_row(**changes)
    assert not row.verified and words in row.note
    assert row.seconds is row.busbw is row.ratio is row.share is row.max_error is None


def test_calls_that_were_not_compressed_are_marked() -> None:
    none = {"compressed_calls": 0, "wire_bytes": 20000, "why_raw": "below the threshold"}
    row = coded_row(**none)
    assert row.verified and row.note == "NOT COMPRESSED: below the threshold"
    assert (row.ratio, row.share) == (1, None)
    row = coded_row(compressed_calls=15, why_raw="not agreed yet")
    assert row.note == "ONLY 15 of 20 calls compressed: not agreed yet"
    assert coded_row(way="per-hop", identical=False).note == "ranks differ in bits"


@pytest.mark.parametrize(
    ("spec", "promises"),
    [
        ("lossless", {"--lossless": "yes"}),
        ("off", {"--lossless": "yes"}),
        ("expack", {"--lossless": "yes"}),
        ("zfp:rate=8", {"--lossless": "no"}),
        ("szp:abs=1e-3", {"--lossless": "no", "--bound": "0.001"}),
        ("szp:rel=1e-3", {"--lossless": "no"}),
        ("szp:allreduce-rel=1e-4", {"--lossless": "no", "--sum-rel": "1e-4"}),
        (
            "szp:abs=0.5,allreduce-abs=0.25",
            {"--lossless": "no", "--bound": "0.5", "--sum-bound": "0.25"},
        ),
    ],
)
def test_results_are_held_to_what_the_codec_states(spec: str, promises: dict[str, str]) -> None:
    assert promises_of(spec) == promises


def test_libnccl_is_that_of_pythons_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert nccl_ranks.find_nccl(LIBNCCL) == str(LIBNCCL.resolve())
    path = tmp_path / "nvidia" / "nccl" / "lib" / "libnccl.so.2"
    path.parent.mkdir(parents=True)
    path.touch()
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    assert nccl_ranks.find_nccl(None) == str(path)


@pytest.mark.multiproc
def test_every_operation_is_measured_in_every_way(bench: Any) -> None:
    words = ("--op", "all", "--size", "256KiB", "--iterations", "2", "--dtype", "f32")
    words += ("--baseline", "naive,host")
    codecs = ("--codec", "lorenzo", "--codec", "szp:abs=1e-3")
    done = bench("nccl", "--loopback", "--ranks", "3", *words, *codecs, *WORDS)
    assert done.exit_code == 0, done.stdout + done.stderr
    rows = json.loads(done.stdout)
    assert [(row["codec"], row["op"], row["way"]) for row in rows] == [
        (codec, op, way)
        for codec in ("lorenzo:tuple=1", "szp:abs=0.001")
        for op in OPERATIONS
        for way in (*nccl.WAYS, *nccl.BASELINES)
        if goes(op, way)
    ]
    for row in rows:
        assert row["verified"] and row["link"] == "loopback" and row["memory"] == "host", row
        assert row["seconds"] > 0 and row["busbw"] > 0 and row["host_seconds"] > 0
        if row["way"] == "raw":
            assert row["calls"] == 0 and row["ratio"] == 1
        else:
            assert row["compressed_calls"] == row["calls"] > 0, row["note"]
            assert row["ratio"] > 1 and row["warm_up_calls"] > 0
        phases = [row[name] for name in nccl_rows.PHASES]
        if row["way"] in nccl.BASELINES:
            assert row["encode_seconds"] > 0 and 0 < sum(phases) < row["seconds"] * 3, row
        else:
            assert phases == [None] * 5
    table = bench("nccl", "--loopback", "--op", "broadcast", "--size", "64KiB", *WORDS[:-1])
    assert "broadcast per-hop lossless" in table.stdout and "once ranks have agreed" in table.stdout


@pytest.mark.multiproc
def test_a_row_that_stays_raw_says_why(bench: Any) -> None:
    words = ("--op", "all_reduce", "--size", "16KiB", "--no-per-hop", "--iterations", "1")
    done = bench("nccl", "--loopback", *words, *WORDS)
    raw, coded = json.loads(done.stdout)
    assert done.exit_code == 0 and raw["note"] == ""
    assert coded["note"] == "NOT COMPRESSED: below the threshold"
    assert coded["verified"] and coded["share"] is None and coded["compressed_calls"] == 0


@pytest.mark.multiproc
@pytest.mark.parametrize("force", [True, False])
def test_coded_calls_are_ordered_or_as_in_a_program(
    force: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[dict[str, str]] = []

    def run(place: Any, command: Any, ranks: int, settings: dict[str, str], limit: float) -> Any:
        seen.append(settings)
        return nccl_ranks.Said([], "", hung=False)

    monkeypatch.setattr(nccl, "run_ranks", run)
    monkeypatch.setattr(nccl, "preload_library", lambda: Path("shim.so"))
    own = {"iterations": 1, "calls": 1, "ranks": 2, "threshold": 1, "algorithms": ("planned",)}
    nccl._try(
        Loopback(), session(program=Path("nccl"), force=force, **own), "mpc", tmp_path / "data"
    )
    assert [each.get("THINWIRE_FORCE") for each in seen] == ["1" if force else None]


def test_wrong_results_have_no_figures(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nccl, "promises_of", lambda spec: {"--lossless": "yes"})
    words = ("--op", "all_gather", "--codec", "zfp:rate=8", "--dtype", "f32", "--size", "256KiB")
    done = bench("nccl", "--loopback", *words, "--iterations", "1", *WORDS)
    assert done.exit_code == 1
    for row in json.loads(done.stdout):
        assert row["verified"] == (row["way"] == "raw")
        assert ("elements are wrong" in row["note"]) == (row["way"] != "raw")
        assert (row["seconds"] is None) == (row["way"] != "raw")


@pytest.mark.multiproc
def test_ranks_on_hosts_of_a_lab(bench: Any) -> None:
    """They share memory all the same, so that the link must not be one to beat."""
    try:
        with Lab(hosts=1, link="none"):
            pass
    except LabUnavailable as error:
        pytest.skip(f"no lab here: {error}")
    words = ("--op", "all_gather", "--size", "128KiB", "--link", "none", "--iterations", "1")
    done = bench("nccl", "--hosts", "2", "--ranks", "3", *words, *WORDS)
    assert done.exit_code == 0, done.stdout + done.stderr
    for row in json.loads(done.stdout):
        assert row["verified"] and (row["hosts"], row["ranks"], row["link"]) == (2, 3, "none")
        # Around the ring of 3 ranks, 2 on a host, every third message stays on its host.
        coded, calls = {"raw": (0, 0), "coded": (3, 3), "per-hop": (4, 6)}[row["way"]]
        assert (row["compressed_calls"], row["calls"]) == (coded, calls), row["note"]
        if row["way"] == "per-hop":
            assert row["note"] == "ONLY 4 of 6 calls compressed: peer on the same node"


def test_hosts_have_the_gpus_that_are_named(bench: Any) -> None:
    done = bench("nccl", "--hosts", "2", "--gpus", "0,1:0,1:0,1", *WORDS)
    assert done.exit_code == 1 and "2 hosts, and lists of GPUs for 3" in done.stderr


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return path


# Prints a line a size of --sizes but the last, if there are several.
SOME_LINES = """
import json, os, sys
words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
sizes = words["--sizes"].split(",")
for size in sizes[: max(1, len(sizes) - 1)] if os.environ["RANK"] == "0" else []:
    told = os.environ.get("THINWIRE_ALGORITHM")
    line = {"operation": words["--operations"], "bytes": int(size), "way": "coded", "told": told}
    print(json.dumps(line))
"""


@pytest.mark.multiproc
def test_what_is_missing_is_run_again_alone(tmp_path: Path, capfd: Any) -> None:
    path = script(tmp_path / "program", SOME_LINES + "sys.exit(len(sizes) - 1)\n")
    asked = session(
        program=path,
        operations=("broadcast",),
        sizes=(8, 16, 24),
        codecs=("lorenzo",),
        ways=("coded",),
        **{"ranks": 2, "iterations": 1, "calls": 1, "threshold": 8, "library": "x"},
        progress=lambda words: nullcontext(),
        algorithms=("planned", "pairwise"),
    )
    lines = nccl.run_operations(Loopback(), asked)
    assert [line["bytes"] for line in lines] == 2 * [8, 16, 24]
    assert {line["codec"] for line in lines} == {"lorenzo"}
    told = [(line["algorithm"], line["told"]) for line in lines]
    assert told == 3 * [("planned", None)] + 3 * [("pairwise", "pairwise")]
    assert "exited 2, 2" in capfd.readouterr().err


@pytest.mark.multiproc
def test_ranks_that_fail_or_hang_are_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nccl_ranks, "_GRACE_SECONDS", 0.2)
    dies = (
        "import os, sys, time\nif os.environ['RANK'] == '1': sys.exit('it broke')\ntime.sleep(50)"
    )
    said = nccl_ranks.run_ranks(Loopback(), [str(script(tmp_path / "dies", dies))], 2, {}, 30)
    assert said.lines == [] and not said.hung and said.error.endswith("it broke")
    hangs = "import time\nprint('{\"way\": 1}', flush=True)\ntime.sleep(50)"
    said = nccl_ranks.run_ranks(Loopback(), [str(script(tmp_path / "hangs", hangs))], 2, {}, 1)
    assert said.lines == [{"way": 1}] and said.hung and said.error == "it did not end in 1 s"
