"""What a call of the library that failed raises. It needs no library."""

from typing import Any

_TW_DEVICE = 9  # as in thinwire.h, which is not read for it


class ThinwireError(Exception):
    """A call of the library failed; `status` is the C API's code, as in `TW_DAMAGED`."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status

    def __reduce__(self) -> Any:
        """Its arguments are not `args`: processes send each other errors."""
        return type(self), (self.status, self.args[0])

    def __str__(self) -> str:
        if self.status == _TW_DEVICE:
            return f"{self.args[0]} (`thinwire env` shows what this process sees of its GPUs)"
        return self.args[0]
