"""Messages between GPUs: what is refused without one, and what becomes of the runs' figures."""

import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from made_up_links import SlowLink

from thinwire.bench import generators, p2p_gpu
from thinwire.bench.expected import Expected
from thinwire.bench.gpu_tables import GPU_P2P_COLUMNS, gpu_p2p_notes
from thinwire.bench.p2p import Runs, Session
from thinwire.bench.p2p_gpu import (
    HOST,
    RAW,
    STAGED,
    GpuExpected,
    all_cases,
    expect_on_gpu,
    run_gpu_link,
)
from thinwire.bench.p2p_gpu_rows import ideal_speedup, make_gpu_rows, measure_link
from thinwire.bench.programs import Loopback
from thinwire.codec import Codec

HALF = Expected(compressed=True, identical=False, ratio=2, max_error=0.5)
ON_GPU = GpuExpected(HALF, encode_seconds=0.01, decode_seconds=0.03)
UNKNOWN = GpuExpected(HALF, None, None, "no GPU is visible")
ZFP = Codec("zfp:rate=16")


def session_of(program: Path, size: int, values: np.ndarray) -> Session:
    return Session(program, values, (size,), (ZFP,), 3, 1, lambda words: nullcontext())


def make_runs(**changes: float) -> dict[str, Runs]:
    """Runs of 1000 bytes that no program measured; `changes` are seconds by case."""
    seconds = {HOST: 1.04, STAGED: 1.24, RAW: 1.14, ZFP.spec: 0.62} | changes
    runs = {}
    for case, value in seconds.items():
        coded = case == ZFP.spec
        line = {"min": value, "median": value, "messages": 4, "verified": True}
        line |= {
            "identical": not coded,
            "max_error": 0.5 * coded,
            "gpus": [] if case == HOST else ["A", "B"],
        }
        lines = {8: line | {"median": 0.04}, 1000: line}
        count = 4 * coded
        report = {"compressed_messages": count, "decoded_messages": count, "damaged_messages": 0}
        runs[case] = Runs([lines], [] if case in (HOST, STAGED) else [report])
    return runs


def rows_of(runs: dict[str, Runs], hoped: GpuExpected = ON_GPU, dropped: int = 0) -> dict:
    session = session_of(Path("p2p"), 1000, np.zeros(250, np.float32))
    expected = {(ZFP.spec, 1000): hoped}
    rows = make_gpu_rows(SlowLink(dropped), session, runs, expected, {ZFP.spec: 1.9})
    return {row.case: row for row in rows}


def test_one_node_has_a_case_of_its_own():
    names = [case.name for case in all_cases(SlowLink(), [ZFP])]
    assert names == [HOST, STAGED, RAW, ZFP.spec]
    local = all_cases(Loopback(), [ZFP])
    assert [case.name for case in local] == [
        *names[:3],
        f"shim, {ZFP.spec} not for this node",
        ZFP.spec,
    ]
    assert [case.same_node for case in local] == [False] * 4 + [True]
    assert [case.memory for case in local] == ["host", "staged", "device", "device", "device"]


def test_the_ideal_has_the_wire_and_the_codec_and_no_copies():
    # 0.04 s to start, 0.01 + 0.03 s of codec, half of 1 s of transfer.
    assert ideal_speedup(1.24, 1.04, 0.04, ON_GPU) == pytest.approx(1.24 / 0.58)
    assert ideal_speedup(1.24, 1.04, 0.04, UNKNOWN) == pytest.approx(1.24 / 0.54)


def test_rows_compare_with_staging_by_hand():
    rows = rows_of(make_runs())
    assert all(row.verified for row in rows.values())
    assert rows[ZFP.spec].speedup == pytest.approx(2)
    assert rows[ZFP.spec].ideal_reached == pytest.approx(2 * 0.58 / 1.24)
    assert (rows[ZFP.spec].ratio, rows[ZFP.spec].file_ratio) == (2, 1.9)
    assert rows[RAW].ideal_speedup == pytest.approx(1.24 / 1.04)
    assert rows[STAGED].ideal_speedup is rows[HOST].ideal_speedup is None
    assert rows[HOST].bits_per_second == pytest.approx(8000 / 1.04)


def test_the_ideal_says_what_is_in_it():
    assert rows_of(make_runs())[ZFP.spec].ideal_basis == "wire and codec on the GPU"
    rows = rows_of(make_runs(), UNKNOWN)
    assert rows[ZFP.spec].ideal_basis == "wire only (no GPU is visible)"
    assert "ideal: wire only (no GPU is visible)" in gpu_p2p_notes(list(rows.values()))


def change(runs: dict[str, Runs], case: str, **values: object) -> dict[str, Runs]:
    runs[case].rounds[0][1000] = runs[case].rounds[0][1000] | values
    return runs


@pytest.mark.parametrize(
    ("case", "values", "reason"),
    [
        (ZFP.spec, {"verified": False}, "values are missing"),
        (ZFP.spec, {"max_error": 0.4}, "max error 0.4 where the codec makes 0.5"),
        (RAW, {"identical": False}, "where the codec makes 0"),
        (ZFP.spec, {"median": 0.40}, "messages beat the link"),
        (RAW, {"median": 0.85}, "messages beat the link"),
    ],
)
def test_a_case_that_is_not_sound_shows_no_figure(case, values, reason):
    rows = rows_of(change(make_runs(), case, **values))
    assert not rows[case].verified and reason in rows[case].note
    assert rows[case].seconds is rows[case].speedup is rows[case].ideal_speedup is None
    assert rows[HOST].verified and rows[STAGED].verified
    assert "NOT VERIFIED" in str(GPU_P2P_COLUMNS[-1][1](rows[case]))


def test_a_native_run_that_is_not_sound_takes_all_with_it():
    rows = rows_of(change(make_runs(), STAGED, identical=False))
    assert not any(row.verified for row in rows.values())
    assert not any(row.verified for row in rows_of(make_runs(), dropped=2).values())


def test_compression_where_none_was_asked_for_is_no_result():
    runs = make_runs()
    runs[RAW].reports[0] |= {"compressed_messages": 4, "decoded_messages": 4}
    assert "4 messages were compressed, not 0" in rows_of(runs)[RAW].note


def test_ranks_that_share_a_gpu_are_told():
    runs = make_runs()
    for case in (STAGED, RAW, ZFP.spec):
        change(runs, case, gpus=["A", "A"])
    assert any("share one GPU" in note for note in gpu_p2p_notes(list(rows_of(runs).values())))
    assert not any("share" in note for note in gpu_p2p_notes(list(rows_of(make_runs()).values())))


@pytest.fixture
def on_the_host(program, tmp_path) -> Path:
    """The program with host memory wherever GPU memory is asked for."""
    stand_in = tmp_path / "p2p"
    stand_in.write_text(
        "#!/bin/sh\n"
        "for word; do\n"
        '  shift; case "$word" in staged|device) word=host;; esac; set -- "$@" "$word"\n'
        "done\n"
        f'exec {program("p2p")} "$@"\n'
    )
    stand_in.chmod(0o755)
    return stand_in


@pytest.mark.multiproc
def test_every_case_runs_and_is_verified_with_host_memory_in_its_place(on_the_host):
    """All but the GPU: the program itself, the shim, the counters, the values."""
    values = generators.generate("smooth", "f32", 1 << 18).values
    session = session_of(on_the_host, 1 << 18, values)
    rows = measure_link(Loopback(), session, values[:1000])
    assert [row.case for row in rows] == [case.name for case in all_cases(Loopback(), [ZFP])]
    assert all(row.verified for row in rows), [row.note for row in rows]
    assert rows[-1].max_error > 0 and rows[-1].ratio == pytest.approx(2, rel=0.01)
    assert rows[-1].file_ratio < rows[-1].ratio


@pytest.mark.multiproc
def test_without_a_gpu_the_bench_says_so(program):
    if not p2p_gpu.why_no_gpu():
        pytest.skip("this machine has a GPU")
    session = session_of(Path(program("p2p")), 1 << 17, np.ones(1 << 15, np.float32))
    for memory, reason in (("staged", "no GPU"), ("device", "no GPU"), ("gpu", "cannot take")):
        done = Loopback().run(["mpirun", "-n", "2", str(session.program), "--memory", memory], 60)
        assert done.returncode == 2 and done.stdout == ""
        assert "p2p: " in done.stderr and reason in done.stderr
    runs = run_gpu_link(Loopback(), session)
    assert runs[HOST].failure == "" and "--memory staged: " in runs[STAGED].failure
    rows = make_gpu_rows(Loopback(), session, runs, expect_on_gpu(session), {})
    assert rows and all("failed: " in row.note and not row.verified for row in rows)


def test_codec_seconds_on_the_gpu():
    reason = p2p_gpu.why_no_gpu()
    if reason:
        pytest.skip(reason)
    values = generators.generate("smooth", "f32", 1 << 20).values
    cost = p2p_gpu.measure_on_gpu(ZFP, values)
    assert cost is not None
    assert 0 < cost.encode_seconds < 0.01 and 0 < cost.decode_seconds < 0.01
    noise = np.random.default_rng(1).integers(0, 1 << 32, 1 << 18, dtype=np.uint32)
    assert p2p_gpu.measure_on_gpu(Codec("mpc"), noise.view(np.float32)) is None


def test_a_library_without_a_gpu_side_is_named(monkeypatch):
    monkeypatch.setattr(p2p_gpu, "library", lambda: object())
    assert p2p_gpu.why_no_gpu() == "this library has no GPU side"


@pytest.mark.multiproc
def test_the_command_prints_every_case(bench, on_the_host):
    words = ("--memory", "device", "--loopback", "--sizes", "128KiB", "--rounds", "1")
    done = bench("p2p", *words, "--codec", "zfp:rate=8", "--program", str(on_the_host), "--json")
    assert done.exit_code == 0, done.stdout + done.stderr
    rows = json.loads(done.stdout)
    assert [row["memory"] for row in rows] == ["host", "staged", "device", "device", "device"]
    assert all(row["verified"] for row in rows) and rows[-1]["ratio"] > 3.9
    assert bench("p2p", "--memory", "gpu", "--program", str(on_the_host)).exit_code == 2
