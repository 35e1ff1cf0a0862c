"""Which arrays may be sent lossy: `lossy` names a codec for one array."""

import threading
import weakref
from typing import Any

from thinwire.dask.setting import check_usable, rows_of

# By id of the array object. A mark is of that object alone: what is computed or sliced from it, and
# what is read back from disk, is another one, and travels lossless.
_marks: dict[int, tuple[weakref.ref[Any], str]] = {}
_lock = threading.RLock()


def lossy(
    x: Any,
    codec: str | None = None,
    *,
    abs: float | None = None,  # noqa: A002
    rel: float | None = None,
    rate: int | None = None,
) -> Any:
    """The same array, which workers may send to each other with a loss: values change by at most
    `abs`, or by `rel` times the range of what is sent at a time (a chunk), or take `rate` bits
    each ("zfp:rate="), with no bound; or as `codec`, a spec, says. Exactly one of them is given.

    `x` is a Dask array, whose chunks are then marked when they are made, or in a task a numpy,
    cupy or torch array: the result shares its memory, and `x` itself stays unmarked. Parts of
    complex numbers are coded as numbers of their own.

    The worker that made a chunk has the exact values, others get those that were sent, and Dask may
    keep either copy. Spilling
    to disk is exact; an array that was spilled, and everything that is computed or sliced from a
    marked array, is not marked. Raises ValueError for arrays that are not of floats, ThinwireError
    for a spec that does not parse.
    """
    spec = _spec(codec, abs, rel, rate)
    check_usable(spec)
    rows_of(spec)
    _check_floats(x)
    if hasattr(x, "map_blocks") and hasattr(x, "__dask_graph__"):
        return x.map_blocks(Marking(spec), dtype=x.dtype, meta=x._meta)
    if hasattr(x, "__dask_graph__") or type(x).__module__.startswith("distributed."):
        raise TypeError("lossy takes arrays: of a future, client.submit(thinwire.dask.lossy, ...)")
    return _mark(x, spec)


class Marking:
    """Marks a chunk. On a worker that has no Thinwire it does nothing: what arrives there is a
    function that returns the chunk."""

    def __init__(self, spec: str) -> None:
        self.spec = spec

    def __call__(self, block: Any) -> Any:
        try:
            _check_floats(block)
            return _mark(block, self.spec)
        except (TypeError, ValueError):
            return block  # a chunk of another kind than the array promises: exact

    def __dask_tokenize__(self) -> tuple[str, str]:
        return "thinwire.dask.lossy", self.spec

    def __reduce__(self) -> Any:
        return eval, (_MARKING, {"spec": self.spec})


_MARKING = (
    "__import__('thinwire.dask.marks', fromlist=['Marking']).Marking(spec) "
    "if __import__('importlib.util').util.find_spec('thinwire') else lambda block: block"
)


def mark_of(array: Any) -> str | None:
    """The spec that an array is marked with."""
    found = _marks.get(id(array))
    return found[1] if found is not None and found[0]() is array else None


def _mark(array: Any, spec: str) -> Any:
    view = array.view_as(array) if hasattr(array, "view_as") else array.view()
    key = id(view)

    def forget(_: Any) -> None:
        with _lock:
            _marks.pop(key, None)

    with _lock:
        _marks[key] = weakref.ref(view, forget), spec
    return view


def _spec(codec: str | None, bound: float | None, rel: float | None, rate: int | None) -> str:
    given = {"codec": codec, "abs": bound, "rel": rel, "rate": rate}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise ValueError(f"lossy takes one of codec, abs, rel and rate, not {len(named)} of them")
    if codec is not None:
        return codec
    if rate is not None:
        return f"zfp:rate={rate}"
    if bound is not None:
        return f"szp:abs={float(bound)!r}"
    return f"szp:rel={float(rel or 0)!r}"


def _check_floats(x: Any) -> None:
    dtype = getattr(x, "dtype", None)
    if dtype is None:
        raise TypeError(f"lossy takes Dask, numpy, cupy and torch arrays, not {type(x).__name__}")
    kind = getattr(dtype, "kind", None)
    floats = (
        kind in "fc"
        if kind is not None
        else getattr(dtype, "is_floating_point", False) or getattr(dtype, "is_complex", False)
    )
    if not floats:
        raise ValueError(f"lossy codecs are for floats: this array is of {dtype}, send it as it is")
