"""Open MPI: its own launcher up to version 4, and its transports, which version 5 has as well."""

from collections.abc import Mapping, Sequence

from ..addresses import SUBNET

DEFAULTS = {
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "tcp,self,vader",  # version 5 takes the last for its successor's other name
    "OMPI_MCA_rmaps_base_mapping_policy": "node",
    # All hosts share this machine's cores: bound ranks would pile up on the first of them,
    # and spinning ones would take the cores from the ranks they wait for.
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    # Its daemons share their topology at an address that they take for free; in a rare layout
    # of a daemon's memory it is not, and the daemon crashes.
    "OMPI_MCA_rtc_hwloc_vmhole": "none",
    # An ordinary user is root in the lab's user namespace.
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}


def hostfile(hosts: Sequence[str], slots: int) -> str:
    return "".join(f"{host} slots={slots}\n" for host in hosts)


def tied(paths: Mapping[str, str]) -> dict[str, str]:
    """What ties it to the lab whose files these are."""
    return {
        "OMPI_MCA_orte_default_hostfile": paths["hostfile"],
        # An image for single machines may say "isolated", which starts nothing elsewhere.
        "OMPI_MCA_plm": "rsh",
        "OMPI_MCA_plm_rsh_agent": paths["agent"],
        # Sessions are named after process numbers, which two labs have in common.
        **session_folder(paths["scratch"]),
        "OMPI_MCA_btl_tcp_if_include": SUBNET,
        "OMPI_MCA_oob_tcp_if_include": SUBNET,
    }


def session_folder(path: str) -> dict[str, str]:
    return {"OMPI_MCA_orte_tmpdir_base": path}
