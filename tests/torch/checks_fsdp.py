"""Two ranks: FSDP2 with its custom collectives, and what runs untouched beside the hooks."""

from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from checks_ddp import LEAST
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecisionPolicy, fully_shard
from torch.nn.parallel import DistributedDataParallel
from training import WIDTH, bits_of, model, raises, same_on_all_ranks, train

import thinwire.torch as tt


def sharded(policy: Any = None, dtype: Any = None) -> Any:
    mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("dp_shard",))
    net = model()
    precision = MixedPrecisionPolicy(param_dtype=dtype, reduce_dtype=dtype)
    for layer in net:
        if isinstance(layer, torch.nn.Linear):
            fully_shard(layer, mesh=mesh, mp_policy=precision)
    fully_shard(net, mesh=mesh, mp_policy=precision)
    if policy is not None:
        tt.set_policy(mesh, policy, min_bytes=LEAST)
        assert tt.attach(net).modules == 7
        tt.stats(reset=True)
    return net


def fsdp2_lossless_is_bit_equal(_: Path) -> None:
    for dtype in (None, torch.bfloat16):
        net = sharded(dtype=dtype)
        expected = train(net, 4), bits_of(net)
        net = sharded({"dp": "lossless"}, dtype)
        assert (train(net, 4), bits_of(net)) == expected
        rows = tt.stats()["dp_shard"]
        assert set(rows) == {"allgather", "reduce-scatter"}
        for row in rows.values():
            assert row.calls == row.compressed and row.ratio > 1.1, rows


def fsdp2_lossy_gradients_exact_parameters(_: Path) -> None:
    net = sharded({"dp_shard": {"gradients": "blockq", "parameters": "lossless"}})
    losses = train(net, 4)
    rows = tt.stats()["dp_shard"]
    assert set(rows["allgather"].codecs) == {"lossless"}
    assert set(rows["reduce-scatter"].codecs) == {"blockq:bits=8,block=32"}
    assert rows["reduce-scatter"].ratio > 3.7
    plain = train(sharded(), 4)
    assert losses != plain
    assert all(abs(a - b) < 0.05 * b for a, b in zip(losses, plain, strict=True))


def gathered_values_are_exact_unless_named(_: Path) -> None:
    for policy, exact in (({"dp_shard": "blockq"}, True), ({"dp": {"allgather": "blockq"}}, False)):
        mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("dp_shard",))
        tt.set_policy(mesh, policy, min_bytes=LEAST)
        group, gather = mesh.get_group(), tt.CompressedAllGather()
        made = torch.Generator().manual_seed(dist.get_rank())
        whole, own = torch.empty(2 * 5000), torch.randn(5000, generator=made)
        work = gather(whole, own, group, async_op=True)
        assert work.wait() and work.is_completed()
        expected = torch.empty_like(whole)
        dist.all_gather_into_tensor(expected, own)
        assert torch.equal(whole, expected) == exact
        assert same_on_all_ranks(whole.numpy().tobytes())


def averages_and_other_reductions(_: Path) -> None:
    tt.set_policy(dist.group.WORLD, "lossless", min_bytes=LEAST)
    scatter = tt.CompressedReduceScatter()
    made = torch.Generator().manual_seed(dist.get_rank())
    whole = torch.randn(10_000, generator=made)
    for op in (dist.ReduceOp.SUM, dist.ReduceOp.AVG, dist.ReduceOp.MAX):
        own, expected = torch.empty(5000), torch.empty(5000)
        scatter(own, whole.clone(), dist.group.WORLD, op)
        dist.reduce_scatter_tensor(expected, whole.clone(), op=op)
        assert torch.equal(own, expected), op
    row = tt.stats()["dp_shard"]["reduce-scatter"]
    assert row.raw["neither sum nor average"] == 1


def fsdp1_runs_untouched(_: Path) -> None:
    losses = []
    for policy in ("off", "mzhybrid"):
        tt.set_policy(dist.group.WORLD, policy, min_bytes=LEAST)
        net = FullyShardedDataParallel(model(), device_id=torch.device("cpu"))
        losses.append(train(net, 3))
    assert losses[0] == losses[1]
    raises(TypeError, "FSDP1", lambda: tt.attach(net))
    raises(ValueError, "error feedback is for DDP", lambda: tt.attach(sharded(), error_feedback=1))


def compiled(_: Path) -> None:
    tt.set_policy(dist.group.WORLD, "lossless", min_bytes=LEAST)
    plain = DistributedDataParallel(model())
    expected = train(torch.compile(plain, backend="aot_eager"), 3)
    net = DistributedDataParallel(model())
    tt.attach(net)
    tt.stats(reset=True)
    assert train(torch.compile(net, backend="aot_eager"), 3) == expected
    # The mesh of one dimension has named the default group.
    assert tt.stats()["dp_shard"]["allreduce"].compressed > 0
    other = sharded({"dp": "lossless"})
    expected = train(sharded(), 2)
    assert train(torch.compile(other, backend="aot_eager"), 2) == expected
    assert tt.stats()["dp_shard"]["allgather"].compressed > 0


def objects_and_integers(_: Path) -> None:
    """Under a policy that is lossy for all it can be."""
    tt.set_policy(dist.group.WORLD, {"*": {"*": "blockq:bits=4"}}, min_bytes=0)
    told: list[Any] = [None, None]
    dist.all_gather_object(told, {"rank": dist.get_rank(), "text": "x" * 100_000})
    assert [each["rank"] for each in told] == [0, 1]
    one = [torch.full((1000,), 0.1) if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(one)
    assert torch.equal(one[0], torch.full((1000,), 0.1))
    numbers = torch.arange(10_000) + dist.get_rank()
    whole = torch.empty(20_000, dtype=torch.int64)
    tt.CompressedAllGather()(whole, numbers, dist.group.WORLD)
    assert torch.equal(whole, torch.cat([torch.arange(10_000), torch.arange(10_000) + 1]))


def skipped_steps_stay_skipped(_: Path) -> None:
    """NaN and infinity of one rank's loss come to all shards, so that a scaler skips the step."""
    gradients = {"gradients": "blockq", "parameters": "lossless"}
    for policy in (None, {"dp": "lossless"}, {"dp": "zfp:rate=8"}, {"dp": gradients}):
        net = sharded(policy)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
        for step, bad in enumerate((float("nan"), 1.0, float("inf"), 1.0)):
            before = bits_of(net)
            factor = bad if dist.get_rank() == 1 else 1.0
            optimizer.zero_grad()
            scaler.scale(net(torch.ones(4, WIDTH)).mean() * factor).backward()
            scaler.step(optimizer)
            scaler.update()
            assert (bits_of(net) == before) == (bad != 1.0), (policy, step)
            assert all(torch.isfinite(each.to_local()).all() for each in net.parameters())
        if policy is not None:
            row = tt.stats()["dp_shard"]["reduce-scatter"]
            assert row.calls == row.compressed > 0, row


def checkpoints(folder: Path) -> None:
    net = sharded({"dp": {"*": "blockq:bits=4"}})
    train(net, 2)
    bits = bits_of(net)
    dcp.save({"model": net.state_dict()}, checkpoint_id=folder / "checkpoint")
    other = sharded()
    assert bits_of(other) != bits
    state = {"model": other.state_dict()}
    dcp.load(state, checkpoint_id=folder / "checkpoint")
    other.load_state_dict(state["model"])
    assert bits_of(other) == bits


CHECKS = [
    fsdp2_lossless_is_bit_equal,
    fsdp2_lossy_gradients_exact_parameters,
    gathered_values_are_exact_unless_named,
    averages_and_other_reductions,
    fsdp1_runs_untouched,
    compiled,
    objects_and_integers,
    skipped_steps_stay_skipped,
    checkpoints,
]
