"""Masked arrays: their missing values as values of the array, which the codec is told."""

from typing import cast

import numpy as np

from thinwire.codec import Codec, codecs


def filled_for(array: np.ma.MaskedArray, codec: Codec) -> tuple[np.ndarray, Codec]:
    """The array with its fill value in the place of what is masked, and the codec: a lossy one
    is told it by `fill=`. A number or NaN that the spec has for it goes before the array's."""
    said = _fill_of(codec.spec)
    value = array.fill_value if said in (None, "auto") else array.dtype.type(float(cast(str, said)))
    name = codec.spec.partition(":")[0]
    lossy = any(row.name == name and not row.lossless for row in codecs())
    if lossy and array.dtype.kind == "f":
        codec = Codec(_with_fill(codec.spec, value))
    return np.asarray(array.filled(value)), codec


def _fill_of(spec: str) -> str | None:
    options = spec.partition(":")[2].split(",")
    return next((each.removeprefix("fill=") for each in options if each.startswith("fill=")), None)


def _with_fill(spec: str, value: np.floating) -> str:
    name, _, options = spec.partition(":")
    others = [each for each in options.split(",") if each and not each.startswith("fill=")]
    text = "nan" if np.isnan(value) else repr(float(value))
    return f"{name}:{','.join([*others, f'fill={text}'])}"
