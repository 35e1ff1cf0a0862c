"""The command line that the vector scripts share: write the file, or compare it."""

import argparse
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "vectors"


def run(name: str, text: str, source: str) -> int:
    """Write `text` to the vector file `name`, or with --check compare; an exit status.

    `source` says what the vectors come from.
    """
    parser = argparse.ArgumentParser(description=f"Write {name} from {source}.")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    target = FOLDER / name
    if parser.parse_args().check:
        if not target.is_file() or target.read_text() != text:
            print(f"{name} differs from what {source} gives", file=sys.stderr)
            return 1
        return 0
    target.write_text(text)
    print(f"{target}: {len(text)} bytes")
    return 0
