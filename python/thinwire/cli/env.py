"""`thinwire env`: what this installation and this machine have."""

import os
import platform
import shutil
import subprocess
from pathlib import Path

from rich.console import Console
from rich.table import Table

from thinwire.launch import Launcher, on_path
from thinwire.launch.families import FAMILIES
from thinwire.library import (
    MPI_SHIMS,
    PACKAGE,
    ThinwireError,
    format_version,
    library_path,
    version,
)
from thinwire.pools import PoolCounters, gpu_count, pool_counters
from thinwire.settings import all_settings, wrong_settings


def _launchers() -> list[tuple[str, str]]:
    """What `mpirun` and `mpiexec` are here; both, as they may be of two MPIs."""
    found = on_path()
    if not found:
        return [("mpirun", "not found")]
    return [(Path(launcher.title).name, _launcher(launcher)) for launcher in found]


def _launcher(launcher: Launcher) -> str:
    mpi = FAMILIES[launcher.mpis[0]] if launcher.mpis else "an unknown MPI"
    return f"{launcher.title}, of {mpi}: {launcher.said}"


def _shim(name: str) -> str:
    try:
        return str(library_path(name))
    except FileNotFoundError:
        return "not built"


def _gpus() -> list[tuple[str, str]]:
    """How many GPUs there are, or why none; the library's pools where there are any."""
    try:
        count = gpu_count()
        pools = [("pinned memory", pool_counters(None))]
        pools += [(f"memory of GPU {gpu}", pool_counters(gpu)) for gpu in range(count)]
    except ThinwireError as error:
        return [("GPUs", f"none: {error.args[0]}")]
    return [("GPUs", str(count)), *((name, _pool(counters)) for name, counters in pools)]


def _pool(counters: PoolCounters) -> str:
    return (
        f"{counters.loaned_bytes} bytes on loan, {counters.idle_bytes} idle; "
        f"{counters.loans} loans, {counters.allocations} allocations"
    )


def _namespaces() -> str:
    """Whether the lab can make its hosts."""
    for prefix in (["unshare"], ["unshare", "--user", "--map-root-user"]):
        probe = subprocess.run(
            [*prefix, "--net", "--uts", "true"], capture_output=True, check=False
        )
        if probe.returncode == 0:
            return "allowed" if len(prefix) == 1 else "allowed in a user namespace"
    return "not allowed: the lab cannot run"


def env() -> None:
    """Show versions, libraries, MPI, GPUs, the lab's needs and the THINWIRE_ settings in force."""
    table = Table(box=None, show_header=False)
    table.add_row("thinwire", f"{version()}, frame format {format_version()}")
    table.add_row("package", str(PACKAGE))
    for mpi, names in MPI_SHIMS.items():
        for name in names:
            table.add_row(f"preload for {mpi}", _shim(name))
    for name, said in _launchers():
        table.add_row(name, said)
    table.add_row("machine", f"{platform.platform()}, {os.cpu_count()} CPUs")
    for name, said in _gpus():
        table.add_row(name, said)
    table.add_row("namespaces", _namespaces() if shutil.which("unshare") else "no unshare program")
    for name, says in _settings():
        table.add_row(name, says)
    Console().print(table)


def _settings() -> list[tuple[str, str]]:
    """Every setting with what holds, and what is wrong or unknown in the environment."""
    wrong = wrong_settings(os.environ)
    known = {row.name for row in all_settings()}
    rows = []
    for row in all_settings():
        given = os.environ.get(row.name, "")
        if row.name in wrong:
            rows.append((row.name, f"{given}, WRONG: {wrong[row.name]}"))
        elif given:
            rows.append((row.name, given))
        elif not row.of_tools:
            rows.append((row.name, f"not set: {row.fallback} ({row.meaning})"))
    return rows + [
        (name, f"{os.environ[name]}, WRONG: {wrong[name]}") for name in sorted(set(wrong) - known)
    ]
