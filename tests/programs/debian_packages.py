"""Debian packages of programs, unpacked into a folder of their own: nothing is installed, so no
other test sees them. Versions are pinned by the rows; what they depend on comes in the versions
that the release has."""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from program_runs import CACHE

TRIPLET = "x86_64-linux-gnu"
_NEW = re.compile(r"^Inst (\S+) \((\S+)", re.MULTILINE)  # not yet installed: no [version] before
# Documentation and tools that packages name, and no program loads.
_UNUSED = re.compile(r"fonts-|libjs-|mpi-default|isa-support|sse4|sphinx|swig|valgrind|.*-doc$")


@dataclass(frozen=True)
class Debian:
    """What rows take from Debian, each as NAME=VERSION."""

    folder: str  # of the cache; rows that take the same share it
    packages: Sequence[str] = ()  # with all that they depend on
    alone: Sequence[str] = ()  # headers, examples: without
    sources: Sequence[str] = ()  # the upstream part of source packages

    def names(self) -> str:
        return " ".join(
            [*self.packages, *self.alone, *(f"{name} (source)" for name in self.sources)]
        )


def unpacked(wanted: Debian) -> Path:
    """The folder that holds them, as `usr` and `source`; fetched where it is not yet there."""
    root = CACHE / wanted.folder
    mark = root / ".ready"
    if mark.exists() and mark.read_text() == wanted.names():
        return root
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        pytest.skip("no apt-get or no dpkg here")
    if _call(["dpkg", "--print-architecture"]).stdout.strip() != "amd64":
        pytest.skip("the versions are pinned for amd64")
    shutil.rmtree(root, ignore_errors=True)
    (root / "fetched").mkdir(parents=True)
    _fetch(root / "fetched", wanted)
    for package in sorted((root / "fetched").glob("*.deb")):
        _must(["dpkg", "-x", package, root])
    for source in sorted((root / "fetched").glob("*.orig.tar.*")):
        (root / "source").mkdir(exist_ok=True)
        _must(["tar", "-xf", source, "-C", root / "source"])
    shutil.rmtree(root / "fetched")
    mark.write_text(wanted.names())
    return root


def library_folders(root: Path) -> list[Path]:
    return [root / "usr" / "lib" / TRIPLET]


def _fetch(folder: Path, wanted: Debian) -> None:
    downloads = [*wanted.packages, *wanted.alone, *_needed_by(wanted.packages)]
    if downloads:
        _must(["apt-get", "download", "-qq", *dict.fromkeys(downloads)], folder)
    if wanted.sources:
        _fetch_sources(folder, wanted.sources)


def _fetch_sources(folder: Path, sources: Sequence[str]) -> None:
    """Few machines list source packages: by lists of their own."""
    lists, named = CACHE / "sources" / "lists", CACHE / "sources" / "sources.list"
    (lists / "partial").mkdir(parents=True, exist_ok=True)
    release = platform.freedesktop_os_release().get("VERSION_CODENAME", "stable")
    named.write_text(f"deb-src http://deb.debian.org/debian {release} main\n")
    options = [f"Dir::Etc::SourceList={named}", "Dir::Etc::SourceParts=/dev/null"]
    options.append(f"Dir::State::Lists={lists}")
    apt = ["apt-get", "-qq", *(word for option in options for word in ("-o", option))]
    _must([*apt, "update"])
    _must([*apt, "source", "--only-source", "--download-only", *sources], folder)


def _needed_by(packages: Sequence[str]) -> list[str]:
    """What is missing on this machine to install them, as NAME=VERSION."""
    if not packages:
        return []
    words = ["apt-get", "install", "-s", "--no-install-recommends", *packages]
    done = _call(words)
    if done.returncode != 0 and os.geteuid() == 0:
        _call(["apt-get", "update", "-qq"])  # lists may be stale or absent
        done = _call(words)
    if done.returncode != 0:
        pytest.skip(f"apt-get does not find {' '.join(packages)}: {_last_line(done.stderr)}")
    found = _NEW.findall(done.stdout)
    return [f"{name}={version}" for name, version in found if not _UNUSED.match(name)]


def _must(words: Sequence[str | Path], folder: Path | None = None) -> None:
    done = _call(words, folder)
    if done.returncode != 0:
        pytest.skip(f"{words[0]} {words[1]} failed: {_last_line(done.stderr)}")


def _call(words: Sequence[str | Path], folder: Path | None = None) -> "subprocess.CompletedProcess":
    text = [str(word) for word in words]
    return subprocess.run(text, cwd=folder, capture_output=True, text=True, timeout=900)


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]
