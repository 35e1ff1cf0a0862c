"""How soon the choice is right again after a link has changed under a running program."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from ways import NATIVE, Say, Turns, Way

from thinwire.bench.programs import LabPlace
from thinwire.lab import Lab

WANTED_MESSAGES = 20
# So many right ones in a row: a try now and then is part of a right choice.
IN_A_ROW = 8
PAIRS = 8


@dataclass(frozen=True)
class Change:
    """A link that changed. `right` is whichever way was faster at the new rate, paired messages
    of both ways, and `gain` by how much. `until_right`: messages of the guarded job before the
    first of eight right ones in a row; None: it never got there."""

    before: str
    after: str
    codec: str
    bytes: int
    right: str
    gain: float
    until_right: int | None
    choices: str  # a letter a message: C compressed, . raw
    drops: int

    @property
    def within(self) -> bool:
        return self.until_right is not None and self.until_right <= WANTED_MESSAGES


def until_right(compressed: Sequence[bool], right: bool) -> int | None:
    """How many messages come before the first of IN_A_ROW right ones in a row."""
    run = 0
    for at, each in enumerate(compressed):
        run = run + 1 if each == right else 0
        if run == IN_A_ROW:
            return at + 1 - IN_A_ROW
    return None


def write_field(path: Path, nbytes: int) -> None:
    """fp32 that a lossless codec makes about a fifth smaller: a smooth curve with noise."""
    places = np.arange(nbytes // 4)
    noise = np.random.default_rng(1).normal(size=places.size) * 0.2
    (np.sin(places * 1e-3) + 2.5 + noise).astype(np.float32).tofile(path)


def measure(
    rates: Sequence[str], spec: str, file: Path, nbytes: int, messages: int, say: Say
) -> list[Change]:
    """One job goes through all rates one after another, `messages` at each; the first is not
    counted, as no rate was known before it. Which way is right is found out by two other jobs,
    which send after the messages of each rate."""
    found: list[Change] = []
    forced = Way("forced", spec, forced=True)
    with Lab(hosts=2, link=rates[0]) as lab:
        place = LabPlace(lab)
        with (
            Turns(place, [Way("guarded", spec)], [file], nbytes) as guarded,
            Turns(place, [NATIVE, forced], [file], nbytes) as both,
        ):
            for before, after in zip([None, *rates], rates, strict=False):
                lab.set_link(after)
                sent = [guarded.send(nbytes)["guarded"].compressed for _ in range(messages)]
                pairs = [both.send(nbytes) for _ in range(PAIRS)]
                ratio = median(pair["forced"].seconds / pair["native"].seconds for pair in pairs)
                if before is None:
                    continue
                choices = "".join("C" if each else "." for each in sent)
                right = "compressed" if ratio < 1 else "raw"
                gain = max(ratio, 1 / ratio)
                until = until_right(sent, ratio < 1)
                say(f"link from {before} to {after}: {choices}, right is {right}")
                found.append(
                    Change(before, after, spec, nbytes, right, gain, until, choices, lab.drops())
                )
    return found
