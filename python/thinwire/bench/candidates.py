"""What codecs come to on an array and a link: candidates for advice, measured."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from thinwire.bench import specs
from thinwire.bench.codec import Buffers, measure
from thinwire.bench.samples import Sample, merged_shapes, of_size
from thinwire.bench.steps import Step
from thinwire.codec import Codec, CodecInfo, codecs
from thinwire.library import ThinwireError
from thinwire.message import compress, inspect

RUNS = 5
# Candidates this near to the fastest are measured again: a machine that is busy for a moment must
# not decide between them.
NEAR, ROUNDS = 1.25, 2
CALLS = f"{RUNS} calls, of {RUNS * (1 + ROUNDS)} for those near the best"
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
    it beats raw. `usable` if the values are verified, smaller, and within what is allowed; else
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


def codecs_for(
    dtype: str, error: str | None, on_gpu: bool, skipped: Callable[[str], None]
) -> list[Codec]:
    """Lossless codecs; if an error is named also those that keep a bound, with that bound, and
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


def with_fill_of(sample: Sample, found: list[Codec]) -> list[Codec]:
    """The lossy ones with the fill value of the array, if it has one: without it they destroy the
    other values, or decline, or are held to a range that reaches up to it."""
    fill = specs.fill_of(sample) if any(not specs.row_of(each).lossless for each in found) else ""
    return [
        Codec(specs.with_fill(each.spec, fill)) if fill and _takes_fill(each) else each
        for each in found
    ]


def _takes_fill(codec: Codec) -> bool:
    row = specs.row_of(codec)
    return not row.lossless and not row.gpu_only


def _with_bound(info: CodecInfo, error: str) -> Codec | None:
    try:
        return Codec(f"{info.name}:{error}")
    except ThinwireError:
        return None


Job = tuple[Codec, Sample]


def measure_all(
    sample: Sample,
    found: list[Codec],
    asked: Asked,
    place: Buffers,
    progress: Callable[[int], AbstractContextManager[Step]],
) -> list[Candidate]:
    """Every candidate at every size, in each shape that makes a difference to it; those that come
    out near the fastest of their size more than once, by turns."""
    jobs = [
        (codec, variant)
        for message in (of_size(sample, nbytes) for nbytes in asked.sizes)
        for codec in [*found, *_also_chosen(message, found)]
        for variant in _variants(message, specs.row_of(codec))
    ]
    measured = _measure_each(jobs, asked, place, progress)
    near = _near_the_fastest(measured)
    for _ in range(ROUNDS if len(near) > len(asked.sizes) else 0):
        again = _measure_each([jobs[at] for at in near], asked, place, progress)
        for at, candidate in zip(near, again, strict=True):
            measured[at] = _faster(measured[at], candidate, asked)
    return measured


def _also_chosen(message: Sample, found: list[Codec]) -> list[Codec]:
    """What "lossless" makes of the message, if it has an option that the others of its name do
    not have: it looks for more strides."""
    codec = Codec(inspect(compress(message.values, specs.LOSSLESS, dtype=message.dtype)).spec)
    others = {each.spec for each in found}
    of_its_name = {
        spec for spec in others if spec.partition(":")[0] == codec.spec.partition(":")[0]
    }
    return [codec] if of_its_name and codec.spec not in others else []


def _variants(message: Sample, info: CodecInfo) -> list[Sample]:
    """Lossless codecs also in the shapes in which some axes count as one: a volume may be better
    off as planes."""
    usual = specs.variants(message, info)
    if len(usual) == 1 or not info.lossless:
        return usual
    known = {each.values.shape for each in usual}
    merged = merged_shapes(message.values.shape, info.max_rank)
    return [*usual, *(message.in_shape(shape) for shape in merged if shape not in known)]


def _measure_each(
    jobs: list[Job],
    asked: Asked,
    place: Buffers,
    progress: Callable[[int], AbstractContextManager[Step]],
) -> list[Candidate]:
    rows = []
    with progress(len(jobs)) as step:
        for codec, variant in jobs:
            with step(f"{codec.spec} on {variant.shape_text}"):
                rows.append(_measure(codec, variant, asked, place))
    return rows


def _near_the_fastest(measured: list[Candidate]) -> list[int]:
    """Their places in the list."""
    fastest: dict[int, float] = {}
    for each in measured:
        if each.usable and each.seconds is not None:
            fastest[each.bytes] = min(each.seconds, fastest.get(each.bytes, each.seconds))
    return [
        at
        for at, each in enumerate(measured)
        if each.usable and (each.seconds or 0) <= NEAR * fastest[each.bytes]
    ]


def _faster(one: Candidate, other: Candidate, asked: Asked) -> Candidate:
    """One candidate measured twice, with the better of its rates; `other` as it is if that
    could not be verified."""
    if not other.verified:
        return other
    assert one.encode_gb_per_second and one.decode_gb_per_second and one.ratio
    assert other.encode_gb_per_second and other.decode_gb_per_second
    encode = max(one.encode_gb_per_second, other.encode_gb_per_second)
    decode = max(one.decode_gb_per_second, other.decode_gb_per_second)
    times: dict[str, Any] = _times(one.bytes, one.ratio, encode, decode, asked.link)
    return replace(one, encode_gb_per_second=encode, decode_gb_per_second=decode, **times)


def _times(
    nbytes: int, ratio: float, encode: float, decode: float, link: float
) -> dict[str, float]:
    """What a message takes; `link` is in bytes per second, the codec's rates in GB/s."""
    codec_seconds = nbytes / 1e9 * (1 / encode + 1 / decode)
    seconds = codec_seconds + nbytes / link / ratio
    return {
        "seconds": seconds,
        "speedup": nbytes / link / seconds,
        "pays_below_gb_per_second": max(0.0, nbytes * (1 - 1 / ratio) / codec_seconds / 1e9),
    }


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
    times: dict[str, float] = {}
    if row.verified and row.ratio:
        encode, decode = row.encode_gb_per_second, row.decode_gb_per_second
        assert encode is not None and decode is not None
        times = _times(row.bytes, row.ratio, encode, decode, asked.link)
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
        seconds=times.get("seconds"),
        speedup=times.get("speedup"),
        pays_below_gb_per_second=times.get("pays_below_gb_per_second"),
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
