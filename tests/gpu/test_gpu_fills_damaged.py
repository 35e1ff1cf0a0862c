"""Damaged frames of arrays with missing values in GPU memory: what the CPU says of them."""

from collections.abc import Iterator

import frame_bytes as fb
import mutants
import numpy as np
import pytest
from fill_data import BITS, NAMES, field, fills_of, lossy, numbers, with_fill
from gpu_calls import DeviceBuffer, decode, decode_on_host, encode_on_host
from gpu_data import Coder
from test_gpu_hostile import check_all

from thinwire import dtypes
from thinwire.library import library


def sound_frame(coder: Coder, share: int | str, checksums: bool) -> tuple[np.ndarray, int]:
    fill, bits = fills_of(coder.dtype)[0]
    values, _ = field(coder.dtype, (40001,), share, bits)
    flags = 0 if checksums else library().TW_MESSAGE_NO_CHECKSUM
    codec = with_fill(coder, fill)
    status, frame = encode_on_host(codec, coder.dtype, values.shape, values, flags)
    assert status == 0 and fb.get(frame, fb.VERSION_AT, 1) == 2
    return frame.copy(), values.nbytes


def changed_masks(frame: np.ndarray, seed: int) -> Iterator[np.ndarray]:
    """Bytes at the begin of payloads, where masks lie, changed."""
    random = np.random.default_rng(seed)
    payloads = fb.payloads_of(frame)
    start = fb.header_bytes(frame) + 8 * len(payloads)
    for payload in payloads:
        for at in range(min(12, len(payload))):
            for byte in (0, 1, 2, 3, 4, 0x7F, 0x80, 0xFF, int(random.integers(256))):
                if payload[at] == byte:
                    continue
                changed = frame.copy()
                changed[start + at] = byte
                yield changed
        start += len(payload)


@pytest.mark.parametrize("share", ["one", 30, 100], ids=str)
@pytest.mark.parametrize("coder", lossy(every_spec=False), ids=str)
def test_damaged_frames(coder: Coder, share: int | str) -> None:
    frame, nbytes = sound_frame(coder, share, checksums=True)
    assert 0 not in check_all(mutants.flipped_headers(frame), nbytes)
    assert 0 not in check_all(mutants.flipped_payloads(frame, 60, seed=5), nbytes)
    assert 0 not in check_all(mutants.truncations(frame), nbytes)
    check_all(mutants.sealed_nonsense(frame), nbytes)
    frame, nbytes = sound_frame(coder, share, checksums=False)
    chunks = len(fb.payloads_of(frame))
    statuses = check_all(mutants.lying_tables(frame, chunks), nbytes)
    assert 0 not in statuses or share == 100  # its payloads have the one byte that some rows say
    check_all(mutants.random_bodies(frame, chunks, 40, seed=6), nbytes)
    check_all(mutants.flipped_payloads(frame, 100, seed=7), nbytes)
    statuses = check_all(changed_masks(frame, seed=8), nbytes)
    assert set(statuses) >= {library().TW_DAMAGED}
    assert check_all([frame], nbytes) == [0]


def test_a_frame_of_the_host_is_decoded() -> None:
    for coder in lossy(every_spec=False):
        frame, nbytes = sound_frame(coder, 30, checksums=True)
        status, expected = decode_on_host(frame, nbytes)
        out = DeviceBuffer(nbytes, 1)
        assert decode(frame.ctypes.data, frame.size, out.address, nbytes) == status == 0
        assert np.array_equal(out.read(), expected)


def test_every_codec_with_a_gpu_coder_is_here() -> None:
    assert {each.spec.partition(":")[0] for each in lossy(False)} == set(NAMES)
    assert {"szp", "zfp", "blockq", "cast"} <= set(NAMES)
    for dtype in BITS:
        for bits, text in zip(
            BITS[dtype][:2], ("nan", "-9999" if dtype == "f16" else "1e36"), strict=False
        ):
            word = np.array([bits], f"u{dtypes.NUMPY[dtype].itemsize}").view(dtypes.NUMPY[dtype])
            value = numbers(word, dtype)[0]
            assert np.isnan(value) if text == "nan" else abs(value / float(text) - 1) < 1e-2
