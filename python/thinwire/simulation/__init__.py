"""What collectives would take on a machine that is described: raw beside compressed, for any number
of nodes, by the library's own schedules and plans."""

from thinwire.simulation.compare import Comparison, loses_from, simulate
from thinwire.simulation.machine import Machine
from thinwire.simulation.run import Simulation

__all__ = ["Comparison", "Machine", "Simulation", "loses_from", "simulate"]
