"""What the library would do with a message or a collective, candidate by candidate: its own plan,
by what the candidates cost."""

from dataclasses import dataclass, replace

from thinwire.bench.prices import Call, Price, Priced
from thinwire.codec import Codec, CodecCost, codecs
from thinwire.plan import Choice, PlanSettings, plan_collective, plan_message

REDUCTIONS = ("reduce", "allreduce", "reduce-scatter")
# As the library for NCCL says it of calls for which the program has asked NCCL for something.
IN_WINDOW = "in a registered window of symmetric memory"
ZERO_CTA = "zero-CTA policy of the communicator"


@dataclass(frozen=True)
class Row:
    """A way to send: raw, or by one codec. Seconds are of the whole operation, None if they are
    not known: without a link, and of a collective's parts, which overlap."""

    candidate: str
    ratio: float | None
    needed_ratio: float | None
    encode_seconds: float | None
    transfer_seconds: float | None
    decode_seconds: float | None
    seconds: float | None
    note: str


@dataclass(frozen=True)
class Explanation:
    """The plan's choice for `codec`, and all candidates. `sends` is the codec, or "raw"."""

    codec: str
    why_raw: str
    sends: str
    costs: str
    rows: list[Row]
    sentence: str
    algorithm: str = ""
    coding: str = ""


def _as_coded(codec: Codec, call: Call) -> Codec:
    """The codec of one coding: a bound of a reduction's result is shared out among what is coded,
    one contribution a node if ranks share nodes."""
    name, _, text = codec.spec.partition(":")
    options = dict(option.split("=", 1) for option in text.split(",") if "=" in option)
    absolute = options.pop("allreduce-abs", None)
    relative = options.pop("allreduce-rel", None)
    if call.operation not in REDUCTIONS or (absolute is None and relative is None):
        return codec
    options.pop("abs", None)
    options.pop("rel", None)
    if absolute is not None:
        options["abs"] = repr(float(absolute) / call.nodes)
    else:
        # A share of all ranges, of which there are as many as contributions.
        options["rel"] = str(relative)
    return Codec(f"{name}:" + ",".join(f"{key}={value}" for key, value in options.items()))


def explain(codec: Codec, call: Call, settings: PlanSettings, price: Price) -> Explanation:
    """The choice for that codec, and its candidates: itself, or those that "auto" chooses
    among."""
    names = {info.id: info.name for info in codecs()}
    is_automatic = codec.spec.partition(":")[0] in ("auto", "lossless")
    tried = codec.ids_for(call.dtype)
    found = [Codec(names[at]) for at in tried] if is_automatic else [codec] if tried else []
    priced = [replace(price(_as_coded(each, call)), codec=each) for each in found]
    # A candidate is weighed as if it had been named.
    choices = [_plan(each.codec, call, settings, each.cost) for each in priced]
    # For "auto": the codec that it takes for the type.
    whole = price(codec).cost if is_automatic else next((each.cost for each in priced), None)
    own = _plan(codec, call, settings, whole)
    rows = [_raw_row(own, choices), *(map(_row, priced, choices, [call] * len(priced)))]
    sends = "raw" if own.why_raw else _best(own, rows)
    sources = dict.fromkeys(each.source for each in priced if each.source)
    return Explanation(
        codec=codec.spec,
        why_raw=own.why_raw,
        sends=sends,
        costs="; ".join(sources),
        rows=rows,
        sentence=_sentence(own, sends, rows),
        algorithm=own.algorithm,
        coding=own.coding,
    )


def left_to_nccl(found: Explanation, why: str) -> Explanation:
    """The same of a call that goes to NCCL as it is."""
    return replace(found, why_raw=why, sends="raw", sentence=f"raw: {why}")


def _plan(codec: Codec, call: Call, settings: PlanSettings, cost: CodecCost | None) -> Choice:
    own = PlanSettings(settings.threshold, settings.same_node, settings.link, cost)
    if call.operation == "send":
        return plan_message(codec, own, call.dtype, call.bytes, same_node=call.nodes == 1)
    return plan_collective(
        codec, own, call.operation, call.dtype, call.bytes, ranks=call.ranks, nodes=call.nodes
    )


def _raw_row(own: Choice, choices: list[Choice]) -> Row:
    seconds = next((each.raw_seconds for each in [own, *choices] if each.raw_seconds), None)
    return Row("raw", 1.0, None, None, seconds, None, seconds, "")


def _row(priced: Priced, choice: Choice, call: Call) -> Row:
    cost, spec = priced.cost, priced.codec.spec
    if cost is None:
        return Row(spec, None, None, None, None, None, None, priced.failed)
    # The three parts of a message follow each other.
    in_series = call.operation == "send"
    encode = call.bytes / cost.encode_bytes_per_second if in_series else None
    decode = call.bytes / cost.decode_bytes_per_second if in_series else None
    transfer = None
    if in_series and choice.raw_seconds:
        transfer = choice.raw_seconds / cost.ratio
    return Row(
        spec,
        cost.ratio,
        choice.least_ratio,
        encode,
        transfer,
        decode,
        choice.seconds,
        choice.why_raw,
    )


def _best(own: Choice, rows: list[Row]) -> str:
    """What is sent once the plan lets the codec try: of "auto" the candidate that makes the least
    of the data, if that is enough."""
    tried = [row for row in rows[1:] if row.ratio is not None]
    if not tried:
        return "raw"
    best = max(tried, key=lambda row: row.ratio or 0)
    ratio = best.ratio or 0
    return best.candidate if ratio > 1 and ratio >= (own.least_ratio or 0) else "raw"


def _sentence(own: Choice, sends: str, rows: list[Row]) -> str:
    if own.why_raw:
        return f"raw: {own.why_raw}"
    if sends == "raw":
        need = f", and {own.least_ratio:.2f} is needed" if own.least_ratio else ""
        return f"raw: no candidate makes such data small enough{need}"
    row = next(row for row in rows if row.candidate == sends)
    words = f"compressed by {sends}, ratio {row.ratio:.2f}"
    if row.seconds and rows[0].seconds:
        return f"{words}: {ms(row.seconds)} ms in place of {ms(rows[0].seconds)} ms raw"
    return f"{words}: without a link's rate a codec that is named is assumed to win"


def ms(seconds: float) -> str:
    """Milliseconds, as figures are shown."""
    return f"{1e3 * seconds:.4g}"
