"""The golden vectors of tests/vectors, coded on a GPU."""

import math
from dataclasses import dataclass
from pathlib import Path

import frame_bytes
import numpy as np
import pytest
from gpu_calls import DeviceBuffer, bound, decode, encode, shape_struct

from thinwire import Codec, codecs, dtypes
from thinwire.library import library

VECTORS = Path(__file__).parents[1] / "vectors"


@dataclass(frozen=True)
class Case:
    """An array, the spec and parameter that code it, and the payloads that come of it, joined."""

    spec: str
    dtype: str
    values: np.ndarray
    parameter: int
    stream: bytes
    decoded_hash: int | None = None
    decoded: bytes | None = None  # where it is neither the values nor known by its hash

    @property
    def name(self) -> str:
        return self.spec.partition(":")[0]


def read_mpc() -> list[Case]:
    periods: dict[str, np.ndarray] = {}
    cases = []
    for line in (VECTORS / "mpc-1d.txt").read_text().splitlines():
        kind, *fields = line.split()
        if kind == "period":
            periods[fields[0]] = np.frombuffer(bytes.fromhex(fields[1]), dtypes.NUMPY[fields[0]])
        elif kind == "case":
            dtype, count, stride, stream = fields
            values = np.resize(periods[dtype], int(count))
            spec = f"mpc:stride={stride}"
            cases.append(Case(spec, dtype, values, int(stride), bytes.fromhex(stream)))
    return cases


LORENZO_ROW_BYTES = 128  # of a box with more than one axis


def read_lorenzo() -> list[Case]:
    periods: dict[str, np.ndarray] = {}
    cases = []
    for line in (VECTORS / "lorenzo.txt").read_text().splitlines():
        kind, *fields = line.split()
        if kind == "period":
            periods[fields[0]] = np.frombuffer(bytes.fromhex(fields[1]), dtypes.NUMPY[fields[0]])
        elif kind == "case":
            dtype, extents, values_of_point, stream = fields
            shape = tuple(int(extent) for extent in extents.split("x"))
            values = np.resize(periods[dtype], shape)
            if len(shape) > 1 and shape[-1] * values.itemsize > LORENZO_ROW_BYTES:
                continue  # in a frame this is more than one chunk
            words = (int(values_of_point), bytes.fromhex(stream))
            cases.append(Case(f"lorenzo:tuple={values_of_point}", dtype, values, *words))
    return cases


def read_ndzip() -> list[Case]:
    periods: dict[str, np.ndarray] = {}
    cases = []
    for line in (VECTORS / "ndzip.txt").read_text().splitlines():
        kind, *fields = line.split()
        if kind == "period":
            periods[fields[0]] = np.frombuffer(bytes.fromhex(fields[1]), dtypes.NUMPY[fields[0]])
        elif kind == "case":
            dtype, extents, stream = fields
            shape = tuple(int(extent) for extent in extents.split("x"))
            values = np.resize(periods[dtype], shape)
            cases.append(Case("ndzip", dtype, values, 0, bytes.fromhex(stream)))
    return cases


def read_expack() -> list[Case]:
    periods: dict[tuple[str, str], np.ndarray] = {}
    cases = []
    for line in (VECTORS / "expack-1d.txt").read_text().splitlines():
        kind, *fields = line.split()
        if kind == "period":
            name, dtype, values = fields
            periods[name, dtype] = np.frombuffer(bytes.fromhex(values), dtypes.NUMPY[dtype])
        elif kind == "case":
            name, dtype, count, mode, stream = fields
            values = np.resize(periods[name, dtype], int(count))
            spec = f"expack:mode={('auto', 'fixed', 'entropy')[int(mode)]}"
            cases.append(Case(spec, dtype, values, int(mode), bytes.fromhex(stream)))
    return cases


def read_ans() -> list[Case]:
    periods: dict[tuple[str, str], np.ndarray] = {}
    cases = []
    for line in (VECTORS / "ans.txt").read_text().splitlines():
        kind, *fields = line.split()
        if kind == "period":
            name, dtype, values = fields
            periods[name, dtype] = np.frombuffer(bytes.fromhex(values), dtypes.NUMPY[dtype])
        elif kind == "case":
            name, dtype, count, values_of_point, stream = fields
            values = np.resize(periods[name, dtype], int(count))
            words = (int(values_of_point), bytes.fromhex(stream))
            cases.append(Case(f"ans:tuple={values_of_point}", dtype, values, *words))
    return cases


def blockq_spec(parameter: int) -> str:
    """The options of a parameter, as spec/codec-blockq.md has its bits."""
    words = [("bits=8", "bits=4", "format=e4m3")[parameter & 3]]
    words.append(f"block={32 << (parameter >> 2 & 3)}")
    words += ["scale=e8m0"] * (parameter >> 4 & 1) + ["hadamard=1"] * (parameter >> 5 & 1)
    words += ["round=stochastic", f"seed={parameter >> 32}"] if parameter >> 6 & 1 else []
    return "blockq:" + ",".join(words)


def read_blockq() -> list[Case]:
    """Those of an array's first chunk."""
    periods: dict[str, np.ndarray] = {}
    cases = []
    for line in (VECTORS / "blockq.txt").read_text().splitlines():
        kind, *fields = line.split()
        if kind == "period":
            item = {"f32": np.float32}.get(fields[0], np.uint16)
            periods[fields[0]] = np.frombuffer(bytes.fromhex(fields[1]), item)
        elif kind == "case" and fields[3] == "0":
            dtype, count, parameter, _, stream, decoded = fields
            values = np.resize(periods[dtype], int(count))
            spec = blockq_spec(int(parameter))
            hexes = (bytes.fromhex(stream), None, bytes.fromhex(decoded))
            cases.append(Case(spec, dtype, values, int(parameter), *hexes))
    return cases


def read_zfp() -> list[Case]:
    return [case for path in sorted(VECTORS.glob("zfp-?d-*.txt")) for case in read_zfp_file(path)]


def read_zfp_file(path: Path) -> list[Case]:
    dtype = path.stem.rpartition("-")[2]
    period, cases = np.zeros(0), []
    for line in path.read_text().splitlines():
        kind, *fields = line.split()
        if kind == "period":
            period = np.frombuffer(bytes.fromhex(fields[0]), dtypes.NUMPY[dtype])
        elif kind == "case":
            extents, rate, decoded_hash, stream = fields
            shape = tuple(int(extent) for extent in extents.split("x"))
            values = np.resize(period, shape)
            words = (int(rate), bytes.fromhex(stream), int(decoded_hash, 16))
            cases.append(Case(f"zfp:rate={int(rate) / 64}", dtype, values, *words))
    return cases


def read_szp() -> list[Case]:
    """Those that have a payload and say what comes of it."""
    periods: dict[str, np.ndarray] = {}
    cases = []
    for line in (VECTORS / "szp.txt").read_text().splitlines():
        kind, *fields = line.split()
        if kind == "period":
            periods[fields[0]] = np.frombuffer(bytes.fromhex(fields[1]), dtypes.NUMPY[fields[0]])
        elif kind == "case" and fields[-1] != "raw":
            dtype, extents, bound_hex, decoded_hash, stream = fields
            values = np.resize(periods[dtype], tuple(map(int, extents.split("x"))))
            cases.append(szp_case(dtype, values, bound_hex, stream, int(decoded_hash, 16)))
        elif kind == "flat" and fields[-1].startswith("0020"):
            dtype, count, bound_hex, value, stream = fields
            one = np.frombuffer(bytes.fromhex(value), dtypes.NUMPY[dtype])
            cases.append(szp_case(dtype, np.resize(one, int(count)), bound_hex, stream))
    return cases


def szp_case(
    dtype: str, values: np.ndarray, bound_hex: str, stream: str, decoded_hash: int | None = None
) -> Case:
    word = bytes.fromhex(bound_hex)
    spec = f"szp:abs={float(np.frombuffer(word, np.float64)[0])!r}"
    payload = b"" if stream == "-" else bytes.fromhex(stream)
    return Case(spec, dtype, values, int.from_bytes(word, "little"), payload, decoded_hash)


def fnv1a(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def zfp_chunk_bytes(case: Case) -> int:
    """Of every chunk but the last, as spec/codec-zfp.md cuts them."""
    shape, itemsize = case.values.shape, case.values.itemsize
    header = 9 if case.dtype == "f32" else 12
    block_bits = max(int(4 ** len(shape) * case.parameter / 64 + 0.5), header)
    if len(shape) == 1:
        return 16384 // 4 * block_bits // 8
    blocks = math.prod(math.ceil(extent / 4) for extent in shape[1:])
    plane_bytes = math.prod(shape[1:]) * itemsize
    step = 64 // math.gcd(64, blocks * block_bits)
    layers = step * math.ceil(math.ceil(65536 / (4 * plane_bytes)) / step)
    return layers * blocks * block_bits // 8


def frame_of(case: Case) -> np.ndarray:
    """The case's stream in a frame, cut into the codec's chunks."""
    name = case.name
    size = zfp_chunk_bytes(case) if name == "zfp" else len(case.stream)
    payloads = [case.stream[at : at + size] for at in range(0, len(case.stream), size)]
    return frame_bytes.build(name, case.dtype, case.values.shape, case.parameter, payloads)


def encoded_on_gpu(case: Case) -> np.ndarray:
    codec, shape = Codec(case.spec), shape_struct(case.dtype, case.values.shape)
    source, frame = DeviceBuffer(case.values), DeviceBuffer(bound(codec, shape))
    status, written = encode(codec, shape, source.address, frame.address, frame.nbytes)
    assert status == 0
    return frame.read()[:written]


@pytest.mark.parametrize(
    ("read", "least"),
    [
        (read_mpc, 26),
        (read_lorenzo, 30),
        (read_expack, 133),
        (read_zfp, 120),
        (read_ndzip, 14),
        (read_blockq, 38),
        (read_szp, 17),
        (read_ans, 280),
    ],
)
def test_decoded(read, least: int) -> None:
    """Payloads longer than their values are refused, but those of codecs of fixed size."""
    fixed = {row.name for row in codecs() if row.fixed_size}
    cases = read()
    assert len(cases) >= least
    for case in cases:
        frame, out = frame_of(case), DeviceBuffer(case.values.nbytes)
        status = decode(DeviceBuffer(frame).address, frame.size, out.address, out.nbytes)
        refused = case.name not in fixed and len(case.stream) > case.values.nbytes
        assert status == (library().TW_DAMAGED if refused else 0), (
            f"{case.spec}, {case.values.size} values"
        )
        if refused:
            continue
        if case.decoded_hash is None:
            assert out.read().tobytes() == (case.decoded or case.values.tobytes())
        else:
            assert fnv1a(out.read().tobytes()) == case.decoded_hash


@pytest.mark.parametrize(
    ("read", "least"),
    [
        (read_mpc, 2),
        (read_lorenzo, 2),
        (read_expack, 40),
        (read_zfp, 20),
        (read_ndzip, 2),
        (read_blockq, 20),
        (read_szp, 10),
        (read_ans, 120),
    ],
)
def test_encoded(read, least: int) -> None:
    """Those whose frame is smaller than the array; the others become raw frames."""
    identity = {row.name: row.id for row in codecs()}
    seen = 0
    for case in read():
        frame = encoded_on_gpu(case)
        if frame[frame_bytes.CODEC_AT] != identity[case.spec.partition(":")[0]]:
            continue
        assert b"".join(frame_bytes.payloads_of(frame)) == case.stream, case.spec
        seen += 1
    assert seen >= least, "hardly a vector was encoded"


def test_the_checksum_is_the_specs() -> None:
    data = bytes(index % 251 for index in range(5000))
    expected = {1: 0xD130E3CBA3ECBBA7, 1024: 0xAC139EE961C4E74C, 5000: 0x5B8C77AAF66B0E07}
    for length, value in expected.items():
        assert frame_bytes.checksum(data[:length]) == value
