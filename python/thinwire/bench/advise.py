"""Which codec to use for an array and a link, if any, by the candidates that were measured."""

from dataclasses import dataclass

from thinwire.bench.candidates import RAW, Candidate


@dataclass(frozen=True)
class Advice:
    """What to do with messages of one size: `codec` is "raw" if nothing is faster; `spec` says
    it with the shape, for settings, and is "off" then."""

    bytes: int
    codec: str
    spec: str
    raw_seconds: float
    seconds: float
    sentence: str


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
