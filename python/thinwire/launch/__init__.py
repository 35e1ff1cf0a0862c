"""Starting MPI programs: which MPI they are of, and what hands its preload library to the ranks."""

from .choice import Choice, Refused, choose
from .forward import forward
from .launcher import Launcher, from_environment, from_path, is_launcher, on_path
from .program import Program, find_program

__all__ = [
    "Choice",
    "Launcher",
    "Program",
    "Refused",
    "choose",
    "find_program",
    "forward",
    "from_environment",
    "from_path",
    "is_launcher",
    "on_path",
]
