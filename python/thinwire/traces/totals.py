"""The sums of a job, under the names of THINWIRE_REPORT's JSON."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from thinwire.traces.read import RankTrace


def _sum(values: Iterable[Any]) -> Any:
    """Numbers added, in dictionaries by name; the first of anything else."""
    found = list(values)
    if all(isinstance(value, dict) for value in found):
        names = dict.fromkeys(name for value in found for name in value)
        return {name: _sum(value[name] for value in found if name in value) for name in names}
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in found):
        return sum(found)
    return found[0]


class Totals:
    """Of all ranks so far."""

    def __init__(self) -> None:
        self._sums: dict[str, Any] | None = None
        self._rules: list[dict[str, Any]] | None = None

    def add(self, trace: RankTrace) -> None:
        """Names and lines of the policy's rules, by their place, are those of the first rank."""
        found = trace.totals if trace.totals is not None else _from_bins(trace)
        figures = {name: value for name, value in found.items() if name != "rules"}
        self._sums = figures if self._sums is None else _sum((self._sums, figures))
        if rules := found.get("rules"):
            mine = self._rules
            self._rules = rules if mine is None else _summed_rules(mine, rules)

    def done(self) -> dict[str, Any]:
        return {**(self._sums or {}), **({"rules": self._rules} if self._rules else {})}


def _summed_rules(mine: list[dict[str, Any]], more: list[dict[str, Any]]) -> list[dict[str, Any]]:
    pairs = zip(mine, more, strict=False)
    return [{**_sum(pair), "line": pair[0]["line"]} for pair in pairs]


def _from_bins(trace: RankTrace) -> dict[str, Any]:
    """The report's main figures of a rank whose trace was cut short."""
    sends = [cell for cell in trace.cells if cell.is_message]
    compressed = [cell for cell in sends if cell.raw is None]
    calls = [cell for cell in trace.cells if not cell.is_message]
    below = sum(each.below_threshold for each in trace.bins)
    reasons: dict[str, int] = defaultdict(int)
    native: dict[str, int] = defaultdict(int)
    native_bytes: dict[str, int] = defaultdict(int)
    if below:
        reasons["below the threshold"] = below
    for cell in trace.cells:
        if cell.raw is None:
            continue
        (reasons if cell.is_message else native)[cell.raw] += cell.calls
        if not cell.is_message:
            native_bytes[cell.raw] += cell.bytes
    whole = [cell for cell in calls if cell.raw is None]
    return {
        "codec": trace.head["codec"],
        "messages": sum(cell.calls for cell in sends) + below,
        "compressed_messages": sum(cell.calls for cell in compressed),
        "decoded_messages": sum(each.decoded for each in trace.bins),
        "bytes": sum(cell.bytes for cell in sends),
        "wire_bytes": sum(cell.wire_bytes for cell in sends),
        "compressed_bytes": sum(cell.bytes for cell in compressed),
        "compressed_wire_bytes": sum(cell.wire_bytes for cell in compressed),
        "encode_seconds": 1e-9 * sum(cell.nanoseconds for cell in sends),
        "decode_seconds": 1e-9 * sum(each.decode_nanoseconds for each in trace.bins),
        "raw_by_reason": dict(reasons),
        "collectives": {
            "compressed": sum(cell.calls for cell in whole),
            "bytes": sum(cell.bytes for cell in whole),
            "wire_bytes": sum(cell.wire_bytes for cell in whole),
            "seconds": 1e-9 * sum(cell.nanoseconds for cell in whole),
            "predicted_seconds": 1e-9 * sum(cell.predicted_nanoseconds for cell in whole),
            "native_calls": sum(native.values()),
            "native_by_reason": dict(native),
            "native_bytes": sum(native_bytes.values()),
            "native_bytes_by_reason": dict(native_bytes),
        },
    }
