"""What holds here for any command: the package, settings, what is preloaded, GPUs, the link."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from thinwire.cli.env import why_no_gpu
from thinwire.costs import link_of_nccl
from thinwire.library import PACKAGE, ThinwireError, built_shims, version
from thinwire.pools import gpu_count
from thinwire.settings import value_of, wrong_settings

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
    given = [name for name in environment if name.startswith("THINWIRE_") and environment[name]]
    if not faults and given:
        yield ok("settings", " ".join(f"{name}={environment[name]}" for name in sorted(given)))


def _file_of_settings(path: str) -> Iterator[Finding]:
    if not path:
        return
    try:
        lines = Path(path).read_text(errors="replace").splitlines()
    except OSError as error:
        why = error.strerror or str(error)
        yield wrong("THINWIRE_CONFIG", f"{path}: {why}", "name a file that this node can read")
        return
    found = list(_faults_of_lines(lines))
    for number, says in found:
        yield wrong("THINWIRE_CONFIG", f"{path}: line {number}: {says}", f"mend it: {path}")
    if not found:
        yield ok("THINWIRE_CONFIG", path)


def _faults_of_lines(lines: list[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(map(str.strip, lines), 1):
        if not line or line.startswith("#"):
            continue
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not name:
            yield number, "is not NAME=value"
        elif not name.startswith("THINWIRE_"):
            yield number, f"{name} is no setting"
        for says in wrong_settings({name: value}).values():
            yield number, f"{name}: {says}"


def _wishes() -> Iterator[Finding]:
    """Settings that are right, and turn it off."""
    if value_of("THINWIRE_DISABLE") == "1":
        yield wrong(
            "THINWIRE_DISABLE", "programs run as without Thinwire", "unset THINWIRE_DISABLE"
        )
    if value_of("THINWIRE_CODEC") == "off":
        yield wrong("THINWIRE_CODEC", "off: all goes raw", "unset THINWIRE_CODEC, or name a codec")


def _preloaded(words: str) -> Iterator[Finding]:
    for path in words.replace(" ", ":").split(":"):
        if "/" in path and not Path(path).exists():
            yield wrong(
                "LD_PRELOAD",
                f"{path} does not exist here: the loader leaves it out",
                "unset LD_PRELOAD; in a container: mount that folder at the same path",
            )
        elif path:
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
