"""The loader that a program asks for, and the names that a program or library defines, read from
its file: nothing of it is run."""

import mmap
import struct
from functools import cache
from pathlib import Path

_PT_INTERP = 3
_SHT_SYMTAB, _SHT_DYNSYM = 2, 11
_HIDDEN = (1, 2)  # STV_INTERNAL, STV_HIDDEN
_GLOBAL = (1, 2, 10)  # STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE
_HEADER_BYTES = 64
# No name that anybody asks for is longer.
_LONGEST_NAME = 4096


@cache
def exported_names(path: Path) -> frozenset[str]:
    """None of a file that cannot be read, is damaged, or is no 64-bit ELF library."""
    return _read(path, (_SHT_DYNSYM,))


@cache
def defined_names(path: Path) -> frozenset[str]:
    """Likewise, with those that it keeps to itself and has not been stripped of."""
    return _read(path, (_SHT_DYNSYM, _SHT_SYMTAB))


def _read(path: Path, tables: tuple[int, ...]) -> frozenset[str]:
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return frozenset(_names(data, tables))
    except (OSError, ValueError, OverflowError, struct.error):
        return frozenset()


def _names(data: mmap.mmap, tables: tuple[int, ...]) -> list[str]:
    if len(data) < _HEADER_BYTES or data[:5] != b"\x7fELF\x02":
        raise ValueError("no 64-bit ELF file")
    order = {1: "<", 2: ">"}[data[5]] if data[5] in (1, 2) else ""
    if not order:
        raise ValueError("no byte order")
    (sections,) = struct.unpack_from(order + "Q", data, 40)
    size, count = struct.unpack_from(order + "HH", data, 58)
    found = []
    left = len(data)  # of tables that do not overlap, all that there is
    for index in range(count):
        kind, where, length, link = _section(data, order, sections + index * size)
        if kind not in tables:
            continue
        _, strings, strings_length, _ = _section(data, order, sections + link * size)
        left -= length + strings_length
        if left < 0:
            raise ValueError("tables that are longer than the file")
        texts = _bytes(data, strings, strings_length)
        symbols = _bytes(data, where, length - length % 24)
        for name, info, other, section, _, _ in struct.iter_unpack(order + "IBBHQQ", symbols):
            shown = kind == _SHT_SYMTAB or other & 3 not in _HIDDEN
            if section != 0 and info >> 4 in _GLOBAL and shown:
                end = texts.find(b"\0", name, name + _LONGEST_NAME)
                found += [texts[name:end].decode()] if end >= 0 else []
    return found


def loader_of(path: str) -> str | None:
    """The path of a program's loader, "" if it is linked statically; None of what is no 64-bit ELF
    file of this machine's order of bytes, or cannot be read."""
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


def _section(data: mmap.mmap, order: str, header: int) -> tuple[int, int, int, int]:
    """Type, place, length and link of the section whose header lies there."""
    _, kind, _, _, where, length, link = struct.unpack_from(order + "IIQQQQI", data, header)
    return kind, where, length, link


def _bytes(data: mmap.mmap, where: int, length: int) -> bytes:
    if where + length > len(data):
        raise ValueError("a section beyond the end")
    return data[where : where + length]
