"""Passing signals on to a child that does the work. Standard library only."""

import os
import signal
from contextlib import suppress
from types import FrameType

_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)
_FROM_THE_KEYBOARD = (signal.SIGINT, signal.SIGQUIT)


def forward_signals(*children: int) -> None:
    """From now on, signals that would end this process go to `children` instead.

    The terminal sends Ctrl-C to the whole foreground group, so they have had that one
    already; a second copy would make mpirun give up its orderly end.
    """

    def forward(number: int, frame: FrameType | None) -> None:
        if number in _FROM_THE_KEYBOARD and _in_foreground():
            return
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, number)

    for number in _FORWARDED:
        signal.signal(number, forward)


def _in_foreground() -> bool:
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    finally:
        os.close(terminal)
