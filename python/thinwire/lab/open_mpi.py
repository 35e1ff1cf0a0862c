"""What makes a plain `mpirun` of Open MPI 4 spread its ranks over the hosts of a lab."""

import shlex
import sys
from pathlib import Path

from .addresses import SUBNET

DESCRIPTION = "lab.json"


def write_files(folder: Path, hosts: list[str], slots: int) -> dict[str, str]:
    """Writes the hostfile and the agent into the lab's folder; returns the paths by purpose."""
    hostfile = folder / "hostfile"
    hostfile.write_text("".join(f"{host} slots={slots}\n" for host in hosts))
    agent = folder / "agent"
    program = Path(__file__).with_name("agent.py")
    words = [sys.executable, "-E", "-S", str(program), str(folder / DESCRIPTION)]
    agent.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    agent.chmod(0o700)
    scratch = folder / "tmp"
    scratch.mkdir()
    return {"hostfile": str(hostfile), "agent": str(agent), "scratch": str(scratch)}


def environment(files: dict[str, str], caller: dict[str, str]) -> dict[str, str]:
    """The caller's environment with what Open MPI reads in it.

    What ties mpirun to the lab replaces the caller's settings; the rest yields to them.
    """
    tied = {
        "OMPI_MCA_orte_default_hostfile": files["hostfile"],
        # An image for single machines may say "isolated", which starts nothing elsewhere.
        "OMPI_MCA_plm": "rsh",
        "OMPI_MCA_plm_rsh_agent": files["agent"],
        # Session folders are named after process numbers, which two labs have in common.
        "OMPI_MCA_orte_tmpdir_base": files["scratch"],
        "OMPI_MCA_btl_tcp_if_include": SUBNET,
        "OMPI_MCA_oob_tcp_if_include": SUBNET,
    }
    defaults = {
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_btl": "tcp,self,vader",
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
    return {**defaults, **caller, **tied}
