"""One sync, on each rank of the group.

All ranks go through the same exchanges whatever fails on one: a failure is told at the next
agreement, at which all leave.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist

from thinwire.torch.weights.begin import begin
from thinwire.torch.weights.broadcast import Message, messages_of, room_for
from thinwire.torch.weights.buckets import Bucket, cut
from thinwire.torch.weights.control import Control, Level
from thinwire.torch.weights.errors import Damaged, WeightsError
from thinwire.torch.weights.receiver import apply
from thinwire.torch.weights.record import HEADER_BYTES, Header, Kind, read_header
from thinwire.torch.weights.report import SyncReport
from thinwire.torch.weights.sender import Sender, failed
from thinwire.torch.weights.state import State, Terms
from thinwire.torch.weights.tensors import Tensors, tensors_of

# Models that a rank keeps the versions of, by what their tensors are.
_MOST_MODELS = 64
_MOST_CHOICES = 4096


class Run:
    """Takes the model's state from `states`, and puts it there again if all went well."""

    def __init__(
        self, terms: Terms, control: Control, states: dict[int, State], source: Any
    ) -> None:
        self._terms, self._control, self._states = terms, control, states
        self._report = SyncReport()
        self._ranks = dist.get_process_group_ranks(terms.group)
        self._pending: Any = None
        self._room = torch.empty(0, dtype=torch.uint8)
        self._error = ""
        self._tensors = Tensors([], {})
        with self._told():
            self._tensors = tensors_of(source)

    def run(self) -> SyncReport:
        report, digest = self._report, self._tensors.digest
        with report.timed("begin"):
            begun = begin(
                self._terms,
                self._control,
                self._tensors,
                self._error,
                self._states.pop(digest, State()),
                report,
            )
        state, self._device = begun.state, begun.device
        buckets = cut(self._tensors.entries, self._terms.bucket)
        report.raw_bytes = sum(bucket.nbytes for bucket in buckets)
        with state.choice.timed(report, [bucket.nbytes for bucket in buckets]) as clock:
            if report.way == "broadcast":
                self._broadcast_all(buckets)
            else:
                step = self._send if self._control.is_root else self._receive
                for number, bucket in enumerate(buckets):
                    step(bucket, number, state)
                    clock.passed(number)
            with report.timed("send"):
                self._finish()
            self._agree(Level.GOOD)
        elements = sum(bucket.elements for bucket in buckets)
        report.changed = report.changed / elements if elements else 0.0
        state.chain, state.version = begun.chain, report.version
        self._states[digest] = state
        older = list(self._states)[:-_MOST_MODELS]
        for each in older:  # in order, to keep what their syncs took
            self._states[each] = self._states[each].without_base()
        for each in older[:-_MOST_CHOICES]:
            del self._states[each]
        return report

    def _broadcast_all(self, buckets: Sequence[Bucket]) -> None:
        report, room = self._report, room_for(buckets, self._device)
        with self._told():
            self._make_room(room)
        self._agree(Level.GOOD)
        for bucket in buckets:
            report.buckets["broadcast"] += 1
            report.sent_bytes += bucket.nbytes
            report.changed += bucket.elements
            messages = messages_of(bucket, self._room, self._device)
            with report.timed("send"):
                self._broadcast_each(messages)

    def _broadcast_each(self, messages: Sequence[Message]) -> None:
        if self._control.is_root:
            with self._told():
                for message in messages:
                    message.stage()
        for work in [self._broadcast(message.payload) for message in messages]:
            work.wait()
        if not self._control.is_root:
            with self._told():
                for message in messages:
                    message.apply()

    @contextmanager
    def _told(self, bucket: int | None = None) -> Iterator[None]:
        """What fails within, for a bucket or for all, is told to all ranks at the next
        agreement."""
        try:
            yield
        except Exception as error:  # noqa: BLE001
            self._error = self._error or ("" if bucket is None else f"bucket {bucket}: ") + str(
                error
            )

    def _send(self, bucket: Bucket, number: int, state: State) -> None:
        report, version = self._report, self._report.version
        sender = Sender(self._device, self._terms.keep, self._terms.codec)
        header, payload = failed(number, version), None
        with report.timed("encode"), self._told(number):
            header, payload = sender.record(
                bucket, number, version, state.kept, bool(report.why_full)
            )
        with report.timed("agree"):
            self._control.header(header.pack())
        if self._agree(Level.GOOD) == Level.WHOLE:
            with report.timed("encode"), self._told(number):
                payload = sender.whole(bucket, number, state.kept)
            header = self._as_whole(header, bucket)
        self._count(header)
        with report.timed("send"):
            self._wait()
            if header.payload:
                self._pending = self._broadcast(payload), payload

    def _receive(self, bucket: Bucket, number: int, state: State) -> None:
        report = self._report
        level, live, header = Level.GOOD, 0, failed(number, report.version)
        with self._told(number):
            self._make_room(bucket.nbytes)
            if not report.why_full:
                with report.timed("check"):
                    live = bucket.checksum(self._device)
        with report.timed("agree"):
            data = self._control.header(None)
        try:
            header = read_header(data, number, report.version, bucket.elements, bucket.width)
        except Damaged as error:
            self._error = self._error or f"bucket {number}: {error}"
        if header.kind != Kind.WHOLE and (report.why_full or live != header.base):
            level = Level.WHOLE
        if self._agree(level) == Level.WHOLE:
            header = self._as_whole(header, bucket)
        self._count(header)
        payload = self._room[: header.payload]
        with report.timed("send"):
            if header.payload:
                self._broadcast(payload).wait()
        with report.timed("apply"), self._told(number):
            apply(bucket, header, payload)

    def _as_whole(self, header: Header, bucket: Bucket) -> Header:
        """After another agreement, since the source may have no memory for all bytes."""
        self._agree(Level.GOOD)
        self._report.rebased += 1
        return header.as_whole(bucket.nbytes)

    def _make_room(self, nbytes: int) -> None:
        """Memory for any payload of a bucket: before the agreement, since who cannot receive after
        it would leave the others alone."""
        if self._room.numel() < nbytes:
            self._room = torch.empty(nbytes, dtype=torch.uint8, device=self._device)

    def _broadcast(self, payload: Any) -> Any:
        return dist.broadcast(payload, self._terms.src, group=self._terms.group, async_op=True)

    def _count(self, header: Header) -> None:
        self._report.buckets[header.kind.name.lower()] += 1
        self._report.sent_bytes += HEADER_BYTES + header.payload
        self._report.changed += header.changed

    def _wait(self) -> None:
        if self._pending is not None:
            self._pending[0].wait()
            self._pending = None

    def _finish(self) -> None:
        """Payloads have come, and tensors on GPUs have them."""
        self._wait()
        for device in {entry.bits.device for entry in self._tensors.entries if entry.bits.is_cuda}:
            torch.cuda.current_stream(device).synchronize()

    def _agree(self, level: Level) -> Level:
        """Raises on all ranks if one has failed."""
        with self._report.timed("agree"):
            found = self._control.agree(Level.FAILED if self._error else level)
        if found != Level.FAILED:
            return found
        self._wait()
        for rank, error in zip(self._ranks, self._control.texts(self._error), strict=True):
            if error:
                raise WeightsError(f"sync_weights: rank {rank}: {error}")
        raise WeightsError("sync_weights: a rank failed")
