"""Element types as frames, numpy and file names know them."""

import numpy as np

# Codes are tw_dtype. bf16 has no numpy type: it travels as 16-bit words.
CODES = {"bytes": 0, "f32": 1, "f64": 2, "f16": 3, "bf16": 4}
NAMES = {code: name for name, code in CODES.items()}
NUMPY = {
    "bytes": np.dtype(np.uint8),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(np.uint16),
}


def name_of(array: np.ndarray) -> str:
    """The dtype name of an array; anything that is no float counts as bytes."""
    for name in ("f32", "f64", "f16"):
        if array.dtype == NUMPY[name]:
            return name
    return "bytes"


def names_in(mask: int) -> list[str]:
    """The dtype names of a bit mask, as in tw_codec_info.dtypes."""
    return [name for name, code in CODES.items() if mask & (1 << code)]
