"""Collectives that are compressed as a whole."""

import atexit
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Self

from thinwire import dtypes
from thinwire.arrays import DEFAULT_STREAM
from thinwire.codec import Codec
from thinwire.comm.buffers import Buffer
from thinwire.comm.interrupts import check, interrupted
from thinwire.comm.operation_names import algorithms, code_of, codings, operations, reduction_code
from thinwire.comm.operations import Operations
from thinwire.comm.report import CollectiveReport, report_of
from thinwire.comm.transport import Transport, in_threads, is_finalized, nodes_of
from thinwire.gpu import wait_for_stream
from thinwire.library import (
    ffi,
    ffi_new,
    library,
    new_list,
    new_struct,
    parse_link_rate,
    parse_size,
    set_numbers,
)

DEFAULT_THRESHOLD = "64KiB"

# Those over an MPI: to end them is its business too, so nobody does it unasked.
_over_mpi: "set[Communicator]" = set()


class Communicator(Operations):
    """A group of ranks whose collectives are compressed as a whole.

    All ranks must create it together, from an mpi4py communicator or from their end of a
    `Transport`. On each rank one thread at a time may make calls, and all ranks must make them in
    the same order. A call returns when this rank's part is complete; meanwhile it does not hold
    Python's interpreter lock. What the handler of a signal raises while a rank's main thread waits
    for others, as KeyboardInterrupt, ends the wait, except over an MPI; the communicator is of no
    use after that. Use it as a context manager, or call `close()`.
    """

    def __init__(
        self,
        ranks: Any,
        *,
        codec: Codec | str = "auto",
        threshold: int | str = DEFAULT_THRESHOLD,
        link: float | str | None = None,
        nodes: Sequence[int] | None = None,
        piece: int | str | None = None,
        job: bytes | None = None,
        references: int | str | None = None,
    ) -> None:
        """Collective. `codec` is used by calls that name none. Operations on fewer than `threshold`
        bytes ("64KiB", or a number) are not compressed; it counts the array of Bcast, Reduce and
        Allreduce, the blocks of all ranks in the others. `link` is the rate between nodes
        ("10gbit", or bytes per second); if it is None, a codec that is named is assumed to win,
        and "auto" compresses nothing. `nodes` has a number per rank, equal for ranks of one node:
        by default as the MPI says, and a node per rank with other transports. `piece` is how many
        bytes to encode and send at a time; by default the plan chooses. Frames carry a mark made
        from `job`; by default that of files.

        `references` ("256MiB", or a number) is the most host memory that each rank gives to results
        of earlier bcast and allgather calls, against which a lossless codec codes the next ones:
        for arrays that hardly change from call to call. None, the default, keeps none. A step's
        results should fit, as all weights of a model that are gathered; what has no room is coded
        as without. Arrays in GPU memory go without.

        Raises ThinwireError: with TW_VERSION on every rank, naming the difference, if the ranks
        differ in version or in these settings.
        """
        self.last_report: CollectiveReport | None = None
        self._codec = Codec(codec) if isinstance(codec, str) else codec
        transport = ranks if isinstance(ranks, Transport) else Transport.of_mpi(ranks)
        self._keeper = transport
        is_mpi = transport is not ranks
        if is_mpi and nodes is None:
            nodes = nodes_of(ranks)
        options, kept = self._options(threshold, link, nodes, piece, job, transport.ranks)
        set_numbers(options, reference_bytes=_bytes(references or 0))
        # An MPI has no way to withdraw from a wait.
        if not is_mpi:
            options.interrupted = interrupted()
        out = ffi_new("tw_comm **")
        check(library().tw_comm_create(transport.take(), options, out))
        del kept
        self._handle = out[0] if is_mpi else ffi.gc(out[0], _destroying(transport))
        self.rank: int = library().tw_comm_rank(self._handle)
        self.size: int = library().tw_comm_size(self._handle)
        if is_mpi:
            _over_mpi.add(self)

    def _options(
        self,
        threshold: int | str,
        link: float | str | None,
        nodes: Sequence[int] | None,
        piece: int | str | None,
        job: bytes | None,
        ranks: int,
    ) -> tuple[Any, object]:
        """tw_comm_options, and what it points to."""
        options = new_struct("tw_comm_options")
        options.codec = self._codec.handle
        set_numbers(options, threshold=_bytes(threshold), piece_bytes=_bytes(piece or 0))
        if link is not None:
            options.link_bytes_per_second = parse_link_rate(link) if isinstance(link, str) else link
        kept = []
        if nodes is not None:
            if len(nodes) != ranks:
                raise ValueError(f"nodes: {len(nodes)} numbers, where there are {ranks} ranks")
            kept.append(new_list("int32_t", "nodes", nodes))
            options.nodes = kept[-1]
        if job is not None:
            kept.append(ffi.from_buffer(job))
            options.job, options.job_bytes = kept[-1], len(job)
        return options, kept

    def Get_rank(self) -> int:  # noqa: N802, mpi4py's name
        return self.rank

    def Get_size(self) -> int:  # noqa: N802
        return self.size

    @property
    def codec(self) -> Codec:
        """The codec of calls that name none."""
        return self._codec

    def close(self) -> None:
        """Releases the communicator's memory and, over an MPI, its duplicate of the MPI's
        communicator: every rank must call it. A second call does nothing."""
        if self._handle is None:
            return
        handle, self._handle = self._handle, None
        if self not in _over_mpi:
            ffi.release(handle)
            return
        _over_mpi.discard(self)
        if not is_finalized():
            library().tw_comm_destroy(handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Communicator(rank {self.rank} of {self.size}, {self._codec.spec!r})"

    def plan(
        self,
        operation: str,
        count: int,
        *,
        dtype: str = "f32",
        op: Any = None,
        root: int = 0,
        codec: Codec | str | None = None,
        algorithm: str | None = None,
        coding: str | None = None,
    ) -> CollectiveReport:
        """What is chosen for `operation`, as in "allreduce", on `count` elements: of the whole
        array in bcast, reduce and allreduce, of one rank's block in the others. The operation does
        not run. Where a link is stated, the first call with a codec and dtype is collective.
        """
        call = self._call(operation, dtype, op, root, algorithm, coding)
        set_numbers(call, count=count)
        kept = self._set_codec(call, codec)
        report = new_struct("tw_collective_report")
        check(library().tw_comm_plan(self._open(), call, report))
        del kept
        return report_of(report)

    def _run(self, call: Any, buffers: Sequence[Buffer], stream: int | None) -> CollectiveReport:
        """The one way into the library. `call` is all set, on `buffers`, which are kept."""
        handle = self._open()
        for buffer in buffers:
            if buffer.view.gpu is not None:
                number = stream if stream is not None else buffer.view.stream
                if not wait_for_stream(buffer.view.gpu, number or DEFAULT_STREAM):
                    raise RuntimeError(
                        f"{buffer.name}: its stream cannot be waited for; is it being captured?"
                    )
        report = new_struct("tw_collective_report")
        check(library().tw_comm_run(handle, call, report))
        self.last_report = report_of(report)
        return self.last_report

    def _call(
        self,
        operation: str,
        dtype: str,
        op: Any,
        root: int,
        algorithm: str | None,
        coding: str | None,
    ) -> Any:
        call = new_struct("tw_collective")
        call.operation = code_of("operation", operations(), operation)
        call.dtype = dtypes.CODES[dtype]
        call.reduction = 0 if op is None else reduction_code(op)
        set_numbers(call, root=root)
        call.algorithm = code_of("algorithm", algorithms(), algorithm)
        call.coding = code_of("coding", codings(), coding)
        return call

    def _set_codec(self, call: Any, codec: Codec | str | None) -> object:
        """Returns what must be kept until the call is over."""
        if codec is None:
            return None
        kept = Codec(codec) if isinstance(codec, str) else codec
        call.codec = kept.handle
        return kept

    def _open(self) -> Any:
        if self._handle is None:
            raise ValueError("this communicator is closed")
        return self._handle


def local_ranks(ranks: int, **options: Any) -> list[Communicator]:
    """Communicators for ranks that are threads of this process, rank 0 first: give one to each
    thread. `options` are those of Communicator."""
    ends = Transport.local(ranks)
    return in_threads([partial(Communicator, end, **options) for end in ends])


def _destroying(transport: Transport) -> Callable[[Any], None]:
    """What destroys a handle; it keeps the transport, whose functions that calls, until then."""
    destroy = library().tw_comm_destroy
    return lambda handle: (destroy(handle), transport)[0]


def _bytes(size: int | str) -> int:
    return parse_size(size) if isinstance(size, str) else size


@atexit.register
def _close_all() -> None:
    """Before mpi4py ends MPI."""
    for communicator in list(_over_mpi):
        communicator.close()
