"""What a job's ranks did under the preload library for MPI, as THINWIRE_REPORT has it written."""

from pathlib import Path
from typing import Any

from thinwire import checked

# Counts that the benchmarks and the demo look at.
COUNTS = (
    "messages",
    "compressed_messages",
    "decoded_messages",
    "damaged_messages",
    "wire_bytes",
    "copied_receives",
    "receives_in_place",
    "receives_through_scratch",
    "allocations",
)


def read(path: Path) -> dict[str, Any]:
    """The figures of a report; ValueError, with the file's name, where it is none: not whole, say,
    after a full disk."""
    try:
        found = checked.parse(path.read_text(errors="replace"))
        for name in COUNTS:
            checked.count(checked.field(found, name), name)
        reasons = checked.table(checked.field(found, "raw_by_reason"), "raw_by_reason")
        for name, count in reasons.items():
            checked.count(count, name)
    except ValueError as error:
        raise ValueError(f"{path}: this is no report of a job: {error}") from error
    return found
