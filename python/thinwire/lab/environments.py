"""The environments of commands in a lab: that of a fresh login on a host, and what tells NCCL and
torchrun, which are started on every host at once, of each host its place.

Standard library only. Like sshd, and unlike a child process, a login has nothing of what its caller
exported.
"""

import os
import pwd
from pathlib import Path

from .addresses import INTERFACE

# torchrun's own; each lab's network is its own, so that no two jobs meet there.
PORT = 29500

NCCL = {
    "NCCL_SOCKET_IFNAME": INTERFACE,
    # InfiniBand, if the machine has it, is no part of a lab's network.
    "NCCL_NET": "Socket",
}

# The libraries below an MPI, and NCCL, move bytes between hosts over the lab's link alone. Left to
# themselves they find that all hosts are one machine, and pass each other's memory. So each login
# on a host has these, as a cluster names its network to those who log in.
NETWORKS = {
    "UCX_TLS": "tcp,self",
    "UCX_NET_DEVICES": INTERFACE,
    "FI_PROVIDER": "tcp",
    "FI_TCP_IFACE": INTERFACE,
    **NCCL,
    # For an MPICH built for both. On UCX, MPICH 5.0.2 loses what came from another host before it
    # is received from any source. An MPICH built for one alone does not read this.
    "MPIR_CVAR_CH4_NETMOD": "ofi",
}

_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NO_LOGIN = {"nologin", "false", ""}


def login_environment() -> dict[str, str]:
    """HOME, USER, LOGNAME, SHELL, PATH and, if set, LANG, of the user who calls."""
    entry = pwd.getpwuid(os.getuid())
    shell = entry.pw_shell if Path(entry.pw_shell).name not in _NO_LOGIN else "/bin/sh"
    environment = {
        "HOME": entry.pw_dir,
        "USER": entry.pw_name,
        "LOGNAME": entry.pw_name,
        "SHELL": shell,
        "PATH": _login_path(),
    }
    if "LANG" in os.environ:
        environment["LANG"] = os.environ["LANG"]
    return environment


def _login_path() -> str:
    """The PATH of /etc/environment, which PAM gives to every login, else the usual one."""
    try:
        lines = Path("/etc/environment").read_text().splitlines()
    except OSError:
        return _DEFAULT_PATH
    for line in lines:
        key, _, value = line.strip().removeprefix("export ").partition("=")
        if key == "PATH" and value:
            return value.strip("\"'")
    return _DEFAULT_PATH


def of_nccl(host: str, rank_of_host: int | None = None) -> dict[str, str]:
    """What has NCCL take the lab's hosts for hosts: it would find out that they are one machine,
    and pass data through its memory. With a rank, ranks of one host are taken for hosts, too."""
    name = host if rank_of_host is None else f"{host}-{rank_of_host}"
    return {"NCCL_HOSTID": name, **NCCL}


def of_rank(first_address: str, hosts: int, ranks: int, host: int, local: int) -> dict[str, str]:
    """Of a process that is a rank, one of `ranks` on its host: the variables that torchrun sets,
    and PyTorch's `env://` reads."""
    return {
        "RANK": str(host * ranks + local),
        "WORLD_SIZE": str(hosts * ranks),
        "LOCAL_RANK": str(local),
        "LOCAL_WORLD_SIZE": str(ranks),
        "MASTER_ADDR": first_address,
        "MASTER_PORT": str(PORT),
    }


def of_torchrun(
    first_address: str, own_address: str, hosts: int, ranks: int, host: int
) -> dict[str, str]:
    """Of a torchrun, one on each host: its options by the variables that it reads them from, so
    that those of its command line take precedence."""
    options = {
        "NNODES": str(hosts),
        "NODE_RANK": str(host),
        "NPROC_PER_NODE": str(ranks),
        "MASTER_ADDR": first_address,
        "MASTER_PORT": str(PORT),
        "LOCAL_ADDR": own_address,
    }
    return {f"PET_{name}": value for name, value in options.items()}
