"""Which codecs are measured, what they promise, and in which shapes they get an array."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from thinwire import dtypes
from thinwire.bench.samples import Sample, folded, to_float
from thinwire.codec import Codec, CodecInfo, codecs
from thinwire.message import MessageInfo, compress, inspect

AUTO = "auto"
LOSSLESS = "lossless"

# Beside the registry's example of each codec: the rates and bounds that rivals were measured at,
# and the strides in which values return that come in tuples.
EXTRAS = {
    "ans": ("tuple=0", "tuple=3"),
    "blockq": ("bits=4", "format=e4m3", "format=mxfp8"),
    "cast": ("to=fp16",),
    "expack": ("mode=fixed", "mode=entropy"),
    "lorenzo": ("tuple=2", "tuple=3"),
    "mpc": ("stride=2", "stride=3", "stride=4", "stride=6"),
    "zfp": ("rate=4", "rate=8", "rate=16"),
    "szp": ("rel=1e-3", "rel=1e-4", "abs=1e-3", "abs=1e-4"),
}
# A NaN comes back as the type's usual one.
_USUAL_NAN = ("cast",)
# Codecs for the sake of the fill value that their frames say, however the others come out.
_FINDS_FILL = {
    "f32": "szp:abs=1e300",
    "f64": "szp:abs=1e300",
    "f16": "blockq:bits=4",
    "bf16": "blockq:bits=4",
}
_ROUNDING = 1 + 2.0**-50  # of a bound that is itself a product


def default_specs(on_gpu: bool, skipped: Callable[[str], None] = lambda why: None) -> list[str]:
    """The example of every codec that runs here, and some more settings of some; `skipped` hears
    of the others. On the CPU "auto" too: enqueued work cannot choose by its data."""
    specs = [] if on_gpu or not Codec(AUTO).ids else [AUTO]
    for info in codecs():
        why = why_not_here(info, on_gpu)
        if why:
            skipped(f"{info.name}: {why}")
            continue
        specs.append(info.example)
        specs += [f"{info.name}:{options}" for options in EXTRAS.get(info.name, ())]
    return list(dict.fromkeys(Codec(spec).spec for spec in specs))


def why_not_here(info: CodecInfo, on_gpu: bool) -> str:
    """Why a codec cannot run on this machine, or not on its CPU; "" if it can."""
    if not on_gpu and info.gpu_only:
        return "it codes arrays in GPU memory alone"
    return info.unavailable


def is_policy(codec: Codec) -> bool:
    """Whether the data chooses the codec: "auto", "lossless"."""
    return codec.spec.partition(":")[0] in (AUTO, LOSSLESS)


def row_of(codec: Codec) -> CodecInfo:
    """The registry's row of a spec, with the types that it takes; of "auto" and "lossless" what
    holds for all they may choose; ValueError for "off", which names no codec."""
    rows = [info for info in codecs() if info.id in codec.ids]
    if not rows:
        raise ValueError(f"{codec.spec!r} names no codec to measure")
    if not is_policy(codec):
        taken_here = tuple(dtype for dtype in rows[0].dtypes if codec.ids_for(dtype))
        return replace(rows[0], dtypes=taken_here)
    taken = {dtype for row in rows for dtype in row.dtypes}
    return replace(
        rows[0],
        name=codec.spec.partition(":")[0],
        lossless=True,
        fixed_size=False,
        dtypes=tuple(dtype for dtype in dtypes.CODES if dtype in taken),
        max_rank=max(row.max_rank for row in rows),
        flat=all(row.flat for row in rows),
    )


def went_raw(codec: Codec, info: MessageInfo) -> bool:
    """Whether a frame is raw under a spec that does not ask for that."""
    return info.codec_id not in codec.ids


def options_of(spec: str) -> dict[str, str]:
    """The options of a spec in its normal form."""
    pairs = (part.partition("=") for part in spec.partition(":")[2].split(",") if part)
    return {name: value for name, _, value in pairs}


def with_fill(spec: str, fill: str) -> str:
    """The spec with that "fill=", in the place of its own; without one if it is ""."""
    name, _, options = spec.partition(":")
    others = [each for each in options.split(",") if each and not each.startswith("fill=")]
    words = ",".join([*others, f"fill={fill}"] if fill else others)
    return f"{name}:{words}" if words else name


def fill_of(sample: Sample) -> str:
    """The fill value that "auto" finds in an array, as a spec says it; "" if there is none. Read
    off a frame, of a codec that declines few arrays of the type."""
    if sample.dtype not in _FINDS_FILL:
        return ""
    values = np.ascontiguousarray(sample.values)
    frame = compress(values, f"{_FINDS_FILL[sample.dtype]},fill=auto", dtype=sample.dtype)
    return options_of(inspect(frame).spec).get("fill", "")


def missing_in(spec: str, sample: Sample) -> np.ndarray:
    """Which values of the array a spec with a "fill=" of its own, not "auto", calls missing."""
    words = sample.values.reshape(-1).view(f"u{sample.values.itemsize}")
    fill = options_of(spec).get("fill")
    if fill is None:
        return np.zeros(words.size, bool)
    if fill == "nan":
        nans = np.flatnonzero(np.isnan(to_float(sample.values.reshape(-1), sample.dtype)))
        return words == words[nans[0]] if nans.size else np.zeros(words.size, bool)
    return words == _word_of(float(fill), sample.dtype)


def _word_of(value: float, dtype: str) -> int:
    """A value's bits in a type, rounded as the core does."""
    with np.errstate(over="ignore"):
        if dtype != "bf16":
            rounded = np.array(value, dtypes.NUMPY[dtype])
            return int(rounded.view(f"u{rounded.itemsize}"))
        word = int(np.float32(value).view(np.uint32))
    return (word + 0x7FFF + (word >> 16 & 1)) >> 16


def variants(sample: Sample, info: CodecInfo) -> list[Sample]:
    """The array as one line, and in its own shape if the codec makes use of that."""
    line = sample.in_shape((sample.values.size,))
    shape = folded(sample.values.shape, info.max_rank)
    alike = len(shape) == 1 or info.flat or info.name == "raw"
    return [line] if alike else [line, sample.in_shape(shape)]


@dataclass(frozen=True)
class Error:
    """What a decoded array differs by. `bound` is the most that the spec allows, None if it
    names none; `range` is largest less smallest of the finite values."""

    largest: float
    range: float
    psnr: float | None  # in dB, of the range; None if nothing differs
    bound: float | None

    @property
    def over_bound(self) -> float | None:
        return self.largest / self.bound if self.bound else None

    @property
    def is_kept(self) -> bool:
        return self.bound is None or is_within(self.largest, self.bound)


def is_within(error: float, bound: float) -> bool:
    return error <= bound * _ROUNDING


def bound_of(spec: str, value_range: float) -> float | None:
    """The absolute error that a spec allows; None if it says nothing of it."""
    options = options_of(spec)
    if "abs" in options:
        return float(options["abs"])
    return float(options["rel"]) * value_range if "rel" in options else None


def is_bound(text: str) -> bool:
    """Whether `text` is one bound, as in "abs=1e-4" or "rel=1e-3"."""
    name, _, value = text.partition("=")
    try:
        return name in ("abs", "rel") and 0 < float(value) < float("inf")
    except ValueError:
        return False


def error_of(spec: str, sample: Sample, decoded: np.ndarray) -> Error:
    """`decoded` has the bytes of what came back. Values that are missing, or not finite, count as
    right if their bits are, and as an infinite error otherwise; the range is that of the others."""
    back = decoded.view(sample.values.dtype).reshape(-1)
    before = sample.values.reshape(-1)
    values = to_float(before, sample.dtype)
    missing = missing_in(spec, sample)
    finite = np.isfinite(values) & ~missing
    span = _range(values[finite])
    bound = bound_of(spec, span)
    if np.array_equal(back.view(np.uint8), before.view(np.uint8)):
        return Error(0.0, span, None, bound)
    words = f"u{before.itemsize}"
    expected = before.view(words)
    if spec.partition(":")[0] in _USUAL_NAN:
        usual = _word_of(float("nan"), sample.dtype)
        expected = np.where(np.isnan(values) & ~missing, usual, expected)
    kept = back[~finite].view(words) == expected[~finite]
    if not kept.all():
        return Error(float("inf"), span, None, bound)
    # Wider than fp64 if there is such a type: the difference of two fp64 values is rounded.
    apart = np.abs(values[finite].astype(np.longdouble) - to_float(back, sample.dtype)[finite])
    apart[np.isnan(apart)] = np.inf
    mean = float(np.sqrt(np.mean(apart * apart)))
    psnr = float(20 * np.log10(span / mean)) if mean and span and np.isfinite(mean) else None
    return Error(float(apart.max(initial=0.0)), span, psnr, bound)


def _range(finite: np.ndarray) -> float:
    """At most the largest number, however far the values are apart."""
    if not finite.size:
        return 0.0
    with np.errstate(over="ignore"):
        return float(min(finite.max() - finite.min(), np.finfo(np.float64).max))
