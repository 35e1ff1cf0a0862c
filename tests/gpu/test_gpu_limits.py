"""GPUs whose thread blocks have little shared memory: the same bytes, or a codec that says that it
is not for this GPU, never a launch that fails.

Compute capability 7.5 has 64 KiB and runs code of its own, which a library has that is built for it
alone: THINWIRE_TEST_SMALL_LIBRARY names its folder (tests/README.md)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SMALL_LIBRARY = os.environ.get("THINWIRE_TEST_SMALL_LIBRARY", "")


def outcomes(limit: int, **settings: str) -> dict[tuple[str, str], str]:
    """By spec and dtype, with so many bytes of shared memory for a thread block."""
    places = os.pathsep.join(filter(None, [str(HERE), *sys.path]))
    limited = {"THINWIRE_TEST_SHARED_BYTES": str(limit), "PYTHONPATH": places}
    done = subprocess.run(
        [sys.executable, str(HERE / "limited_codecs.py")],
        env=os.environ | limited | settings,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    lines = [line.split() for line in done.stdout.splitlines()]
    return {(spec, dtype): outcome for spec, dtype, outcome in lines}


def test_99_kib() -> None:
    """Of compute capabilities 8.6, 8.9 and 12.0."""
    found = outcomes(99 * 1024)
    assert len(found) > 20
    assert set(found.values()) == {"same"}


def test_64_kib_without_code_for_it() -> None:
    """Tiles of fp32 get smaller; what takes two payloads, or planes of fp64 volumes, is refused."""
    found = outcomes(64 * 1024)
    same = {key for key, outcome in found.items() if outcome == "same"}
    volumes = {(f"zfp:rate={rate}", "f32") for rate in (16, 31)}
    assert {spec.partition(":")[0] for spec, _ in same} == {"raw", "zfp", "blockq", "cast"}
    assert {key for key in same if key[0].startswith("zfp")} == volumes
    assert set(found.values()) == {"same", "refused"}


@pytest.mark.skipif(not SMALL_LIBRARY, reason="THINWIRE_TEST_SMALL_LIBRARY names no library")
def test_64_kib() -> None:
    """Of compute capability 7.5, by its own code."""
    found = outcomes(64 * 1024, THINWIRE_LIBRARY_DIR=SMALL_LIBRARY)
    assert len(found) > 20
    assert set(found.values()) == {"same"}
