"""What makes a plain `mpirun` or `mpiexec` in a lab spread its ranks over the lab's hosts.

Each launcher is told in its own words, the settings of its environment, and reads no other's; so a
command in a lab gets those of all, and whichever it starts finds the hosts.
"""

from collections.abc import Mapping

from . import hydra, networks, open_mpi, prrte
from .files import write as write_files

__all__ = ["environment", "session_folder", "write_files"]


def environment(
    paths: Mapping[str, str], caller: Mapping[str, str], of_the_host: Mapping[str, str]
) -> dict[str, str]:
    """The caller's environment with that of the first host and with what launchers read in it.

    What ties launchers to the lab replaces the caller's settings; the rest yields to them.
    """
    defaults = {
        **open_mpi.DEFAULTS,
        **prrte.DEFAULTS,
        **networks.DEFAULTS,
        **hydra.kept_apart(of_the_host),
    }
    tied = {**open_mpi.tied(paths), **prrte.tied(paths), **hydra.tied(paths)}
    return {**defaults, **caller, **tied, **of_the_host}


def session_folder(path: str) -> dict[str, str]:
    """Settings that have launchers keep the folders of their sessions in `path`. Two that make
    theirs in the same folder at the same moment may fail: one finds made what it was to make."""
    return {**open_mpi.session_folder(path), **prrte.session_folder(path)}
