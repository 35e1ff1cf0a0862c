"""mpi4py's suite natively and under codecs, side by side, where no pytest run can wait for it: says
counts, and what is worse than natively.

python tests/programs/mpi4py_report.py MPI RANKS CODEC... [--built] [--seconds N] [--one-by-one]
    [--test-seconds N] [--modules NAME,...]

CODEC is one of the table in test_mpi4py_suite.py, `lossless`, or `unset` for the library as it is
without a setting. After N seconds modules that have not ended are left out of the comparison, and
named; a test that takes longer than its own N ends its module. Prints a line of JSON for each run.
"""

import argparse
import json
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mpi4py_suite import TEST_SECONDS, SuiteRun, run_suite, suite_modules, worse
from program_runs import UNSET, Compression, find_mpis
from test_mpi4py_suite import CODECS as TESTED
from test_mpi4py_suite import PACKAGES

CODECS = {**TESTED, "lossless": Compression("lossless", "1", "on"), "unset": UNSET}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("mpi")
    parser.add_argument("ranks", type=int)
    parser.add_argument("codecs", nargs="+", choices=list(CODECS))
    parser.add_argument("--built", action="store_true")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--test-seconds", type=float, default=TEST_SECONDS)
    parser.add_argument("--one-by-one", action="store_true")
    parser.add_argument("--modules", type=lambda text: text.split(","))
    given = parser.parse_args()
    mpi = find_mpis()[given.mpi]
    installed = PACKAGES["built" if given.built else "wheel"](mpi)
    folder = Path(tempfile.mkdtemp(prefix="mpi4py-"))
    modules = given.modules or suite_modules(installed)
    runs: dict[str, SuiteRun] = {}

    def run(name: str) -> None:
        started = time.monotonic()
        runs[name] = run_suite(
            installed,
            mpi,
            given.ranks,
            folder / name,
            CODECS.get(name),
            modules,
            given.seconds,
            given.test_seconds,
        )
        line = {"mpi": given.mpi, "ranks": given.ranks, "under": name, "built": given.built}
        line |= figures(runs[name]) | {"seconds": round(time.monotonic() - started)}
        print(json.dumps(line), flush=True)

    with ThreadPoolExecutor(1 if given.one_by_one else len(given.codecs) + 1) as pool:
        list(pool.map(run, ["natively", *given.codecs]))
    for name in given.codecs:
        print(json.dumps({"under": name, "worse": compare(runs["natively"], runs[name])}))


def figures(run: SuiteRun) -> dict:
    failed = sorted(name for name, how in run.outcomes.items() if how == "failed")
    return {
        "library": run.library.splitlines()[0] if run.library else "",
        "modules": len(run.modules) - len(run.not_run),
        "not run": run.not_run,
        **run.counts(),
        "failed tests": failed,
        "modules that ended": {name: how[:400] for name, how in run.ended.items()},
        "compressed": run.compressed(),
    }


def compare(native: SuiteRun, ours: SuiteRun) -> dict[str, str]:
    """Of the modules that both have run."""
    left_out = {*native.not_run, *ours.not_run}
    found = worse(native, ours)
    return {name: how[:2000] for name, how in found.items() if name.split(".")[0] not in left_out}


if __name__ == "__main__":
    main()
