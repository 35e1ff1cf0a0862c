"""What holds here for any command: the package, settings, what is preloaded, GPUs, the link."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from thinwire.cli.env import why_no_gpu
from thinwire.cli.preload import named_in
from thinwire.costs import link_of_nccl
from thinwire.library import PACKAGE, ThinwireError, built_shims, version
from thinwire.pools import gpu_count
from thinwire.settings import PREFIX, value_of, wrong_settings

from .finding import Finding, note, ok, wrong


def look_at_node(environment: Mapping[str, str] = os.environ) -> Iterator[Finding]:
    yield _package()
    yield from _settings(environment)
    yield from _file_of_settings(environment.get("THINWIRE_CONFIG", ""))
    yield from _wishes()
    yield from _preloaded(environment.get("LD_PRELOAD", ""))
    yield _gpus()
    yield _rate()


def _package() -> Finding:
    built = built_shims()
    if not built:
        return wrong(
            "package",
            f"{PACKAGE} has no preload library",
            "pip install --force-reinstall thinwire; in a source tree: make build",
        )
    return ok("package", f"{PACKAGE}, {version()}, for {', '.join(built)}")


def _settings(environment: Mapping[str, str]) -> Iterator[Finding]:
    faults = wrong_settings(environment)
    for name, says in faults.items():
        yield wrong(name, says, f"unset {name}, or give it another value: thinwire env")
    given = [name for name in environment if name.startswith(PREFIX) and environment[name]]
    if not faults and given:
        yield ok("settings", " ".join(f"{name}={environment[name]}" for name in sorted(given)))


# Logs what is wrong with the file, as each program would.
_JUDGES = "from thinwire.library import library; library().tw_settings_judge()"


def _file_of_settings(path: str) -> Iterator[Finding]:
    if not path:
        return
    kept = ("PATH", "HOME", "LD_LIBRARY_PATH", "PYTHONPATH", "THINWIRE_LIBRARY_DIR")
    alone = {name: os.environ[name] for name in kept if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-c", _JUDGES],
        env={**alone, "THINWIRE_CONFIG": path, "THINWIRE_LOG": "error"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    found = [line.partition("thinwire: error: ")[2] for line in done.stderr.splitlines()]
    for says in filter(None, found):
        is_whole = says.startswith("THINWIRE_CONFIG: ")
        do = "name a file of settings that this node can read" if is_whole else f"mend it: {path}"
        yield wrong("THINWIRE_CONFIG", says.removeprefix("THINWIRE_CONFIG: "), do)
    if not any(found):
        yield ok("THINWIRE_CONFIG", path)


def _wishes() -> Iterator[Finding]:
    """Settings that are right, and turn it off."""
    if value_of("THINWIRE_DISABLE") == "1":
        yield wrong(
            "THINWIRE_DISABLE", "programs run as without Thinwire", "unset THINWIRE_DISABLE"
        )
    if value_of("THINWIRE_CODEC") == "off":
        yield wrong("THINWIRE_CODEC", "off: all goes raw", "unset THINWIRE_CODEC, or name a codec")


def _preloaded(words: str) -> Iterator[Finding]:
    for path in named_in(words):
        if "/" in path and not Path(path).exists():
            yield wrong(
                "LD_PRELOAD",
                f"{path} does not exist here: the loader leaves it out",
                "unset LD_PRELOAD; in a container: mount that folder at the same path",
            )
        else:
            yield note("LD_PRELOAD", f"{path} is preloaded already, before Thinwire's library")


def _gpus() -> Finding:
    try:
        count = gpu_count()
    except ThinwireError as error:
        return note("GPUs", f"none: {why_no_gpu(error)}")
    return ok("GPUs", str(count)) if count else note("GPUs", "none")


def _rate() -> Finding:
    rate = link_of_nccl(1)
    if rate > 0:
        return ok("link", f"{rate * 8e-9:g} Gbit/s by this node's interfaces")
    return note(
        "link",
        "no interface tells a rate: over TCP messages measure it, over others nothing does",
        "thinwire run --link RATE, as 100gbit",
    )
