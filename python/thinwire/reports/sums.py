"""What the reports of a job come to: sums, of a bounded size whatever the reports say."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields

OTHERS = "others"  # an operation or a reason beyond the bounds below
SEVERAL = "several"  # a codec, if the reports name different ones
MOST_OPERATIONS = 24  # of a library
MOST_REASONS = 256  # pairs of an operation and a reason, of a library
MOST_TEXT = 128  # characters of a text that a report gives


def short(text: str) -> str:
    """A text of a report as it may stand in a line of a log, or in a label."""
    kept = text[:MOST_TEXT]
    return kept if kept.isprintable() else "".join(c if c.isprintable() else "?" for c in kept)


@dataclass
class Operation:
    """Messages or calls of one kind. Sizes are in bytes."""

    calls: int = 0
    compressed_calls: int = 0
    bytes: int = 0
    sent_bytes: int = 0
    compressed_bytes: int = 0
    compressed_sent_bytes: int = 0

    def add(self, other: "Operation") -> None:
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


@dataclass
class Library:
    """What one preload library counted, by operation and by reason."""

    operations: dict[str, Operation] = field(default_factory=dict)
    raw: dict[tuple[str, str], int] = field(default_factory=dict)  # operation, reason: calls

    def count(self, operation: str, figures: Operation) -> None:
        name = short(operation)
        if name not in self.operations and len(self.operations) >= MOST_OPERATIONS:
            name = OTHERS
        self.operations.setdefault(name, Operation()).add(figures)

    def count_raw(self, operation: str, reason: str, calls: int) -> None:
        name = short(operation)
        if name not in self.operations:
            name = OTHERS
        key = (name, short(reason))
        if key not in self.raw and len(self.raw) >= MOST_REASONS:
            key = (name, OTHERS)
        self.raw[key] = self.raw.get(key, 0) + calls

    def add(self, other: "Library") -> None:
        for name, figures in other.operations.items():
            self.count(name, figures)
        for (name, reason), calls in other.raw.items():
            self.count_raw(name, reason, calls)


@dataclass
class Sums:
    """Of a report, or of all reports of a job."""

    codec: str = ""  # "": no report yet
    mpi: Library = field(default_factory=Library)
    nccl: Library = field(default_factory=Library)
    encode_seconds: dict[str, float] = field(default_factory=dict)  # by MPI's operations
    decode_seconds: dict[str, float] = field(default_factory=dict)
    saved_seconds: dict[str, float] = field(default_factory=dict)
    decoded_messages: int = 0
    damaged_messages: int = 0
    messages_without_memory: int = 0
    device_failures: int = 0
    spilled_blocks: int = 0
    scratch_peak_bytes: dict[str, int] = field(default_factory=dict)  # by kind of memory

    def add(self, other: "Sums") -> None:
        """The other's tables have the few names that read.py gives them."""
        self.codec = other.codec if self.codec in ("", other.codec) else SEVERAL
        for each in fields(self):
            mine, more = getattr(self, each.name), getattr(other, each.name)
            if isinstance(mine, Library):
                mine.add(more)
            elif isinstance(mine, dict):
                for name, value in more.items():
                    mine[name] = mine.get(name, 0) + value
            elif isinstance(mine, int):
                setattr(self, each.name, mine + more)

    def libraries(self) -> Iterator[tuple[str, Library]]:
        yield "mpi", self.mpi
        yield "nccl", self.nccl

    def total(self) -> Operation:
        """Of all operations of both libraries."""
        found = Operation()
        for _, library in self.libraries():
            for each in library.operations.values():
                found.add(each)
        return found

    def raw_by_reason(self) -> dict[str, int]:
        """Calls of all operations, the most first."""
        found: dict[str, int] = {}
        for _, library in self.libraries():
            for (_, reason), calls in library.raw.items():
                found[reason] = found.get(reason, 0) + calls
        return dict(sorted(found.items(), key=lambda each: -each[1]))
