"""Programs of all kinds of calls under a trace and a capture: nothing of what they do changes, also
where their arrays lie in memory that only a GPU could touch."""

from pathlib import Path

import pytest
from mpis import SYSTEM
from shim_runs import PROGRAMS, SHRINK, mpirun
from test_shim_conformance import RANKS, families

from thinwire import traces
from thinwire.capture import make_index

pytestmark = pytest.mark.multiproc

HOST = ("shim_conformance", SYSTEM.testing, {})
DEVICE = ("shim_conformance_device", SYSTEM.fake_device, {})
AWARE = {"THINWIRE_GPU_AWARE": "1", "FAKE_DEVICE_REACHABLE": "1"}
MEMORY = {"host": HOST, "device": DEVICE, "aware": (*DEVICE[:2], AWARE)}
MOST = 1 << 20


@pytest.mark.parametrize("memory", MEMORY)
@pytest.mark.parametrize("family", ["sends", "persistent", "collectives"])
def test_calls_do_as_without(family: str, memory: str, tmp_path: Path) -> None:
    assert family in families(SYSTEM)
    program, library, more = MEMORY[memory]
    watched = {
        "THINWIRE_TRACE": str(tmp_path / "trace"),
        "THINWIRE_CAPTURE": str(tmp_path / "sample"),
        "THINWIRE_CAPTURE_MOST": str(MOST),
    }
    done = mpirun(
        RANKS[family],
        [PROGRAMS / program, family],
        library,
        SHRINK | more | watched,
        tmp_path / "report",
    )
    assert done.code == 0, done.errors
    lines = done.output.splitlines()
    assert lines and all(line.startswith("PASS ") for line in lines), done.output
    warnings: list[str] = []
    found = traces.merge(traces.read_all([tmp_path / "trace"], warnings.append), warnings)
    assert done.report is not None and warnings == []
    for name in ("messages", "bytes", "wire_bytes", "compressed_messages", "raw_by_reason"):
        assert found.totals[name] == done.report[name], name
    samples = make_index(tmp_path / "sample", ["conformance"])
    assert samples and 0 < sum(sample["bytes"] for sample in samples) <= MOST


# The library's counters as performance variables of MPI's tools interface.


def test_variables_stand_behind_the_mpis_own() -> None:
    settings = {
        "THINWIRE_CODEC": "mpc",
        "THINWIRE_SAME_NODE": "1",
        "THINWIRE_FORCE": "1",
        "THINWIRE_LINK": "10mbit",
    }
    program = [SYSTEM.programs / "shim_variables"]
    done = mpirun(2, program, SYSTEM.production, mpi=SYSTEM, settings=settings)
    assert (done.code, done.output) == (0, "ok\nok\n"), done.errors
