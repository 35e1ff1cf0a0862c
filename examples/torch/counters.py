"""What Thinwire has done in this process so far, as numbers for a line of figures."""

import sys


def counters() -> dict[str, float]:
    """`thinwire.torch.scalars()`, of its hooks or of the preload library, and the calls that went
    raw by reason; empty if nothing has imported it."""
    if "thinwire.torch" not in sys.modules:
        return {}
    thinwire = sys.modules["thinwire.torch"]
    found: dict[str, float] = thinwire.scalars("")
    for group, operations in thinwire.stats().items():
        for operation, row in operations.items():
            found |= {f"/{group}/{operation}/raw: {why}": calls for why, calls in row.raw.items()}
    return found


def calls() -> list[float]:
    """How many so far, and how many of them compressed."""
    return sums(counters())


def sums(counted: dict[str, float]) -> list[float]:
    return [
        sum(number for name, number in counted.items() if name.endswith(end))
        for end in ("/calls", "/compressed")
    ]
