"""The libraries below an MPI, and NCCL, that move bytes between hosts: over the lab's link alone.

Left to themselves they find that all hosts are one machine, and pass each other's memory. So each
login on a host has these, as a cluster names its network to those who log in.
"""

from ..addresses import INTERFACE

NCCL = {
    "NCCL_SOCKET_IFNAME": INTERFACE,
    # InfiniBand, if the machine has it, is no part of a lab's network.
    "NCCL_NET": "Socket",
}

DEFAULTS = {
    "UCX_TLS": "tcp,self",
    "UCX_NET_DEVICES": INTERFACE,
    "FI_PROVIDER": "tcp",
    "FI_TCP_IFACE": INTERFACE,
    **NCCL,
    # For an MPICH built for both. On UCX, MPICH 5.0.2 loses what came from another host before it
    # is received from any source. An MPICH built for one alone does not read this.
    "MPIR_CVAR_CH4_NETMOD": "ofi",
}
