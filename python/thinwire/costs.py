"""What codecs cost on this machine, by the table that `thinwire tune` makes."""

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from thinwire import dtypes
from thinwire.codec import Codec, CodecCost
from thinwire.library import as_c, c_text, check, ffi, ffi_new, library, new_struct, text


@dataclass(frozen=True)
class CostRow:
    """One line of a table: a codec on arrays of one type and size, in host or GPU memory."""

    codec: str
    dtype: str
    bytes: int
    on_gpu: bool
    cost: CodecCost


def machine() -> str:
    """This machine in one line, as tables name it: processor, GPUs, driver."""
    return text(library().tw_machine())


def own_path() -> Path | None:
    """Where this machine's table lies, whether there is one or not; None if the environment
    names no cache folder."""
    path = text(library().tw_costs_path())
    return Path(path) if path else None


def link_of_nccl(ranks: int) -> float:
    """Bytes per second that this host has at most for a communicator of NCCL's with so many ranks
    on it, by the interfaces that NCCL's settings admit; 0.0: not known."""
    return float(library().tw_link_of_nccl(ranks))


class Costs:
    """The table of the file at `path`, or of `text`. Immutable.

    Raises ThinwireError, with file and line, for what is no table of this machine and version.
    """

    def __init__(self, path: str | PathLike[str] | None = None, *, text: str | None = None) -> None:
        if (path is None) == (text is None):
            raise ValueError("a table is of a file or of a text")
        lib = library()
        out = ffi_new("tw_costs **")
        if path is not None:
            check(lib.tw_costs_open(c_text(fspath(path)), out))
        elif text is not None:
            check(lib.tw_costs_create(c_text(text), b"table", out))
        self.handle: Any = ffi.gc(out[0], lib.tw_costs_destroy)

    @property
    def rows(self) -> list[CostRow]:
        """All rows, in the file's order."""
        lib = library()
        return [self._row(at) for at in range(lib.tw_costs_count(self.handle))]

    def find(
        self, codec: Codec, dtype: str, nbytes: int, *, on_gpu: bool = False
    ) -> CodecCost | None:
        """What the codec costs for arrays of about `nbytes` bytes; None if the table has it
        not."""
        return _find(self.handle, codec, dtype, nbytes, on_gpu)

    def _row(self, index: int) -> CostRow:
        row = new_struct("tw_costs_row")
        check(library().tw_costs_describe(self.handle, index, row))
        cost = _cost_of(row.cost)
        return CostRow(text(row.codec), dtypes.NAMES[row.dtype], row.bytes, bool(row.on_gpu), cost)


def find_here(codec: Codec, dtype: str, nbytes: int) -> CodecCost | None:
    """What this machine's own table says of arrays in host memory; None if it has it not, and
    if there is no table, or one that cannot be used."""
    return _find(library().tw_costs_of_machine(), codec, dtype, nbytes, False)


def _find(handle: Any, codec: Codec, dtype: str, nbytes: int, on_gpu: bool) -> CodecCost | None:
    cost = new_struct("tw_codec_cost")
    code, nbytes = dtypes.CODES[dtype], as_c("uint64_t", "nbytes", nbytes)
    found = library().tw_costs_find(handle, codec.handle, code, nbytes, int(on_gpu), cost)
    return _cost_of(cost) if found else None


def _cost_of(cost: Any) -> CodecCost:
    return CodecCost(cost.encode_bytes_per_second, cost.decode_bytes_per_second, cost.ratio)
