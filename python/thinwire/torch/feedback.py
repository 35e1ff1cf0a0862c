"""Error feedback: what a lossy codec took from this rank's gradients is added to the next ones."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from thinwire.codec import Codec
from thinwire.message import compress, decompress


class ErrorFeedback:
    """What coding has taken away from each parameter's gradients on this rank, in their dtype: as
    much memory as the gradients themselves.

    Give it to `attach()` or `ddp_hook()`. `state_dict()` and `load_state_dict()` are for
    checkpoints, beside the optimizer's: every rank has a state of its own. With a gradient scaler
    (`scaler`, of torch.amp) it is kept apart from the scale, which changes.

    A bucket that holds NaN or infinity leaves it as it is, and is sent as it is.
    """

    def __init__(self, *, scaler: Any = None) -> None:
        self._scaler = scaler
        self._names: dict[Any, str] = {}  # by parameter
        self._parts: dict[str, Any] = {}  # by parameter's name, flat

    def know(self, model: Any) -> None:
        """Names the parameters; attach() calls it."""
        self._names = {parameter: name for name, parameter in model.named_parameters()}

    def state_dict(self) -> dict[str, Any]:
        """Tensors by parameter's name; copies."""
        return {name: part.detach().clone() for name, part in self._parts.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Takes what `state_dict()` of this rank gave. Parameters that it lacks begin at zero;
        ValueError for names that the model does not have."""
        unknown = set(state) - set(self._names.values())
        if self._names and unknown:
            raise ValueError(f"error feedback of no parameter: {', '.join(sorted(unknown))}")
        self._parts = {name: part.detach().clone().flatten() for name, part in state.items()}

    def code(self, flat: Any, parameters: Sequence[Any], codec: Codec) -> None:
        """Makes of `flat`, the gradients of `parameters` one after another, what the codec leaves
        of them and of what it took before; keeps the difference."""
        if not bool(torch.isfinite(flat).all()):
            return
        scale = self._scaler.get_scale() if self._scaler is not None else 1.0
        wanted = flat.clone()
        for name, part in self._slices(wanted, parameters):
            if name in self._parts:
                part.add_(self._parts[name].to(part.device), alpha=scale)
        if not bool(torch.isfinite(wanted).all()):
            return
        decompress(compress(wanted, codec), out=flat)
        wanted.sub_(flat)
        for name, part in self._slices(wanted, parameters):
            self._parts[name] = part / scale

    def _slices(self, flat: Any, parameters: Sequence[Any]) -> list[tuple[str, Any]]:
        found, at = [], 0
        for parameter in parameters:
            count = parameter.numel()
            found.append((self._names[parameter], flat[at : at + count]))
            at += count
        return found
