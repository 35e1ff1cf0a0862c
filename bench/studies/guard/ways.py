"""Ways of sending the same messages over one link, which take turns message by message."""

import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from thinwire.bench.programs import Place, find_program, under_shim
from thinwire.bench.turns import Job

TIME_LIMIT = 60.0
# Bytes that a bucket lets through at full speed after a pause go ahead of each message, twice.
BURSTS_AHEAD = 2


class NotVerifiedError(Exception):
    """A message came out different: there are no figures then."""


@dataclass(frozen=True)
class Way:
    """As a job is started: natively (no codec), by the library's choice, or by order."""

    name: str
    spec: str | None = None
    forced: bool = False


NATIVE = Way("native")


@dataclass(frozen=True)
class Message:
    """What became of one; `predicted` is 0 if nothing was predicted."""

    bytes: int
    file: int
    seconds: float
    predicted: float
    compressed: bool


class Turns:
    """As a context manager: a job a way, all of the same files, which live inside the `with`. Each
    sends messages, or calls MPI_Bcast if it `broadcasts`."""

    def __init__(
        self,
        place: Place,
        ways: Sequence[Way],
        files: Sequence[Path],
        largest: int,
        broadcasts: bool = False,
    ) -> None:
        self._place, self._ways, self._files, self._largest = place, ways, files, largest
        self._options = ["--bcast"] if broadcasts else []
        self._number = 0

    def __enter__(self) -> Self:
        self._stack = ExitStack()
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="thinwire-")))
            self._jobs = {
                way.name: stack.enter_context(Job(self._place, self._command(way, folder)))
                for way in self._ways
            }
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def send(self, nbytes: int, file: int = 0) -> dict[str, Message]:
        """One message each way. Who goes first changes, for whatever it does to the next."""
        first = self._number % len(self._ways)
        self._number += 1
        order = [*self._ways[first:], *self._ways[:first]]
        return {way.name: self._send(way.name, nbytes, file) for way in order}

    def _send(self, name: str, nbytes: int, file: int) -> Message:
        said = self._jobs[name].turn(nbytes, TIME_LIMIT, file)
        if not said["verified"]:
            raise NotVerifiedError(f"{name}: a message of {nbytes} bytes came out different")
        return Message(nbytes, file, said["seconds"], said["predicted"], said["compressed"])

    def _command(self, way: Way, folder: Path) -> list[str]:
        filler = BURSTS_AHEAD * self._place.burst_bytes
        program = [str(find_program("raw_turns", None)), *self._options]
        program += [str(self._largest), str(filler)]
        command = ["mpirun", "-n", "2", *program, *map(str, self._files)]
        if way.spec is None:
            return command
        options = ["--same-node"] if self._place.same_node else []
        report = folder / f"{way.name}.json".replace(":", "-").replace("=", "-")
        return under_shim(way.spec, report, options, command, force=way.forced)


Say = Callable[[str], Any]
