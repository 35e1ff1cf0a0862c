"""nvCOMP's codecs, which have no CPU side to be compared with: round trips, damage, ratios."""

import cuda_driver
import frame_bytes
import mutants
import numpy as np
import pytest
from cuda_driver import Capture
from enqueued import Enqueued
from gpu_calls import DeviceBuffer, bound, decode, encode, options_struct, shape_struct
from gpu_data import KINDS, SHAPES, Coder, make

from thinwire import Codec, codecs
from thinwire.library import library

COUNTS = (0, 1, 2, 3, 5, 31, 33, 251, 1000, 4096, 4097, 16383, 16384, 32768, 32769, 70001)
LONG_COUNTS = (262145, 1048573)
OFFSETS = (0, 1, 2, 4, 8)
MORE_SPECS = {
    "nvcomp-ans": ["nvcomp-ans:chunk=262144"],
    "nvcomp-bitcomp": ["nvcomp-bitcomp:algorithm=sparse,chunk=16384"],
    "nvcomp-bitcomp-lossy": ["nvcomp-bitcomp-lossy:abs=0.125,algorithm=sparse"],
}


def coders(every_spec: bool = False) -> list:
    """nvCOMP's rows at every dtype; skipped, by name and with the reason, where they cannot run."""
    return [
        pytest.param(
            Coder(spec, dtype, row.max_rank),
            id=f"{spec}-{dtype}",
            marks=pytest.mark.skipif(not row.available, reason=f"{row.name}: {row.unavailable}"),
        )
        for row in codecs()
        if row.gpu_only
        for spec in [row.example, *(MORE_SPECS.get(row.name, []) if every_spec else [])]
        for dtype in row.dtypes
    ]


def waits_for_stream(coder: Coder) -> bool:
    return "bitcomp" in coder.spec


def bound_of(coder: Coder) -> float | None:
    """The largest error that a lossy spec allows."""
    if "lossy" not in coder.spec:
        return None
    return float(coder.spec.partition("abs=")[2].partition(",")[0])


def encoded(coder: Coder, values: np.ndarray, offsets: tuple[int, int] = (0, 0)) -> np.ndarray:
    """The frame of the array, both on the GPU and that many bytes off an even address."""
    codec, shape = coder.codec(), shape_struct(coder.dtype, values.shape)
    source = DeviceBuffer(values, offsets[0])
    frame = DeviceBuffer(bound(codec, shape), offsets[1])
    status, written = encode(codec, shape, source.address, frame.address, frame.nbytes)
    assert status == 0
    assert np.array_equal(source.read(), values.reshape(-1).view(np.uint8))
    return frame.read()[:written].copy()


def decoded(
    frame: np.ndarray, nbytes: int, offsets: tuple[int, int] = (0, 0)
) -> tuple[int, np.ndarray]:
    source, out = DeviceBuffer(frame, offsets[0]), DeviceBuffer(nbytes, offsets[1])
    status = decode(source.address, frame.size, out.address, nbytes)
    return status, out.read()


def check_values(coder: Coder, values: np.ndarray, contents: np.ndarray) -> None:
    most = bound_of(coder)
    if most is None:
        assert contents.tobytes() == values.tobytes()
        return
    back = contents.view(values.dtype).reshape(values.shape)
    finite = np.isfinite(values)
    with np.errstate(invalid="ignore"):  # signalling NaN
        exact, found = values.astype(np.float64)[finite], back.astype(np.float64)[finite]
    assert np.array_equal(np.isnan(values), np.isnan(back))
    infinite = np.isinf(values)
    assert np.array_equal(values[infinite], back[infinite])
    assert exact.size == 0 or np.abs(exact - found).max() <= most


def check_array(
    coder: Coder, values: np.ndarray, offsets: tuple[int, int, int] = (0, 0, 0)
) -> np.ndarray:
    frame = encoded(coder, values, offsets[:2])
    status, contents = decoded(frame, values.nbytes, offsets[1:])
    assert status == 0
    check_values(coder, values, contents)
    return frame


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("coder", coders(every_spec=True))
def test_lines(coder: Coder, kind: str) -> None:
    for count in COUNTS:
        check_array(coder, make(kind, coder.dtype, (count,), seed=count))


@pytest.mark.parametrize("kind", ["smooth", "special"])
@pytest.mark.parametrize("coder", coders())
def test_long_lines(coder: Coder, kind: str) -> None:
    for count in LONG_COUNTS:
        check_array(coder, make(kind, coder.dtype, (count,), seed=count))


@pytest.mark.parametrize("coder", coders())
def test_shapes_are_kept(coder: Coder) -> None:
    for shape in SHAPES:
        check_array(coder, make("constant", coder.dtype, shape))


@pytest.mark.parametrize("coder", coders())
def test_any_alignment(coder: Coder) -> None:
    values = make("smooth", coder.dtype, (40011,))
    for offset in OFFSETS:
        for offsets in ((offset, 0, 0), (0, offset, 0), (0, 0, offset), (offset, 4, offset + 1)):
            check_array(coder, values, offsets)


@pytest.mark.parametrize("coder", coders())
def test_incompressible_data_hardly_grows(coder: Coder) -> None:
    values = make("random", coder.dtype, (1 << 20,))
    assert check_array(coder, values).size <= values.nbytes * 1.001 + 128
    mixed = make("smooth", coder.dtype, (1 << 20,)).copy()
    mixed[: 1 << 17] = values[: 1 << 17]
    check_array(coder, mixed)


def sound_frame(coder: Coder) -> tuple[np.ndarray, int]:
    """One with several coded chunks, and the array's bytes."""
    values = make("constant", coder.dtype, (150001,)).copy()
    values[::7] = make("smooth", coder.dtype, (150001,))[::7]
    return encoded(coder, values), values.nbytes


def is_coded(coder: Coder, frame: np.ndarray) -> bool:
    """Not a raw frame in its place."""
    number = next(row.id for row in codecs() if row.name == coder.spec.partition(":")[0])
    return int(frame[frame_bytes.CODEC_AT]) == number


@pytest.mark.parametrize("coder", coders())
def test_damage_is_an_error_and_the_next_frame_is_decoded(coder: Coder) -> None:
    frame, nbytes = sound_frame(coder)
    chunks = len(frame_bytes.payloads_of(frame))
    bad = [*mutants.flipped_payloads(frame, 40, seed=5), *mutants.lying_tables(frame, chunks)]
    bad += [*mutants.flipped_headers(frame), *mutants.truncations(frame)]
    bad += [*mutants.random_bodies(frame, chunks, 20, seed=6)]
    for number, each in enumerate(bad):
        assert decoded(each, nbytes)[0] != 0, f"mutant {number}"
        if number % 20 == 0:
            assert decoded(frame, nbytes)[0] == 0


@pytest.mark.parametrize("coder", coders())
def test_forged_headers_are_looked_at_field_by_field(coder: Coder) -> None:
    frame, nbytes = sound_frame(coder)
    assert len({decoded(each, nbytes)[0] for each in mutants.sealed_nonsense(frame)}) > 3
    assert decoded(frame, nbytes)[0] == 0


@pytest.mark.parametrize("coder", coders())
def test_host_memory_sums_and_missing_checksums_are_refused(coder: Coder) -> None:
    lib, codec = library(), coder.codec()
    values = make("constant", coder.dtype, (50000,))
    shape = shape_struct(coder.dtype, values.shape)
    frame = np.zeros(bound(codec, shape), np.uint8)
    status, _ = encode(codec, shape, values.ctypes.data, frame.ctypes.data, frame.size)
    assert status == lib.TW_UNSUPPORTED
    source, target = DeviceBuffer(values), DeviceBuffer(frame.size)
    options = options_struct(lib.TW_MESSAGE_NO_CHECKSUM)
    status, _ = encode(codec, shape, source.address, target.address, target.nbytes, options)
    assert status == lib.TW_UNSUPPORTED
    sound = encoded(coder, values)
    if not is_coded(coder, sound):
        return
    out = np.zeros(values.nbytes, np.uint8)
    assert decode(sound.ctypes.data, sound.size, out.ctypes.data, out.size) == lib.TW_UNSUPPORTED
    options = options_struct(lib.TW_MESSAGE_ADD)
    options.scale = 1
    there = DeviceBuffer(sound)
    status = decode(there.address, sound.size, source.address, values.nbytes, options)
    assert status == lib.TW_UNSUPPORTED
    # A frame from host memory into GPU memory.
    assert decode(sound.ctypes.data, sound.size, source.address, values.nbytes) == 0


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("coder", coders())
def test_enqueued(coder: Coder) -> None:
    """One workspace for all of it; the frame is not there yet when its decode is enqueued."""
    with cuda_driver.stream() as stream:
        work = Enqueued(coder.codec(), coder.dtype, make("smooth", coder.dtype, (70001,)), stream)
        for seed, kind in enumerate(("constant", "random", "smooth", "zeros")):
            values = make(kind, coder.dtype, (70001,), seed=seed)
            work.load(values)
            work.clear()
            assert work.encode() == 0
            if kind == "random":
                work.encoded()
                continue
            assert work.decode() == 0
            status, _ = work.encoded()
            if status == 0:
                status, contents = work.decoded()
                assert status == 0
                check_values(coder, values, contents)
            work.workspace.read()


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("coder", coders())
def test_graphs(coder: Coder) -> None:
    with cuda_driver.stream() as stream:
        work = Enqueued(coder.codec(), coder.dtype, make("zeros", coder.dtype, (70001,)), stream)
        capture = Capture(stream)
        assert work.encode() == 0
        expected = library().TW_UNSUPPORTED if waits_for_stream(coder) else 0
        assert work.decode() == expected
        graph = capture.end()
        for kind in ("constant", "zeros"):
            values = make(kind, coder.dtype, (70001,))
            work.load(values)
            work.clear()
            graph.launch(stream)
            status, _ = work.encoded()
            if status == 0 and not waits_for_stream(coder):
                assert work.decoded()[0] == 0
                check_values(coder, values, work.decoded()[1])
        graph.close()


@pytest.mark.parametrize("coder", coders())
def test_other_codecs_find_a_clean_workspace(coder: Coder) -> None:
    """Calls that wait share their workspaces among codecs."""
    values = make("smooth", "f32", (200001,))
    for other in ("mpc", "zfp:rate=8", "raw"):
        clean = Coder(other, "f32", 1)
        for _ in range(2):
            frame = encoded(clean, values)
            check_array(coder, make("constant", coder.dtype, (300001,)))
            assert np.array_equal(encoded(clean, values), frame)
            assert decoded(frame, values.nbytes)[0] == 0


def normal(dtype: str, count: int = 1 << 20) -> np.ndarray:
    words = np.random.default_rng(3).standard_normal(count).astype(np.float32)
    if dtype == "bf16":
        return (words.view(np.uint32) >> 16).astype(np.uint16)
    return words


@pytest.mark.parametrize(
    ("spec", "dtype", "least"),
    [
        ("nvcomp-ans", "bf16", 1.4),
        ("nvcomp-ans", "f32", 1.1),
        ("nvcomp-bitcomp", "bf16", 1.05),
        ("nvcomp-bitcomp-lossy:abs=0.125", "f32", 6),
    ],
)
def test_ratios(spec: str, dtype: str, least: float) -> None:
    row = next(row for row in codecs() if row.name == spec.partition(":")[0])
    if not row.available:
        pytest.skip(f"{row.name}: {row.unavailable}")
    values = normal(dtype)
    assert values.nbytes / check_array(Coder(spec, dtype, 1), values).size > least


def test_repetitions_are_found() -> None:
    for name in ("nvcomp-lz4", "nvcomp-cascaded"):
        row = next(row for row in codecs() if row.name == name)
        if not row.available:
            pytest.skip(f"{row.name}: {row.unavailable}")
        values = np.repeat(normal("f32", 1 << 12), 256)
        assert values.nbytes / check_array(Coder(name, "f32", 1), values).size > 4


def test_what_is_missing_is_said() -> None:
    for row in codecs():
        if row.gpu_only and not row.available:
            assert "nvidia-libnvcomp-cu13" in row.unavailable
            Codec(row.example)
