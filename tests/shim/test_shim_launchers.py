"""What the library learns from launchers, under every MPI at hand."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from mpis import prefixes
from shim_runs import PROGRAMS, run

pytestmark = pytest.mark.multiproc

PROGRAM = PROGRAMS / "shim_launcher"
NOBODY = 99
THREAD_MULTIPLE = 3


@dataclass(frozen=True)
class Mpi:
    name: str
    launcher: str
    library: str

    @property
    def is_open_mpi(self) -> bool:
        return ".so.40" in self.library

    @property
    def is_here(self) -> bool:
        return shutil.which(self.launcher) is not None


def launcher_in(folder: Path) -> str:
    """Intel MPI's mpirun is a script that looks for the rest by PATH."""
    name = "mpiexec.hydra" if folder.name.startswith("impi") else "mpirun"
    return str(folder / "bin" / name)


def named_mpis() -> list[Mpi]:
    return [
        Mpi(f"{folder.name}-{library.name}", launcher_in(folder), str(library))
        for folder in prefixes()
        for library in sorted((folder / "lib").glob("libmpi*.so.[0-9]*"))
        if library.name in ("libmpi.so.12", "libmpi.so.40", "libmpi_abi.so.1")
    ]


PACKAGED = [
    Mpi("openmpi", "mpirun.openmpi", "libmpi.so.40"),
    Mpi("mpich", "mpiexec.mpich", "libmpich.so.12"),
]
MPIS = [*PACKAGED, *named_mpis()]


@pytest.fixture(params=MPIS, ids=lambda mpi: mpi.name)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    if not request.param.is_here:
        pytest.skip(f"no {request.param.launcher}")
    return request.param


def known(
    mpi: Mpi,
    ranks: int,
    publishing: list[int],
    options: tuple[str, ...] = (),
    late: int = NOBODY,
    level: int = 0,
) -> dict[int, dict[str, str]]:
    """What each publishing rank knows, by its rank."""
    words = [mpi.launcher, *(["--oversubscribe"] if mpi.is_open_mpi else []), *options]
    program = [PROGRAM, mpi.library, ",".join(map(str, publishing)), late, level, ranks]
    whole = [*words, "-n", str(ranks), *map(str, program)]
    done = run(whole)
    # Open MPI 5's launcher was seen not to end, once, though its ranks had said all.
    if done.code is None:
        done = run(whole)
    assert (done.code, done.errors) == (0, ""), done.output
    rows = [
        dict(word.split("=", 1) for word in line.split())
        for line in done.output.splitlines()
        if line.startswith("rank=")
    ]
    return {int(row.pop("rank")): row for row in rows}


def listed(numbers: list[int]) -> str:
    return ",".join(map(str, numbers))


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_every_card_is_read(mpi: Mpi, ranks: int) -> None:
    everybody = list(range(ranks))
    rows = known(mpi, ranks, everybody)
    assert sorted(rows) == everybody
    assert len({row["name"] for row in rows.values()}) == 1
    for row in rows.values():
        assert (row["reachable"], row["unknown"]) == ("1", "")
        assert row["capabilities"] == row["local"] == listed(everybody)


@pytest.mark.parametrize("publishing", [[0, 2], [1, 3], [3]])
def test_ranks_without_the_library_are_known_to_have_no_capabilities(
    mpi: Mpi, publishing: list[int]
) -> None:
    rows = known(mpi, 4, publishing)
    assert sorted(rows) == publishing
    for row in rows.values():
        assert (row["capabilities"], row["unknown"]) == (listed(publishing), "")


@pytest.mark.parametrize("late", [0, 1])
def test_no_rank_asks_before_the_last_has_published(mpi: Mpi, late: int) -> None:
    rows = known(mpi, 2, [0, 1], late=late)
    assert [row["capabilities"] for row in rows.values()] == ["0,1", "0,1"]


def test_threads_may_ask(mpi: Mpi) -> None:
    rows = known(mpi, 2, [0, 1], level=THREAD_MULTIPLE)
    assert {(row["askable"], row["capabilities"]) for row in rows.values()} == {("1", "0,1")}


@pytest.mark.parametrize(
    ("per_node", "ranks", "nodes"),
    [(1, 2, [[0], [1]]), (2, 3, [[0, 1], [2]]), (1, 4, [[0, 2], [1, 3]])],
)
def test_nodes_have_a_proxy_each(
    mpi: Mpi, per_node: int, ranks: int, nodes: list[list[int]]
) -> None:
    """Hydra takes two names for two nodes, and starts a proxy for each on this one."""
    if mpi.is_open_mpi:
        pytest.skip("hydra's option")
    if mpi.name.startswith("impi"):
        pytest.skip("Intel MPI's hydra starts no proxy for a name that is no machine's")
    options = ("-launcher", "fork", "-hosts", "first,second", "-ppn", str(per_node))
    publishing = list(range(ranks))
    for late in (0, ranks - 1):
        rows = known(mpi, ranks, publishing, options, late)
        for node in nodes:
            for rank in node:
                assert rows[rank]["local"] == listed(node)
                row = rows[rank]
                assert (row["capabilities"], row["unknown"]) == (listed(publishing), "")
