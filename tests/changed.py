"""Files of JSON lines with something wrong in them, by a seed; and a limit of time for a reader."""

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

# `make fuzz` asks for more, of each reader, and gives each so many seconds of the processor.
CASES = int(os.environ.get("FUZZ_CASES", "1500"))
# `make test` gives readers a third of those changes that no coverage guides.
UNGUIDED = CASES // 3 if "THINWIRE_TEST_BRIEF" in os.environ else CASES
MOST_SECONDS = float(os.environ.get("FUZZ_READER_SECONDS", "inf"))

NASTY: list[Any] = [
    None, True, False, 0, -1, 1, 63, 64, 2**31, 2**53 + 1, 2**63, 2**64, 2**70, -(2**63), 10**400,
    0.5, -0.0, 1e308, -1e308, 1e-320, float("nan"), float("inf"), -float("inf"), "", "send", "x",
    "\ud800", "\0", "<script>", "9" * 5000, "nan", [], [[]], [1], [0, 1], {}, {"line": 1},
    {"a": {"b": {}}}, [[2**70, 1]], "x" * 70000,
]  # fmt: skip


class Hangs(BaseException):
    """A reader that takes longer than its limit; no reader catches it."""


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raises Hangs if the body takes longer of the processor: a machine with other work stalls."""

    def ring(_signal: int, _frame: object) -> None:
        raise Hangs

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def within(most_memory: int | None, *words: str | Path) -> list[str]:
    """The command `thinwire WORDS`, with so many bytes of addresses if that is not None."""
    command = [sys.executable, "-m", "thinwire", *map(str, words)]
    return command if most_memory is None else ["prlimit", f"--as={most_memory}", *command]


def seeds(what: str) -> Iterator[int]:
    """One for each changed file that a reader is to get; says in the end how many there were."""
    start, done = time.process_time(), 0
    while done < UNGUIDED and time.process_time() - start < MOST_SECONDS:
        yield done
        done += 1
    print(f"{what}: {done} changed, {time.process_time() - start:.0f} s of the processor")


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every container and key in it that holds something."""
    keys: list[Any] = []
    if isinstance(value, dict):
        keys = list(value)
    elif isinstance(value, list):
        keys = list(range(len(value)))
    found = [(value, key) for key in keys]
    return found + [place for key in keys for place in _places(value[key])]


def _change_value(lines: list[Any], chance: random.Random) -> None:
    places = _places(chance.choice(lines))
    if not places:
        return
    holder, key = chance.choice(places)
    way = chance.randrange(5)
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(holder, list):
        holder.insert(key, deepcopy(chance.choice(NASTY)))
    elif way == 2 and isinstance(holder, dict):
        holder[chance.choice(["calls", "sizes", "\ud800", "rules", "peer", "x"])] = holder[key]
    else:
        holder[key] = deepcopy(chance.choice(NASTY))


def _change_text(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text))
    way = chance.randrange(4)
    if way == 0:
        return text[:at]
    if way == 1:
        return text[:at] + chance.choice('0[]{}",:-e\n\0\x80') + text[at + 1 :]
    if way == 2:
        return text[:at] + "[" * 3000 + text[at:]
    rows = text.split("\n")
    row = rows.pop(chance.randrange(len(rows)))
    return "\n".join([*rows[: at % len(rows)], row, *rows[at % len(rows) :]])


def changed(lines: Callable[[], list[Any]], seed: int) -> str:
    """The lines as a file's text, with one to three changes; `lines` makes them anew."""
    chance = random.Random(seed)
    made = lines()
    if chance.randrange(4):
        for _ in range(chance.randint(1, 3)):
            _change_value(made, chance)
        return "".join(json.dumps(line) + "\n" for line in made)
    return _change_text("".join(json.dumps(line) + "\n" for line in made), chance)
