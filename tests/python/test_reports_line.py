"""A job's line in the system's log."""

import shlex
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from made_reports import mpi_report, nccl_report
from test_reports import merged, write

from thinwire import reports
from thinwire.reports import line

INFORMATION, WARNING = 14, 12  # of the facility of users


@pytest.fixture
def log(monkeypatch: Any) -> Iterator[Path]:
    """A path short enough for a socket, which stands for /dev/log."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        path = Path(folder) / "log"
        monkeypatch.setattr(line, "SOCKET", path)
        yield path


def job(tmp_path: Path, report: dict[str, Any]) -> reports.Merged:
    return merged(write(tmp_path / "a", report))


def test_a_daemon_of_datagrams_gets_one_line(log: Path, tmp_path: Path) -> None:
    sound = job(tmp_path, nccl_report(0))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as daemon:
        daemon.settimeout(10)
        daemon.bind(str(log))
        line.log(sound)
        assert daemon.recv(4096) == f"<{INFORMATION}>thinwire: {line.line(sound)}".encode()
        line.log(job(tmp_path, mpi_report(damaged_messages=1)))
        assert daemon.recv(4096).startswith(f"<{WARNING}>thinwire: job=job ".encode())
        line.log(reports.Merged("job", left_out=1))
        assert daemon.recv(4096).startswith(f"<{WARNING}>".encode())


def test_a_daemon_of_a_stream_gets_one_line(log: Path, tmp_path: Path) -> None:
    sound = job(tmp_path, nccl_report(0))
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as daemon:
        daemon.settimeout(10)
        daemon.bind(str(log))
        daemon.listen()
        line.log(sound)
        connection, _ = daemon.accept()
        with connection:
            connection.settimeout(10)
            taken = connection.makefile("rb").read()
    assert taken == f"<{INFORMATION}>thinwire: {line.line(sound)}\n".encode()


@pytest.mark.parametrize("is_left_over", [False, True])
def test_nobody_who_takes_it_is_an_error(log: Path, is_left_over: bool, tmp_path: Path) -> None:
    """syslog(3) would lose the line without a word."""
    if is_left_over:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as gone:
            gone.bind(str(log))
    with pytest.raises(OSError) as raised:
        line.log(job(tmp_path, nccl_report(0)))
    assert raised.value.filename == str(log)


FACE = chr(0x1F600)  # four bytes


@pytest.mark.parametrize(
    ("letters", "of_job", "of_codec", "left"),
    [
        (40, "a", "mpc", "jcr3"),
        (80, "a", "mpc", "jcr2"),
        (128, "a", "mpc", "jcr1"),
        (128, 100 * FACE, "mpc", "jc"),
        (128, 128 * FACE, 60 * FACE, "jc"),
        (128, 128 * FACE, 128 * FACE, "j"),
    ],
    ids=["all", "two reasons", "a reason", "no reason", "nor a reason", "nor a codec"],
)
def test_a_line_has_no_more_than_daemons_take(
    letters: int, of_job: str, of_codec: str, left: str, tmp_path: Path
) -> None:
    """Of texts that are too long together some are left out whole, and no figure."""
    reasons = {f"{letter} {300 * FACE}"[:letters]: 9 - at for at, letter in enumerate("abcdef")}
    found = job(tmp_path, mpi_report(codec=of_codec, raw_by_reason=reasons))
    found.job = of_job
    made = line.line(found)
    assert len(made.encode()) <= line.MOST_LINE
    words = dict(word.split("=", 1) for word in shlex.split(made))
    assert words["saved_seconds"] == "1.375" and words["damaged_messages"] == "1"
    found_left = "".join(name[0] for name in ("job", "codec", "raw") if name in words)
    assert found_left + (str(words["raw"].count(": ")) if "raw" in words else "") == left
    assert made.startswith("job=") and (" raw=" not in made or made.endswith('"'))
