"""Element types as frames, numpy, GPU arrays and file names know them."""

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

# Codes are tw_dtype. numpy itself has no bf16 and no 8-bit floats: words of so many bits stand for
# them.
CODES = {"bytes": 0, "f32": 1, "f64": 2, "f16": 3, "bf16": 4, "e4m3": 5, "e5m2": 6}
# Types that Thinwire adds up.
ADDED = ("f32", "f64", "f16", "bf16")
NAMES = {code: name for name, code in CODES.items()}
# By dtype name, and made when it is asked for: importing numpy takes longer than all that the
# launchers do.
NUMPY: dict[str, "np.dtype[Any]"]


@cache
def _numpy() -> dict[str, "np.dtype[Any]"]:
    import numpy as np

    kinds = (np.uint8, np.float32, np.float64, np.float16, np.uint16, np.uint8, np.uint8)
    return {name: np.dtype(kind) for name, kind in zip(CODES, kinds, strict=True)}


def __getattr__(name: str) -> Any:
    if name == "NUMPY":
        return _numpy()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# Type codes of DLPack: DLDataTypeCode.
DLPACK_UINT, DLPACK_FLOAT, DLPACK_BFLOAT = 1, 2, 4
DLPACK_E4M3FN, DLPACK_E5M2 = 10, 12
_DLPACK = {
    "bytes": (DLPACK_UINT, 8),
    "f32": (DLPACK_FLOAT, 32),
    "f64": (DLPACK_FLOAT, 64),
    "f16": (DLPACK_FLOAT, 16),
    "bf16": (DLPACK_BFLOAT, 16),
    "e4m3": (DLPACK_E4M3FN, 8),
    "e5m2": (DLPACK_E5M2, 8),
}
# As ml_dtypes has them.
_ML_DTYPES = {"bfloat16": "bf16", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}


def name_of_numpy(dtype: "np.dtype") -> str:
    """The dtype name of a numpy type; anything that is no float counts as bytes."""
    for name in ("f32", "f64", "f16"):
        if dtype == _numpy()[name]:
            return name
    return _ML_DTYPES.get(dtype.name, "bytes")


def name_of(array: "np.ndarray") -> str:
    """The dtype name of an array; anything that is no float counts as bytes."""
    return name_of_numpy(array.dtype)


def name_of_dlpack(code: int, bits: int) -> str:
    """The dtype name of a DLPack type; anything that is no such float counts as bytes."""
    for name, pair in _DLPACK.items():
        if pair == (code, bits):
            return name
    return "bytes"


def to_dlpack(name: str) -> tuple[int, int]:
    """Type code and bits of a dtype name."""
    return _DLPACK[name]


def names_in(mask: int) -> list[str]:
    """The dtype names of a bit mask, as in tw_codec_info.dtypes."""
    return [name for name, code in CODES.items() if mask & (1 << code)]
