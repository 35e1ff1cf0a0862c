"""Puts ourselves in front of distributed's serializer families "dask", whose frames are in host
memory, and "cuda", whose frames stay on the GPU. What is not compressed goes on to them."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from distributed.protocol import cuda as _cuda  # noqa: F401, it registers its family
from distributed.protocol.pickle import dumps as pickled
from distributed.protocol.serialize import families, register_serialization_family
from distributed.utils import has_keyword

from thinwire.dask import coding
from thinwire.dask.handshake import KEY, is_transfer

# By the module of an array's type; they import the library, so each is imported when it is there.
_KINDS = {
    "numpy": "thinwire.dask.numpy_arrays",
    "cupy": "thinwire.dask.cupy_arrays",
    "torch": "thinwire.dask.torch_tensors",
}

_registered = False


def register() -> None:
    """Once and for all: decoders stay, and encoders do nothing without a setting."""
    global _registered
    if not _registered:
        _registered = True
        for family in ("dask", "cuda"):
            _stand_before(family)


def _stand_before(family: str) -> None:
    stock_dumps, stock_loads, _ = families[family]
    takes_context = has_keyword(stock_dumps, "context")

    def dumps(x: Any, context: Mapping[str, Any] | None = None) -> tuple[Any, Any]:
        coded = _coded(x, context, family)
        if coded is not None:
            return coded
        return stock_dumps(x, context=context) if takes_context else stock_dumps(x)

    def loads(header: Mapping[str, Any], frames: list[Any]) -> Any:
        sub_header = header["sub-header"]
        if KEY not in sub_header:
            return stock_loads(header, frames)
        return _functions_of(sub_header["kind"], "decode")(sub_header, frames)

    register_serialization_family(family, dumps, loads)


def _coded(x: Any, context: Mapping[str, Any] | None, family: str) -> tuple[Any, Any] | None:
    kind = type(x).__module__.partition(".")[0]
    if kind not in _KINDS or not is_transfer(context):
        return None
    made = _functions_of(kind, "encode")(x, context, family == "cuda")
    if made is None:
        return None
    sub_header, frames = made
    if KEY in sub_header:
        sub_header["kind"] = kind
    header = {
        "sub-header": sub_header,
        "type": f"{type(x).__module__}.{type(x).__name__}",
        "type-serialized": pickled(type(x)),
        "serializer": family,
    }
    if KEY in sub_header:
        header["compression"] = (False,)  # distributed's own codecs would find nothing more
    return header, frames


def _functions_of(kind: str, name: str) -> Callable[..., Any]:
    if kind not in _KINDS:
        raise coding.damaged(f"an array of {kind!r}, of which this version knows nothing")
    return getattr(import_module(_KINDS[kind]), name)
