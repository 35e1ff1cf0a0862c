"""Communicators: collectives that are compressed as a whole, over MPI or between threads."""

from thinwire.comm.communicator import Communicator, local_ranks
from thinwire.comm.operation_names import IN_PLACE, MAX, MIN, PROD, SUM, Reduction, schedules
from thinwire.comm.report import CollectiveReport
from thinwire.comm.transport import Transport

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
