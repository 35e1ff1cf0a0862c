"""Signals, as Ctrl-C, that come while a rank waits for others inside the library.

Python runs the handlers of signals in the main thread alone, and there only while it runs code of
Python's: in what the library calls back. What a handler raises there is kept until the library has
returned on the same thread, and raised then.
"""

import ctypes
import threading
from functools import cache
from typing import Any

from thinwire import library
from thinwire.library import ffi, new_struct

_STOP = 8  # TW_INTERNAL


class _Kept(threading.local):
    def __init__(self) -> None:
        self.errors: list[BaseException] = []


_kept = _Kept()


def keep(kind: Any, error: BaseException, trace: Any) -> None:
    """`onerror` of ffi.callback, for the functions of a transport that are Python's; their `error`
    must be a status that is one."""
    _kept.errors.append(error)


def check(status: int) -> None:
    """Raise what was kept in a call of the library, else what its status means."""
    if _kept.errors:
        error = _kept.errors[0]
        _kept.errors.clear()
        raise error
    library.check(status)


@cache
def interrupted() -> Any:
    """The function of tw_comm_options of that name: it ends the wait if a handler has raised."""

    def look(_: Any) -> int:
        ctypes.pythonapi.PyErr_CheckSignals()
        return _STOP if _kept.errors else 0

    kind = dict(ffi.typeof(new_struct("tw_comm_options")).item.fields)["interrupted"].type
    return ffi.callback(kind, look, error=_STOP, onerror=keep)
