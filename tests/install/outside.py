"""Commands run as somebody would who has the installed thing and no source tree."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("THINWIRE_BUILD_DIR", ROOT / "build" / "release"))

# Variables that lead into the tree: what is installed is all there is.
UNSET = (
    "CMAKE_PREFIX_PATH",
    "CPATH",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "PKG_CONFIG_PATH",
    "PYTHONPATH",
)


def run(command: list[str | Path], cwd: Path, timeout: int = 600, **settings: str) -> str:
    """What `command` prints; it must succeed."""
    clean = {name: value for name, value in os.environ.items() if name not in UNSET}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=clean | settings,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout
