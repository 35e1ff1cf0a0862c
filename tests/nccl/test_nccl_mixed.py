"""Jobs of ranks of which some lack the library, or differ: results are right, and calls raw."""

import json
import os
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from test_nccl_shim import PROGRAMS, SHIM

pytestmark = pytest.mark.multiproc

RANKS = 4
# All operations; sums of the program's own; random ones in groups, on communicators that are split
# off too.
JOBS = {
    "every": ("nccl_coded", "60"),
    "own sums": ("nccl_own_sums", "30", "mixed"),
    "random": ("nccl_random", "2", "600"),
}


def run_job(job: str, path: Path, *, lack: set[int], **of_rank_2: str) -> tuple[list[dict], str]:
    """The reports of the ranks that have the library, and what all of them log."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("THINWIRE_")}
    own = {"RANKS_FILE": str(path / "id"), "THINWIRE_SAME_NODE": "1"}
    if lack and 0 not in lack:
        own["STAY"] = "1"
    settings = {"CODEC": "lossless", "THRESHOLD": "1KiB", "REPORT": str(path / "report")}
    program, *words = JOBS[job]
    ranks = []
    for rank in range(RANKS):
        named = settings | (of_rank_2 if rank == 2 else {})
        environment = kept | own | {f"THINWIRE_{name}": value for name, value in named.items()}
        environment |= {"RANK": str(rank)} | ({} if rank in lack else {"LD_PRELOAD": str(SHIM)})
        ranks.append(
            Popen(
                [str(PROGRAMS / program), *words],
                env=environment,
                stdout=PIPE,
                stderr=PIPE,
                text=True,
            )
        )
    ends = [rank.communicate(timeout=120) for rank in ranks]
    assert [output for output, _ in ends] == ["ok\n"] * RANKS, ends
    reports = [json.loads(file.read_text()) for file in path.glob("report.nccl.rank*")]
    assert len(reports) == RANKS - len(lack)
    return reports, "".join(errors for _, errors in ends)


def expect_all_raw(reports: list[dict]) -> set[str]:
    """What is said of the communicators that all ranks are in."""
    for report in reports:
        for communicator in report["communicators"]:
            for counts in communicator["operations"].values():
                assert counts["compressed_calls"] == 0
                assert counts["wire_bytes"] == counts["bytes"]
                assert sum(counts["raw_by_reason"].values()) == counts["calls"]
    whole = [c for report in reports for c in report["communicators"] if c["ranks"] == RANKS]
    assert all(each["operations"] for each in whole[:1])
    return {each["presence"] for each in whole}


@pytest.mark.parametrize("job", JOBS)
def test_a_rank_lacks_it(job: str, tmp_path: Path) -> None:
    reports, errors = run_job(job, tmp_path, lack={2})
    said = expect_all_raw(reports)
    assert "raw: 1 of 4 ranks lacks it, or has not come yet" in said
    # Parts of such a communicator say why their parent is raw.
    assert all(text.startswith("raw: ") for text in said)
    assert errors.count("thinwire") == errors.count("1 of 4 ranks lacks it") == 1


def test_all_but_one_lack_it(tmp_path: Path) -> None:
    reports, errors = run_job("every", tmp_path, lack={1, 2, 3})
    assert "raw: 3 of 4 ranks lack it, or have not come yet" in expect_all_raw(reports)
    assert errors.count("thinwire") == errors.count("3 of 4 ranks lack it") == 1


@pytest.mark.parametrize("job", JOBS)
def test_the_rank_that_makes_the_id_lacks_it(job: str, tmp_path: Path) -> None:
    reports, errors = run_job(job, tmp_path, lack={0})
    said = expect_all_raw(reports)
    assert "raw: the unique id comes from a process that lacks it, or from NCCL_COMM_ID" in said
    assert errors.count("thinwire") == errors.count("or from NCCL_COMM_ID") == 1


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize(
    ("setting", "value", "named"),
    [("CODEC", "lorenzo", "the codec is"), ("THRESHOLD", "2KiB", "the threshold is")],
)
def test_a_rank_differs(job: str, setting: str, value: str, named: str, tmp_path: Path) -> None:
    reports, errors = run_job(job, tmp_path, lack=set(), **{setting: value})
    said = expect_all_raw(reports)
    assert any(text.startswith(f"raw: {named}") for text in said), said
    assert errors.count("thinwire") == errors.count(named) == 1
