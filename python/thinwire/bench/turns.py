"""A job of raw_turns: it lives as long as the measure and sends a message when asked."""

import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import IO, Any, Self

from thinwire.bench.programs import BenchError, Place, RunError, result_lines

START_SECONDS = 60.0
END_SECONDS = 60.0


class Job:
    """As a context manager: the job runs inside the `with`. An error inside ends it at once."""

    def __init__(self, place: Place, command: list[str]) -> None:
        self._place = place
        self._command = command
        self._started = False

    def __enter__(self) -> Self:
        self._said: IO[str] = tempfile.TemporaryFile("w+")
        self._scratch = tempfile.TemporaryDirectory(prefix="tw-", ignore_cleanup_errors=True)
        try:
            self._process = self._place.start(self._command, self._said, self._scratch.name)
        except FileNotFoundError as error:
            self._close()
            raise BenchError(f"there is no {error.filename} on PATH") from error
        return self

    @property
    def exit_code(self) -> int | None:
        """None while the job runs."""
        return self._process.poll()

    def turn(self, nbytes: int, timeout: float, file: int = 0) -> dict[str, Any]:
        """One message, of the values of one of the program's files if it has any; what the
        program says about it. RunError if it says nothing."""
        assert self._process.stdin is not None and self._process.stdout is not None
        if not self._started:
            timeout += START_SECONDS
        self._started = True
        with self._killed_after(timeout):
            try:
                self._process.stdin.write(f"{nbytes} {file}\n")
                self._process.stdin.flush()
                line = self._process.stdout.readline()
            except BrokenPipeError:
                line = ""
        said = result_lines(line)
        if not said:
            raise self._failure(line)
        return said[0]

    def end(self) -> None:
        """Has the job end by itself, so that the shim writes its report."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        with self._killed_after(END_SECONDS):
            code = self._process.wait()
        # 1 is of messages that did not verify, and each said so.
        if code not in (0, 1):
            raise self._failure("")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self.end()
        finally:
            self._stop()
            self._close()

    def _close(self) -> None:
        self._said.close()
        self._scratch.cleanup()

    def _stop(self) -> None:
        if self._process.poll() is None:
            # The launcher takes its ranks with it when it has time to.
            self._process.terminate()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None and not pipe.closed:
                pipe.close()

    @contextmanager
    def _killed_after(self, seconds: float) -> Iterator[None]:
        timer = threading.Timer(seconds, self._process.terminate)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _failure(self, line: str) -> RunError:
        self._said.seek(0)
        said = (line + self._said.read()).strip()[-1500:] or "no output, or too late"
        return RunError(f"{' '.join(self._command)}: {said}")
