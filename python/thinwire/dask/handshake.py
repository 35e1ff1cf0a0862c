"""Who can decode: connections of distributed begin with a handshake, to which processes that have
these decoders add a line. Nothing is sent compressed to a process that has not said so."""

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from distributed.comm.addressing import get_address_host, resolve_address
from distributed.comm.core import Comm

from thinwire.library import format_version, version

KEY = "thinwire"
# The version of the headers in serializers.py.
LAYOUT = 1


@cache
def _own() -> dict[str, Any]:
    return {"version": version(), "format": format_version(), "layout": LAYOUT}


_patched = False


def announce() -> None:
    """From now on new connections say that this process decodes. Once and for all: decoders stay.

    A scheduler passes data on without reading it, so its connections do not say so.
    """
    global _patched
    if _patched:
        return
    _patched = True
    own = _own()
    plain = Comm.handshake_info

    def handshake_info(self: Comm) -> dict[str, Any]:
        said = dict(plain(self))
        if self.deserialize:
            said[KEY] = own
        return said

    Comm.handshake_info = handshake_info  # type: ignore[method-assign]


def is_transfer(context: Mapping[str, Any] | None) -> bool:
    """Whether this serialisation is for a connection: spilling to disk and copies have no
    recipient."""
    return bool(context) and "recipient" in (context or {})


def peer_decodes(context: Mapping[str, Any]) -> bool:
    """Whether the recipient has said that it decodes what this version encodes."""
    return bool(context["recipient"].get(KEY) == _own())


def on_same_host(context: Mapping[str, Any]) -> bool:
    """Whether both ends have one address; in doubt they have, and arrays stay raw."""
    try:
        return _same(context["sender"]["address"], context["recipient"]["address"])
    except (KeyError, OSError, ValueError, TypeError):
        return True


@lru_cache(maxsize=1024)
def _same(one: str, other: str) -> bool:
    return _host(one) == _host(other)


def _host(address: str) -> str:
    return str(get_address_host(resolve_address(address)))
