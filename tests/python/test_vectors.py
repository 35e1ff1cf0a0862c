"""The golden vectors as whole frames, on the CPU."""

from pathlib import Path

import golden_vectors
import numpy as np
import pytest
from golden_vectors import Case

import thinwire


def decoded(frame: np.ndarray, case: Case) -> bytes | None:
    out = np.full(case.values.nbytes, 0xC5, np.uint8)
    try:
        thinwire.decompress(frame.tobytes(), out=out)
    except thinwire.ThinwireError:
        return None
    return out.tobytes()


def encoded(case: Case) -> np.ndarray:
    frame = thinwire.compress(case.values, case.spec, dtype=case.dtype)
    assert isinstance(frame, bytes)
    return np.frombuffer(frame, np.uint8)


@pytest.mark.parametrize("file", golden_vectors.FILES, ids=lambda file: file.stem)
def test_frames_of_them_decode(file: Path) -> None:
    golden_vectors.check_decoded(golden_vectors.read(file), decoded)


@pytest.mark.parametrize("file", golden_vectors.FILES, ids=lambda file: file.stem)
def test_arrays_become_them(file: Path) -> None:
    golden_vectors.check_encoded(golden_vectors.read(file), encoded)
