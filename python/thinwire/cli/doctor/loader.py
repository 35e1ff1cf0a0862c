"""The loader that a program asks the system for."""

import struct

_PT_INTERP = 3
_HEADER_BYTES = 64


def loader_of(path: str) -> str | None:
    """The path of an ELF program's loader, "" if it is linked statically; None of other files and
    of what cannot be read. Of 64-bit programs in this machine's order of bytes."""
    try:
        with open(path, "rb") as file:
            head = file.read(_HEADER_BYTES)
            if len(head) < _HEADER_BYTES or head[:5] != b"\x7fELF\x02":
                return None
            (table,) = struct.unpack_from("Q", head, 32)
            size, count = struct.unpack_from("HH", head, 54)
            for index in range(count):
                file.seek(table + index * size)
                kind, _, where, _, _, length = struct.unpack("IIQQQQ", file.read(40))
                if kind == _PT_INTERP:
                    file.seek(where)
                    return file.read(min(length, 4096)).rstrip(b"\0").decode(errors="replace")
    except (OSError, struct.error):
        return None
    return ""
