"""Four ranks: what sync_weights gives them is the source's, to the bit, whatever it sends."""

from pathlib import Path

import torch
import torch.distributed as dist
from training import model, raises
from weights_data import INTEGERS, SMALL, bits, change, every_kind, me, same, told

import thinwire.torch as tt


def every_type_and_share(_: Path) -> None:
    sync = tt.WeightSync(bucket=SMALL)
    tensors = every_kind(1000 * me())
    first = sync.sync(tensors)
    assert same(tensors) and set(first.buckets) == {"whole"} and first.why_full, first
    assert first.version == 1 and first.changed == 1
    kinds = set()
    for version, share in enumerate((0, 0.01, 0.0005, 0.05, 0.5, 1.0, 0.01), 2):
        if me() == 0:
            change(tensors, share, version)
        report = sync.sync(tensors)
        assert same(tensors), share
        assert report.version == version and not report.why_full and not report.rebased, report
        assert told(
            (report.sent_bytes, report.buckets, report.changed)
        ) == dist.get_world_size() * [(report.sent_bytes, report.buckets, report.changed)]
        # Some booleans stay, as do words in which nothing is flipped.
        assert 0.85 * share <= report.changed <= share or abs(report.changed - share) < 0.004
        kinds |= set(report.buckets)
        if share == 0:
            assert set(report.buckets) == {"same"}, report
        if share <= 0.01:
            assert report.sent_bytes < 0.06 * report.raw_bytes + 100 * report.buckets.total()
    assert kinds >= {"same", "gaps8", "gaps16", "xor"}, kinds


def bits_that_are_equal_as_values(_: Path) -> None:
    """Zeros of both signs, and NaN with other payloads, in words of which nothing else changes."""
    for dtype, zero, nan in (
        (torch.float64, -(2**63), 0x7FF8000000000001),
        (torch.float32, -(2**31), 0x7FC00001),
        (torch.bfloat16, -(2**15), 0x7FC1),
    ):
        sync = tt.WeightSync(bucket=SMALL)
        tensors = {"zeros": torch.zeros(4096, dtype=dtype), "nan": torch.full((99,), torch.nan)}
        tensors["nan"] = tensors["nan"].to(dtype)
        sync.sync(tensors)
        if me() == 0:
            words = tensors["zeros"].view(INTEGERS[dtype.itemsize])
            words[:8] = zero
            tensors["nan"].view(words.dtype)[8:16] = nan
        report = sync.sync(tensors)
        assert same(tensors) and bits(tensors["zeros"])[0] == zero, (dtype, report)


def tensors_of_which_some_are_expanded(_: Path) -> None:
    """Elements that are one in memory, on some ranks alone; and a name that is no UTF-8."""
    full, one = torch.arange(6, dtype=torch.float64), torch.full((1,), 5.0).double()
    ours = {"a": one.expand(6), "b": full} if me() == 0 else {"a": full, "b": one.expand(6)}
    raises(tt.WeightsError, "expanded", lambda: tt.sync_weights(ours))
    named = {"\ud800": torch.full((3,), float(me()))}
    sync = tt.WeightSync()
    sync.sync(named)
    assert same(named)


def nothing_and_device_are_kept(_: Path) -> None:
    for keep in ("nothing", "device"):
        sync = tt.WeightSync(bucket=SMALL, keep=keep)
        tensors = every_kind(7 + me())
        sync.sync(tensors)
        if me() == 0:
            tensors["strided"].view(torch.int32)[3] ^= 1
        report = sync.sync(tensors)
        assert same(tensors), keep
        changed = "whole" if keep == "nothing" else "gaps16"
        assert report.buckets[changed] == 1, report
        assert report.buckets["same"] == report.buckets.total() - 1, report


def a_module_and_its_buffers(_: Path) -> None:
    torch.manual_seed(me())
    net = torch.nn.Sequential(torch.nn.Linear(9, 9), torch.nn.BatchNorm1d(9), torch.nn.Linear(9, 9))
    net[2].weight = net[0].weight
    net.register_buffer("hidden", torch.rand(5), persistent=False)
    named = dict(net.named_parameters(remove_duplicate=False)) | dict(net.named_buffers())
    tt.sync_weights(net)
    assert same(named)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(2):
        if me() == 0:
            net(torch.rand(4, 9)).square().mean().backward()
            optimizer.step()
        tt.sync_weights(net)
        assert same(named) and all(parameter.requires_grad for parameter in net.parameters())
    with torch.inference_mode():
        served = {name: torch.zeros_like(tensor) for name, tensor in named.items()}
    served["2.weight"] = served["0.weight"]
    given = served if me() == 2 else named
    tt.sync_weights(given)
    assert same(given)
    tt.close()


def views_that_lie_between_each_other(_: Path) -> None:
    """Parts of rows, one fused with another, whose memory is one's own all the same."""
    rows = torch.rand(40, 30) + me()
    tensors = {"left": rows[:, :12], "right": rows[:, 12:], "all": torch.rand(7)}
    sync = tt.WeightSync(bucket="1KiB")
    for share in (0.0, 0.01, 0.6, 1.0):
        if me() == 0:
            change(tensors, share, 8)
        report = sync.sync(tensors)
        assert same(tensors | {"rows": rows}) and not report.rebased, report


def a_group_and_another_source(_: Path) -> None:
    group = dist.new_group([1, 2])
    tensors = every_kind(me())
    if me() not in (1, 2):
        raises(ValueError, "not in the group", lambda: tt.sync_weights(tensors, group, src=2))
    else:
        for share in (0.0, 0.01, 0.3):
            if me() == 2:
                change(tensors, share, 3)
            report = tt.sync_weights(tensors, group, src=2, bucket=SMALL)
            assert same(tensors, group, 2) and bool(report.why_full) == (share == 0.0)
    raises(ValueError, "keep is one of", lambda: tt.WeightSync(keep="disk"))
    raises(ValueError, "a bucket has", lambda: tt.WeightSync(bucket=8))
    tt.close()


def two_models_by_turns(_: Path) -> None:
    one, other, twin = every_kind(me()), dict(model().state_dict()), every_kind(me() + 9)
    for step in range(3):
        for name, tensors in (("", one), ("", other), ("twin", twin)):
            if me() == 0:
                change(tensors, 0.01, step)
            report = tt.sync_weights(tensors, name=name, bucket=SMALL)
            assert bool(report.why_full) == (step == 0) and not report.rebased, report
            assert same(tensors)
    raises_alike = {} if me() == 0 else one
    raises(tt.WeightsError, "tensors differ", lambda: tt.sync_weights(raises_alike, bucket=SMALL))
    assert tt.sync_weights({}, bucket=SMALL).ratio < 1
    tt.close()


CHECKS = [
    every_type_and_share,
    bits_that_are_equal_as_values,
    tensors_of_which_some_are_expanded,
    nothing_and_device_are_kept,
    a_module_and_its_buffers,
    views_that_lie_between_each_other,
    a_group_and_another_source,
    two_models_by_turns,
]
