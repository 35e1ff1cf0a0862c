"""Interrupts during calls into the library."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def at_once() -> Iterator[None]:
    """For calls that take long and leave nothing half-done: an interrupt ends the process.
    Python would look for it only after the call."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # not where the caller has it ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
