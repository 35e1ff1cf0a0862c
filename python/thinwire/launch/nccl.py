"""Whether a command is of a program that calls NCCL."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from .program import interpreter_of, is_python, libraries_of

_SONAME = "libnccl.so.2"
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
    return any(_needs(word) for word in words if not word.startswith("-"))


def _needs(word: str) -> bool:
    path = shutil.which(word)
    binary = interpreter_of(os.path.abspath(path)) if path is not None else None
    return binary is not None and any(name == _SONAME for name, _ in libraries_of(binary))
