"""Traces of MPI and NCCL programs (THINWIRE_TRACE): read, merged over the ranks, shown."""

from thinwire.traces.files import files_of, read_all
from thinwire.traces.merge import Merged, merge, merge_files
from thinwire.traces.read import NotATrace, RankTrace, read

__all__ = [
    "Merged",
    "NotATrace",
    "RankTrace",
    "files_of",
    "merge",
    "merge_files",
    "read",
    "read_all",
]
