"""Traces of MPI and NCCL programs (THINWIRE_TRACE): read, merged over the ranks, shown."""

from thinwire.traces.merge import Merged, merge
from thinwire.traces.read import NotATrace, RankTrace, read, read_all

__all__ = ["Merged", "NotATrace", "RankTrace", "merge", "read", "read_all"]
