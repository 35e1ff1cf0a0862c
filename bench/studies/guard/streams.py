"""Streams of messages under the library's choice: beside every way that an oracle could choose, and
beside native ones if nothing is to be gained."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from ways import NATIVE, Message, Say, Turns, Way

from thinwire.bench.programs import Place

# The first messages find out what the link and the codecs are.
SETTLING = 20
WANTED_OF_ORACLE = 1.05
WANTED_OF_RAW = 1.02
WANTED_OF_RAW_95 = 1.05
WANTED_OF_BEST = 0.9
WANTED_OFF = 0.15
WANTED_SHARE = 0.9
LEAST_PREDICTED_BYTES = 1 << 20


@dataclass(frozen=True)
class Mixed:
    """A stream that shrinks and does not, by turns of `block` messages. `of_oracle`: its time by
    that of the oracle, which sends each kind the way whose median was least. Of `messages`, without
    the first ones."""

    link: str
    bytes: int
    block: int
    messages: int
    shrinking: str  # the oracle's way for what shrinks, and for what does not
    noise: str
    of_oracle: float
    of_native: float
    compressed_shrinking: float  # shares of messages
    compressed_noise: float

    @property
    def within(self) -> bool:
        return self.of_oracle <= WANTED_OF_ORACLE


@dataclass(frozen=True)
class Plain:
    """A field under `thinwire run` with nothing stated, from its first message on. `of_best`: what
    its messages would have taken the best way of all, native or a lossless codec by order, by what
    they took."""

    link: str
    field: str
    bytes: int
    messages: int
    best: str
    of_best: float
    of_native: float
    compressed: float  # share

    @property
    def within(self) -> bool:
        return self.of_best >= WANTED_OF_BEST


@dataclass(frozen=True)
class Noise:
    """Incompressible values under a codec: paired ratios of guarded to native time."""

    link: str
    call: str
    codec: str
    bytes: int
    pairs: int
    ratio: float
    ratio_95: float
    compressed: int

    @property
    def within(self) -> bool:
        return self.ratio <= WANTED_OF_RAW and self.ratio_95 <= WANTED_OF_RAW_95


@dataclass(frozen=True)
class Predictions:
    """How far off predictions of messages of 1 MiB and more were."""

    link: str
    what: str
    messages: int
    within_15: float  # share
    median_off: float  # of fact by prediction, less 1

    @property
    def within(self) -> bool:
        return self.within_15 >= WANTED_SHARE


def mixed(
    place: Place, codecs: Sequence[str], files: Sequence[Path], nbytes: int, block: int, blocks: int
) -> tuple[Mixed, list[Message]]:
    """Of two files: what shrinks, and what does not. Also the guarded job's messages."""
    forced = [Way(spec, spec, forced=True) for spec in codecs]
    with Turns(place, [NATIVE, Way("guarded", "auto"), *forced], files, nbytes) as turns:
        sent = [turns.send(nbytes, at // block % 2) for at in range(block * blocks)][SETTLING:]
    best = {kind: _best([each for each in sent if each["native"].file == kind]) for kind in (0, 1)}
    guarded = [each["guarded"] for each in sent]
    oracle = sum(each[best[each["native"].file]].seconds for each in sent)
    total = sum(each.seconds for each in guarded)
    shares = [_share([each.compressed for each in guarded if each.file == kind]) for kind in (0, 1)]
    native = sum(each["native"].seconds for each in sent)
    row = Mixed(
        place.name,
        nbytes,
        block,
        len(sent),
        best[0],
        best[1],
        total / oracle,
        total / native,
        *shares,
    )
    return row, guarded


def plain(
    place: Place, codecs: Sequence[str], file: Path, nbytes: int, messages: int, say: Say
) -> Plain:
    """Of one field."""
    forced = [Way(spec, spec, forced=True) for spec in codecs]
    with Turns(place, [NATIVE, Way("guarded", "auto"), *forced], [file], nbytes) as turns:
        sent = [turns.send(nbytes) for _ in range(messages)]
    totals = {name: sum(each[name].seconds for each in sent) for name in sent[0]}
    took = totals.pop("guarded")
    best = min(totals, key=lambda name: totals[name])
    share = _share([each["guarded"].compressed for each in sent])
    row = Plain(
        place.name,
        file.name,
        nbytes,
        messages,
        best,
        totals[best] / took,
        took / totals["native"],
        share,
    )
    say(f"{place.name}, {file.name}: {row.of_best:.3f} of {best}, {row.of_native:.3f} of native")
    return row


def noise(
    place: Place,
    codecs: Sequence[str],
    file: Path,
    nbytes: int,
    pairs: int,
    say: Say,
    broadcasts: bool = False,
) -> tuple[list[Noise], list[Message]]:
    """Each codec has jobs of its own. Also the guarded jobs' messages."""
    rows, all_sent = [], []
    call = "broadcast" if broadcasts else "message"
    for spec in codecs:
        ways = [NATIVE, Way("guarded", spec)]
        with Turns(place, ways, [file], nbytes, broadcasts) as turns:
            sent = [turns.send(nbytes) for _ in range(SETTLING + pairs)][SETTLING:]
        ratios = [each["guarded"].seconds / each["native"].seconds for each in sent]
        compressed = sum(each["guarded"].compressed for each in sent)
        row = Noise(
            place.name,
            call,
            spec,
            nbytes,
            pairs,
            median(ratios),
            quantiles(ratios, n=20)[-1],
            compressed,
        )
        say(f"{place.name}, {call}, {spec}: {row.ratio:.3f}, 95% below {row.ratio_95:.3f}")
        rows.append(row)
        all_sent += [each["guarded"] for each in sent]
    return rows, all_sent


def predictions(link: str, what: str, sent: Sequence[Message]) -> Predictions:
    """Of messages for which one was made."""
    off = [
        each.seconds / each.predicted - 1
        for each in sent
        if each.predicted > 0 and each.bytes >= LEAST_PREDICTED_BYTES
    ]
    close = [abs(each) <= WANTED_OFF for each in off]
    return Predictions(link, what, len(off), _share(close), median(off) if off else float("nan"))


def _best(sent: Sequence[dict[str, Message]]) -> str:
    """The way whose median is least; the library's own choice is none of the oracle's."""
    names = [name for name in sent[0] if name != "guarded"]
    return min(names, key=lambda name: median(each[name].seconds for each in sent))


def _share(of: Sequence[bool]) -> float:
    return sum(of) / len(of) if of else 0.0
