"""Hydra: the launcher of MPICH and its kin."""

from collections.abc import Mapping, Sequence

from ..addresses import INTERFACE


def hostfile(hosts: Sequence[str]) -> str:
    """Each host with one rank: further ranks begin at the first again, so they go round the hosts.

    With the hosts' true slots it would fill the first host before the second.
    """
    return "".join(f"{host}:1\n" for host in hosts)


def tied(paths: Mapping[str, str]) -> dict[str, str]:
    """What ties it to the lab whose files these are."""
    return {
        "HYDRA_HOST_FILE": paths["hydra_hostfile"],
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": paths["agent"],
        "HYDRA_IFACE": INTERFACE,
    }


def kept_apart(of_the_host: Mapping[str, str]) -> dict[str, str]:
    """What keeps the first host's own variables from the others; nothing where it has none.

    Hydra hands its environment to all ranks, in front of what a login on their host has. It takes
    no list of what not to hand on, nor, in the environment, one of what.
    """
    return {"HYDRA_ENV": "none"} if of_the_host else {}
