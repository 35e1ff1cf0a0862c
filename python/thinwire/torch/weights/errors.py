"""What goes wrong with a sync of weights."""


class WeightsError(RuntimeError):
    """A sync of weights failed; all ranks of the group raise it, and the next sync is full."""


class Damaged(ValueError):
    """Bytes of a record that are not what spec/weights.md allows."""
