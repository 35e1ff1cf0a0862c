"""Two ranks that have the preload library for NCCL in their process and THINWIRE_CODEC=zfp:rate=8:
what set_policy says of it. Their groups go by gloo: what holds for NCCL's is asked for by hand."""

import os
from pathlib import Path
from unittest.mock import patch

import torch
import torch.distributed as dist
from checks_ddp import LEAST, wrapped
from torch.distributed.device_mesh import init_device_mesh
from training import Said, raises, train

import thinwire.torch as tt
from thinwire.torch import groups


def groups_of_gloo_have_hooks(_: Path) -> None:
    assert tt.preload_is_loaded()
    with Said() as said:
        net = wrapped("lossless")
        train(net, 2)
    assert said == []
    row = tt.stats()["dp"]["allreduce"]
    assert row.calls == row.compressed > 0 and set(row.codecs) == {"lossless:reductions=coded"}


def what_holds_instead_is_said_once(_: Path) -> None:
    mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("dp",))
    first = dist.get_rank() == 0
    with patch.object(groups, "goes_by_nccl", return_value=True):
        for target in (mesh, None):
            with Said() as said:
                tt.set_policy(target, "lossless", min_bytes=LEAST)
            assert len(said) == (first and target is mesh), said
            if said:
                assert "by THINWIRE_CODEC=zfp:rate=8 (all operations: zfp:rate=8)" in said[0], said
                assert "which is lossy" in said[0] and "preload_policy()" in said[0]
        with Said() as said, tt.set_policy(dist.group.WORLD, "off"):
            pass
        assert len(said) == first, said


def it_is_quiet_where_both_agree(folder: Path) -> None:
    mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("dp",))
    both = {"dp": {"gradients": "blockq", "*": "lossless"}}
    file = folder / f"agreed-{dist.get_rank()}.toml"
    file.write_text('[[rule]]\ncodec = "zfp:rate=8"\n')
    first = dist.get_rank() == 0
    with patch.object(groups, "goes_by_nccl", return_value=True), Said() as said:
        tt.set_policy(None, file)
        path = tt.preload_policy(both, ("dp",))
        tt.set_policy(mesh, both)
        assert said == []
        tt.set_policy(None, file)
        assert len(said) == first and (not said or f"by THINWIRE_POLICY={path}" in said[0]), said
        os.environ["THINWIRE_POLICY"] = str(folder / "nothing.toml")
        tt.set_policy(mesh, both)
        assert len(said) == 2 * first, said
        del os.environ["THINWIRE_POLICY"]
        os.environ["THINWIRE_DISABLE"] = "1"
        tt.set_policy(mesh, "off")
        assert len(said) == 2 * first, said
        del os.environ["THINWIRE_DISABLE"]


def too_late_for_a_policy(_: Path) -> None:
    with patch("thinwire.torch.nccl.nccl_report", return_value={"communicators": []}):
        raises(RuntimeError, "too late", lambda: tt.preload_policy("lossless"))
    assert torch.distributed.get_backend() == "gloo" and not groups.goes_by_nccl(dist.group.WORLD)


CHECKS = [
    groups_of_gloo_have_hooks,
    what_holds_instead_is_said_once,
    it_is_quiet_where_both_agree,
    too_late_for_a_policy,
]
