"""Connections as serialisers see them."""

from typing import Any

from distributed.protocol.serialize import deserialize, serialize

from thinwire.dask import families, handshake


def context(ready: bool = True, same_host: bool = False) -> dict[str, Any]:
    """Of a message from one worker to another, which has Thinwire or not."""
    to: dict[str, Any] = {"address": "tcp://10.0.0.1:2" if same_host else "tcp://10.0.0.2:1"}
    if ready:
        to[handshake.KEY] = dict(handshake._own())
    return {"sender": {"address": "tcp://10.0.0.1:1"}, "recipient": to}


def sent(x: Any, **how: Any) -> tuple[dict[str, Any], list[Any]]:
    """Header and frames that go over a connection."""
    families.register()
    return serialize(x, on_error="raise", context=context(**how))


def is_compressed(header: dict[str, Any]) -> bool:
    return handshake.KEY in header["sub-header"]


def through(x: Any, **how: Any) -> Any:
    """What arrives of an array that is compressed on the way."""
    header, frames = sent(x, **how)
    assert is_compressed(header)
    return deserialize(header, [bytearray(frame) for frame in frames])
