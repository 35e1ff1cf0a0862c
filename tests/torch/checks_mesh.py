"""Four ranks: meshes of two dimensions, a policy for each."""

import importlib
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from checks_ddp import LEAST, Bucket
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)
from torch.nn.parallel import DistributedDataParallel
from training import WIDTH, bits_of, model, raises, same_on_all_ranks, train

import thinwire.torch as tt


def four_ranks_of_ddp(_: Path) -> None:
    """Sums of four have another order than torch's: equal to rounding, not bit for bit."""
    mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("dp",))
    expected = train(DistributedDataParallel(model()), 5)
    for policy, tolerance in (("lossless", 1e-5), ("blockq", 0.05), ("mzhybrid", 0.05)):
        tt.set_policy(mesh, policy, min_bytes=LEAST)
        net = DistributedDataParallel(model(), bucket_cap_mb=0.25)
        tt.attach(net)
        tt.stats(reset=True)
        losses = train(net, 5)
        assert same_on_all_ranks(bits_of(net)), policy
        assert all(abs(a - b) <= tolerance * b for a, b in zip(losses, expected, strict=True)), (
            policy
        )
        row = tt.stats()["dp"]["allreduce"]
        assert row.compressed == row.calls > 0


def a_ring_of_messages(_: Path) -> None:
    """The baseline of examples/torch: averages as torch's, of parts that are unequal or empty."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "torch"))
    ring_hook = importlib.import_module("ring").RingHook
    group = dist.new_group([3, 1, 0, 2], use_local_synchronization=True)
    hook = ring_hook(group)
    made = torch.Generator().manual_seed(dist.get_rank())
    for count in (3, 4, 10_001):
        flat = torch.randint(-1000, 1000, (count,), generator=made).double()
        exact = flat.clone() / 4
        dist.all_reduce(exact)
        assert torch.equal(hook(None, Bucket(flat)).wait(), exact), count


def unequal_policies_across_a_mesh(_: Path) -> None:
    """All ranks hear of it, those too whose own groups agree."""
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    bits = 4 if dist.get_rank() == 3 else 8
    raises(
        tt.PolicyMismatch,
        "on rank 3",
        lambda: tt.set_policy(mesh, {"dp": f"blockq:bits={bits}"}),
    )


def hybrid_sharding(_: Path) -> None:
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp_replicate", "dp_shard"))
    plain = fully_shard(model(), mesh=mesh)
    expected = train(plain, 4), bits_of(plain)
    tt.set_policy(mesh, {"dp": "lossless"}, min_bytes=LEAST)
    tt.stats(reset=True)
    net = fully_shard(model(), mesh=mesh)
    tt.attach(net)
    assert (train(net, 4), bits_of(net)) == expected
    rows = tt.stats()
    assert set(rows) == {"dp_shard"}, "the replicas' all-reduce is torch's own"
    assert all(row.calls == row.compressed for row in rows["dp_shard"].values())


def replicas_by_the_policy(_: Path) -> None:
    """The same with one dimension sharded, and the replicas' gradients averaged by the hook."""
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp_replicate", "dp_shard"))
    plain = fully_shard(model(), mesh=mesh)
    expected = train(plain, 4), bits_of(plain)
    replicas = mesh.get_group("dp_replicate")
    for codec in ("lossless", "blockq"):
        policy = {"dp_replicate": codec, "dp_shard": "lossless"}
        tt.set_policy(mesh, policy, min_bytes=LEAST)
        tt.stats(reset=True)
        net = fully_shard(model(), mesh=mesh["dp_shard"])
        tt.attach(net, replicate_group=replicas)
        found = train(net, 4), bits_of(net)
        assert same_on_all_ranks(bits_of(net), replicas)
        assert (found == expected) == (codec == "lossless")
        row = tt.stats()["dp_replicate"]["allreduce"]
        assert row.compressed == row.calls == 4
        assert [name.partition(":")[0] for name in row.codecs] == [codec]


def tensor_parallel(_: Path) -> None:
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))

    def made() -> Any:
        net = model(1)
        ways = {"0": ColwiseParallel(), "2": RowwiseParallel()}
        net = parallelize_module(net, mesh["tp"], ways)
        return fully_shard(net, mesh=mesh["dp"])

    def trained(net: Any) -> list[float]:
        losses = []
        optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
        for step in range(3):
            # Ranks of one tensor-parallel group learn from the same batch.
            seed = torch.Generator().manual_seed(10 * step + mesh.get_local_rank("dp"))
            x = torch.randn(16, WIDTH, generator=seed)
            loss = (net(x) - x / 2).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    expected = trained(made())
    for policy in ({"dp": "lossless", "tp": "lossless"}, "mzhybrid"):
        tt.set_policy(mesh, policy, min_bytes=LEAST)
        tt.stats(reset=True)
        net = made()
        tt.attach(net)
        losses = trained(net)
        assert (losses == expected) == (policy != "mzhybrid")
        assert set(tt.stats()) == {"dp"} and tt.stats()["dp"]["reduce-scatter"].compressed


def lossy_codecs_beside_replicas(_: Path) -> None:
    """Unless forced they are left out, as each group would time them by itself; of the others
    nothing changes."""
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))

    def trained(attaches: bool) -> tuple[list[float], bytes]:
        net = model(1)
        ways = {"0": ColwiseParallel(), "2": RowwiseParallel()}
        net = fully_shard(parallelize_module(net, mesh["tp"], ways), mesh=mesh["dp"])
        if attaches:
            tt.attach(net)
        return train(net, 8), bits_of(net)

    expected = trained(False)
    tt.set_policy(mesh, "mzhybrid", min_bytes=LEAST, force=False)
    tt.stats(reset=True)
    assert trained(True) == expected
    rows = tt.stats()["dp"]
    sums = rows["reduce-scatter"]
    assert sums.compressed == 0 < sums.raw["siblings not known"], rows
    assert rows["allgather"].compressed > 0, "as these lose nothing"
    tt.set_policy(mesh, "mzhybrid", min_bytes=LEAST, force=True)
    tt.stats(reset=True)
    trained(True)
    sums = tt.stats()["dp"]["reduce-scatter"]
    assert sums.compressed == sums.calls, "from the first call on, so that replicas stay alike"


def pipeline(_: Path) -> None:
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "pp"))
    stage_number = mesh.get_local_rank("pp")

    def trained(attaches: bool) -> tuple[list[float], bytes]:
        part = model(2)[3 * stage_number : 3 * stage_number + 3]
        net = fully_shard(part, mesh=mesh["dp"])
        if attaches:
            tt.attach(net)
        stage = PipelineStage(
            net, stage_number, 2, torch.device("cpu"), group=mesh["pp"].get_group()
        )
        schedule = ScheduleGPipe(stage, 2, loss_fn=lambda out, x: (out - x / 2).pow(2).mean())
        optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
        losses: list[float] = []
        for step in range(3):
            seed = torch.Generator().manual_seed(10 * step + mesh.get_local_rank("dp"))
            x = torch.randn(16, WIDTH, generator=seed)
            optimizer.zero_grad()
            told: list[Any] = []
            if stage_number == 0:
                schedule.step(x)
            else:
                schedule.step(target=x, losses=told)
            optimizer.step()
            losses += [loss.item() for loss in told]
        return losses, bits_of(net)

    expected = trained(False)
    tt.set_policy(mesh, {"dp": "lossless", "pp": "lossless"}, min_bytes=LEAST)
    tt.stats(reset=True)
    assert trained(True) == expected
    rows = tt.stats()["dp"]
    assert all(row.compressed == row.calls > 0 for row in rows.values()), rows
    assert set(rows) == {"allgather", "reduce-scatter"}


CHECKS = [
    a_ring_of_messages,
    four_ranks_of_ddp,
    unequal_policies_across_a_mesh,
    hybrid_sharding,
    replicas_by_the_policy,
    tensor_parallel,
    lossy_codecs_beside_replicas,
    pipeline,
]
