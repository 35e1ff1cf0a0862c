"""A rank of mpi4py's own test suite: runs modules of it one behind the other, and writes what came
of each test to a file of its own, line by line, so that what a rank did before it died is known.

python mpi4py_rank.py RECORDS SECONDS TESTS MODULE...    (under a launcher)

SECONDS is how long one test may take, TESTS the folder of mpi4py's tests.
"""

import faulthandler
import importlib
import json
import sys
import time
import unittest
from pathlib import Path

BADNESS = ("passed", "skipped", "failed")


class Recorder(unittest.TestResult):
    """Writes one line a test. A test that stays in MPI for too long ends its rank, which the
    launcher makes the end of the job."""

    def __init__(self, module: str, write, seconds: float) -> None:
        super().__init__()
        self.module, self.write, self.seconds = module, write, seconds
        self.outcome, self.text = "passed", ""

    def startTest(self, test) -> None:
        super().startTest(test)
        self.outcome, self.text = "passed", ""
        faulthandler.dump_traceback_later(self.seconds, exit=True)

    def stopTest(self, test) -> None:
        faulthandler.cancel_dump_traceback_later()
        self._line(test)
        super().stopTest(test)

    def _line(self, test) -> None:
        self.write(module=self.module, test=test.id(), outcome=self.outcome, text=self.text)

    def _note(self, test, outcome: str, text: str) -> None:
        if BADNESS.index(outcome) >= BADNESS.index(self.outcome):
            self.outcome, self.text = outcome, text
        if not isinstance(test, unittest.TestCase):  # set-up of a class: no start, no stop
            self._line(test)

    def addError(self, test, err) -> None:
        self._note(test, "failed", self._exc_info_to_string(err, unittest.TestCase()))

    addFailure = addError

    def addSkip(self, test, reason: str) -> None:
        self._note(test, "skipped", reason)

    def addSubTest(self, test, subtest, err) -> None:
        if err is not None:
            self.addError(test, err)

    def addUnexpectedSuccess(self, test) -> None:
        self._note(test, "failed", "passed, and was not expected to")


def run_module(name: str, write, seconds: float) -> None:
    write(module=name, begins=True)
    started = time.monotonic()
    faulthandler.dump_traceback_later(seconds, exit=True)
    try:
        suite = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(name))
    except unittest.SkipTest as skipped:
        write(module=name, test=name, outcome="skipped", text=str(skipped))
    else:
        suite.run(Recorder(name, write, seconds))
    faulthandler.cancel_dump_traceback_later()
    write(module=name, ends=True, seconds=round(time.monotonic() - started, 2))


def main() -> None:
    records, seconds, tests = Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    # As its own runner does: arrays of other packages are left out.
    sys.modules["cupy"] = sys.modules["numba"] = None
    sys.path.insert(0, tests)
    from mpi4py import MPI

    with (records / f"rank-{MPI.COMM_WORLD.Get_rank()}").open("w", buffering=1) as file:

        def write(**line) -> None:
            file.write(json.dumps(line) + "\n")

        for name in sys.argv[4:]:
            run_module(name, write, seconds)
        write(library=MPI.Get_library_version().strip(), mpi4py=MPI.__file__)


if __name__ == "__main__":
    main()
