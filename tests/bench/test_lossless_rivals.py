"""`bench/studies/lossless`: shapes, planes of bytes, values that come back, its tables."""

import sys
from pathlib import Path

import numpy as np
import pytest

from thinwire.bench.samples import Sample

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "studies" / "lossless"))
import lossless_rows as measure  # noqa: E402
import lossless_tables as page  # noqa: E402
import rivals  # noqa: E402

FIELD = (np.arange(6 * 8 * 512).reshape(6, 8, 512) % 97).astype(np.float32) / 7


def of_ours(dtypes: tuple[str, ...] = rivals.WIDE) -> rivals.Rival:
    return rivals.Rival("MPC", dtypes, rivals.ours(["mpc:stride=3"], all_shapes=False))


def test_neighbouring_axes_are_merged_in_every_way():
    assert rivals.shapes(np.zeros((2, 3, 5))) == [(2, 3, 5), (2, 15), (6, 5), (30,)]
    four = rivals.shapes(np.zeros((2, 3, 5, 7)))
    assert (2, 3, 5, 7) not in four and (6, 5, 7) in four and (2, 105) in four
    assert len(four) == 7


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint16])
def test_planes_of_bytes_begin_with_the_lowest(dtype):
    values = np.arange(1000).astype(dtype)
    planes = rivals.byte_planes(values)
    assert planes.shape == (values.itemsize, 1000)
    assert np.array_equal(planes[0], values.view(np.uint8)[:: values.itemsize])
    assert np.array_equal(rivals.from_planes(planes, values), values)


def test_a_row_has_our_codecs_in_each_shape_and_the_rivals():
    row = measure.measure(Sample("field.f32", "f32", FIELD), [of_ours()])
    taken = {(each["spec"], each["shape"]) for each in row["own"]}
    assert {("lorenzo:tuple=1", "6x8x512"), ("lorenzo:tuple=1", "48x512")} <= taken
    assert ("mpc:stride=3", str(FIELD.size)) in taken
    assert {(f"ans:tuple={each}", str(FIELD.size)) for each in (0, 1, 3)} <= taken
    assert 0 < row["rivals"]["MPC"]["bytes"] < FIELD.nbytes and not row["failed"]
    assert row["lossless"]["bytes"] >= page.best(row)["bytes"]


def test_another_dtype_is_left_out():
    row = measure.measure(Sample("field.f32", "f32", FIELD), [of_ours(("f64",))])
    assert row["rivals"] == {} and row["failed"] == []


def test_a_rival_that_changes_a_bit_has_no_figure():
    def attempts(sample: Sample):
        changed = sample.values.copy().reshape(-1)
        changed.view(np.uint32)[77] ^= 1
        yield "", 10, changed

    row = measure.measure(
        Sample("field.f32", "f32", FIELD), [rivals.Rival("lossy", ("f32",), attempts)]
    )
    assert row["rivals"] == {}
    assert row["failed"] == ["lossy : what came back is not what went in"]


ROW = {
    "file": "gradients.f32",
    "shape": "1000",
    "bytes": 4000,
    "order0": 2.0,
    "own": [
        {"spec": "expack:mode=auto", "shape": "1000", "bytes": 2100},
        {"spec": "mpc:stride=1", "shape": "1000", "bytes": 2000},
    ],
    "lossless": {"spec": "expack:mode=auto", "shape": "1000", "bytes": 2100},
    "rivals": {
        "Bitcomp": {"setting": "sparse", "bytes": 1600},
        "MPC": {"setting": "", "bytes": 2000},
        "zstd -3": {"setting": "", "bytes": 1900},
    },
}


def test_tables_say_who_is_ahead_and_what_the_choice_loses():
    (own,) = page.own_lines([ROW])
    assert own[2:] == ["expack 1000", "1.905", "mpc 1000", "2.000", "4.8%, short"]
    (behind,) = page.behind_lines([ROW], page.MARKS)
    assert behind == ["gradients.f32", "2.000", "Bitcomp (sparse) +25.0%; zstd -3 +5.3%"]
    assert list(page.order0_lines([ROW])) == [["gradients.f32", "2.000", "1.905", "0.952, short"]]
