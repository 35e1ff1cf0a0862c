"""Whether a command is of a program that calls NCCL."""

import mmap
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from .elf import defined_names
from .program import interpreter_of, is_python, libraries_of

_SONAME = "libnccl.so.2"
# As NCCL says it when it starts.
_VERSION = re.compile(rb"NCCL version \d+\.\d+\.\d+")
_TORCH_MODULES = ("torch.distributed.run", "torch.distributed.launch")


def is_torchrun(command: Sequence[str]) -> bool:
    """PyTorch's launcher, under either of its names: its ranks inherit its environment."""
    if Path(command[0]).name == "torchrun":
        return True
    words = list(command[1:])
    while words and words[0].startswith("-") and words[0] != "-m":
        words.pop(0)
    module = words[1] if len(words) > 1 and words[0] == "-m" else None
    return is_python(command[0]) and module in _TORCH_MODULES


def needs_nccl(words: Sequence[str]) -> bool:
    """Whether a word is a program that is linked to NCCL; one that loads it later does not show."""
    return any(_needs(binary) for _, binary in _binaries(words))


def with_nccl_inside(words: Sequence[str]) -> str | None:
    """The first word that is a program with NCCL linked into it, whose calls nobody sees."""
    return next((word for word, binary in _binaries(words) if _has_inside(binary)), None)


def _binaries(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Words that are programs, and the file that each runs."""
    for word in words:
        path = None if word.startswith("-") else shutil.which(word)
        binary = interpreter_of(os.path.abspath(path)) if path is not None else None
        if binary is not None:
            yield word, binary


def _needs(binary: str) -> bool:
    return any(name == _SONAME for name, _ in libraries_of(binary))


def _has_inside(binary: str) -> bool:
    """By the version that it says, where it was stripped of names."""
    try:
        with open(binary, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
            says = _VERSION.search(data) is not None
            named = data.find(b"\0ncclGetVersion\0") != -1
    except (OSError, ValueError):
        return False
    found = says or (named and "ncclGetVersion" in defined_names(Path(binary)))
    return found and not _needs(binary)
