"""A job's line in the system's log."""

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


def test_a_line_has_no_more_than_daemons_take(tmp_path: Path) -> None:
    reasons = {f"{letter}{300 * chr(0x1F600)}": 1 for letter in "abcdef"}
    found = job(tmp_path, mpi_report(raw_by_reason=reasons))
    found.job = 128 * "\u00e9"
    made = line.line(found).encode()
    assert line.MOST_LINE - 4 < len(made) <= line.MOST_LINE
