"""Missing values: the option fill= of lossy codecs, masked arrays, and the frame's bytes, which are
made and read here from spec/frame.md alone."""

import frame_bytes
import numpy as np
import pytest

import thinwire

LOSSY = ["szp:rel=1e-3", "szp:abs=0.02", "zfp:rate=16", "blockq", "cast:to=bf16"]
FILLS = [9.96921e36, 1e20, -1e30, float("nan")]


def with_fill(spec: str, fill: object) -> str:
    return f"{spec}{',' if ':' in spec else ':'}fill={fill}"


def field(shape: tuple[int, ...] = (181, 360)) -> tuple[np.ndarray, np.ndarray]:
    """Temperatures, and where there are none: two continents and scattered cells."""
    row, column = np.indices(shape)
    values = 280 + 20 * np.sin(column * 0.02) * np.cos(row * 0.03)
    missing = (np.hypot(row - 90, column - 100) < 50) | (np.hypot(row - 60, column - 280) < 40)
    missing |= np.random.default_rng(3).random(shape) < 0.005
    return values.astype(np.float32), missing


def check(out: np.ndarray, data: np.ndarray, missing: np.ndarray, bound: float) -> None:
    assert out[missing].tobytes() == data[missing].tobytes()
    assert np.abs(out[~missing].astype(float) - data[~missing]).max() <= bound


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("spec", LOSSY)
def test_missing_values_come_back_and_the_others_in_their_bound(spec: str, fill: float) -> None:
    data, missing = field()
    data[missing] = fill
    bounds = {"szp:rel=1e-3": 0.04, "szp:abs=0.02": 0.02, "cast:to=bf16": 1}
    for said in (fill, "auto"):
        frame = thinwire.compress(data, with_fill(spec, said))
        info = thinwire.inspect(frame)
        assert info.spec.endswith(f",fill={fill:g}".replace("e+", "e"))
        assert len(frame) < data.nbytes * 0.6
        check(thinwire.decompress(frame), data, missing, bounds.get(spec, 3))


@pytest.mark.parametrize("spec", LOSSY)
def test_a_masked_array_is_coded_by_its_mask(spec: str) -> None:
    data, missing = field()
    data[missing] = 7e4  # anything
    masked = np.ma.array(data, mask=missing, fill_value=np.float32(9.96921e36))
    filled = masked.filled()
    frame = thinwire.compress(masked, spec)
    assert "fill=" in thinwire.inspect(frame).spec
    check(thinwire.decompress(frame), filled, missing, 3)
    assert frame == thinwire.compress(filled, with_fill(spec, float(masked.fill_value)))
    nans = thinwire.decompress(thinwire.compress(masked, with_fill(spec, "nan")))
    assert np.isnan(nans[missing]).all() and not np.isnan(nans[~missing]).any()
    assert masked.data[missing].max() == 7e4  # nothing was written to it


def test_lossless_codecs_keep_what_a_masked_array_is_filled_with() -> None:
    data, missing = field()
    masked = np.ma.array(data, mask=missing)
    out = thinwire.decompress(thinwire.compress(masked, "lorenzo"))
    assert out.tobytes() == masked.filled().tobytes()
    whole = np.ma.array(data)
    assert thinwire.compress(whole, "szp:abs=1") == thinwire.compress(data, "szp:abs=1")


@pytest.mark.parametrize(
    "spec", ["lorenzo:fill=0", "auto:fill=0", "szp:abs=1,fill=x", "szp:fill=1"]
)
def test_specs_that_make_no_sense_are_refused(spec: str) -> None:
    with pytest.raises(thinwire.ThinwireError):
        thinwire.Codec(spec)


# ---- The bytes ----

CHUNK = 8192  # spec/codec-cast.md
FILL = 9.96921e36
BITS = int(np.float32(FILL).view(np.uint32))


def length(count: int) -> bytes:
    """As runs have it: 7 bits a byte, the lowest first."""
    out = []
    while True:
        out.append((count & 0x7F) | (0x80 if count > 0x7F else 0))
        count >>= 7
        if not count:
            return bytes(out)


def mask_of(missing: np.ndarray) -> bytes:
    """The mask of a chunk, as the page says that encoders write it."""
    if not missing.any():
        return b"\0"
    if missing.all():
        return b"\1"
    edges = np.flatnonzero(np.diff(missing)) + 1
    runs = np.diff([0, *edges, missing.size])
    coded = b"".join(map(length, ([0] if missing[0] else []) + runs.tolist()))
    bits = np.packbits(missing, bitorder="little").tobytes()
    return b"\2" + coded if len(coded) <= len(bits) else b"\3" + bits


def closed(values: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """With values on a line between their neighbours in the place of missing ones."""
    out, at = values.copy(), 0
    while at < values.size:
        if not missing[at]:
            at += 1
            continue
        end = at + int(np.argmin(missing[at:])) if not missing[at:].all() else values.size
        before = values[at - 1] if at else values[end]
        step = (values[end] - before if end < values.size else np.float32(0)) / np.float32(
            end - at + 1
        )
        out[at:end] = before + step * np.arange(1, end - at + 1, dtype=np.float32)
        at = end
    return out


def as_bf16(values: np.ndarray) -> bytes:
    """Rounded to nearest, ties to even."""
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2").tobytes()


@pytest.mark.parametrize("pattern", ["none", "runs", "every second", "begin", "end", "a chunk"])
def test_frames_are_as_the_page_says(pattern: str) -> None:
    """Under `cast`, whose chunks are lines and whose payload is their values as bf16."""
    count = 40_000
    values = np.exp2(np.arange(count) % 64).astype(np.float32)  # exact in bf16
    at = np.arange(count)
    missing = {
        "none": at < 0,
        "runs": at // 37 % 3 == 1,
        "every second": at % 2 == 0,
        "begin": at < 300,
        "end": at >= 39_990,
        "a chunk": at < 20_000,
    }[pattern]
    values[missing] = np.float32(FILL)
    frame = np.frombuffer(thinwire.compress(values, f"cast:to=bf16,fill={FILL}"), np.uint8)
    payloads = frame_bytes.payloads_of(frame)
    if pattern == "none":
        assert frame[frame_bytes.VERSION_AT] == 0
        return
    made = []
    for begin in range(0, count, CHUNK):
        part, hole = values[begin : begin + CHUNK], missing[begin : begin + CHUNK]
        own = b"" if hole.all() else as_bf16(closed(part, hole))
        made.append(mask_of(hole) + own)
    assert payloads == made
    parameter = frame_bytes.get(frame, frame_bytes.PARAMETER_AT, 8)
    by_hand = frame_bytes.build("cast", "f32", (count,), parameter, made, fill=BITS)
    assert by_hand.tobytes() == frame.tobytes()
    assert thinwire.decompress(by_hand).tobytes() == values.tobytes()


def test_a_chunk_may_be_raw_and_a_frame_of_another_version_is_refused() -> None:
    count = 40_000
    values = np.exp2(np.arange(count) % 64).astype(np.float32)
    values[::2] = np.float32(FILL)
    frame = np.frombuffer(thinwire.compress(values, f"zfp:rate=32,fill={FILL}"), np.uint8).copy()
    assert thinwire.decompress(frame).tobytes() == values.tobytes()
    frame = np.frombuffer(thinwire.compress(values, f"cast:to=bf16,fill={FILL}"), np.uint8).copy()
    for version, status in [(1, "damaged"), (3, "version")]:
        frame[frame_bytes.VERSION_AT] = version
        with pytest.raises(thinwire.ThinwireError, match=status):
            thinwire.decompress(frame)
