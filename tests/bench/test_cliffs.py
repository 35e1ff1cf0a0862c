"""The study of cliffs: what it asks the GPU's program for, and what it makes of the answers."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from thinwire import Codec, codecs, compress, decompress
from thinwire.bench import specs
from thinwire.dtypes import NUMPY
from thinwire.library import ThinwireError

STUDY = Path(__file__).resolve().parents[2] / "bench" / "studies" / "cliffs"
sys.path.insert(0, str(STUDY))

import cliff_cases  # noqa: E402
import cliff_rows  # noqa: E402
from cliff_cases import Case, Request  # noqa: E402
from cliff_rows import Row  # noqa: E402

MIB = 1 << 20
# Answers to whatever it is asked, half as fast for points of 2, as codec_gpu has them.
PROGRAM = f"""#!{sys.executable}
import json, sys
print(json.dumps({{"gpu": "none", "sm_count": 0}}))
for line in sys.stdin:
    kind, spec, dtype, shape, path, sums = line.rstrip("\\n").split("\\t")
    assert kind == "codec" and open(path, "rb").read(8) and sums == "1"
    us = 40 if spec.endswith("=2") else 20
    print(json.dumps(dict(verified=True, declined=False, bytes=20000000, frame_bytes=10000000,
        max_error=0, range=1, encode_us=us, decode_us=20, ready_us=us + 45)))
"""


def asked() -> list[Request]:
    return list(cliff_cases.requests(16 * MIB))


def is_accepted(spec: str) -> bool:
    try:
        return bool(Codec(spec).spec)
    except ThinwireError:
        return False


def test_the_whole_registry_is_asked_for() -> None:
    found = asked()
    assert len({request.line for request in found}) == len(found)
    assert len({request.case for request in found}) == len(found)
    for info in codecs():
        own = [each for each in found if each.spec.partition(":")[0] == info.name]
        if specs.why_not_here(info, on_gpu=True):
            assert not own
            continue
        floats = {dtype for dtype in info.dtypes if dtype in ("f64", "f32", "bf16", "f16")}
        assert {each.case.dtype for each in own} == floats, info.name
        is_line = info.flat or info.name == "raw"
        assert {each.case.rank for each in own} == ({1} if is_line else {1, 2, 3}), info.name
        assert info.example in {each.spec for each in own}, info.name
        for option in ("tuple", "stride"):
            if f"{option}=" in info.options:
                points = {n for n in (1, 2, 3, 4) if is_accepted(f"{info.name}:{option}={n}")}
                assert {each.case.point for each in own} == points and len(points) > 1


def test_ranks_are_the_same_values_in_whole_boxes(tmp_path: Path) -> None:
    found = asked()
    cliff_cases.write_data(tmp_path, found)
    for request in found:
        assert len(request.shape) == request.case.rank
        item = NUMPY[request.case.dtype].itemsize
        nbytes = int(np.prod(request.shape)) * item
        assert abs(nbytes / MIB - 16) < 2
        assert nbytes % (tmp_path / request.case.data_name).stat().st_size == 0
        if request.case.rank == 3:
            planes, rows, columns = request.shape
            assert planes % 16 == rows % 16 == columns % 64 == 0


@pytest.mark.parametrize("point", cliff_cases.POINTS)
def test_data_is_what_points_are_for(point: int) -> None:
    """A field of points is smaller under its own tuple than under that of numbers."""
    values = cliff_cases.field(point)
    frames = {}
    for tuple_size in (1, point):
        frames[tuple_size] = compress(values, f"mpc:stride={tuple_size}")
        back = np.frombuffer(bytes(decompress(frames[tuple_size])), values.dtype)
        assert back.tobytes() == values.tobytes()
    assert len(frames[point]) < values.nbytes
    assert point == 1 or len(frames[point]) < len(frames[1])


def test_neighbours_are_one_step_away() -> None:
    case = Case("lorenzo", "f32", 2, 2)
    assert set(cliff_rows.neighbours(case)) == {
        *(replace(case, dtype=dtype) for dtype in ("f64", "bf16", "f16")),
        *(replace(case, point=point) for point in (1, 3)),
        *(replace(case, rank=rank) for rank in (1, 3)),
    }
    wide = replace(case, dtype="f64")
    types = {each.dtype for each in cliff_rows.neighbours(wide) if each.dtype != "f64"}
    assert types == {"f32"}


def test_what_falls_below_a_neighbour_names_it() -> None:
    near = Row(Case("lorenzo", "f64", 1, 1), 1.1, encode=1000, decode=1000)
    low = Row(Case("lorenzo", "f64", 2, 1), 1.1, encode=385, decode=700)
    far = Row(Case("lorenzo", "f64", 3, 1), 1.1, encode=390, decode=990)
    other = Row(Case("mpc", "f64", 1, 1), 1.1, encode=4000, decode=4000)
    silent = Row(Case("lorenzo", "f64", 1, 2), note="declined: goes raw")
    rates = {row.case: row for row in (near, low, far, other, silent)}
    found = cliff_rows.below(low, rates)
    assert [(each.what, each.neighbour) for each in found] == [("encode", near.case)]
    assert found[0].text(low.case) == "encode 0.39 of point 1"
    for row in (near, far, other, silent):
        assert cliff_rows.below(row, rates) == []


def test_answers_end_where_one_is_cut() -> None:
    lines = ['{"gpu": "H200", "sm_count": 132}', '{"verified": false, "note": "no"}', '{"verif']
    assert list(cliff_rows.answers(lines)) == [{"verified": False, "note": "no"}]


def test_rows_have_figures_only_if_they_are_verified() -> None:
    said = {
        **{"verified": True, "declined": False, "bytes": 32_000_000, "frame_bytes": 16_000_000},
        **{"encode_us": 32.0, "decode_us": 16.0, "ready_us": 77.0, "max_error": 2e-4, "range": 1.0},
    }
    wanted = [
        Request(Case(spec, "f32", 1, 1), spec, (8_000_000,)) for spec in ("mpc", "szp:abs=1e-4")
    ]
    exact, bounded = cliff_rows.rows_of(wanted, [said, said])
    assert (exact.ratio, exact.encode, exact.decode, exact.late_us) == (2, 1000, 2000, 45)
    assert bounded.encode is None and "0.0001 is allowed" in bounded.note
    kept = cliff_rows.row_of(wanted[1], said | {"max_error": 1e-4})
    assert kept.encode == 1000 and kept.add is None
    assert cliff_rows.row_of(wanted[0], said | {"decode_add_us": 64.0}).add == 500
    refused, missing = cliff_rows.rows_of(wanted, [{"verified": False, "note": "differs"}])
    assert refused.encode is None and refused.note == "not verified: differs"
    assert missing.encode is None and missing.note == "no answer"
    assert cliff_rows.row_of(wanted[0], said | {"declined": True, "frame_bytes": 0}).ratio is None


def table_of(text: str) -> list[dict[str, str]]:
    heads, *lines = (line.split(",") for line in text.splitlines())
    return [dict(zip(heads, line, strict=True)) for line in lines]


def test_the_study_by_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(STUDY))
    monkeypatch.delitem(sys.modules, "measure", raising=False)
    import measure

    program = tmp_path / "codec_gpu"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    monkeypatch.setattr(sys, "argv", ["measure.py", "--program", str(program), "--codec", "mpc"])
    measure.main()
    rows = table_of(capsys.readouterr().out)
    assert len(rows) == 2 * len(cliff_cases.POINTS)
    for row in rows:
        slow = row["point"] == "2"
        assert row["encode"] == ("500" if slow else "1000") and row["late us"] == "45.0"
        said = "encode 0.50 of point 1; encode 0.50 of point 3" if slow else ""
        assert row["below"] == said

    folder = tmp_path / "there"
    monkeypatch.setattr(sys, "argv", ["measure.py", "--write", str(folder), "--codec", "mpc"])
    measure.main()
    assert len((folder / "requests.txt").read_text().splitlines()) == len(rows)
    cut = tmp_path / "answers.jsonl"
    cut.write_text(json.dumps({"verified": False, "note": "no"}) + "\n")
    monkeypatch.setattr(sys, "argv", ["measure.py", "--answers", str(cut), "--codec", "mpc"])
    with pytest.raises(SystemExit, match="8 of 8 cases have no figures"):
        measure.main()
    sys.modules.pop("measure")
