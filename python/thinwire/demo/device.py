"""Whether the demo computes on GPUs: where the machine has some that its program can use."""

import os
from collections.abc import Callable
from pathlib import Path

from ..lab.gpus import visible
from .links import GPU_RATES, RATES, Loopback
from .runs import CPU, FULL, GPU, GPU_FULL, GPU_QUICK, QUICK, DemoError, Size

_PROBE = ["--device", "gpu", "--staging", "--nx", "16", "--ny", "16", "--nz", "16", "--steps", "1"]


def choose_device(asked: str, wave: Path, notify: Callable[[str], None]) -> str:
    """CPU or GPU, for `asked` = "cpu", "gpu" or "auto". `notify` hears why GPUs that are there are
    not used, or are shared; DemoError where GPUs are asked for and cannot be used."""
    if asked not in (CPU, GPU, "auto"):
        raise DemoError(f"--device is cpu, gpu or auto, not {asked}")
    if asked == CPU:
        return CPU
    gpus = visible(os.environ)
    reason = why_not(wave) if gpus else "this machine has no GPU"
    if reason and asked == GPU:
        raise DemoError(reason)
    if reason:
        if gpus:
            notify(f"The machine's GPUs are not used: {reason}")
        return CPU
    if len(gpus) == 1:
        notify("There is one GPU: both hosts share it.")
    return GPU


def why_not(wave: Path) -> str:
    """Why the program cannot compute on a GPU; empty if it can. Runs it for a moment."""
    done = Loopback().run(["mpirun", "-n", "1", str(wave), *_PROBE], {})
    if done.returncode == 0:
        return ""
    said = [line for line in done.stderr.splitlines() if line.startswith("wave: ")]
    return said[0] if said else f"a trial run exited {done.returncode}"


def size_for(device: str, quick: bool) -> Size:
    """How large a run the device is to be given."""
    if device == GPU:
        return GPU_QUICK if quick else GPU_FULL
    return QUICK if quick else FULL


def rates_for(device: str) -> tuple[str, ...]:
    """The links that are slow beside the device."""
    return GPU_RATES if device == GPU else RATES
