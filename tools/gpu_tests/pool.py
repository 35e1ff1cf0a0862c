"""Tests, what came of them, and those that some processes share."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

# Tests are handed out in chunks, so that what a file's tests share is made seldom.
LARGEST_CHUNK = 24


@dataclass
class Outcome:
    outcome: str  # passed, failed, skipped
    text: str = ""
    seconds: float = 0
    again: str = ""  # of a failed test: what came of it alone


@dataclass
class Test:
    name: str
    path: str
    marks: frozenset[str]


@dataclass
class Pool:
    """Processes and the tests that they share. `views` has for each what it sees of GPUs."""

    views: Sequence[str | None]
    takes: Callable[[Test], bool]
    chunks: deque[list[str]] = field(default_factory=deque)

    def fill(self, tests: Sequence[Test]) -> None:
        """Files of few tests first: their tests are the long ones."""
        files: dict[str, list[str]] = {}
        for test in tests:
            if self.takes(test):
                files.setdefault(test.path, []).append(test.name)
        for names in sorted(files.values(), key=len):
            size = max(1, min(LARGEST_CHUNK, len(names) // (4 * len(self.views))))
            self.chunks += [names[at : at + size] for at in range(0, len(names), size)]
