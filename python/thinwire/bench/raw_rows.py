"""The rows of `thinwire bench raw`: how much longer a raw message takes under the shim, at most."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from thinwire.bench.output import failed_row, say
from thinwire.bench.p2p_rows import CREDIBLE_RATE
from thinwire.bench.programs import Place, RunError
from thinwire.bench.raw import RawRuns, RawSession, run_pairs

WANTED_PAIRS = 200
WANTED_BETWEEN_HOSTS = 1.02
WANTED_INSIDE_HOST = 1.05
RESAMPLES = 4000
CONFIDENCE = 0.95
# Scratch and pools grow at the start; what grows with the messages passes this in a short run.
MOST_ALLOCATIONS = 64


@dataclass(frozen=True)
class RawRow:
    """Medians of one size's pairs. `ratio` is that of the pairwise ratios shim/native, and
    `ratio_bound` its upper bound at 95% by bootstrap. Figures are None if the row is not
    verified, and `note` then says why. The counters are those of the last round's job, both ranks:
    so many `messages` of all sizes."""

    link: str
    setting: str
    bytes: int
    pairs: int
    rounds: int
    native_seconds: float | None
    shim_seconds: float | None
    ratio: float | None
    ratio_bound: float | None
    wanted: float | None
    within: bool | None
    messages: int
    receives_in_place: int | None
    continuations: int | None
    allocations: int | None
    verified: bool
    note: str


def upper_bound_of_median(rounds: Sequence[Sequence[float]], *, seed: int = 1) -> float:
    """The median's upper bound at 95%, one-sided: medians of values drawn anew with repetition.

    Rounds, all of one length, are drawn first and then values in each, as the values of a round
    have in common where its jobs lie in memory and on which cores.
    """
    given = np.asarray(rounds, dtype=np.float64)
    if given.size == 0:
        raise ValueError("no values, no median")
    random = np.random.default_rng(seed)
    number, length = given.shape
    which = random.integers(number, size=(RESAMPLES, number, 1))
    drawn = given[which, random.integers(length, size=(RESAMPLES, number, length))]
    return float(np.quantile(np.median(drawn.reshape(RESAMPLES, -1), axis=1), CONFIDENCE))


def measure(place: Place, session: RawSession) -> list[RawRow]:
    """A row a size over one link. Where the jobs fail, each size has jobs of its own."""
    try:
        return make_rows(place, session, run_pairs(place, session))
    except RunError as error:
        say(f"FAILED {place.name}: {error}")
        if len(session.sizes) == 1:
            facts = {"link": place.name, "setting": str(session.setting)}
            return [failed_row(RawRow, error, bytes=session.sizes[0], **facts)]
    alone = [
        replace(session, sizes=(size,), pairs=(pairs,))
        for size, pairs in zip(session.sizes, session.pairs, strict=True)
    ]
    return [row for one in alone for row in measure(place, one)]


def make_rows(place: Place, session: RawSession, runs: RawRuns) -> list[RawRow]:
    """A row a size."""
    common = problems_of_reports(session, runs)
    drops = place.drops()
    if drops:
        common.append(f"{drops} packets dropped")
    rows = []
    for size in session.sizes:
        row = _figures(place, session, runs, size)
        problems = [*common]
        if runs.unverified[size]:
            problems.append(f"{runs.unverified[size]} messages changed on their way")
        if _beats_link(row, place.bytes_per_second):
            problems.append("messages beat the link, is the machine busy?")
        rows.append(_without_figures(row, "; ".join(problems)) if problems else row)
    return rows


def problems_of_reports(session: RawSession, runs: RawRuns) -> list[str]:
    """Whether the shim did what is to be measured, and no more."""
    problems = []
    arrived = runs.messages + runs.fillers
    for report in runs.reports:
        problems += [
            f"{report[name]} {name.replace('_', ' ')}"
            for name in ("compressed_messages", "copied_receives", "receives_through_scratch")
            if report[name]
        ]
        in_place = report["receives_in_place"]
        if session.setting == "prepared" and in_place != arrived:
            problems.append(f"{in_place} receives in place, not {arrived}")
        if report["allocations"] > MOST_ALLOCATIONS:
            problems.append(f"{report['allocations']} allocations for {arrived} receives")
    return list(dict.fromkeys(problems))


def _beats_link(row: RawRow, bytes_per_second: float | None) -> bool:
    """Then the token bucket had filled up before a message, as on a busy machine."""
    if bytes_per_second is None:
        return False
    assert row.native_seconds is not None and row.shim_seconds is not None
    return min(row.native_seconds, row.shim_seconds) < row.bytes / bytes_per_second / CREDIBLE_RATE


def _figures(place: Place, session: RawSession, runs: RawRuns, size: int) -> RawRow:
    times = np.array(runs.pairs[size])  # by round, pair, and native or shim
    native, shim = times[..., 0], times[..., 1]
    ratios = shim / native
    bound = upper_bound_of_median(ratios)
    wanted = WANTED_INSIDE_HOST if place.same_node else WANTED_BETWEEN_HOSTS
    last = runs.reports[-1] if runs.reports else {}
    return RawRow(
        link=place.name,
        setting=session.setting,
        bytes=size,
        pairs=ratios.size,
        rounds=len(ratios),
        native_seconds=float(np.median(native)),
        shim_seconds=float(np.median(shim)),
        ratio=float(np.median(ratios)),
        ratio_bound=bound,
        wanted=wanted,
        within=bound <= wanted,
        messages=runs.messages,
        receives_in_place=last.get("receives_in_place"),
        continuations=last.get("continuations"),
        allocations=last.get("allocations"),
        verified=True,
        note="" if ratios.size >= WANTED_PAIRS else f"fewer than {WANTED_PAIRS} pairs",
    )


def _without_figures(row: RawRow, why: str) -> RawRow:
    return replace(
        row,
        native_seconds=None,
        shim_seconds=None,
        ratio=None,
        ratio_bound=None,
        within=None,
        verified=False,
        note=why,
    )
