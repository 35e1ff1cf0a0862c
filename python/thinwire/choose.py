"""Whether compressing calls of one kind pays, by what they took both ways: the library's own rule,
as the preload libraries have it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from thinwire.library import check, ffi, ffi_new, library, new_struct, set_numbers

_LONGEST = 9e9  # seconds: three hundred years
_TIMES = ("raw", "compressed", "raw_mean", "compressed_mean")


@dataclass(frozen=True)
class Turn:
    """How one call goes. `timed`: `took()` waits for what it takes; `in_round`: of a timing round,
    some of whose calls go each way."""

    compressed: bool
    timed: bool
    in_round: bool


class Chooser:
    """Findings about the calls of one kind. One thread at a time.

    `once`: what is decided first holds. `begins_compressed`: calls before the first timing round
    are compressed, too. `free_timing`: timing costs nothing. `calls`: of each way in a round.
    """

    def __init__(
        self,
        *,
        once: bool = False,
        begins_compressed: bool = False,
        free_timing: bool = False,
        calls: int = 8,
    ) -> None:
        options = new_struct("tw_chooser_options")
        options.once, options.begins_compressed = once, begins_compressed
        options.free_timing = free_timing
        set_numbers(options, calls=calls)
        out = ffi_new("tw_chooser **")
        lib = library()
        check(lib.tw_chooser_create(options, out))
        self._handle = ffi.gc(out[0], lib.tw_chooser_destroy)
        self._facts, self._turn = new_struct("tw_chooser_facts"), new_struct("tw_chooser_turn")

    def next(self, raw: float, compressed: float, *, pays: bool = True) -> Turn:
        """The turn of the next call, which is predicted to take so many seconds either way."""
        self._facts.raw_seconds, self._facts.compressed_seconds = raw, compressed
        self._facts.pays = pays
        check(library().tw_chooser_next(self._handle, self._facts, self._turn))
        turn = self._turn
        return Turn(bool(turn.compressed), bool(turn.timed), bool(turn.in_round))

    def took(self, compressed: bool, seconds: float) -> None:
        """A timed call took so long; what is shorter than the clock's step counts as that."""
        nanoseconds = max(1, round(1e9 * min(seconds, _LONGEST)))
        check(library().tw_chooser_took(self._handle, compressed, nanoseconds))

    def own(self) -> list[float]:
        """Nanoseconds as measured here since ranks last agreed, four numbers: the ranks agree on
        the largest of each."""
        times = new_struct("tw_chooser_times")
        check(library().tw_chooser_own(self._handle, times))
        return [float(getattr(times, name)) for name in _TIMES]

    def adopt(self, largest: Sequence[float]) -> None:
        """What the ranks agreed on, as is due."""
        times = new_struct("tw_chooser_times")
        numbers = zip(_TIMES, largest, strict=True)
        set_numbers(times, **{name: min(int(number), 2**63) for name, number in numbers})
        check(library().tw_chooser_adopt(self._handle, times))

    @property
    def due(self) -> bool:
        """Whether `adopt()` comes before the next turn."""
        return bool(self._state().due)

    @property
    def rounds(self) -> int:
        """How many timing rounds were decided."""
        return int(self._state().rounds)

    @property
    def compresses(self) -> bool:
        """Whether calls go compressed, by the last of these."""
        return bool(self._state().compressed)

    def _state(self) -> Any:
        state = new_struct("tw_chooser_state")
        check(library().tw_chooser_describe(self._handle, state))
        return state


class Retry:
    """Attempts after some were in vain: none is skipped after the first of these in a row, then
    ever more, below 64. One thread at a time."""

    def __init__(self) -> None:
        self._state = ffi_new("tw_retry *")

    def next(self) -> bool:
        """Whether the next attempt is worth it."""
        return bool(library().tw_retry_next(self._state))

    def tell(self, succeeded: bool) -> None:
        library().tw_retry_tell(self._state, succeeded)
