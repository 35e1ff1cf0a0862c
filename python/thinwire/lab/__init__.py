"""A small cluster on one machine: hosts out of Linux network namespaces, joined by shaped links.

    with Lab(hosts=2, link="100mbit") as lab:
        lab.run(["mpirun", "-n", "2", "./program"], check=True)
        print(lab.report())

Each host has GPUs of its own where the machine has any (`gpus.py`). Needs pyroute2 and the right
to make namespaces, as root or through a user namespace; where either is missing, `LabUnavailable`
says which.
"""

from .errors import LabError, LabUnavailable
from .lab import Lab
from .measure import LabReport

__all__ = ["Lab", "LabError", "LabReport", "LabUnavailable"]
