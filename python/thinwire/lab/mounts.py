"""What a lab's processes see changed in the file system; all of it vanishes with the lab."""

import os
from contextlib import suppress
from pathlib import Path

from .namespaces import MS_BIND, MS_REC, MS_SLAVE, mount


def make_private(folder: Path) -> None:
    """Mounts the lab's own /proc, shared memory, and scratch space at `folder`, which exists.

    Two labs number their processes alike, and shared memory is named after such numbers: hence
    a /dev/shm of its own.
    """
    # Later mounts of the machine still show inside; those of the lab never show outside.
    mount("none", "/", None, MS_REC | MS_SLAVE)
    mount("thinwire-lab", str(folder), "tmpfs")
    mount("thinwire-lab", "/dev/shm", "tmpfs")
    # Refused in containers that mask parts of /proc. Then the outer /proc stays, and process
    # numbers read from it are the machine's.
    with suppress(OSError):
        mount("proc", "/proc", "proc")


def own_process() -> str:
    """This process's number as the mounted /proc has it, which getpid() need not agree with."""
    return os.readlink("/proc/self")


def name_hosts(folder: Path, addresses: dict[str, str]) -> None:
    """Has the lab's hostnames resolve to `addresses`, beside what /etc/hosts already says."""
    system = Path("/etc/hosts")
    with suppress(OSError):
        known = system.read_text()
        lines = [f"{address} {name}\n" for name, address in addresses.items()]
        own = folder / "hosts"
        own.write_text(known + "\n" + "".join(lines))
        mount(str(own), str(system), None, MS_BIND)
