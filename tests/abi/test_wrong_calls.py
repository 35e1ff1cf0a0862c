"""Every function of the header, called wrongly: with NULL, and with structs of sizes that are none.
Each has an answer; none ends the process. Every call is made in a process of its own."""

import os
import signal
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import cffi
import pytest
from test_abi import BUILD, TODAY, declarations

ROOM = 1 << 16
NO_SIZES = [0, 4, 12, 4104, 0xFFFFFFFF]
# Calls whose wrong use the header leaves undefined: memory that is not what it is said to be.
NOT_A_HANDLE = {"tw_scratch_release", "tw_copy_finish"}
CRASH = 70
MADE = {"tw_codec", "tw_policy", "tw_comm", "tw_costs", "tw_layout", "tw_chooser"}


@cache
def library() -> tuple[Any, Any]:
    ffi = cffi.FFI()
    ffi.cdef(declarations(TODAY))
    return ffi, ffi.dlopen(str(BUILD / "src" / "capi" / "libthinwire.so.0"))


def functions() -> list[str]:
    ffi, lib = library()
    return [name for name in dir(lib) if not isinstance(getattr(lib, name), int)]


def made(kind: str) -> Any:
    """A handle of that type, or NULL."""
    ffi, lib = library()
    cell = ffi.new(f"{kind} **") if kind in MADE else None
    if kind == "tw_codec":
        assert lib.tw_codec_create(b"mpc", cell) == lib.TW_OK
    elif kind == "tw_policy":
        assert lib.tw_policy_create(b"[[rule]]\ncodec = 'off'\n", b"a", cell) == lib.TW_OK
    elif kind == "tw_costs":
        lines = ["thinwire-costs 1", f"machine: {ffi.string(lib.tw_machine()).decode()}"]
        lines += [f"version: {ffi.string(lib.tw_version()).decode()}"]
        lines += ["mpc:stride=1 f32 1048576 host 4e5 8e5 1.001", "end 1", ""]
        text = "\n".join(lines).encode()
        assert lib.tw_costs_create(text, b"a", cell) == lib.TW_OK
    elif kind == "tw_layout":
        segment = ffi.new("tw_segment *", {"bytes": 4})
        assert lib.tw_layout_create(segment, 1, 8, cell) == lib.TW_OK
    elif kind == "tw_chooser":
        options = ffi.new("tw_chooser_options *", {"calls": 8})
        options.size = ffi.sizeof("tw_chooser_options")
        assert lib.tw_chooser_create(options, cell) == lib.TW_OK
    elif kind == "tw_comm":
        ends = ffi.new("tw_transport[1]")
        ends[0].size = ffi.sizeof("tw_transport")
        assert lib.tw_transport_local(1, ends) == lib.TW_OK
        options = ffi.new("tw_comm_options *", {"size": ffi.sizeof("tw_comm_options")})
        assert lib.tw_comm_create(ends, options, cell) == lib.TW_OK
    return ffi.NULL if cell is None else cell[0]


def has_size(kind: Any) -> bool:
    return kind.kind == "struct" and bool(kind.fields) and kind.fields[0][0] == "size"


def is_pointer(kind: Any) -> bool:
    return kind.kind in ("pointer", "function")


def sound(name: str, kind: Any, keep: list[Any]) -> Any:
    """Something of that type that a caller could have passed."""
    ffi, _ = library()
    if not is_pointer(kind):
        return 0.0 if kind.cname in ("double", "float") else 1
    if kind.item is ffi.typeof("char"):
        keep.append(ffi.new("char[]", b"mpc"))
        return keep[-1]
    if kind.item.kind == "struct" and kind.item.fields is None:
        return made(kind.item.cname)
    if kind.item.kind in ("function", "void") and name in NOT_A_HANDLE:
        return ffi.NULL
    keep.append(ffi.new(f"char[{ROOM}]"))
    if has_size(kind.item):
        ffi.cast("uint32_t *", keep[-1])[0] = ffi.sizeof(kind.item)
    return ffi.cast(kind, keep[-1])


def in_a_process(call: Callable[[], Any]) -> int:
    """How the process ended: with what the call returned as far as it is a number, or with minus
    the number of a signal."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            found = call()
            os._exit(found if isinstance(found, int) and 0 <= found < CRASH else 0)
        except BaseException:
            os._exit(CRASH)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def wrong_calls(name: str) -> Iterator[tuple[str, Callable[[], Any], bool]]:
    """Which, the call, and whether it is to be refused."""
    ffi, lib = library()
    function = getattr(lib, name)
    kinds = ffi.typeof(function).args

    def call(change: Callable[[int, Any], Any]) -> Callable[[], Any]:
        def run() -> Any:
            keep: list[Any] = []
            values = [
                changed if (changed := change(at, kind)) is not None else sound(name, kind, keep)
                for at, kind in enumerate(kinds)
            ]
            return function(*values)

        return run

    numbers: list[Callable[[Any], Any]] = [
        lambda _: 0,
        lambda kind: float("nan") if kind.cname in ("double", "float") else 1,
        lambda kind: (
            -1.0 if kind.cname in ("double", "float") else (1 << (8 * ffi.sizeof(kind) - 1)) - 1
        ),
    ]
    for at, number in enumerate(numbers):
        yield (
            f"NULL and number {at}",
            call(lambda _, kind, n=number: ffi.NULL if is_pointer(kind) else n(kind)),
            False,
        )
    for at, kind in enumerate(kinds):
        if not is_pointer(kind):
            continue
        yield f"NULL for {at}", call(lambda i, _, at=at: ffi.NULL if i == at else None), False
        if not has_size(kind.item):
            continue
        for size in NO_SIZES:

            def sized(i: int, kind: Any, at: int = at, size: int = size) -> Any:
                if i != at:
                    return None
                memory = ffi.gc(ffi.new(f"char[{ROOM}]"), lambda _: None)
                KEPT.append(memory)
                ffi.cast("uint32_t *", memory)[0] = size
                return ffi.cast(kind, memory)

            yield f"size {size} for {at}", call(sized), True


KEPT: list[Any] = []


def is_handle(kind: Any) -> bool:
    return is_pointer(kind) and kind.item.kind == "struct" and kind.item.fields is None


def calls_with_a_destroyed_handle() -> list[tuple[str, int]]:
    """Functions, and which of their arguments."""
    ffi, lib = library()
    return [
        (name, at)
        for name in functions()
        for at, kind in enumerate(ffi.typeof(getattr(lib, name)).args)
        if is_handle(kind) and kind.item.cname in MADE
    ]


@pytest.mark.parametrize(("name", "at"), calls_with_a_destroyed_handle())
def test_a_destroyed_handle_has_an_answer(name: str, at: int) -> None:
    """The one that NULL has; a crash of either is seen by its signal."""
    ffi, lib = library()
    function = getattr(lib, name)
    kinds = ffi.typeof(function).args

    def call(handle: Callable[[str], Any]) -> Callable[[], Any]:
        def run() -> Any:
            keep: list[Any] = []
            values = [sound(name, kind, keep) for kind in kinds]
            values[at] = handle(kinds[at].item.cname)
            found = function(*values)
            if isinstance(found, int):
                return found & 0x3F
            return len(ffi.string(found)) if isinstance(found, ffi.CData) else 0

        return run

    def destroyed(kind: str) -> Any:
        handle = made(kind)
        getattr(lib, f"{kind}_destroy")(handle)
        return handle

    ended = in_a_process(call(destroyed))
    answer = in_a_process(call(lambda _: ffi.NULL)) if not name.endswith("_destroy") else 0
    assert ended == answer, f"{name}: {ended}, of NULL {answer}"
    if ffi.typeof(function).result is ffi.typeof("tw_status"):
        assert ended == lib.TW_INVALID_ARGUMENT


def test_all_types_of_handles_are_tried() -> None:
    ffi, lib = library()
    kinds = {
        kind.item.cname
        for name in functions()
        for kind in ffi.typeof(getattr(lib, name)).args
        if is_handle(kind)
    }
    # A copy needs a GPU; streams need a transport, and tests/capi has them.
    assert kinds - MADE == {"tw_copy", "tw_stream_comm", "tw_stream_plan"}


@pytest.mark.parametrize("name", functions())
def test_a_wrong_call_has_an_answer(name: str) -> None:
    ffi, lib = library()
    answers = ffi.typeof(getattr(lib, name)).result is ffi.typeof("tw_status")
    for what, call, is_refused in wrong_calls(name):
        ended = in_a_process(call)
        assert 0 <= ended < CRASH, f"{name}, {what}: {ended}"
        if answers:
            assert ended <= lib.TW_HOLDS_INTEGERS, f"{name}, {what}: {ended}"
            assert not is_refused or ended != lib.TW_OK, f"{name}, {what}: taken"


def test_every_function_was_called() -> None:
    assert len(functions()) > 80
