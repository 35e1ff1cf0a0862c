"""Element types of files: which are floats of ours, and why the others are none."""

import numpy as np

from thinwire.array_files.stored import Refused, one_line

_FLOATS = {"f2": "f16", "f4": "f32", "f8": "f64"}
# Types that numpy has not: files have them as words of so many bytes.
_WORDS = {"bf16": ("u2", "i2", "V2"), "e4m3": ("u1", "i1", "V1"), "e5m2": ("u1", "i1", "V1")}


def name_of(kind: np.dtype | None, given: str | None) -> str:
    """The dtype name of an array in a file. Refused if it has none, or if another is given."""
    word = _word(kind)
    if given in _WORDS and word in _WORDS[given]:
        return given
    if word not in _FLOATS:
        raise Refused(f"it holds {described(kind)}: {_advice(kind, word)}")
    name = _FLOATS[word]
    if given not in (None, name):
        raise Refused(f"it holds {name}, not {given}: leave --dtype out")
    return name


def little(array: np.ndarray) -> np.ndarray:
    """The same values, little-endian and contiguous in C order: bits are moved, not converted."""
    array = np.asarray(array)
    order = array.dtype.newbyteorder("<")
    if array.dtype != order:
        array = array.byteswap().view(order)
    if array.dtype.kind in "Vi":
        array = array.view(f"<u{array.dtype.itemsize}")
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def described(kind: np.dtype | None) -> str:
    """A type in a word or two."""
    if kind is None:
        return "a type that numpy has not"
    if kind.fields is not None:
        return "records"
    return _FLOATS.get(_word(kind)) or one_line(kind.newbyteorder("<").name)


def _word(kind: np.dtype | None) -> str:
    """The kind and bytes of an element, as "f4"; of none that is an array or a record."""
    if kind is None or kind.fields is not None or kind.subdtype is not None or kind.hasobject:
        return ""
    return f"{kind.kind}{kind.itemsize}"


def _advice(kind: np.dtype | None, word: str) -> str:
    if kind is None or kind.hasobject or kind.kind in "SUTMm":
        return "codecs take floats"
    if kind.fields is not None:
        return "save one field as an array of its own"
    if kind.kind == "c":
        return f"save its parts as floats, by .view('f{kind.itemsize // 2}')"
    asked = [name for name, words in _WORDS.items() if word in words]
    also = f", or pass --dtype {' or '.join(asked)} if these are such words" if asked else ""
    return "save it as floats, as by .astype('f8')" + also
