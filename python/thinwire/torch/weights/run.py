"""One sync, on each rank of the group.

All ranks go through the same exchanges whatever fails on one: a failure is told at the next
agreement, at which all leave.
"""

import secrets
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.distributed as dist

from thinwire.torch.groups import goes_by_nccl
from thinwire.torch.weights.buckets import Bucket, cut
from thinwire.torch.weights.control import Control, Level
from thinwire.torch.weights.errors import Damaged, WeightsError
from thinwire.torch.weights.receiver import apply
from thinwire.torch.weights.record import HEADER_BYTES, MARK, Header, Kind, read_header
from thinwire.torch.weights.report import SyncReport
from thinwire.torch.weights.sender import Kept, Sender, failed
from thinwire.torch.weights.tensors import Tensors, check_same, tensors_of

# Models that a rank keeps the versions of, by what their tensors are.
_MOST_MODELS = 8


@dataclass
class State:
    """The version of a model on this rank. A chain is the versions that follow a full sync."""

    chain: int = 0
    version: int = 0
    kept: Kept = field(default_factory=Kept)


@dataclass(frozen=True)
class Terms:
    """All ranks have the same but for `keep` and `codec`, which are the source's."""

    group: Any
    src: int
    bucket: int
    keep: str
    codec: str | None


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
        try:
            self._tensors = tensors_of(source)
        except Exception as error:  # noqa: BLE001, told to all ranks
            self._error = str(error)

    def run(self) -> SyncReport:
        report = self._report
        with report.timed("begin"):
            state, chain = self._begin()
        buckets = cut(self._tensors.entries, self._terms.bucket)
        for number, bucket in enumerate(buckets):
            report.raw_bytes += bucket.nbytes
            step = self._send if self._control.is_root else self._receive
            step(bucket, number, state)
        with report.timed("send"):
            self._wait()
        self._agree(Level.GOOD)
        elements = sum(bucket.elements for bucket in buckets)
        report.changed = report.changed / elements if elements else 0.0
        state.chain, state.version = chain, report.version
        self._states[self._tensors.digest] = state
        while len(self._states) > _MOST_MODELS:
            del self._states[next(iter(self._states))]
        return report

    def _begin(self) -> tuple[State, int]:
        """The one exchange before buckets: who has which version of what. The state to go on from
        and the chain that the sync's result is of."""
        terms, digest = self._terms, self._tensors.digest
        state = self._states.pop(digest, State())
        is_cuda = any(entry.bits.is_cuda for entry in self._tensors.entries)
        wants_gpu = goes_by_nccl(terms.group) and is_cuda
        offer = secrets.randbits(63) | 1
        mine = [MARK, terms.bucket, terms.src, int(bool(self._error)), digest, int(wants_gpu)]
        told = self._control.gather([*mine, state.chain, state.version, offer])
        self._report.sent_bytes += 8 * len(told[0])
        source = told[self._control.root]
        if any(each[:3] != source[:3] for each in told):
            raise WeightsError("sync_weights: the ranks differ in format, bucket or src")
        if any(each[3] or each[4] != source[4] for each in told):
            said = self._control.texts((self._error, self._tensors.lines))
            check_same(said, self._ranks, self._control.root)
        self._device = self._device_of(all(each[5] for each in told))
        self._report.version = source[7] + 1
        self._report.why_full = self._why_full(told, source)
        if self._report.why_full:
            return State(), source[8]
        return state, source[6]

    def _why_full(self, told: list[list[int]], source: list[int]) -> str:
        if source[7] == 0:
            return "the source's first"
        for rank, each in zip(self._ranks, told, strict=True):
            if each[7] == 0:
                return f"rank {rank}'s first"
            if each[6:8] != source[6:8]:
                return f"rank {rank} has version {each[7]}, the source {source[7]}"
        return ""

    def _device_of(self, all_on_gpus: bool) -> Any:
        """Where payloads lie: on the GPU if NCCL sends them."""
        if all_on_gpus:
            return next(e.bits.device for e in self._tensors.entries if e.bits.is_cuda)
        if dist.get_backend(self._terms.group) == "nccl":
            return torch.device("cuda", torch.cuda.current_device())
        return torch.device("cpu")

    def _send(self, bucket: Bucket, number: int, state: State) -> None:
        report, version = self._report, self._report.version
        sender = Sender(self._device, self._terms.keep, self._terms.codec)
        header, payload = failed(number, version), None
        with report.timed("encode"):
            try:
                header, payload = sender.record(
                    bucket, number, version, state.kept, bool(report.why_full)
                )
            except Exception as error:  # noqa: BLE001, told to all ranks
                self._error = f"bucket {number}: {error}"
        with report.timed("agree"):
            self._control.header(header.pack())
        if self._agree(Level.GOOD) == Level.WHOLE:
            with report.timed("encode"):
                try:
                    payload = sender.whole(bucket, number, state.kept)
                except Exception as error:  # noqa: BLE001, told to all ranks
                    self._error = f"bucket {number}: {error}"
            header = self._as_whole(header, bucket)
        self._count(header)
        with report.timed("send"):
            self._wait()
            if header.payload:
                self._pending = self._broadcast(payload), payload

    def _receive(self, bucket: Bucket, number: int, state: State) -> None:
        report = self._report
        level, live, header = Level.GOOD, 0, failed(number, report.version)
        try:
            self._make_room(bucket.nbytes)
            if not report.why_full:
                with report.timed("check"):
                    live = bucket.checksum(self._device)
        except Exception as error:  # noqa: BLE001, told to all ranks
            self._error = self._error or f"bucket {number}: {error}"
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
        with report.timed("apply"):
            try:
                apply(bucket, header, payload)
            except Exception as error:  # noqa: BLE001, told to all ranks
                self._error = f"bucket {number}: {error}"

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
