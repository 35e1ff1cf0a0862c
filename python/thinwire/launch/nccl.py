"""Whether a command is of a program that calls NCCL."""

import mmap
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from .elf import defined_names
from .program import answer_of, interpreter_of, is_python, libraries_of

_SONAME = "libnccl.so.2"
# The text that NCCL prints when it starts.
_VERSION = re.compile(rb"NCCL version \d+\.\d+\.\d+")
# Launchers of training programs, each with the modules that are the same program. Ranks inherit a
# launcher's environment.
_LAUNCHERS = {
    "torchrun": ("torch.distributed.run", "torch.distributed.launch"),
    "accelerate": ("accelerate.commands.launch", "accelerate.commands.accelerate_cli"),
    "deepspeed": ("deepspeed.launcher.runner", "deepspeed.launcher.launch"),
}
# Python's options that take the next word.
_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")
# Finds the library file in packages that hold NCCL, or that load it when they are imported. Nothing
# is imported.
_FIND_NCCL = (
    "import importlib.util\n"
    "for name, file in ('nvidia', 'nccl/lib/libnccl.so.2'), ('torch', 'lib/libtorch_cuda.so'):\n"
    "    spec = importlib.util.find_spec(name)\n"
    "    for folder in spec and spec.submodule_search_locations or ():\n"
    "        print(folder, file, sep='/')\n"
)


def is_nccl_launcher(command: Sequence[str]) -> bool:
    """Whether the command is a launcher of programs that call NCCL, by its name or as a module."""
    return _launcher_of(command) is not None


def is_torchrun(command: Sequence[str]) -> bool:
    """Whether the command is PyTorch's launcher."""
    return _launcher_of(command) == "torchrun"


def _launcher_of(command: Sequence[str]) -> str | None:
    name = Path(command[0]).name
    if name in _LAUNCHERS:
        return name
    module = _module_of(command[1:]) if is_python(command[0]) else None
    return next((name for name, modules in _LAUNCHERS.items() if module in modules), None)


def _module_of(words: Sequence[str]) -> str | None:
    """The module that Python runs by `-m`, given these words."""
    left = iter(words)
    for word in left:
        if word == "-m":
            return next(left, None)
        if not word.startswith("-"):
            break
        if word in _WITH_VALUE:
            next(left, None)
    return None


def python_with_nccl(words: Sequence[str]) -> str | None:
    """The NCCL among the packages of the first word that is a Python, or a script of one: the
    program may load it later and call it."""
    pythons = (binary for _, binary in _binaries(words) if is_python(binary))
    for python in dict.fromkeys(pythons):
        places = answer_of(python, "-c", _FIND_NCCL)[0].splitlines()
        found = next(filter(os.path.exists, places), None)
        if found is not None:
            return found
    return None


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
    """Whether the file holds NCCL: the text of its version, which stays if names are stripped, or
    its names."""
    try:
        with open(binary, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
            says = _VERSION.search(data) is not None
            named = data.find(b"\0ncclGetVersion\0") != -1
    except (OSError, ValueError):
        return False
    found = says or (named and "ncclGetVersion" in defined_names(Path(binary)))
    return found and not _needs(binary)
