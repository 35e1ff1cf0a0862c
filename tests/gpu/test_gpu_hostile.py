"""Damaged and hostile frames in GPU memory: what the CPU says of them, and nothing written
outside."""

from collections.abc import Iterable

import mutants
import numpy as np
import pytest
from frame_bytes import payloads_of
from gpu_calls import DeviceBuffer, decode, decode_on_host, encode_on_host
from gpu_data import Coder, coders, make

from thinwire import codecs, dtypes
from thinwire.library import library

COUNT = 70001  # several chunks of every codec but raw, and an odd end


def sound_frame(coder: Coder, checksums: bool, shape: tuple[int, ...] = (COUNT,)) -> np.ndarray:
    flags = 0 if checksums else library().TW_MESSAGE_NO_CHECKSUM
    values = make("smooth", coder.dtype, shape)
    status, frame = encode_on_host(coder.codec(), coder.dtype, shape, values, flags)
    assert status == 0
    return frame.copy()


def check_all(frames: Iterable[np.ndarray], nbytes: int) -> list[int]:
    """Decode each on both sides; returns the statuses."""
    out, statuses = DeviceBuffer(nbytes), []
    for number, frame in enumerate(frames):
        status, expected = decode_on_host(frame, nbytes)
        source = DeviceBuffer(frame)
        out.write(None)
        found = decode(source.address, frame.size, out.address, nbytes)
        assert found == status, f"mutant {number}: GPU says {found}, CPU {status}"
        contents = out.read()
        if status == 0:
            assert np.array_equal(contents, expected), f"mutant {number}: other values"
        statuses.append(status)
    return statuses


def raw_size(coder: Coder) -> int:
    return COUNT * dtypes.NUMPY[coder.dtype].itemsize


@pytest.mark.parametrize("coder", coders(every_spec=False), ids=str)
def test_changed_headers(coder: Coder) -> None:
    frame = sound_frame(coder, checksums=True)
    assert 0 not in check_all(mutants.flipped_headers(frame), raw_size(coder))
    statuses = check_all(mutants.sealed_nonsense(frame), raw_size(coder))
    assert len(set(statuses)) > 3, "the fields are not looked at one by one"


@pytest.mark.parametrize("coder", coders(every_spec=False), ids=str)
def test_changed_tables_and_payloads(coder: Coder) -> None:
    frame = sound_frame(coder, checksums=True)
    assert 0 not in check_all(mutants.flipped_payloads(frame, 60, seed=5), raw_size(coder))
    frame = sound_frame(coder, checksums=False)
    chunks = len(payloads_of(frame))
    assert 0 not in check_all(mutants.lying_tables(frame, chunks), raw_size(coder))
    check_all(mutants.random_bodies(frame, chunks, 40, seed=6), raw_size(coder))
    check_all(mutants.flipped_payloads(frame, 60, seed=7), raw_size(coder))


@pytest.mark.parametrize("coder", [each for each in coders(False) if each.max_rank > 1], ids=str)
def test_volumes(coder: Coder) -> None:
    shape = (41, 43, 40)[: coder.max_rank]
    frame = sound_frame(coder, checksums=False, shape=shape)
    nbytes = int(np.prod(shape)) * dtypes.NUMPY[coder.dtype].itemsize
    check_all(mutants.random_bodies(frame, len(payloads_of(frame)), 20, seed=8), nbytes)
    check_all(mutants.sealed_nonsense(frame), nbytes)


@pytest.mark.parametrize("coder", coders(every_spec=False), ids=str)
def test_truncations(coder: Coder) -> None:
    frame = sound_frame(coder, checksums=True)
    assert 0 not in check_all(mutants.truncations(frame), raw_size(coder))


def test_what_is_no_frame() -> None:
    assert 0 not in check_all(mutants.noise(200, seed=9), 1 << 16)


@pytest.mark.parametrize("coder", coders(every_spec=False), ids=str)
def test_a_good_frame_decodes_after_all_that(coder: Coder) -> None:
    """The workspace that the damaged ones used is as it was."""
    good = sound_frame(coder, checksums=True)
    bad = next(mutants.flipped_payloads(good, 1, seed=10))
    for frame, is_good in [(good, True), (bad, False)] * 4:
        statuses = check_all([frame], raw_size(coder))
        assert (statuses == [0]) == is_good


def test_padding_behind_a_frame_is_ignored() -> None:
    row = next(row for row in codecs() if row.name == "raw")
    frame = sound_frame(Coder(row.example, "f32", row.max_rank), checksums=True)
    padded = np.concatenate([frame, np.full(77, 0xEE, np.uint8)])
    assert check_all([padded], COUNT * 4) == [0]
