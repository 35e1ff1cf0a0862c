"""The system calls of the lab, by way of libc: Python has them from 3.12 on only; and the mounts
that its processes see, all of which vanish with it.

Standard library only: the short-lived programs of the lab import this file by its folder.
"""

import ctypes
import os
from contextlib import suppress

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_BIND = 0x1000
MS_REC = 0x4000
MS_SLAVE = 0x80000

_PR_SET_PDEATHSIG = 1
_SIGKILL = 9

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mount.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_ulong, ctypes.c_char_p]


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int, what: str) -> None:
    """Gives this process new namespaces; `what` names them in the OSError of a refusal."""
    _check(_libc.unshare(flags), what)


def setns(descriptor: int, what: str) -> None:
    """Moves this process into the namespace of `descriptor`; a pid namespace takes children."""
    _check(_libc.setns(descriptor, 0), what)


def mount(source: str, target: str, kind: str | None, flags: int = 0) -> None:
    """mount(2) without data; OSError names the target."""
    kind_bytes = kind.encode() if kind else None
    result = _libc.mount(source.encode(), target.encode(), kind_bytes, flags, None)
    _check(result, f"mount {kind or source} on {target}")


def die_with_parent() -> None:
    """Has the kernel kill this process when the thread that started it ends."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0), "prctl")


def become_root_of_user_namespace() -> None:
    """Enters a new user namespace in which the caller's user and group are root."""
    user, group = os.geteuid(), os.getegid()
    unshare(CLONE_NEWUSER, "new user namespace")
    for path, text in (
        ("/proc/self/setgroups", "deny"),
        ("/proc/self/uid_map", f"0 {user} 1"),
        ("/proc/self/gid_map", f"0 {group} 1"),
    ):
        with open(path, "w") as file:
            file.write(text)


def join_lab(process: str) -> None:
    """Joins the user, mount and pid namespaces that the process of this number in /proc holds."""
    user = os.open(f"/proc/{process}/ns/user", os.O_RDONLY)
    others = {kind: os.open(f"/proc/{process}/ns/{kind}", os.O_RDONLY) for kind in ("mnt", "pid")}
    # Joining the user namespace that one is in already is an error.
    if os.fstat(user).st_ino != os.stat("/proc/self/ns/user").st_ino:
        setns(user, "enter the lab's user namespace")
    folder = os.getcwd()
    for kind, descriptor in others.items():
        setns(descriptor, f"enter the lab's {kind} namespace")
    os.chdir(folder)


def open_host(process: str, net: int, uts: int) -> tuple[int, int]:
    """Opens a host's two namespaces, held by `process` as the descriptors `net` and `uts`."""
    flags = os.O_RDONLY | os.O_CLOEXEC
    return (
        os.open(f"/proc/{process}/fd/{net}", flags),
        os.open(f"/proc/{process}/fd/{uts}", flags),
    )


def join_host(descriptors: tuple[int, int]) -> None:
    """Joins the network and the hostname of what `open_host` returned."""
    for descriptor in descriptors:
        setns(descriptor, "enter a host of the lab")
    # Refused if a container masks parts of /sys. Then /sys names the machine's interfaces, and
    # programs that ask it, such as those over UCX, miss the host's own.
    with suppress(OSError):
        _show_interfaces()


def _show_interfaces() -> None:
    """Has /sys name the interfaces of this process's network, for this process and its children.

    A mounted sysfs goes on showing the network in which it was mounted. Of a new one only these two
    folders are taken, as what else is mounted in /sys must stay.
    """
    unshare(CLONE_NEWNS, "new mount namespace of a host")
    classes, devices = "/sys/class/net", "/sys/devices/virtual/net"
    mount("sysfs", classes, "sysfs")
    mount(f"{classes}{devices.removeprefix('/sys')}", devices, None, MS_BIND)
    mount(f"{classes}{classes.removeprefix('/sys')}", classes, None, MS_BIND)


def make_private(folder: str) -> None:
    """Mounts the lab's own /proc, shared memory, and scratch space at `folder`, which exists.

    Two labs number their processes alike, and shared memory is named after such numbers: hence
    a /dev/shm of its own.
    """
    # Later mounts of the machine still show inside; those of the lab never show outside.
    mount("none", "/", None, MS_REC | MS_SLAVE)
    mount("thinwire-lab", folder, "tmpfs")
    mount("thinwire-lab", "/dev/shm", "tmpfs")
    # Refused in containers that mask parts of /proc. Then the outer /proc stays, and process
    # numbers read from it are the machine's.
    with suppress(OSError):
        mount("proc", "/proc", "proc")


def own_process() -> str:
    """This process's number as the mounted /proc has it, which getpid() need not agree with."""
    return os.readlink("/proc/self")


def name_hosts(folder: str, addresses: dict[str, str]) -> None:
    """Has the lab's hostnames resolve to `addresses`, besides what /etc/hosts already says."""
    system = "/etc/hosts"
    with suppress(OSError):
        with open(system) as file:
            known = file.read()
        lines = [f"{address} {name}\n" for name, address in addresses.items()]
        own = os.path.join(folder, "hosts")
        with open(own, "w") as file:
            file.write(known + "\n" + "".join(lines))
        mount(own, system, None, MS_BIND)
