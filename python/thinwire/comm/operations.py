"""The collectives of a communicator, with the names and the buffers that mpi4py gives them."""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict, Unpack

import numpy as np

from thinwire.arrays import stream_number
from thinwire.codec import Codec
from thinwire.comm.buffers import (
    Buffer,
    Lists,
    check_block,
    count_of_array,
    not_in_place,
    read_buffer,
    set_lists,
)
from thinwire.comm.operation_names import SUM, is_in_place
from thinwire.comm.report import CollectiveReport
from thinwire.library import ffi, library


class How(TypedDict, total=False):
    """What any call may say: another codec than the communicator's; an algorithm ("ring") or a
    coding ("per-hop") instead of those planned; `verify`, to run again without compression and
    report the largest difference; the `stream` after whose work GPU arrays are read."""

    codec: Codec | str | None
    algorithm: str | None
    coding: str | None
    verify: bool
    stream: Any


class Operations:
    """Each call blocks until this rank's part is complete and returns its report, which stays in
    `last_report` too.

    Buffers are arrays, or lists as mpi4py has them: `[array, count]`, `[array, counts,
    displacements, type]` and what is between; of float types, on the CPU or a GPU, contiguous in C
    order. Elements of any other type travel as bytes. Raises ValueError for buffers that do not
    fit, TypeError for what is no buffer or of another type on the other side, ThinwireError for
    the rest.
    """

    rank: int
    size: int

    # Members of the class that has the handle.
    _call: Callable[..., Any]
    _set_codec: Callable[..., Any]
    _run: Callable[..., CollectiveReport]

    # ruff: noqa: N802

    def Bcast(
        self, buf: Any, root: int = 0, *, root_decodes: bool = False, **how: Unpack[How]
    ) -> CollectiveReport:
        """The root's array to every rank. The root's own may be read-only and stays as it is; with
        `root_decodes` it becomes what the others get if a lossy codec changes values."""
        is_written = self.rank != root or root_decodes
        both = self._receiving(buf, how, written=is_written)
        return self._collective(
            "bcast", None, both, both.count, how, root=root, root_decodes=root_decodes
        )

    def Reduce(
        self, sendbuf: Any, recvbuf: Any, op: Any = SUM, root: int = 0, **how: Unpack[How]
    ) -> CollectiveReport:
        """One result of all ranks' arrays, at the root; the others' `recvbuf` is not looked at."""
        receive = self._receiving(recvbuf, how) if self.rank == root else None
        send = self._sending(sendbuf, how)
        count = count_of_array(send, receive)
        return self._collective("reduce", send, receive, count, how, op=op, root=root)

    def Allreduce(
        self, sendbuf: Any, recvbuf: Any, op: Any = SUM, **how: Unpack[How]
    ) -> CollectiveReport:
        """One result of all ranks' arrays, the same bits on all of them."""
        send, receive = self._sending(sendbuf, how), self._receiving(recvbuf, how)
        count = count_of_array(send, receive)
        return self._collective("allreduce", send, receive, count, how, op=op)

    def Reduce_scatter_block(
        self, sendbuf: Any, recvbuf: Any, op: Any = SUM, **how: Unpack[How]
    ) -> CollectiveReport:
        """As Allreduce, of which each rank gets one block of equal size."""
        send, receive = self._sending(sendbuf, how), self._receiving(recvbuf, how)
        count = (send or receive).of_one(self.size)
        receive.check(count)
        return self._collective("reduce-scatter", send, receive, count, how, op=op)

    def Reduce_scatter(
        self,
        sendbuf: Any,
        recvbuf: Any,
        recvcounts: Sequence[int] | None = None,
        op: Any = SUM,
        **how: Unpack[How],
    ) -> CollectiveReport:
        """As Allreduce, of which rank r gets `recvcounts[r]` elements: unless they are given, as
        many as its `recvbuf` holds, which the ranks then tell one another first."""
        send, receive = self._sending(sendbuf, how), self._receiving(recvbuf, how)
        if recvcounts is None:
            if send is None:
                raise ValueError("recvcounts: they are needed where the sum is made in place")
            recvcounts = self._gather_counts(receive.count)
        counts = [int(each) for each in recvcounts]
        if len(counts) != self.size:
            raise ValueError(f"recvcounts: {len(counts)} counts, where there are {self.size} ranks")
        (send or receive).check(sum(counts))
        receive.check(counts[self.rank])
        lists = (counts, None)
        count = counts[self.rank]
        return self._collective(
            "reduce-scatter", send, receive, count, how, op=op, receive_lists=lists
        )

    def Allgather(self, sendbuf: Any, recvbuf: Any, **how: Unpack[How]) -> CollectiveReport:
        """Every rank's block to all ranks, in order of rank."""
        send, receive = self._sending(sendbuf, how), self._receiving(recvbuf, how)
        count = receive.of_one(self.size)
        check_block(send, count)
        return self._collective("allgather", send, receive, count, how)

    def Allgatherv(self, sendbuf: Any, recvbuf: Any, **how: Unpack[How]) -> CollectiveReport:
        """The same with blocks of the receive buffer's counts."""
        send, receive = self._sending(sendbuf, how), self._receiving(recvbuf, how)
        lists = receive.lists(self.size)
        count = lists[0][self.rank]
        check_block(send, count)
        return self._collective("allgather", send, receive, count, how, receive_lists=lists)

    def Gather(
        self, sendbuf: Any, recvbuf: Any, root: int = 0, **how: Unpack[How]
    ) -> CollectiveReport:
        """Every rank's block to the root; the others' `recvbuf` is not looked at."""
        send = self._sending(sendbuf, how)
        receive = self._receiving(recvbuf, how) if self.rank == root else None
        count = not_in_place(send).count if receive is None else receive.of_one(self.size)
        check_block(send, count)
        return self._collective("gather", send, receive, count, how, root=root)

    def Gatherv(
        self, sendbuf: Any, recvbuf: Any, root: int = 0, **how: Unpack[How]
    ) -> CollectiveReport:
        """The same with blocks of the counts that the root gives with its receive buffer."""
        send = self._sending(sendbuf, how)
        receive = self._receiving(recvbuf, how) if self.rank == root else None
        lists = None if receive is None else receive.lists(self.size)
        count = not_in_place(send).count if lists is None else lists[0][self.rank]
        check_block(send, count)
        return self._collective(
            "gather", send, receive, count, how, root=root, receive_lists=lists, varied=True
        )

    def Scatter(
        self, sendbuf: Any, recvbuf: Any, root: int = 0, **how: Unpack[How]
    ) -> CollectiveReport:
        """A block of the root's array to each rank; the others' `sendbuf` is not looked at."""
        send = not_in_place(self._sending(sendbuf, how)) if self.rank == root else None
        receive = None if is_in_place(recvbuf) else self._receiving(recvbuf, how)
        count = not_in_place(receive).count if send is None else send.of_one(self.size)
        if receive is not None:
            receive.check(count)
        return self._collective("scatter", send, receive, count, how, root=root)

    def Scatterv(
        self, sendbuf: Any, recvbuf: Any, root: int = 0, **how: Unpack[How]
    ) -> CollectiveReport:
        """The same with blocks of the counts that the root gives with its send buffer."""
        send = not_in_place(self._sending(sendbuf, how)) if self.rank == root else None
        receive = None if is_in_place(recvbuf) else self._receiving(recvbuf, how)
        lists = None if send is None else send.lists(self.size)
        count = not_in_place(receive).count if lists is None else lists[0][self.rank]
        if receive is not None:
            receive.check(count)
        return self._collective(
            "scatter", send, receive, count, how, root=root, send_lists=lists, varied=True
        )

    def Alltoall(self, sendbuf: Any, recvbuf: Any, **how: Unpack[How]) -> CollectiveReport:
        """Block j of every rank to rank j, in order of rank there."""
        send, receive = self._sending(sendbuf, how), self._receiving(recvbuf, how)
        count = (send or receive).of_one(self.size)
        receive.check(count * self.size)
        return self._collective("alltoall", send, receive, count, how)

    def Alltoallv(self, sendbuf: Any, recvbuf: Any, **how: Unpack[How]) -> CollectiveReport:
        """The same with the counts of both buffers."""
        send, receive = self._sending(sendbuf, how), self._receiving(recvbuf, how)
        to = None if send is None else send.lists(self.size)
        of = receive.lists(self.size)
        return self._collective("alltoall", send, receive, 0, how, send_lists=to, receive_lists=of)

    def _sending(self, spec: Any, how: How) -> Buffer | None:
        """None if it is sent from where the result will be."""
        if is_in_place(spec):
            return None
        return read_buffer(spec, "send buffer", stream_number(how.get("stream")), written=False)

    def _receiving(self, spec: Any, how: How, *, written: bool = True) -> Buffer:
        stream = stream_number(how.get("stream"))
        return read_buffer(spec, "receive buffer", stream, written=written)

    def _gather_counts(self, count: int) -> list[int]:
        counts = np.empty(self.size, np.uint64)
        self.Allgather(np.array([count], np.uint64), counts, codec="off")
        return counts.tolist()

    def _collective(
        self,
        operation: str,
        send: Buffer | None,
        receive: Buffer | None,
        count: int,
        how: How,
        *,
        op: Any = None,
        root: int = 0,
        send_lists: Lists | None = None,
        receive_lists: Lists | None = None,
        varied: bool = False,
        root_decodes: bool = False,
    ) -> CollectiveReport:
        """One call. A buffer that is None if the operation has one is the other one, in
        place."""
        unknown = how.keys() - How.__annotations__.keys()
        if unknown:
            raise TypeError(f"{operation} takes no {', '.join(sorted(unknown))}")
        buffers = [each for each in (send, receive) if each is not None]
        if send is not None and receive is not None and send.dtype != receive.dtype:
            raise TypeError(f"send buffer: {send.dtype}, receive buffer: {receive.dtype}")
        call = self._call(
            operation, buffers[0].dtype, op, root, how.get("algorithm"), how.get("coding")
        )
        call.count = count
        in_place = receive is None if operation == "scatter" else send is None
        lib = library()
        flags = {
            lib.TW_IN_PLACE: in_place and operation != "bcast",
            lib.TW_VARIED: varied,
            lib.TW_ROOT_DECODES: root_decodes,
            lib.TW_VERIFY: how.get("verify"),
        }
        call.flags |= sum(flag for flag, is_set in flags.items() if is_set)
        if send is not None:
            call.send = ffi.cast("void *", send.view.pointer)
        if receive is not None:
            call.receive = ffi.cast("void *", receive.view.pointer)
        kept = [set_lists(call, "send", send_lists), set_lists(call, "receive", receive_lists)]
        kept.append(self._set_codec(call, how.get("codec")))
        return self._run(call, buffers, stream_number(how.get("stream")))
