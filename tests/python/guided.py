"""Fuzzing of readers in Python that is guided by coverage: an input that reaches steps from line to
line that none before has reached is kept, and changed in its turn."""

import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from changed import MOST_SECONDS, Hangs, limit

import thinwire

PACKAGE = str(Path(thinwire.__file__).parent)
LONGEST = 1 << 16
ENDS = [0, 1, 0x7F, 0x80, 0xFF]
WORDS = [
    b"null", b"-1", b"1e999", b"NaN", b"9" * 400, b"18446744073709551616", b"0.5", b"[]", b"{}",
    b'"\\ud800"', b'"\\u0000"', b"[" * 2000, b"true", b'""', b"|", b"\n", b"\0", b"\xff\xfe",
    b"../", b",", b":", b'"', b"x", b"=",
]  # fmt: skip

Step = tuple[CodeType, int, int]


class Guided:
    """`read` takes a file's bytes and raises nothing but what makes the input a find."""

    def __init__(self, read: Callable[[bytes], object], seeds: Sequence[bytes], seed: int = 1):
        self._read = read
        self._chance = random.Random(seed)
        self._seen: set[Step] = set()
        self.kept: list[bytes] = []
        for each in seeds:
            self._try(each)

    def run(self, cases: int) -> int:
        """Tries so many inputs, or as many as there is time for, and returns how many;
        AssertionError with the first find."""
        start = time.process_time()
        for done in range(cases):
            if time.process_time() - start >= MOST_SECONDS:
                return done
            self._try(self._changed())
        return cases

    @property
    def steps(self) -> int:
        """How many steps from line to line were reached."""
        return len(self._seen)

    def _try(self, data: bytes) -> None:
        before = len(self._seen)
        sys.settrace(self._entered)
        try:
            with limit(10):
                self._read(data)
        except (Exception, Hangs) as error:
            raise AssertionError(f"{data[:3000]!r}: {error!r}") from error
        finally:
            sys.settrace(None)
        if len(self._seen) > before or not self.kept:
            self.kept.append(data)

    def _entered(self, frame: FrameType, _event: str, _argument: object) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        code, last = frame.f_code, 0

        def at_line(inner: FrameType, event: str, _argument: object) -> Any:
            nonlocal last
            if event == "line":
                self._seen.add((code, last, inner.f_lineno))
                last = inner.f_lineno
            return at_line

        return at_line

    def _changed(self) -> bytes:
        chance = self._chance
        # The newest more often: what they have reached was not changed yet.
        at = max(chance.randrange(len(self.kept)), chance.randrange(len(self.kept)))
        data = bytearray(self.kept[at])
        for _ in range(chance.randint(1, 4)):
            self._change(data)
        return bytes(data[:LONGEST])

    def _change(self, data: bytearray) -> None:
        chance = self._chance
        at = chance.randrange(len(data) + 1)
        length = min(chance.choice([1, 1, 2, 4, 8, 30]), len(data) - at)
        way = chance.randrange(6)
        if way == 0 and length:
            data[at] ^= 1 << chance.randrange(8)
        elif way == 1:
            data[at : at + length] = bytes([chance.choice(ENDS)]) * length
        elif way == 2:
            data[at : at + chance.choice([0, length])] = chance.choice(WORDS)
        elif way == 3:
            del data[at : at + length]
        elif way == 4:
            other = chance.choice(self.kept)
            start = chance.randrange(len(other) + 1)
            data[at : at + length] = other[start : start + chance.choice([8, 40, 400])]
        else:
            rows = bytes(data).split(b"\n")
            row = rows.pop(chance.randrange(len(rows)))
            rows.insert(chance.randrange(len(rows) + 1), row)
            data[:] = b"\n".join(rows)
