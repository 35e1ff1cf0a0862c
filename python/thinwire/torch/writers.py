"""Statistics for the writers of training programs."""

from typing import Any

from thinwire.torch.stats import OperationStats, stats

_SCALARS = ("calls", "compressed", "bytes", "sent_bytes", "wire_bytes", "ratio", "seconds")


def scalars(prefix: str = "thinwire") -> dict[str, float]:
    """`stats()` as one number a name, as in "thinwire/dp/allreduce/ratio"; "raw_calls" are the
    calls that were torch's own."""
    found: dict[str, float] = {}
    for group, operations in stats().items():
        for operation, row in operations.items():
            head = f"{prefix}/{group}/{operation}"
            found |= {f"{head}/{name}": float(getattr(row, name)) for name in _SCALARS}
            found[f"{head}/raw_calls"] = float(_raw(row))
    return found


def write_scalars(writer: Any, step: int, prefix: str = "thinwire") -> None:
    """Writes `scalars()` to `writer`: anything with `add_scalar(name, value, step)`, as
    torch.utils.tensorboard's, or with `log_metrics(mapping, step)`, as Lightning's loggers."""
    if hasattr(writer, "log_metrics"):
        writer.log_metrics(scalars(prefix), step)
        return
    if not hasattr(writer, "add_scalar"):
        raise TypeError(f"write_scalars: {writer!r} has neither add_scalar nor log_metrics")
    for name, value in scalars(prefix).items():
        writer.add_scalar(name, value, step)


class StatsCallback:
    """Writes the statistics every `every` steps: as a callback in the list that Lightning's
    Trainer takes, or by calling it, `callback(step)`, with a `writer` given here."""

    def __init__(self, writer: Any = None, *, every: int = 50, prefix: str = "thinwire") -> None:
        if every < 1:
            raise ValueError("StatsCallback: every is 1 or more")
        self._writer, self._every, self._prefix = writer, every, prefix

    def __call__(self, step: int) -> None:
        if self._writer is None:
            raise ValueError("StatsCallback: no writer was given")
        if step % self._every == 0:
            write_scalars(self._writer, step, self._prefix)

    def on_train_batch_end(self, trainer: Any, *_: Any, **__: Any) -> None:
        if trainer.global_step % self._every:
            return
        for logger in [self._writer] if self._writer is not None else trainer.loggers:
            write_scalars(logger, trainer.global_step, self._prefix)

    def __getattr__(self, name: str) -> Any:
        """Lightning calls every hook and property of a callback; all others do nothing."""
        if name.startswith("on_") or name in ("setup", "teardown"):
            return lambda *_, **__: None
        raise AttributeError(name)

    @property
    def state_key(self) -> str:
        return type(self).__qualname__

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """There is nothing to take."""


def _raw(row: OperationStats) -> int:
    return row.calls - row.compressed
