"""Where labs that persist are written down, one JSON file each, and which of them still live.

A lab is alive while its process is: the process of the recorded number, started at the recorded
time, under the same boot. Anything else is a leftover of a crash or a reboot.
"""

import fcntl
import json
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from thinwire import checked

from .errors import LabError

_MOST_NUMBER = (1 << 63) - 1
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?")


@dataclass(frozen=True)
class Record:
    """A lab that persists; `started` is in clock ticks since the boot named by `boot`."""

    name: str
    hosts: int
    link: str
    ranks_per_host: int
    process: int
    started: int
    boot: str

    @property
    def alive(self) -> bool:
        """Whether the lab's process still runs."""
        return self.boot == boot_id() and self.started == start_time(self.process)


def check_name(name: str) -> str:
    """The name itself; LabError unless it can be part of a hostname."""
    if not _NAME.fullmatch(name):
        raise LabError(f"{name!r} cannot name a lab: 1 to 32 of a-z, 0-9 and inner hyphens")
    return name


def root() -> Path:
    """The folder of the caller's labs, made if missing: private to the user, gone at reboot."""
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    if runtime.is_absolute() and runtime.is_dir() and runtime.stat().st_uid == os.getuid():
        folder = runtime / "thinwire-lab"
    else:
        folder = Path(f"/tmp/thinwire-lab-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    # In /tmp, another user may have made it first.
    status = folder.lstat()
    if folder.is_symlink() or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise LabError(f"{folder} is not a folder that only its owner can write to")
    return folder


def mount_point() -> Path:
    """The folder over which each lab, unseen by the others, mounts its own scratch space."""
    folder = root() / "inside"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def socket_path(name: str) -> Path:
    """The Unix socket on which the process of a lab that persists answers."""
    return root() / f"{name}.socket"


@contextmanager
def locked() -> Iterator[None]:
    """Keeps the caller's other processes from changing the set of labs meanwhile."""
    with (root() / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def save(record: Record) -> None:
    """Writes a lab down, whole or not at all."""
    path = root() / f"{record.name}.json"
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(asdict(record)))
    draft.replace(path)


def records() -> list[Record]:
    """All labs written down, alive or not, by name; files that make no sense are passed over."""
    found = []
    for path in sorted(root().glob("*.json")):
        with suppress(OSError, ValueError, KeyError):
            found.append(_record(path))
    return found


def _record(path: Path) -> Record:
    """What a file says of a lab; ValueError if that is none. Its words decide what is deleted
    and killed, so it speaks for its own lab alone; process 1 and groups are no lab's."""
    said = checked.parse(path.read_text())
    name = checked.text(said["name"], "name")
    if name != path.stem or not _NAME.fullmatch(name):
        raise ValueError("it has another name than its file")
    numbers = {
        each: checked.count(said[each], each, _MOST_NUMBER)
        for each in ("hosts", "ranks_per_host", "process", "started")
    }
    if numbers["process"] <= 1:
        raise ValueError("no such process holds a lab")
    words = {each: checked.text(said[each], each) for each in ("link", "boot")}
    return Record(name=name, **numbers, **words)  # type: ignore[arg-type]


def find(name: str) -> Record | None:
    """The lab of that name that is alive, or None."""
    return next((r for r in records() if r.name == name and r.alive), None)


def note_link(name: str, link: str) -> None:
    """Writes down that a lab's links have another rate."""
    with locked():
        record = find(name)
        if record is not None:
            save(replace(record, link=link))


def forget(name: str) -> None:
    """Removes what a lab has left on disk."""
    for path in (root() / f"{name}.json", socket_path(name)):
        path.unlink(missing_ok=True)


def end(record: Record) -> None:
    """Ends a lab with everything that runs in it, waits for that, and forgets it."""
    if record.alive:
        with suppress(ProcessLookupError):
            os.kill(record.process, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while record.alive:
        if time.monotonic() > deadline:
            raise LabError(f"the process of lab {record.name!r} ({record.process}) does not end")
        time.sleep(0.005)
    forget(record.name)


def boot_id() -> str:
    """The kernel's name for this boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def start_time(process: int) -> int | None:
    """When a process started, in clock ticks since boot; None when there is none or a zombie."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None
    # The command's name, in parentheses, may itself hold spaces and parentheses.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])
