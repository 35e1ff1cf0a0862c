"""Two ranks: policies, and DistributedDataParallel with the hook."""

from pathlib import Path

import torch
import torch.distributed as dist
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel
from training import Said, bits_of, model, raises, same_on_all_ranks, train

import thinwire.torch as tt

LEAST = 1 << 10


def wrapped(policy: object = "lossless", **options: object) -> DistributedDataParallel:
    tt.set_policy(None, policy, min_bytes=LEAST)
    net = DistributedDataParallel(model(), bucket_cap_mb=0.25)
    tt.attach(net, **options)
    tt.stats(reset=True)
    return net


def native(**options: object) -> tuple[list[float], bytes]:
    net = DistributedDataParallel(model(), bucket_cap_mb=0.25)
    return train(net, 5), bits_of(net)


def lossless_is_bit_equal(_: Path) -> None:
    losses, bits = native()
    net = wrapped()
    assert train(net, 5) == losses
    assert bits_of(net) == bits
    row = tt.stats()["dp"]["allreduce"]
    assert row.calls == row.compressed > 5 and row.codecs["lossless:reductions=coded"]
    assert 1.0 < row.ratio < 2 and row.wire_bytes < row.sent_bytes <= row.bytes, row


def off_is_torchs_own(_: Path) -> None:
    losses, bits = native()
    net = wrapped({"dp": "off"})
    assert train(net, 5) == losses and bits_of(net) == bits
    row = tt.stats()["dp"]["allreduce"]
    assert row.compressed == 0 and row.raw == {"codec off": row.calls} and row.ratio == 1


def lossy_ranks_agree(_: Path) -> None:
    losses, bits = native()
    for codec, ratio in (("blockq", 3.7), ("zfp:rate=8", 3.8), ("mzhybrid", 3.8)):
        policy = codec if codec == "mzhybrid" else {"dp": codec}
        net = wrapped(policy)
        coded = train(net, 5)
        assert bits_of(net) != bits, "nothing was lossy"
        assert same_on_all_ranks(bits_of(net)), codec
        assert all(abs(a - b) < 0.05 * b for a, b in zip(coded, losses, strict=True)), coded
        assert tt.stats()["dp"]["allreduce"].ratio > ratio


def a_bound_holds(_: Path) -> None:
    bound = 1e-3
    tt.set_policy(None, f"szp:abs={bound}", min_bytes=LEAST)
    hook = tt.ddp_hook()
    made = torch.Generator().manual_seed(dist.get_rank())
    flat = torch.randn(100_000, generator=made)
    exact = flat.double() / 2
    dist.all_reduce(exact)
    result = hook(None, Bucket(flat.clone())).wait()
    far = (result.double() - exact).abs().max().item()
    stated = hook._plans.now().channel.communicator.last_report.bound
    assert bound <= stated <= 3 * bound
    assert 0 < far <= stated + 1e-6, (far, stated)  # and what sums round
    assert same_on_all_ranks(result.numpy().tobytes())


class Bucket:
    """What DDP gives to its hooks."""

    def __init__(self, flat: torch.Tensor) -> None:
        self._flat = flat

    def buffer(self) -> torch.Tensor:
        return self._flat

    def parameters(self) -> list[torch.Tensor]:
        return []


def types_that_do_not_fit(_: Path) -> None:
    tt.set_policy(None, "zfp:rate=8", min_bytes=LEAST)
    tt.stats(reset=True)
    hook = tt.ddp_hook()
    for dtype in (torch.bfloat16, torch.int64):
        flat = torch.full((4096,), 6, dtype=dtype)
        if dtype == torch.int64:
            choice = hook._plans.now().plan("allreduce", flat, dist.ReduceOp.SUM)
            assert choice.codec is None and "floats" in choice.reason
            continue
        with Said() as said:
            for _turn in range(2):
                assert hook(None, Bucket(flat)).wait().tolist() == [6] * 4096
        # Once, by one rank.
        assert len(said) == (dist.get_rank() == 0), said
        if said:
            assert "zfp:rate=8 takes no bf16 here, so it stays raw" in said[0], said
            assert "blockq" in said[0].rpartition("codecs that take bf16: ")[2], said
    assert tt.stats()["dp"]["allreduce"].raw == {"the codec does not take this element type": 2}
    eights = torch.zeros(4096, dtype=torch.float8_e4m3fn)
    assert "8-bit" in hook._plans.now().plan("allreduce", eights, dist.ReduceOp.SUM).reason
    least = hook._plans.now().plan("allreduce", torch.ones(10), dist.ReduceOp.SUM)
    assert least.reason == "below min_bytes"
    most = hook._plans.now().plan("allreduce", torch.ones(4096), dist.ReduceOp.MAX)
    assert most.reason == "neither sum nor average"


def sparse_beside_dense(_: Path) -> None:
    """Tensors of as many elements, of which one is sparse, by turns."""
    tt.set_policy(None, "lossless", min_bytes=LEAST)
    tt.stats(reset=True)
    hook = tt.ddp_hook()
    rows = torch.sparse_coo_tensor([[0, 3]], torch.ones(2, 64), (64, 64))
    for _round in range(2):
        assert torch.equal(hook(None, Bucket(rows.clone())).wait().to_dense(), rows.to_dense())
        assert torch.equal(hook(None, Bucket(torch.ones(64, 64))).wait(), torch.ones(64, 64))
    row = tt.stats()["dp"]["allreduce"]
    assert row.compressed == 2 and row.raw == {"no dense tensor of floats": 2}, row


def half_types(_: Path) -> None:
    for dtype in (torch.bfloat16, torch.float16):
        tt.set_policy(None, "lossless", min_bytes=LEAST)
        made = torch.Generator().manual_seed(dist.get_rank())
        flat = torch.randn(50_000, generator=made).to(dtype)
        exact = flat / 2
        dist.all_reduce(exact)
        assert torch.equal(tt.ddp_hook()(None, Bucket(flat)).wait(), exact), dtype


def zero_redundancy(_: Path) -> None:
    results = []
    for policy in ("off", "lossless"):
        net = wrapped(policy)
        optimizer = ZeroRedundancyOptimizer(net.parameters(), torch.optim.Adam, lr=1e-3)
        losses = train(net, 4, optimizer)
        assert same_on_all_ranks(bits_of(net))
        results.append((losses, bits_of(net)))
    assert results[0] == results[1]


def skipped_steps_stay_skipped(_: Path) -> None:
    for policy in ("lossless", {"dp": "zfp:rate=8"}, {"dp": "blockq"}, {"dp": "szp:abs=1e-4"}):
        net = wrapped(policy, error_feedback=policy != "lossless")
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
        for step, bad in enumerate((float("nan"), 1.0, float("inf"), 1.0)):
            before = bits_of(net)
            x = torch.ones(4, 96)
            factor = bad if dist.get_rank() == 1 else 1.0
            optimizer.zero_grad()
            scaler.scale(net(x).mean() * factor).backward()
            scaler.step(optimizer)
            scaler.update()
            assert (bits_of(net) == before) == (bad != 1.0), (policy, step)
            assert same_on_all_ranks(bits_of(net)), (policy, step)


def feedback_keeps_what_was_lost(_: Path) -> None:
    for codec in ("blockq:bits=4", "cast:to=bf16", "cast:to=fp16"):
        kept, lost = (mean_error(codec, keeps) for keeps in (True, False))
        # The loss from coding the sum, which all ranks share, is not fed back.
        assert kept < 0.75 * lost, (codec, kept, lost)


def mean_error(codec: str, keeps: bool) -> float:
    """Of the mean of 20 sums of the same gradients."""
    net = wrapped({"dp": codec}, error_feedback=True)
    hook = tt.ddp_hook(error_feedback=tt.ErrorFeedback() if keeps else None)
    weights = [torch.nn.Parameter(torch.zeros(5000)), torch.nn.Parameter(torch.zeros(3000))]
    if hook.feedback is not None:
        hook.feedback._names = {weights[0]: "a", weights[1]: "b"}
    made = torch.Generator().manual_seed(dist.get_rank())
    gradient = torch.randn(8000, generator=made) * 2
    exact = gradient / 2
    dist.all_reduce(exact)
    total = torch.zeros(8000)
    for _step in range(20):
        bucket = Bucket(gradient.clone())
        bucket.parameters = lambda: weights
        total += hook(None, bucket).wait()
    del net
    return (total / 20 - exact).abs().mean().item()


def feedback_is_saved(folder: Path) -> None:
    feedback = tt.ErrorFeedback()
    net = wrapped({"dp": "blockq:bits=4"}, error_feedback=feedback)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    train(net, 3, optimizer)
    state = feedback.state_dict()
    names = {name for name, _ in net.module.named_parameters()}
    assert set(state) == names and all(part.abs().max() > 0 for part in state.values())
    path = folder / f"feedback-{dist.get_rank()}.pt"
    torch.save({"model": net.module.state_dict(), "feedback": state}, path)
    expected = train(net, 3, optimizer), bits_of(net)

    saved = torch.load(path)
    for keeps in (True, False):
        again = tt.ErrorFeedback()
        other = wrapped({"dp": "blockq:bits=4"}, error_feedback=again)
        other.module.load_state_dict(saved["model"])
        if keeps:
            again.load_state_dict(saved["feedback"])
        found = train(other, 3, torch.optim.SGD(other.parameters(), lr=0.05)), bits_of(other)
        assert (found == expected) == keeps
    raises(ValueError, "no parameter: nothing", lambda: again.load_state_dict({"nothing": 1}))


CHECKS = [
    lossless_is_bit_equal,
    off_is_torchs_own,
    lossy_ranks_agree,
    a_bound_holds,
    types_that_do_not_fit,
    sparse_beside_dense,
    half_types,
    zero_redundancy,
    skipped_steps_stay_skipped,
    feedback_keeps_what_was_lost,
    feedback_is_saved,
]
