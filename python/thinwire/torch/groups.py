"""What process groups are called: by the mesh dimension that they are of."""

from typing import Any

import torch.distributed as dist

# Groups whose reductions are of gradients and whose gathers are of parameters. Of torchtitan and
# Megatron-Core.
DATA_PARALLEL = (
    "dp",
    "dp_replicate",
    "dp_shard",
    "dp_cp",
    "dp_shard_cp",
    "ep_dp",
    "expt_dp",
)
MODEL_PARALLEL = ("tp", "pp", "cp", "ep", "mp", "etp", "expt_tp", "tp_ep", "tp_pp", "tp_cp")
# Along these dimensions ranks have some parameters alike, as those of norms, whose gradients each
# sums over a group of its own.
REPLICATING = ("tp", "etp", "expt_tp", "cp")
OTHERS = ("world", "embd", "pos_embd", "tp_dp", "tp_dp_cp")
KNOWN = DATA_PARALLEL + MODEL_PARALLEL + OTHERS

# A key stands for these too, if they have no key of their own.
FAMILIES = {"dp": DATA_PARALLEL, "mp": MODEL_PARALLEL}

WORLD = "world"
_given: dict[str, str] = {}  # by torch's name of a group
_replicas: dict[str, tuple[str, ...]] = {}  # likewise


def default_group() -> Any:
    if not dist.is_initialized():
        raise RuntimeError(
            "thinwire.torch: there are no process groups yet: call "
            "torch.distributed.init_process_group() first"
        )
    return dist.group.WORLD


def is_mesh(target: Any) -> bool:
    return hasattr(target, "mesh_dim_names") and hasattr(target, "get_group")


def groups_of_mesh(mesh: Any) -> dict[str, Any]:
    """A mesh's groups that this rank is in, by dimension name; ValueError if those have none."""
    names = mesh.mesh_dim_names
    if not names:
        raise ValueError(
            "set_policy: this mesh has no dimension names: give init_device_mesh() mesh_dim_names, "
            'as in ("dp", "tp")'
        )
    if mesh.get_coordinate() is None:
        raise ValueError("set_policy: this rank is not in the mesh")
    return {name: mesh.get_group(name) for name in names}


def goes_by_nccl(group: Any) -> bool:
    """Whether tensors on GPUs do."""
    return "nccl" in dist.get_backend_config(group)


def give_name(group: Any, name: str) -> None:
    _given[group.group_name] = name


def note_replicas(named: dict[str, Any]) -> None:
    """Of the groups of a mesh, by dimension name."""
    several = [
        name for name in REPLICATING if name in named and dist.get_world_size(named[name]) > 1
    ]
    for name, group in named.items():
        _replicas[group.group_name] = tuple(each for each in several if each != name)


def replicas_beside(group: Any) -> tuple[str, ...]:
    """The dimensions along which other groups may sum what has to stay as this group's sums are;
    none if the mesh is not known."""
    return _replicas.get(group.group_name, ())


def name_of(group: Any, otherwise: str = "") -> str:
    """The name that policies know a group by: the dimension's of a mesh, else the group's
    description; "world" for the default group. `otherwise` is for groups without any, and for
    the default group."""
    given = _given.get(group.group_name)
    if given is not None:
        return given
    description = group.group_desc.removeprefix("mesh_")
    if description == "default_pg":
        return otherwise or WORLD
    return otherwise if description in ("", "undefined", "default") else description
