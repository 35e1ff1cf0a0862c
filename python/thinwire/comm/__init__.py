"""Communicators: collectives that are compressed as a whole, over MPI or between threads."""

from thinwire.comm.communicator import Communicator, local_ranks
from thinwire.comm.report import CollectiveReport
from thinwire.comm.transport import Transport
from thinwire.comm.words import IN_PLACE, MAX, MIN, PROD, SUM, Reduction, schedules

__all__ = [
    "IN_PLACE",
    "MAX",
    "MIN",
    "PROD",
    "SUM",
    "CollectiveReport",
    "Communicator",
    "Reduction",
    "Transport",
    "local_ranks",
    "schedules",
]
