"""What the library would choose for a message or a collective, by its own plan."""

from dataclasses import dataclass
from typing import Any

from thinwire import dtypes
from thinwire.codec import Codec, CodecCost
from thinwire.comm.operation_names import algorithms, code_of, codings, name_of, operations
from thinwire.library import check, library, new_struct, set_numbers, text


@dataclass(frozen=True)
class PlanSettings:
    """What the choice goes by. `link` is in bytes per second, None if it is not stated; `cost` is
    used if it is. `force`: compress whatever it costs."""

    threshold: int
    same_node: bool = False
    link: float | None = None
    cost: CodecCost | None = None
    force: bool = False


@dataclass(frozen=True)
class Choice:
    """`why_raw` is empty if it would be compressed. Seconds and `least_ratio`, below which raw
    is faster, are None if no link is stated or the codec was not weighed against it; of "auto"
    `seconds` are those at the best ratio that can be expected. `algorithm` and `coding` are of
    collectives."""

    why_raw: str
    raw_seconds: float | None
    seconds: float | None
    least_ratio: float | None
    algorithm: str = ""
    coding: str = ""
    piece_bytes: int = 0


def plan_message(
    codec: Codec, settings: PlanSettings, dtype: str, nbytes: int, *, same_node: bool = False
) -> Choice:
    """Of a message to a rank that has the library, on another node or on the same."""
    lib = library()
    facts = new_struct("tw_plan_facts")
    facts.dtype = dtypes.CODES[dtype]
    set_numbers(facts, bytes=nbytes)
    facts.peer = lib.TW_PEER_SAME_NODE if same_node else lib.TW_PEER_OTHER_NODE
    facts.peer_ready = 1
    choice = new_struct("tw_plan_choice")
    check(lib.tw_plan_message(codec.handle, _struct_of(settings), facts, choice))
    return Choice(*_figures(choice))


def plan_collective(
    codec: Codec,
    settings: PlanSettings,
    operation: str,
    dtype: str,
    nbytes: int,
    *,
    ranks: int,
    nodes: int,
) -> Choice:
    """Of a collective of `nbytes` on so many ranks and nodes: the array of bcast, reduce and
    allreduce, else the blocks of all ranks. Reductions are sums."""
    facts = new_struct("tw_collective_facts")
    facts.operation = code_of("operation", operations(), operation)
    facts.dtype = dtypes.CODES[dtype]
    set_numbers(facts, bytes=nbytes, ranks=ranks, nodes=nodes)
    choice = new_struct("tw_collective_choice")
    check(library().tw_plan_collective(codec.handle, _struct_of(settings), facts, choice))
    return Choice(
        *_figures(choice),
        algorithm=name_of(algorithms(), choice.algorithm),
        coding=name_of(codings(), choice.coding),
        piece_bytes=choice.piece_bytes,
    )


def _struct_of(settings: PlanSettings) -> Any:
    struct = new_struct("tw_plan_settings")
    set_numbers(struct, threshold=settings.threshold, same_node=int(settings.same_node))
    struct.force = int(settings.force)
    struct.link_bytes_per_second = settings.link or 0
    if settings.cost is not None:
        struct.cost.encode_bytes_per_second = settings.cost.encode_bytes_per_second
        struct.cost.decode_bytes_per_second = settings.cost.decode_bytes_per_second
        struct.cost.ratio = settings.cost.ratio
    return struct


def _figures(choice: Any) -> tuple[str, float | None, float | None, float | None]:
    lib = library()
    compressed = choice.reason == lib.TW_COMPRESS
    raw = choice.predicted_raw_seconds
    weighed = raw > 0
    # The plan says 0, or infinity, if no ratio is enough.
    least = choice.least_ratio if weighed and 0 < choice.least_ratio < float("inf") else None
    return (
        "" if compressed else text(lib.tw_reason_text(choice.reason)),
        raw if weighed else None,
        choice.predicted_compressed_seconds if weighed else None,
        least,
    )
