"""Collectives of the library over MPI beside the MPI's own, in turns over the same link."""

import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thinwire.bench.programs import BenchError, Place, mpi_is_gpu_aware, run_program
from thinwire.bench.samples import Sample
from thinwire.launch import find_program
from thinwire.library import transport_library

SLOWEST_BYTES_PER_SECOND = 20e6  # assumed of an unshaped link, for the time limit alone

Progress = Callable[[str], AbstractContextManager[None]]


@dataclass(frozen=True)
class CollectiveSession:
    """What is run over each link: every operation at every size (bytes: of the array in bcast,
    reduce and allreduce, else of one rank's block) with every codec, algorithm and coding. `piece`
    is the bytes coded and sent at a time, 0 where that is planned.

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
    """The program's lines, one for each operation, size and case. Raises BenchError where a
    program does not run."""
    lines = []
    with tempfile.TemporaryDirectory(prefix="thinwire-bench-") as folder:
        path = Path(folder) / f"data.{session.data.dtype}"
        session.data.values.tofile(path)
        for operation in session.operations:
            words = f"{place.name}: {operation} on {session.ranks} ranks"
            with session.progress(words):
                command = _command(place, session, operation, path)
                lines += run_program(place, command, _time_limit(place, session))
    return lines


def transport_of(program: Path) -> Path:
    """The library that carries bytes over the program's MPI; BenchError where there is none."""
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
        # The MPI's own operation at its best: on the device arrays where it takes them.
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
