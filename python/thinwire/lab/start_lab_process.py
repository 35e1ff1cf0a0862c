"""Starts the lab's process without the rest of the package: `start_lab_process.py OPTIONS`.

A program, run by its path. The lab's process has no use for the compression library and for NumPy,
which importing `thinwire` loads, and a lab should not wait for them.
"""

import sys
import types
from pathlib import Path

if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    # This folder's modules are found by way of the package alone.
    sys.path = [entry for entry in sys.path if Path(entry or ".").resolve() != here]
    package = types.ModuleType("thinwire")
    package.__path__ = [str(here.parent)]
    sys.modules["thinwire"] = package

    from thinwire.lab.lab_process import main

    sys.exit(main())
