"""Which codec to use for an array and a link: the candidates, measured, against sending raw."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import numpy as np

from thinwire.bench import specs
from thinwire.bench.codec import Buffers, measure
from thinwire.bench.samples import Sample
from thinwire.bench.steps import Step
from thinwire.codec import Codec, CodecInfo, codecs
from thinwire.library import ThinwireError

RUNS = 5
RAW = "raw"


@dataclass(frozen=True)
class Asked:
    """What the user wants to know: a link in bytes per second, the sizes of messages, and the
    error that is allowed, as in "rel=1e-3"; None for none."""

    link: float
    sizes: list[int]
    error: str | None


@dataclass(frozen=True)
class Candidate:
    """One codec on messages of one size. Seconds of the message in series: encode, send, decode;
    without the start-up that raw messages have as well. `shape` is that of the message;
    `order0_ratio` depends on its values alone. `pays_below_gb_per_second` is the link below which
    it beats raw. `usable` where the values are verified, smaller, and within what is allowed; else
    `note` says why not."""

    codec: str
    shape: str
    bytes: int
    lossless: bool
    ratio: float | None
    order0_ratio: float | None
    encode_gb_per_second: float | None
    decode_gb_per_second: float | None
    max_error: float | None
    error_over_allowed: float | None
    psnr: float | None
    raw_seconds: float
    seconds: float | None
    speedup: float | None
    pays_below_gb_per_second: float | None
    usable: bool
    note: str
    verified: bool


@dataclass(frozen=True)
class Advice:
    """What to do with messages of one size: `codec` is "raw" where nothing is faster; `spec` says
    it with the shape, for settings, and is "off" then."""

    bytes: int
    codec: str
    spec: str
    raw_seconds: float
    seconds: float
    sentence: str


def candidates(
    dtype: str, error: str | None, on_gpu: bool, skipped: Callable[[str], None]
) -> list[Codec]:
    """Lossless codecs; where an error is named also those that keep a bound, with that bound, and
    the others at their usual settings. `skipped` hears of codecs that cannot run here. ValueError
    for what is no such error."""
    if error is not None and not specs.is_bound(error):
        raise ValueError(f"'{error}' is no error bound: abs=<number> or rel=<share of the range>")
    usual: dict[str, list[Codec]] = {}
    for spec in specs.default_specs(on_gpu, skipped):
        usual.setdefault(spec.partition(":")[0], []).append(Codec(spec))
    found = []
    for info in codecs():
        if dtype not in info.dtypes or info.name == RAW or info.name not in usual:
            continue
        if info.lossless:
            found += usual[info.name]
        elif error is not None:
            bounded = _with_bound(info, error)
            found += [bounded] if bounded else usual[info.name]
    return found


def _with_bound(info: CodecInfo, error: str) -> Codec | None:
    try:
        return Codec(f"{info.name}:{error}")
    except ThinwireError:
        return None


def of_size(sample: Sample, nbytes: int) -> Sample:
    """The array cut or repeated along its slowest axis to about `nbytes`, at least one plane, which
    is then no volume."""
    plane = sample.values[0].nbytes
    count = max(1, nbytes // plane)
    values = np.ascontiguousarray(sample.values[np.arange(count) % len(sample.values)])
    return replace(sample, values=values[0] if count == 1 and values.ndim > 1 else values)


def measure_all(
    sample: Sample,
    found: list[Codec],
    asked: Asked,
    place: Buffers,
    progress: Callable[[int], AbstractContextManager[Step]],
) -> Iterator[Candidate]:
    """Every candidate at every size, in each shape that makes a difference to it."""
    jobs = [
        (codec, variant)
        for message in (of_size(sample, nbytes) for nbytes in asked.sizes)
        for codec in found
        for variant in specs.variants(message, specs.row_of(codec))
    ]
    with progress(len(jobs)) as step:
        for codec, variant in jobs:
            with step(f"{codec.spec} on {variant.shape_text}"):
                yield _measure(codec, variant, asked, place)


def _measure(codec: Codec, message: Sample, asked: Asked, place: Buffers) -> Candidate:
    row = measure(codec, message, RUNS, place)
    raw_seconds = row.bytes / asked.link
    allowed = None
    if asked.error and row.range is not None:
        allowed = specs.bound_of(f"x:{asked.error}", row.range)
    lossless = specs.row_of(codec).lossless
    note = row.note
    if row.verified and not note:
        assert row.ratio is not None
        note = _why_not(row.ratio, row.max_error, lossless, allowed)
    seconds = pays_below = None
    if row.verified and row.ratio:
        assert row.encode_gb_per_second is not None and row.decode_gb_per_second is not None
        codec_seconds = (
            row.bytes / 1e9 * (1 / row.encode_gb_per_second + 1 / row.decode_gb_per_second)
        )
        seconds = codec_seconds + raw_seconds / row.ratio
        pays_below = row.bytes * (1 - 1 / row.ratio) / codec_seconds / 1e9
    over_allowed = None
    if allowed and not lossless and row.max_error is not None:
        over_allowed = row.max_error / allowed
    return Candidate(
        codec=row.codec,
        shape=row.shape,
        bytes=row.bytes,
        lossless=lossless,
        ratio=row.ratio,
        order0_ratio=row.order0_ratio,
        encode_gb_per_second=row.encode_gb_per_second,
        decode_gb_per_second=row.decode_gb_per_second,
        max_error=row.max_error,
        error_over_allowed=over_allowed,
        psnr=row.psnr,
        raw_seconds=raw_seconds,
        seconds=seconds,
        speedup=raw_seconds / seconds if seconds else None,
        pays_below_gb_per_second=max(0.0, pays_below) if pays_below is not None else None,
        usable=row.verified and not note,
        note=note,
        verified=row.verified,
    )


def _why_not(ratio: float, error: float | None, lossless: bool, allowed: float | None) -> str:
    if ratio <= 1:
        return "does not shrink"
    if lossless:
        return ""
    within = allowed is not None and error is not None and specs.is_within(error, allowed)
    return "" if within else "misses it"


def advise(found: list[Candidate]) -> list[Advice]:
    """The fastest usable candidate of each size, or raw."""
    return [
        _advise_one([each for each in found if each.bytes == nbytes])
        for nbytes in dict.fromkeys(each.bytes for each in found)
    ]


def _advise_one(found: list[Candidate]) -> Advice:
    raw = found[0].raw_seconds
    usable = sorted((each for each in found if each.usable), key=lambda each: each.seconds or 0)
    size = f"{found[0].bytes} bytes"
    if not usable:
        words = f"{size}: send them raw: no candidate makes these values smaller as asked"
        return Advice(found[0].bytes, RAW, "off", raw, raw, words)
    best = usable[0]
    assert best.seconds is not None
    if best.seconds >= raw:
        quickest = max(usable, key=lambda each: each.pays_below_gb_per_second or 0)
        fastest_link = 8 * (quickest.pays_below_gb_per_second or 0)
        words = (
            f"{size}: send them raw: {_time(raw)}; the best codec, {best.codec}, would take "
            f"{_time(best.seconds)}. Compression pays below {fastest_link:.3g} Gbit/s, "
            f"by {_with_shape(quickest)}."
        )
        return Advice(found[0].bytes, RAW, "off", raw, raw, words)
    spec = _with_shape(best)
    words = (
        f"{size}: use {spec}: {_time(best.seconds)} instead of {_time(raw)} raw, "
        f"{best.speedup:.2f} times as fast, ratio {best.ratio:.3f}"
    )
    words += ", lossless." if best.lossless else f", largest error {best.max_error:.3g}."
    return Advice(best.bytes, best.codec, spec, raw, best.seconds, words)


def _with_shape(best: Candidate) -> str:
    """The spec that codes messages of any number of planes in this shape."""
    _, *others = best.shape.split("x")
    if not others:
        return best.codec
    joint = "," if ":" in best.codec else ":"
    return f"{best.codec}{joint}shape={'x'.join(['?', *others])}"


def _time(seconds: float) -> str:
    units = (("s", 1), ("ms", 1e3), ("us", 1e6))
    unit, scale = next((pair for pair in units if seconds * pair[1] >= 1), units[-1])
    return f"{seconds * scale:.3g} {unit}"
