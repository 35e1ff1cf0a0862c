"""Jobs that are started on every host at once: what tells NCCL and torchrun of each host its place.

Standard library only.
"""

from .launchers import networks

# torchrun's own; each lab's network is its own, so that no two jobs meet there.
PORT = 29500


def of_nccl(host: str, rank_of_host: int | None = None) -> dict[str, str]:
    """What has NCCL take the lab's hosts for hosts: it would find out that they are one machine,
    and pass data through its memory. With a rank, ranks of one host are taken for hosts, too."""
    name = host if rank_of_host is None else f"{host}-{rank_of_host}"
    return {"NCCL_HOSTID": name, **networks.NCCL}


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
