"""What makes a plain `mpirun` or `mpiexec` in a lab spread its ranks over the lab's hosts.

Each launcher is told in its own words, the settings of its environment, and reads no other's; so a
command in a lab gets those of all, and whichever it starts finds the hosts.
"""

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from .addresses import INTERFACE, SUBNET
from .environments import NETWORKS

DESCRIPTION = "lab.json"

# Open MPI: its own launcher up to version 4, and its transports, which version 5 has as well.
_OPEN_MPI = {
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
# PRRTE: the launcher of Open MPI 5, and one by itself. For the same reasons.
_PRRTE = {
    "PRTE_MCA_rmaps_default_mapping_policy": "node",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}


def environment(
    paths: Mapping[str, str], caller: Mapping[str, str], of_the_host: Mapping[str, str]
) -> dict[str, str]:
    """The caller's environment with that of the first host and with what launchers read in it;
    `paths` is what write_files() returned.

    What ties launchers to the lab replaces the caller's settings; the rest yields to them.
    """
    defaults = {**_OPEN_MPI, **_PRRTE, **NETWORKS, **_hydra_kept_apart(of_the_host)}
    tied = {**_open_mpi_tied(paths), **_prrte_tied(paths), **_hydra_tied(paths)}
    return {**defaults, **caller, **tied, **session_folder(paths["scratch"]), **of_the_host}


def session_folder(path: str) -> dict[str, str]:
    """Settings that have launchers keep the folders of their sessions in `path`. Sessions are named
    after process numbers, which two labs have in common. Two launchers that make theirs in the same
    folder at the same moment may fail: one finds made what it was to make."""
    return {"OMPI_MCA_orte_tmpdir_base": path, "PRTE_MCA_prte_tmpdir_base": path}


def _open_mpi_tied(paths: Mapping[str, str]) -> dict[str, str]:
    return {
        "OMPI_MCA_orte_default_hostfile": paths["hostfile"],
        # An image for single machines may say "isolated", which starts nothing elsewhere.
        "OMPI_MCA_plm": "rsh",
        "OMPI_MCA_plm_rsh_agent": paths["agent"],
        "OMPI_MCA_btl_tcp_if_include": SUBNET,
        "OMPI_MCA_oob_tcp_if_include": SUBNET,
    }


def _prrte_tied(paths: Mapping[str, str]) -> dict[str, str]:
    return {
        "PRTE_MCA_prte_default_hostfile": paths["hostfile"],
        "PRTE_MCA_plm": "ssh",
        "PRTE_MCA_plm_ssh_agent": paths["agent"],
        "PRTE_MCA_prte_if_include": SUBNET,
    }


def _hydra_tied(paths: Mapping[str, str]) -> dict[str, str]:
    """Hydra is the launcher of MPICH and its kin."""
    return {
        "HYDRA_HOST_FILE": paths["hydra_hostfile"],
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": paths["agent"],
        "HYDRA_IFACE": INTERFACE,
    }


def _hydra_kept_apart(of_the_host: Mapping[str, str]) -> dict[str, str]:
    """What keeps the first host's own variables from the others; nothing if it has none.

    Hydra hands its environment to all ranks, in front of what a login on their host has. It takes
    no list of what not to hand on, nor, in the environment, one of what.
    """
    return {"HYDRA_ENV": "none"} if of_the_host else {}


def write_files(folder: Path, hosts: Sequence[str], slots: int) -> dict[str, str]:
    """Writes what launchers read, the lab's hosts and the agent that starts things on them, into
    the lab's folder; returns the paths by purpose."""
    texts = {
        "hostfile": "".join(f"{host} slots={slots}\n" for host in hosts),
        # Each host with one rank: further ranks begin at the first again, so they go round the
        # hosts. With the hosts' true slots hydra would fill the first before the second.
        "hydra_hostfile": "".join(f"{host}:1\n" for host in hosts),
        "agent": _agent(folder),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "agent").chmod(0o700)
    (folder / "scratch").mkdir()
    return {name: str(folder / name) for name in (*texts, "scratch")}


def _agent(folder: Path) -> str:
    """A script that takes the words of ssh, as all launchers give them."""
    program = Path(__file__).with_name("agent.py")
    words = [sys.executable, "-E", "-S", str(program), str(folder / DESCRIPTION)]
    return f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n'
