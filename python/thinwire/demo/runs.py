"""One run of the wave program: its command, its JSON line, its field and the shim's report."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import statistics
from .links import Link

RANKS = 2
NO_SHIM = "none"
SHIM_OFF = "off"
CPU, GPU = "cpu", "gpu"
CODECS = ("lossless", "zfp:rate=16", "zfp:rate=8")


class DemoError(Exception):
    """A run that failed, with a sentence for the user."""


@dataclass(frozen=True)
class Size:
    """The program's options; extents in grid points."""

    nx: int
    ny: int
    nz: int
    steps: int
    gather_every: int
    shots: int

    def arguments(self) -> list[str]:
        options = {
            "--nx": self.nx,
            "--ny": self.ny,
            "--nz": self.nz,
            "--steps": self.steps,
            "--gather-every": self.gather_every,
            "--shots": self.shots,
        }
        return [word for name, value in options.items() for word in (name, str(value))]


# Halos of 1 MB, so that what a link's token bucket gives away between two of them (128 KiB) is
# small beside one, and enough of them for a 100 Mbit/s link to need 7 seconds.
FULL = Size(nx=256, ny=256, nz=64, steps=70, gather_every=70, shots=6)
# Halos of 147 KB, above the shim's default threshold of 64 KiB.
QUICK = Size(nx=96, ny=96, nz=48, steps=120, gather_every=60, shots=2)


# Halos of 9.4 MB, a hundred times and more what a 10 Gbit/s link's bucket gives away, and thirty
# times what a 25 Gbit/s link's does.
GPU_FULL = Size(nx=768, ny=768, nz=96, steps=200, gather_every=100, shots=6)
GPU_QUICK = Size(nx=512, ny=512, nz=64, steps=120, gather_every=60, shots=4)


@dataclass(frozen=True)
class Run:
    """What one run left behind. `wave` is the program's JSON line, `shim` the shim's report, None
    where nothing was to be compressed."""

    codec: str
    wave: dict[str, Any]
    shim: dict[str, Any] | None
    field: np.ndarray

    @property
    def seconds(self) -> float:
        return self.wave["seconds"]


def thinwire_command() -> list[str]:
    """The `thinwire` program of this installation, also where it is not installed but on
    PYTHONPATH."""
    return [sys.executable, "-m", "thinwire"]


def shim_command(
    codec: str, report: Path, same_node: bool, device: str = CPU
) -> tuple[list[str], dict[str, str]]:
    """What precedes `mpirun` for `codec`, and the environment it needs."""
    if codec == NO_SHIM:
        return [], {}
    # The off-switch must win over a codec that is set, so the run that is off sets one too. With
    # GPU memory it is no case: an MPI that takes none would get pointers to it.
    switched_off = codec == SHIM_OFF and device == CPU
    spec = CODECS[0] if switched_off else codec
    command = [*thinwire_command(), "run", "--codec", spec, "--report", str(report)]
    if same_node:
        command.append("--same-node")
    return [*command, "--"], {"THINWIRE_DISABLE": "1"} if switched_off else {}


def device_options(codec: str, device: str) -> list[str]:
    """What the program is told of its device: without the shim, GPU memory is staged by hand."""
    if device == CPU:
        return []
    return ["--device", device, *(["--staging"] if codec == NO_SHIM else [])]


def run_wave(
    link: Link, codec: str, size: Size, wave: Path, scratch: Path, device: str = CPU
) -> Run:
    """Runs the program once over `link`. `scratch` is a directory for files of this run alone."""
    field_file, report_file = scratch / "field.f32", scratch / "report.json"
    for stale in (field_file, report_file):
        stale.unlink(missing_ok=True)
    shim, environment = shim_command(codec, report_file, link.same_node, device)
    options = [*size.arguments(), *device_options(codec, device), "--output", str(field_file)]
    program = [str(wave), *options]
    command = [*shim, "mpirun", "-n", str(RANKS), *program]
    done = link.run(command, environment)
    if done.returncode != 0:
        raise DemoError(f"{' '.join(command)} exited {done.returncode}: {_tail(done)}")
    field = np.fromfile(field_file, dtype=np.float32).reshape(size.nz, size.ny, size.nx)
    report = None
    if codec not in (NO_SHIM, SHIM_OFF):
        if not report_file.exists():
            raise DemoError(f"the shim wrote no report for {codec}: was it loaded? {_tail(done)}")
        try:
            report = statistics.read_report(report_file)
        except ValueError as error:
            raise DemoError(str(error)) from error
    return Run(codec, _result_line(done), report, field)


def find_wave(given: Path | None) -> Path:
    """The wave program: `given`, or the one in this package, as in a wheel, or the release build
    of the source tree around this package or the current directory."""
    if given is not None:
        candidates = [given]
    else:
        package = Path(__file__).resolve().parents[1]
        roots = [*package.parents, Path.cwd()]
        built = [root / "build" / "release" / "bin" / "wave" for root in roots]
        candidates = [package / "bin" / "wave", *built]
    for candidate in candidates:
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate.resolve()
    raise DemoError("no wave program found: build it with `make build`, or name it with --wave")


def _result_line(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    for line in reversed(done.stdout.splitlines()):
        if line.startswith('{"program": "wave"'):
            return json.loads(line)
    raise DemoError(f"the wave program printed no result: {_tail(done)}")


def _tail(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stderr or done.stdout or "no output").strip()[-1500:]
