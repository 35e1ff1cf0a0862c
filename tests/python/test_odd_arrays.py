"""Arrays, outputs and notes of shapes that are not the usual ones, and the package's first use."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from thread_ranks import checked, on_ranks

import thinwire

VALUES = np.linspace(1, 2, 1000, dtype="f4")


def test_outputs_of_other_elements_are_refused() -> None:
    frame = thinwire.compress(VALUES, "lossless")
    for dtype in (">f4", "i4", "f2", "f8", "M8[s]", "c8", "S4"):
        out = np.zeros(VALUES.nbytes // np.dtype(dtype).itemsize, dtype)
        with pytest.raises(TypeError, match="the frame f32"):
            thinwire.decompress(frame, out=out)
    as_bytes = np.zeros(VALUES.nbytes, np.uint8)
    thinwire.decompress(frame, out=as_bytes)
    assert as_bytes.tobytes() == VALUES.tobytes()
    whole = thinwire.compress(np.arange(100), "lossless")
    assert np.array_equal(thinwire.decompress(whole, out=np.zeros(100, int)), np.arange(100))


def test_an_output_that_is_copied_is_refused() -> None:
    class MadeOfACopy:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return np.zeros(VALUES.size, "f4").copy()[:]

    with pytest.raises(ValueError, match="cannot be written to"):
        thinwire.decompress(thinwire.compress(VALUES, "lossless"), out=MadeOfACopy())


def test_outputs_of_subclasses_are_written(tmp_path: Path) -> None:
    frame = thinwire.compress(VALUES, "lossless")
    mapped = np.memmap(tmp_path / "out", dtype="f4", mode="w+", shape=VALUES.shape)
    for out in (mapped, np.asmatrix(np.zeros((10, 100), "f4"))):
        thinwire.decompress(frame, out=out)
        assert np.asarray(out).tobytes() == VALUES.tobytes()
    (ours,) = thinwire.local_ranks(1)
    ours.Allreduce(thinwire.IN_PLACE, mapped)
    ours.close()


@pytest.mark.parametrize(
    ("shape", "cut"), [((2, 3, 4, 5, 6), 0), ((2, 3, 4, 5, 6), 3), ((), 0), ((), 3)]
)
def test_a_note_of_a_shape_that_is_damaged_is_refused(shape: tuple[int, ...], cut: int) -> None:
    frame = thinwire.compress(np.ones(shape, "f4"), "raw")
    size = thinwire.inspect(frame).frame_bytes
    damaged = frame[: size + 5]
    if cut == 0:
        damaged = frame[:size] + bytes([frame[size] ^ 1]) + frame[size + 1 :]
    for read in (thinwire.decompress, thinwire.inspect):
        with pytest.raises(thinwire.ThinwireError, match="damaged"):
            read(damaged)
    # Bytes that are no note may follow.
    assert thinwire.decompress(frame[:size] + b"something else").size == np.ones(shape).size


@pytest.mark.parametrize(
    ("dtype", "named"), [("i4", np.int32), ("i4", "i"), ("c8", "F"), ("f4", "f"), ("i8", "q")]
)
def test_counts_are_of_the_named_type(dtype: str, named: Any) -> None:
    values = np.arange(1000).astype(dtype)

    def work(ours: thinwire.Communicator) -> None:
        got = values.copy() if ours.rank == 0 else np.zeros_like(values)
        ours.Bcast([got, 1000, named], root=0)
        assert np.array_equal(got, values)
        mine, of_all = np.full(4, 1 + ours.rank, dtype), np.zeros(8, dtype)
        ours.Allgatherv([mine, 4, named], [of_all, [4, 4], [0, 4], named])
        assert np.array_equal(of_all, np.repeat([1, 2], 4).astype(dtype))

    ranks = thinwire.local_ranks(2, codec="lossless")
    checked(on_ranks(ranks, work))


FIRST_IN_THREADS = """
import concurrent.futures, numpy, thinwire
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    arrays, codecs = [numpy.ones(70000, "f4")] * 8, ["lossless"] * 8
    frames = list(pool.map(thinwire.compress, arrays, codecs))
assert len({bytes(frame) for frame in frames}) == 1
"""


def run(words: list[str], **settings: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, **settings}
    return subprocess.run(
        words,
        env=environment,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=60,
    )


def test_any_thread_may_be_the_first() -> None:
    for _ in range(3):
        done = run([sys.executable, "-c", FIRST_IN_THREADS])
        assert done.returncode == 0, done.stderr


def test_an_empty_folder_of_libraries_is_none() -> None:
    done = run([sys.executable, "-m", "thinwire", "--version"], THINWIRE_LIBRARY_DIR="")
    assert done.returncode == 0, done.stderr


NO_TEXT = os.fsdecode(b"\xff")


@pytest.mark.parametrize("name", ["TRACE", "CAPTURE", "POLICY", "CODEC", NO_TEXT])
def test_settings_need_not_be_text(name: str, tmp_path: Path) -> None:
    """A file's name may be any bytes."""
    value = NO_TEXT if name in ("CODEC", NO_TEXT) else str(tmp_path / NO_TEXT)
    for words in (["run", "--", "true"], ["exec", "--", "true"], ["env"]):
        done = run([sys.executable, "-m", "thinwire", *words], **{f"THINWIRE_{name}": value})
        assert "Traceback" not in done.stderr, done.stderr


def test_names_of_codecs_and_policies_need_not_be_text(tmp_path: Path) -> None:
    with pytest.raises(thinwire.ThinwireError, match="no codec named"):
        thinwire.Codec(NO_TEXT)
    with pytest.raises(thinwire.ThinwireError):
        thinwire.Policy(tmp_path / NO_TEXT)
    (tmp_path / NO_TEXT).write_text('[[rule]]\ncodec = "off"\n')
    thinwire.Policy(tmp_path / NO_TEXT)
