"""Starting MPI programs: which MPI they are of, and what hands its preload library to the ranks."""

from .choice import Choice, Refused, choose
from .forward import forward
from .installation import best_fit, mpi_libraries
from .launcher import Launcher, from_environment, from_path, is_launcher, on_path
from .nccl import (
    is_nccl_launcher,
    is_torchrun,
    needs_nccl,
    python_with_nccl,
    with_nccl_inside,
)
from .program import Program, find_program, sanitizers_of

__all__ = [
    "Choice",
    "Launcher",
    "Program",
    "Refused",
    "best_fit",
    "choose",
    "find_program",
    "forward",
    "from_environment",
    "from_path",
    "is_launcher",
    "is_nccl_launcher",
    "is_torchrun",
    "mpi_libraries",
    "needs_nccl",
    "on_path",
    "python_with_nccl",
    "sanitizers_of",
    "with_nccl_inside",
]
