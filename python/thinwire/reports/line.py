"""A job in one line, for people and for the system's log."""

import socket
from pathlib import Path

from thinwire.reports.merge import Merged

SOCKET = Path("/dev/log")
MOST_LINE = 960  # bytes: daemons may cut what is longer than 1024 with their own part
_REASONS = 3
_INFORMATION, _WARNING = 6, 4
_USER = 1 << 3  # the facility


def line(merged: Merged) -> str:
    """Words as NAME=VALUE; in quotes what may have spaces. If texts are too long together, reasons
    are left out, those of the fewest calls first, then the codec, then the job: figures never."""
    words = _words(merged)
    reasons = [f"{why}: {calls}" for why, calls in merged.sums.raw_by_reason().items()][:_REASONS]
    words["raw"] = _quoted(", ".join(reasons))
    while len((made := _joined(words)).encode()) > MOST_LINE:
        if len(reasons) > 1:
            reasons.pop()
            words["raw"] = _quoted(", ".join(reasons))
        else:
            del words[next(name for name in ("raw", "codec", "job") if name in words)]
    return made


def _joined(words: dict[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in words.items())


def _words(merged: Merged) -> dict[str, object]:
    """All but the reasons."""
    sums, all_calls = merged.sums, merged.sums.total()
    words: dict[str, object] = {
        "job": _quoted(merged.job),
        "reports": merged.reports,
        "left_out": merged.left_out,
        "codec": _quoted(sums.codec),
        "calls": all_calls.calls,
        "compressed_calls": all_calls.compressed_calls,
        "bytes": all_calls.bytes,
        "sent_bytes": all_calls.sent_bytes,
        "damaged_messages": sums.damaged_messages,
    }
    # Nothing is known of it of NCCL calls.
    if sums.saved_seconds:
        words["saved_seconds"] = f"{sum(sums.saved_seconds.values()):.6g}"
    return words


def _quoted(text: str) -> str:
    if text and not any(letter in ' "\\=,' for letter in text):
        return text
    inner = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inner}"'


def log(merged: Merged) -> None:
    """Hands the line to the system's log, as of the program `thinwire`: a warning if messages were
    damaged or reports left out, else information. OSError if nothing takes it there."""
    is_bad = merged.left_out or merged.sums.damaged_messages
    priority = _USER | (_WARNING if is_bad else _INFORMATION)
    _send(f"<{priority}>thinwire: {line(merged)}".encode())


def _send(message: bytes) -> None:
    """By datagrams as nearly all daemons take them, else by a stream."""
    for kind, end in ((socket.SOCK_DGRAM, b""), (socket.SOCK_STREAM, b"\n")):
        with socket.socket(socket.AF_UNIX, kind) as sender:
            sender.settimeout(5)
            try:
                sender.connect(str(SOCKET))
            except OSError as error:
                if kind == socket.SOCK_DGRAM and SOCKET.is_socket():
                    continue
                raise OSError(error.errno, error.strerror, str(SOCKET)) from error
            sender.sendall(message + end)
            return
