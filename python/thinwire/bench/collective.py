"""Collectives of the library over MPI beside the MPI's own, in turns over the same link."""

import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from thinwire.bench.output import say
from thinwire.bench.programs import (
    BenchError,
    Place,
    RunError,
    mpi_is_gpu_aware,
    run_program,
)
from thinwire.bench.samples import Sample
from thinwire.launch import find_program
from thinwire.library import transport_library

SLOWEST_BYTES_PER_SECOND = 20e6  # assumed of an unshaped link, for the time limit alone

Progress = Callable[[str], AbstractContextManager[None]]


@dataclass(frozen=True)
class CollectiveSession:
    """What is run over each link: every operation at every size (bytes: of the array in bcast,
    reduce and allreduce, else of one rank's block) with every codec, algorithm and coding. `piece`
    is the bytes coded and sent at a time, 0 if that is planned.

    `data` is repeated to the size; in a reduction rank r contributes it times 1 - r / (2 ranks).
    Where `trusted`, the link is not stated and the codec is held to win.
    """

    program: Path
    operations: tuple[str, ...]
    sizes: tuple[int, ...]
    codecs: tuple[str, ...]
    algorithms: tuple[str, ...]
    codings: tuple[str, ...]
    ranks: int
    root: int
    iterations: int
    threshold: int
    piece: int
    data: Sample
    memory: str
    trusted: bool
    progress: Progress


def run_operations(place: Place, session: CollectiveSession) -> list[dict[str, Any]]:
    """The program's lines, one for each operation, size and case, in this order. A case without
    one, as after a crash of the program, is run again alone; what fails then has a line
    with `failed`. Raises BenchError if nothing can run."""
    lines = []
    with tempfile.TemporaryDirectory(prefix="thinwire-bench-") as folder:
        path = Path(folder) / f"data.{session.data.dtype}"
        session.data.values.tofile(path)
        for operation in session.operations:
            words = f"{place.name}: {operation} on {session.ranks} ranks"
            with session.progress(words):
                lines += _lines_of(place, session, operation, path)
    return lines


Key = tuple[int, str, str, str]


def _lines_of(
    place: Place, session: CollectiveSession, operation: str, path: Path
) -> list[dict[str, Any]]:
    keys: list[Key] = list(
        product(session.sizes, session.codecs, session.algorithms, session.codings)
    )
    found, error = _try(place, session, operation, path)
    missing = [key for key in keys if key not in found]
    if error and missing:
        say(f"FAILED {place.name}: {operation}: {error}")
    for key in missing:
        if len(keys) > 1:
            size, codec, algorithm, coding = key
            alone = replace(
                session, sizes=(size,), codecs=(codec,), algorithms=(algorithm,), codings=(coding,)
            )
            again, error = _try(place, alone, operation, path)
            found |= again
        if key not in found:
            found[key] = _failed_line(session, operation, key, error or "it printed no result")
    return [found[key] for key in keys]


def _try(
    place: Place, session: CollectiveSession, operation: str, path: Path
) -> tuple[dict[Key, dict[str, Any]], str]:
    """The lines of one run, and why there are none or too few."""
    command = _command(place, session, operation, path)
    try:
        lines = run_program(place, command, _time_limit(place, session))
    except RunError as error:
        return {}, str(error)
    named = ("bytes", "codec", "asked_algorithm", "asked_coding")
    found = {tuple(line[name] for name in named): line for line in lines}
    return found, f"{' '.join(command)} ended before its last result"


def _failed_line(
    session: CollectiveSession, operation: str, key: Key, error: str
) -> dict[str, Any]:
    size, codec, algorithm, coding = key
    return {
        "operation": operation,
        "bytes": size,
        "codec": codec,
        "asked_algorithm": algorithm,
        "asked_coding": coding,
        "ranks": session.ranks,
        "nodes": None,
        "memory": session.memory,
        "failed": error,
    }


def transport_of(program: Path) -> Path:
    """The library that carries bytes over the program's MPI; BenchError if there is none."""
    found = find_program([str(program)])
    if found is None or len(found.mpis) != 1:
        raise BenchError(f"{program} shows no one MPI that Thinwire knows")
    (mpi,) = found.mpis
    try:
        return transport_library(mpi)
    except FileNotFoundError as error:
        raise BenchError(str(error)) from error


def _command(place: Place, session: CollectiveSession, operation: str, path: Path) -> list[str]:
    # The second burst makes up for what the first lets through at full speed.
    filler = 2 * place.burst_bytes
    options = {
        "--operations": operation,
        "--sizes": ",".join(map(str, session.sizes)),
        "--algorithms": ",".join(session.algorithms),
        "--codings": ",".join(session.codings),
        "--data": str(path),
        "--dtype": session.data.dtype,
        "--transport": str(transport_of(session.program)),
        "--iterations": str(session.iterations),
        "--root": str(session.root),
        "--threshold": str(session.threshold),
        "--piece": str(session.piece),
        "--filler": str(filler),
        "--memory": session.memory,
        # The MPI's own operation at its best: on the device arrays if it takes them.
        "--native": "device" if session.memory == "device" and mpi_is_gpu_aware() else "staged",
        # On one node nothing would be compressed.
        "--nodes": "apart" if place.same_node else "real",
    }
    if place.bytes_per_second and not session.trusted:
        options["--link"] = f"{place.bytes_per_second:.0f}"
    words = [word for option in options.items() for word in option]
    words += [word for spec in session.codecs for word in ("--codec", spec)]
    return ["mpirun", "-n", str(session.ranks), str(session.program), *words]


def _time_limit(place: Place, session: CollectiveSession) -> float:
    """Seconds after which a run hangs: several times what its bytes need on the busiest link."""
    rate = place.bytes_per_second or SLOWEST_BYTES_PER_SECOND
    cases = 1 + len(session.codecs) * len(session.algorithms) * len(session.codings)
    bytes_of_one = 2 * session.ranks * sum(session.sizes) + 2 * place.burst_bytes
    return 60 + 5 * cases * (session.iterations + 1) * bytes_of_one / rate
