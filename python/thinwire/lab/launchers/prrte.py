"""PRRTE: the launcher of Open MPI 5, and one by itself."""

from collections.abc import Mapping

from ..addresses import SUBNET

# For the reasons that hold for Open MPI 4 (open_mpi.py).
DEFAULTS = {
    "PRTE_MCA_rmaps_default_mapping_policy": "node",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}


def tied(paths: Mapping[str, str]) -> dict[str, str]:
    """What ties it to the lab whose files these are."""
    return {
        "PRTE_MCA_prte_default_hostfile": paths["hostfile"],
        "PRTE_MCA_plm": "ssh",
        "PRTE_MCA_plm_ssh_agent": paths["agent"],
        **session_folder(paths["scratch"]),
        "PRTE_MCA_prte_if_include": SUBNET,
    }


def session_folder(path: str) -> dict[str, str]:
    return {"PRTE_MCA_prte_tmpdir_base": path}
