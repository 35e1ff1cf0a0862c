"""mpi4py's own tests under the library: nothing is worse than natively."""

import json

import pytest
from mpi4py_package import built_from_source, wheel
from mpi4py_suite import SuiteRun, run_suite, worse
from program_runs import SHRINK, Compression, find_mpis

pytestmark = [pytest.mark.multiproc, pytest.mark.slow]

MPIS = find_mpis()
EVERY = ("openmpi", "openmpi-5", "mpich", "mpich-5")
RANKS = (1, 2, 3, 5)
PACKAGES = {"wheel": wheel, "built": built_from_source}
# Its tests send small messages of every type, whole numbers mostly: their sums are the same in any
# order, and no codec of numbers makes such a message smaller.
CODECS = {
    SHRINK: Compression(SHRINK, "64"),
    "mpc": Compression("mpc", "1", "on"),
    "szp": Compression("szp:abs=1e-9", "1", "on"),
}
# Attempts at what is worse, natively too: on a machine with other work a native run may have had
# the luck that the other had not.
ATTEMPTS = 1
CASES = [
    *(("wheel", mpi, ranks) for mpi in EVERY for ranks in RANKS),
    *(("built", mpi, ranks) for mpi in ("openmpi", "mpich") for ranks in RANKS),
]


def _run(case, folder, compression=None, modules=None) -> SuiteRun:
    package, mpi, ranks = case
    if mpi not in MPIS:
        pytest.skip(f"no {mpi} here")
    installed = PACKAGES[package](MPIS[mpi])
    return run_suite(installed, MPIS[mpi], ranks, folder, compression, modules)


@pytest.fixture(scope="session")
def natively(tmp_path_factory):
    known: dict[tuple, SuiteRun] = {}

    def results(case) -> SuiteRun:
        if case not in known:
            known[case] = _run(case, tmp_path_factory.mktemp("native"))
        return known[case]

    return results


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_nothing_is_worse(case, codec, natively, tmp_path, record_property):
    native = natively(case)
    assert native.counts()["passed"] > 0, native.ended
    ours = _run(case, tmp_path / "all", CODECS[codec])
    for name, run in (("native", native), (codec, ours)):
        record_property(name, json.dumps(_figures(run)))
    found = worse(native, ours)
    for attempt in range(ATTEMPTS):
        if not found:
            break
        again = sorted({name.split(".")[0] for name in found})
        native = _run(case, tmp_path / f"native-{attempt}", modules=again)
        found = worse(native, _run(case, tmp_path / f"again-{attempt}", CODECS[codec], again))
        record_property("again", json.dumps({"modules": again, "worse": found}))
    assert found == {}
    if case[2] > 1 and codec == SHRINK:
        assert ours.compressed() > 0, ours.reports


def _figures(run: SuiteRun) -> dict:
    return {
        "library": run.library,
        "modules": len(run.modules),
        **run.counts(),
        "modules that ended": sorted(run.ended),
        "failed tests": sorted(name for name, how in run.outcomes.items() if how == "failed"),
        "compressed": run.compressed(),
        "reports": run.reports,
    }
