"""A process of pytest that runs some of the tests, seen from the scheduler."""

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PLUGIN = "gpu_tests_worker"
HERE = Path(__file__).resolve().parent


class WorkerProcess:
    """`gpus` is its CUDA_VISIBLE_DEVICES; None leaves that as it is."""

    def __init__(
        self,
        number: int,
        gpus: str | None,
        pytest: Sequence[str],
        settings: dict[str, str],
        log: Path,
    ) -> None:
        self.gpus = gpus
        self.log = log
        self.running: str | None = None  # the test under way
        self.waiting: list[str] = []  # those handed to it that are not begun
        self.idle = False
        self._read = bytearray()
        theirs_in, self._orders = os.pipe()
        self.answers, theirs_out = os.pipe()
        words = ["-p", PLUGIN, f"--worker={theirs_in},{theirs_out}"]
        with open(log, "wb") as output:
            self._process = subprocess.Popen(
                [*pytest, *words],
                env=_environment(settings, number, gpus),
                cwd=HERE.parent.parent,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=(theirs_in, theirs_out),
                start_new_session=True,
            )
        os.close(theirs_in)
        os.close(theirs_out)

    def hand(self, names: list[str]) -> None:
        self.waiting += names
        self.idle = False
        with contextlib.suppress(BrokenPipeError):  # its end is read from the other pipe
            os.write(self._orders, (json.dumps(names) + "\n").encode())

    def heard(self) -> list[dict[str, Any]] | None:
        """What it has said since; None once it has ended."""
        read = os.read(self.answers, 1 << 20)
        if not read:
            return None
        self._read += read
        *lines, rest = bytes(self._read).split(b"\n")
        self._read = bytearray(rest)
        return [json.loads(line) for line in lines]

    def dismiss(self) -> None:
        """Let it end in order: it tears down what tests share."""
        if self._orders >= 0:
            os.close(self._orders)
        self._orders = -1

    @property
    def in_order(self) -> bool:
        return self._orders < 0

    def stop(self) -> None:
        """As from the keyboard: tests end what they have started."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def ended(self, patience: float) -> str:
        """Waits so long, then kills it and what it has started; returns how it ended."""
        self.dismiss()
        try:
            code = self._process.wait(timeout=max(patience, 0.01))
        except subprocess.TimeoutExpired:
            for process in [*_below(self._process.pid), self._process.pid]:
                _kill(process)
            code = self._process.wait()
        os.close(self.answers)
        tail = self.log.read_text(errors="replace")[-2000:]
        return f"the process of pytest ended with {code}\n{tail}"


def _environment(settings: dict[str, str], number: int, gpus: str | None) -> dict[str, str]:
    """Named as pytest-xdist names its workers, so that tests have folders of their own."""
    path = os.pathsep.join(filter(None, [str(HERE), settings.get("PYTHONPATH")]))
    own = {"PYTEST_XDIST_WORKER": f"gw{number}", "PYTHONPATH": path}
    if gpus is not None:
        own["CUDA_VISIBLE_DEVICES"] = gpus
    return settings | own


def _below(process: int) -> list[int]:
    """Its children and theirs."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(entry.parent.name))
    found = list(children.get(process, []))
    for each in found:
        found += children.get(each, [])
    return found


def _kill(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # it has ended by itself
        os.kill(process, signal.SIGKILL)
