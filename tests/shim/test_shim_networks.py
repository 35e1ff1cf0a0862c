"""Networks other than Open MPI's own TCP: what the library does with nothing said of the link.

Over sockets of the kernel's TCP, whoever opened them, the rate is measured and messages are
compressed. Over anything else it is not known, and they stay raw until somebody states it. The
networks are those that run on one machine: libfabric's and UCX's, by sockets and by memory that
hosts of a lab have in common.
"""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from mpis import ALL, Mpi
from shim_runs import Run, over_hosts, preloaded, run

from thinwire.lab import Lab, LabUnavailable

pytestmark = pytest.mark.multiproc

NOT_KNOWN = "the link's rate is not known"
ROUNDS, ATTEMPTS = 12, 3
LINK = "200mbit"  # raw, a message of 4 MiB takes 170 ms


@dataclass(frozen=True)
class Network:
    name: str
    variables: Mapping[str, str]  # of the ranks
    mpis: Sequence[str]
    options: Sequence[str] = ()  # of Open MPI's launcher
    often: Sequence[str] = field(default=())  # MPIs that `make test` has; the others are slow


def _ucx(transport: str, mpis: Sequence[str], often: Sequence[str] = ()) -> Network:
    variables = {"UCX_TLS": f"{transport},self", "MPIR_CVAR_CH4_NETMOD": "ucx"}
    if transport != "tcp":
        variables["UCX_NET_DEVICES"] = "all"
    # Without these Open MPI takes UCX for InfiniBand's alone.
    any_device = ["opal_common_ucx_tls", "any", "--mca", "opal_common_ucx_devices", "any"]
    options = ("--mca", "pml", "ucx", "--mca", *any_device)
    return Network(f"ucx-{transport}", variables, mpis, options, often)


def _libfabric(provider: str, mpis: Sequence[str], often: Sequence[str] = ()) -> Network:
    variables = {"FI_PROVIDER": provider, "MPIR_CVAR_CH4_NETMOD": "ofi"}
    # Open MPI leaves out providers of sockets unless told to.
    all_of_them = ["--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_exclude", "none"]
    options = ("--mca", "pml", "cm", *all_of_them)
    return Network(f"libfabric-{provider}", variables, mpis, options, often)


OPENMPI_4, OPENMPI_5, MPICH_4, MPICH_5 = "openmpi", "openmpi-5", "mpich", "mpich-5"
MEASURED = (
    _ucx("tcp", (OPENMPI_4, OPENMPI_5, MPICH_4, MPICH_5), often=(OPENMPI_4,)),
    _libfabric("tcp", (OPENMPI_4, OPENMPI_5, MPICH_5), often=(MPICH_5,)),
    _libfabric("sockets", (OPENMPI_4, MPICH_5)),
)
NOT_MEASURED = (
    _ucx("sm", (MPICH_4, MPICH_5)),
    _libfabric("shm", (MPICH_5,), often=(MPICH_5,)),
    _libfabric("sm2", (MPICH_5,)),
    _libfabric("udp;ofi_rxd", (OPENMPI_4, MPICH_5)),
)


def _cases(networks: Sequence[Network]) -> list:
    return [
        pytest.param(
            network,
            mpi,
            id=f"{network.name}-{mpi}",
            marks=() if mpi in network.often else pytest.mark.slow,
        )
        for network in networks
        for mpi in network.mpis
    ]


def _mpi(name: str) -> Mpi:
    for mpi in ALL:
        known = mpi.name.partition(".")[0]  # "mpich-5.0.2" is mpich-5
        if known == name and mpi.abi != "abi":
            return mpi
    pytest.skip(f"no {name} here")


def _run(network: Network, name: str, settings: Mapping[str, str], report: Path) -> Run:
    mpi = _mpi(name)
    named = [f"{key}={value}" for key, value in network.variables.items()]
    words = ["env", *named, mpi.programs / "shim_unseen_link", "one", str(ROUNDS)]
    options = network.options if mpi.abi == "openmpi" else ()
    try:
        with Lab(hosts=2, link=LINK) as lab:
            for _ in range(ATTEMPTS):
                try:
                    return over_hosts(
                        lab, 2, words, dict(settings), report, *options, timeout=30, mpi=mpi
                    )
                except subprocess.TimeoutExpired:
                    # Debian's MPICH 4.0 now and then does not end in MPI_Finalize, natively too.
                    if name != MPICH_4:
                        raise
    except LabUnavailable as error:
        pytest.skip(f"no lab here: {error}")
    pytest.skip("this MPI does not end")


def _reported(network: Network, mpi: str, settings: Mapping[str, str], folder: Path) -> dict:
    """The report of a run that found every value right; skips where the network is not there."""
    given = {"THINWIRE_CODEC": "lossless", "THINWIRE_FORCE": "0", **settings}
    done = _run(network, mpi, given, folder / "report.json")
    if done.code != 0:
        native = _run(network, mpi, {"THINWIRE_DISABLE": "1"}, folder / "native.json")
        if native.code != 0:
            pytest.skip(f"{mpi} has no {network.name} here: {native.errors[-300:]}")
    done.all_right(2)
    assert done.report is not None, done.errors
    return done.report


@pytest.mark.parametrize(("network", "mpi"), _cases(MEASURED))
def test_the_rate_is_measured(network: Network, mpi: str, tmp_path: Path) -> None:
    report = _reported(network, mpi, {}, tmp_path)
    assert report["compressed_messages"] > 0, report["raw_by_reason"]
    assert report["raw_by_reason"].get(NOT_KNOWN, 0) < ROUNDS // 2


@pytest.mark.parametrize(("network", "mpi"), _cases(NOT_MEASURED))
def test_messages_stay_raw_until_somebody_states_the_rate(
    network: Network, mpi: str, tmp_path: Path
) -> None:
    report = _reported(network, mpi, {}, tmp_path)
    assert report["compressed_messages"] == 0
    assert report["raw_by_reason"][NOT_KNOWN] == ROUNDS
    stated = _reported(network, mpi, {"THINWIRE_LINK": LINK}, tmp_path)
    assert stated["compressed_messages"] > 0, stated["raw_by_reason"]
    assert NOT_KNOWN not in stated["raw_by_reason"]


# The rate that the machine tells of a port is enough for blocking collectives, which are timed both
# ways whatever is guessed. The system is a folder, and two ranks of one machine count as two nodes.
# By 80 Mbit/s everything pays.
TIMED = "being timed, raw and compressed"
INFINIBAND = "class/infiniband/mlx5_0/ports/1"
PORTS = {
    "infiniband": {
        f"{INFINIBAND}/state": "4: ACTIVE",
        f"{INFINIBAND}/rate": "0.08 Gb/sec (1X SDR)",
    },
    "slingshot": {
        "class/net/hsn0/operstate": "up",
        "class/net/hsn0/speed": "80",
        "class/net/hsn0/device/vendor": "0x17db",
    },
}
DOWN = {**PORTS["infiniband"], f"{INFINIBAND}/state": "1: DOWN"}


def _by_port(files: Mapping[str, str], folder: Path) -> dict[str, int]:
    """How many collectives stayed native, by reason."""
    for name, text in files.items():
        path = folder / "sys" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    mpi = _mpi(MPICH_4)
    launcher = [*mpi.launcher, "-launcher", "fork", "-hosts", "a,b", "-n", "2"]
    program = [mpi.programs / "shim_coll_timed", "smooth", "40", "65536", "allgather"]
    settings = {
        "THINWIRE_CODEC": "auto",
        "THINWIRE_FORCE": "0",
        "THINWIRE_TEST_SYSTEM": str(folder / "sys"),
    }
    words = [*launcher, *preloaded(program, mpi.production)]
    done = run(words, settings, folder / "report.json", timeout=120).all_right(2)
    return done.collectives["native_by_reason"]


@pytest.mark.parametrize("port", PORTS)
def test_collectives_begin_by_the_rate_of_a_port(port: str, tmp_path: Path) -> None:
    native = _by_port(PORTS[port], tmp_path)
    assert native[TIMED] > 0 and NOT_KNOWN not in native


def test_a_port_that_is_down_tells_nothing(tmp_path: Path) -> None:
    native = _by_port(DOWN, tmp_path)
    assert native[NOT_KNOWN] > 0 and TIMED not in native
