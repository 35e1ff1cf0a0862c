"""The caller's side of the conversation with a lab's process, and starting one."""

import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from .errors import LabError, LabUnavailable
from .serve import COUNTERS, KEEP, SET_LINK

# Time that a lab's process gets to end by itself after its owner has hung up.
_SECONDS_TO_END = 1.5
_START = Path(__file__).with_name("start_lab_process.py")


class Connection:
    """An open line to a lab's process; `description` is what it said about the lab."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._lines = link.makefile("rb")
        self.description = self._receive()

    def counters(self) -> list[dict[str, Any]]:
        """The counters of every interface of the lab, as `shaping.read_counters` names them."""
        return self._ask(COUNTERS)

    def set_link(self, link: str) -> None:
        """Gives every link that rate, which `parse_link` takes."""
        self._ask(SET_LINK + link.encode() + b"\n")

    def keep(self) -> None:
        """Has the lab outlive this connection; for the one who started it with a listener."""
        self._ask(KEEP)

    def close(self) -> None:
        """Hangs up; the process of a lab that does not persist then ends."""
        # Shut down first: a forked child may still have the descriptor.
        with suppress(OSError):
            self._link.shutdown(socket.SHUT_RDWR)
        self._lines.close()
        self._link.close()

    def _ask(self, request: bytes) -> Any:
        try:
            self._link.sendall(request)
        except OSError as error:
            raise LabError("the lab has ended") from error
        return self._receive()

    def _receive(self) -> Any:
        line = self._lines.readline()
        if not line:
            raise LabError("the lab has ended")
        message = json.loads(line)
        if isinstance(message, dict) and "unavailable" in message:
            raise LabUnavailable(message["unavailable"])
        if isinstance(message, dict) and "failed" in message:
            raise LabError(message["failed"])
        return message


def start_lab_process(
    options: dict[str, Any], listener: socket.socket | None = None
) -> tuple[subprocess.Popen[bytes], Connection]:
    """Starts a lab's process and waits for the lab; with a listener, it can be told to `keep` it.

    Raises LabUnavailable where the machine does not permit a lab.
    """
    ours, theirs = socket.socketpair()
    passed = [theirs, *([listener] if listener else [])]
    options = {**options, "owner": theirs.fileno(), "persistent": listener is not None}
    if listener:
        options["listener"] = listener.fileno()
    # The caller's preloads are for its command alone.
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    with theirs:
        process = subprocess.Popen(
            [sys.executable, str(_START), json.dumps(options)],
            pass_fds=[each.fileno() for each in passed],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            # One that is kept must not keep the caller's output open as well.
            stderr=subprocess.DEVNULL if listener else None,
            # Ctrl-C is for the command; the lab has to outlive it.
            start_new_session=True,
        )
    try:
        return process, Connection(ours)
    except BaseException:
        # Shut down, as a Connection that was not completed may still hold the descriptor.
        with suppress(OSError):
            ours.shutdown(socket.SHUT_RDWR)
        ours.close()
        end_lab_process(process)
        raise


def end_lab_process(process: subprocess.Popen[bytes]) -> None:
    """Waits for a lab's process whose owner has hung up; it is killed, with all that it holds, if
    it takes long or the caller is interrupted meanwhile."""
    try:
        process.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        _kill(process)
    except BaseException:
        _kill(process)
        raise


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def connect(path: Path) -> Connection:
    """Opens a line to the process of a lab that persists."""
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        link.connect(str(path))
    except OSError as error:
        link.close()
        raise LabError(f"the lab does not answer on {path}") from error
    return Connection(link)


def listen(path: Path) -> socket.socket:
    """A listener for a lab's process to inherit, so that others can `connect` to it at `path`."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        listener.listen(16)
    except OSError as error:
        listener.close()
        raise LabError(f"cannot listen on {path}: {error.strerror}") from error
    return listener
