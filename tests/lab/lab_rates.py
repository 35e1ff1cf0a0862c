"""What a link carries, as a busy machine lets it be measured."""

from collections.abc import Callable

MOST_MEASUREMENTS = 3


def best_rate(measure: Callable[[], float], least: float) -> float:
    """The highest of up to three measurements, of which the first to reach `least` is the last.

    What others take of the processor is missing in a transfer's rate and is not the link's doing,
    so one that is too low is measured again. No link carries more for it: an upper limit that
    holds for the highest holds for each.
    """
    rates: list[float] = []
    while len(rates) < MOST_MEASUREMENTS and max(rates, default=0.0) < least:
        rates.append(measure())
    return max(rates)
