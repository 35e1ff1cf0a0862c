"""`thinwire bench codec --device gpu`, with a stand-in for the compiled program: what is asked of
it, and what becomes of its answers."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thinwire.bench import generators, samples
from thinwire.bench.codec_gpu import make_row

STAND_IN = """#!{python}
import json, sys
print(json.dumps({{"gpu": "Stand-in", "sm_count": 1}}), flush=True)
for line in sys.stdin:
    fields = line.rstrip("\\n").split("\\t")
    print(line, end="", file=open({log!r}, "a"))
    if fields[0] == "ceiling":
        answer = {{"bytes": int(fields[1]), "copy_us": 4.0, "halve_us": 2.0}}
    else:
        answer = {answers}[fields[5]]
    print(json.dumps(answer), flush=True)
    {after}
"""

TIMES = {
    f"{name}{percentile}_us": value
    for name, value in [
        ("encode", 10.0), ("decode", 5.0), ("ready", 12.0), ("graph_ready", 9.0),
        ("decoded", 11.0), ("decoded_synced", 14.0), ("ready_synced", 13.0),
    ]
    for percentile in ("", "_p90")
}  # fmt: skip
GOOD = {"verified": True, "declined": False, "frame_bytes": 65536, "bytes": 262144, **TIMES}
GOOD |= {"max_error": 0.5, "range": 2.0}
BARE = GOOD | {"encode_us": 8.0, "decode_us": 5.0}
BAD = {"verified": False, "note": "the CPU's frame differs"}
CALL = ("codec", "--device", "gpu", "--size", "256KiB", "--codec", "zfp:rate=8")


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Makes the program; returns the words that name it. Its requests go to requests.txt."""
    plane = np.sin(np.arange(256 * 256)).reshape(1, 256, 256)
    monkeypatch.setattr(generators, "wavefield", lambda planes: plane)
    monkeypatch.setattr(generators, "early_wavefield", lambda planes: plane)
    monkeypatch.setattr(generators, "_turbulent_cube", lambda: np.repeat(plane, 256, axis=0))

    def make(with_sums: dict, without: dict, after: str = "") -> list[str]:
        path = tmp_path / "codec_gpu"
        answers = {"1": with_sums, "0": without}
        log = str(tmp_path / "requests.txt")
        text = STAND_IN.format(python=sys.executable, log=log, answers=answers, after=after)
        path.write_text(text)
        path.chmod(0o755)
        return ["--program", str(path)]

    return make


def requests(tmp_path: Path) -> list[list[str]]:
    return [line.split("\t") for line in (tmp_path / "requests.txt").read_text().splitlines()]


def test_rows_and_roofs(bench: Any, stand_in: Any, tmp_path: Path) -> None:
    words = stand_in(GOOD, BARE)
    rows = json.loads(bench(*CALL, *words, "--json").stdout)
    names = {"wave", "wave-zeros", "turb", "gradients", "repetitive", "random"}
    assert {row["data"] for row in rows} == names
    assert {row["dtype"] for row in rows} == {"f32", "f64"}
    for row in rows:
        assert row["verified"] and row["bytes"] == (262144 if row["dtype"] == "f32" else 524288)
        rate = row["bytes"] / 10e-6 / 1e9
        assert row["encode_gb_per_second"] == pytest.approx(rate)
        assert row["encode_checksum_percent"] == pytest.approx(25)
        assert row["decode_checksum_percent"] == 0
        assert row["ready_us"] == 12 and row["graph_ready_us"] == 9
        assert row["order0_ratio"] > 0
        assert row["decoded_us"] == 11 and row["decoded_synced_us"] == 14
        saved = row["bytes"] * (1 - 1 / row["ratio"])
        assert row["pays_below_gb_per_second"] == pytest.approx(saved / 24e-6 / 1e9)
    shown = bench(*CALL, *words).stdout
    assert "\u2026" not in shown  # nothing is cut
    assert "Stand-in" in shown and "2.5e-01" in shown and "copy 4.0 us (66 GB/s)" in shown
    asked = requests(tmp_path)
    assert asked[0] == ["ceiling", "262144"]
    line = [request for request in asked if request[0] == "codec" and request[3] == "65536"][0]
    assert line[:3] == ["codec", "zfp:rate=8", "f32"] and line[5] == "1"
    # In its own shape too, if the codec takes that; one plane is no volume.
    assert "256x256" in {request[3] for request in asked if request[0] == "codec"}


def test_without_sums_each_input_is_measured_once(
    bench: Any, stand_in: Any, tmp_path: Path
) -> None:
    rows = json.loads(bench(*CALL, *stand_in(GOOD, BAD), "--no-sums", "--json").stdout)
    assert all(row["verified"] and row["encode_checksum_percent"] is None for row in rows)
    assert {request[-1] for request in requests(tmp_path) if request[0] == "codec"} == {"1"}


def test_declined_data_has_no_decode(bench: Any, stand_in: Any) -> None:
    declined = {key: value for key, value in GOOD.items() if not key.startswith("decode")}
    declined |= {"declined": True, "frame_bytes": 0}
    rows = json.loads(bench(*CALL, *stand_in(declined, declined), "--json").stdout)
    for row in rows:
        assert row["note"] == "declined: goes raw" and row["ratio"] == 1
        assert row["decode_us"] is row["decoded_us"] is row["max_error"] is None
        assert row["encode_us"] == 10


@pytest.mark.parametrize(("with_sums", "without"), [(BAD, BARE), (GOOD, BAD)])
def test_what_did_not_verify_has_no_figure(
    bench: Any, stand_in: Any, with_sums: dict, without: dict
) -> None:
    done = bench(*CALL, *stand_in(with_sums, without), "--json")
    assert done.exit_code == 1
    for row in json.loads(done.stdout):
        assert not row["verified"] and row["note"] == "the CPU's frame differs"
        named = {"codec", "data", "dtype", "shape", "bytes", "verified", "note"}
        assert all(row[name] is None for name in set(row) - named)


def test_a_program_that_ends_is_an_error(bench: Any, stand_in: Any) -> None:
    done = bench(*CALL, *stand_in(GOOD, BARE, after="sys.exit(3)"))
    assert done.exit_code == 1
    assert "the program ended with 3" in done.stdout


def test_a_codec_that_ends_the_program_is_a_row(bench: Any, stand_in: Any) -> None:
    ends = "if fields[0] == 'codec' and fields[2] == 'f64' and fields[5] == '1': sys.exit(3)"
    done = bench(*CALL, *stand_in(GOOD, BARE, after=ends), "--json")
    rows = json.loads(done.stdout)
    assert done.exit_code == 1 and len({row["dtype"] for row in rows}) == 2
    for row in rows:
        assert row["verified"] == (row["dtype"] == "f32")
        assert row["verified"] or "the program ended with 3" in row["note"]


def test_no_program_is_an_error(bench: Any, tmp_path: Path) -> None:
    done = bench(*CALL, "--program", str(tmp_path / "nothing"))
    assert done.exit_code == 1 and "no codec_gpu program found" in done.stderr


def test_files_are_repeated_in_the_shape_that_is_stated(
    bench: Any, stand_in: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    np.linspace(0, 1, 2 * 64 * 1024, dtype=np.float32).tofile(folder / "slab.f32")
    (folder / "README.md").write_text("| file | shape |\n|---|---|\n| slab.f32 | 1x2x64x1024 |\n")
    monkeypatch.setenv(samples.DATA_FOLDER, str(folder))
    bench(*CALL, *stand_in(GOOD, BARE))
    asked = [request for request in requests(tmp_path) if "slab" in request[-2]]
    times = (64 << 20) // (2 * 64 * 1024 * 4)
    assert asked[0][3] == str(times * 2 * 64 * 1024)


@pytest.mark.parametrize("stated", ["3x5", "many", "2x64x1024x7", "1x2x64x1024"])
def test_a_stated_shape_must_fit_the_file(tmp_path: Path, stated: str) -> None:
    path = tmp_path / "slab.f32"
    np.zeros(2 * 64 * 1024, np.float32).tofile(path)
    assert samples.stated_shape(path) is None
    (tmp_path / "README.md").write_text(
        f"# Data\n\n| file | shape |\n|-|-|\n| slab.f32 | {stated} |"
    )
    expected = (2, 64, 1024) if stated == "1x2x64x1024" else None
    assert samples.stated_shape(path) == expected


def test_rates_are_of_uncompressed_bytes() -> None:
    facts = {"codec": "x", "data": "y", "dtype": "f32", "shape": "1", "bytes": 1 << 20}
    row = make_row(facts, GOOD, BARE, ratio=3.5)
    assert row.decode_gb_per_second == pytest.approx((1 << 20) / 5e-6 / 1e9)
    assert row.ratio == 3.5


def test_frames_that_differ_are_noted() -> None:
    facts = {"codec": "x", "data": "y", "dtype": "f32", "shape": "1", "bytes": 1 << 20}
    row = make_row(facts, GOOD | {"frames_vary": True}, None, ratio=3.5)
    assert row.verified and row.note == "frames differ from call to call"


def test_an_error_beyond_the_bound_is_no_result() -> None:
    facts = {"codec": "x:rel=0.2", "data": "y", "dtype": "f32", "shape": "1", "bytes": 1 << 20}
    row = make_row(facts, GOOD, BARE, ratio=3.5)
    assert not row.verified and "0.4 is allowed" in row.note and row.ratio is None
    kept = make_row(facts | {"codec": "x:rel=0.25"}, GOOD, BARE, ratio=3.5)
    assert kept.verified and kept.error_over_bound == 1
