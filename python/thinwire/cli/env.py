"""`thinwire env`: what this installation and this machine have."""

import ctypes
import json
import os
import platform
import shutil
import subprocess
from dataclasses import asdict
from typing import Annotated, Any

import typer

from thinwire.bench.layout import print_wrapped
from thinwire.launch import on_path
from thinwire.launch.families import FAMILIES
from thinwire.library import (
    MPI_SHIMS,
    PACKAGE,
    ThinwireError,
    format_version,
    library,
    library_path,
    version,
)
from thinwire.pools import gpu_count, pool_counters
from thinwire.settings import all_settings, value_of, wrong_settings


def env(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show versions, libraries, MPI, GPUs, the lab's needs and the THINWIRE_ settings in force."""
    found = facts()
    if as_json:
        print(json.dumps(found, indent=2))
        return
    lines = as_lines(found)
    width = max(len(name) for name, _ in lines)
    for name, value in lines:
        print_wrapped(f"{name:{width}}  {value}", hanging=" " * (width + 2))


def facts() -> dict[str, Any]:
    """What `thinwire env --json` prints."""
    return {
        "version": version(),
        "frame_format": format_version(),
        "package": str(PACKAGE),
        "preload": [
            {"mpi": mpi, "library": _shim(name)}
            for mpi, names in MPI_SHIMS.items()
            for name in names
        ],
        "launchers": [
            {
                "path": str(launcher.path),
                "mpi": launcher.mpis[0] if launcher.mpis else None,
                "says": launcher.said,
            }
            for launcher in on_path()
        ],
        "machine": {"platform": platform.platform(), "cpus": os.cpu_count()},
        "gpus": _gpus(),
        "lab": namespaces(),
        "settings": _settings(),
    }


def _shim(name: str) -> str | None:
    try:
        return str(library_path(name))
    except FileNotFoundError:
        return None


def _gpus() -> dict[str, Any]:
    """How many GPUs this process can use, or why none; the library's pools if there are any."""
    try:
        count = gpu_count()
        places = [None, *range(count)]
        pools = [{"gpu": gpu, **asdict(pool_counters(gpu))} for gpu in places]
    except ThinwireError as error:
        return {"count": 0, "reason": why_no_gpu(error), "pools": []}
    return {"count": count, "reason": None, "pools": pools}


def why_no_gpu(error: ThinwireError) -> str:
    """CUDA's words; but if there is no driver at all CUDA calls it too old."""
    if error.status == library().TW_UNSUPPORTED:
        return error.args[0]
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no NVIDIA driver here (libcuda.so.1 is not found)"
    return error.args[0]


def namespaces() -> dict[str, Any]:
    """Whether the lab can make its hosts."""
    if not shutil.which("unshare"):
        return {"can_run": False, "namespaces": "no unshare program"}
    for prefix in (["unshare"], ["unshare", "--user", "--map-root-user"]):
        probe = subprocess.run(
            [*prefix, "--net", "--uts", "true"], capture_output=True, check=False
        )
        if probe.returncode == 0:
            words = "allowed" if len(prefix) == 1 else "allowed in a user namespace"
            return {"can_run": True, "namespaces": words}
    return {"can_run": False, "namespaces": "not allowed: the lab cannot run"}


def _settings() -> list[dict[str, Any]]:
    """Every setting with its value in the environment and its default; wrong and unknown ones with
    what is wrong."""
    wrong = wrong_settings(os.environ)
    rows = [
        {
            "name": row.name,
            "value": os.environ.get(row.name) or value_of(row.name),
            "default": row.fallback,
            "meaning": row.meaning,
            "wrong": wrong.get(row.name),
        }
        for row in all_settings()
        if not row.of_tools or os.environ.get(row.name)
    ]
    unknown = sorted(set(wrong) - {row.name for row in all_settings()})
    return rows + [
        {
            "name": name,
            "value": os.environ[name],
            "default": None,
            "meaning": None,
            "wrong": wrong[name],
        }
        for name in unknown
    ]


def as_lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    """The facts as names and values for people."""
    lines = [
        ("thinwire", f"{found['version']}, frame format {found['frame_format']}"),
        ("package", found["package"]),
    ]
    lines += [
        (f"preload for {row['mpi']}", row["library"] or "not built") for row in found["preload"]
    ]
    lines += [_launcher(row) for row in found["launchers"]] or [("mpirun", "not found")]
    machine, gpus = found["machine"], found["gpus"]
    lines.append(("machine", f"{machine['platform']}, {machine['cpus']} CPUs"))
    lines.append(("GPUs", str(gpus["count"]) if gpus["count"] else f"none: {gpus['reason']}"))
    lines += [_pool(pool) for pool in gpus["pools"]]
    lines.append(("namespaces", found["lab"]["namespaces"]))
    return lines + [_setting(row) for row in found["settings"]]


def _launcher(row: dict[str, Any]) -> tuple[str, str]:
    mpi = FAMILIES[row["mpi"]] if row["mpi"] else "an unknown MPI"
    return os.path.basename(row["path"]), f"{row['path']}, of {mpi}: {row['says']}"


def _pool(pool: dict[str, Any]) -> tuple[str, str]:
    name = "pinned memory" if pool["gpu"] is None else f"memory of GPU {pool['gpu']}"
    return name, (
        f"{pool['loaned_bytes']} bytes on loan, {pool['idle_bytes']} idle; "
        f"{pool['loans']} loans, {pool['allocations']} allocations"
    )


def _setting(row: dict[str, Any]) -> tuple[str, str]:
    if row["wrong"]:
        return row["name"], f"{row['value']}, WRONG: {row['wrong']}"
    if row["value"]:
        return row["name"], row["value"]
    return row["name"], f"not set: {row['default']} ({row['meaning']})"
