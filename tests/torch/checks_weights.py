"""Three ranks: what sync_weights gives them is the source's, to the bit, whatever it sends."""

from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
import torch.distributed as dist
from training import model, raises
from weights_data import INTEGERS, bits, change, every_kind

import thinwire.torch as tt
from thinwire.torch.weights import run

SMALL = "16KiB"


def me() -> int:
    return dist.get_rank()


def told(value: Any, group: Any = None) -> list[Any]:
    values: list[Any] = [None] * dist.get_world_size(group)
    dist.all_gather_object(values, value, group=group)
    return values


def same(tensors: dict[str, Any], group: Any = None, src: int = 0) -> bool:
    """As the source's tensors, which nothing but this carries."""
    mine = {name: bits(tensor).numpy().tobytes() for name, tensor in tensors.items()}
    ranks = dist.get_process_group_ranks(group or dist.group.WORLD)
    source = told(mine, group)[ranks.index(src)]
    return source.keys() == mine.keys() and all(source[name] == mine[name] for name in mine)


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
        assert told((report.sent_bytes, report.buckets, report.changed)) == 3 * [
            (report.sent_bytes, report.buckets, report.changed)
        ]
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


def who_is_new_or_was_changed(_: Path) -> None:
    sync = tt.WeightSync(bucket=SMALL)
    tensors = every_kind(me())
    sync.sync(tensors)
    if me() == 1:
        sync.reset()
    report = sync.sync(tensors)
    assert report.why_full == "rank 1's first" and same(tensors), report
    if me() == 0:
        sync.reset()
    assert sync.sync(tensors).why_full == "the source's first"
    sync.sync(tensors)
    if me() == 2:  # as if it had been left out once
        next(iter(sync._states.values())).version -= 1
    assert sync.sync(tensors).why_full == "rank 2 has version 1, the source 2"
    if me() == 2:  # one bit, by hand
        tensors["of.int16"][77] ^= 1
    if me() == 0:
        change(tensors, 0.01, 5)
    report = sync.sync(tensors)
    assert report.rebased == 1 and not report.why_full and same(tensors), report
    assert report.buckets["whole"] == 1, report
    if me() == 2:  # two highest bits, which sums of 64-bit words would not tell
        tensors["of.int64"][[5, 9]] ^= -(2**63)
    report = sync.sync(tensors)
    assert report.rebased == 1 and same(tensors), report
    assert sync.sync(tensors).buckets.keys() == {"same"}


def other_tensors_are_named(_: Path) -> None:
    sync = tt.WeightSync(bucket=SMALL)
    tensors = every_kind(me())
    sync.sync(tensors)
    before = bits(tensors["strided"])
    other = dict(tensors)
    cases = [
        ("of.bool is bool (3001,) on rank 0, bool (3000,) on rank 1", tensors["of.bool"][1:]),
        ("of.bool is bool (3001,) on rank 0, uint8 (3001,) on rank 1", tensors["of.uint8"]),
        ("of.bool is bool (3001,) on rank 0, missing on rank 1", None),
        ("rank 1: of.bool is a str, no tensor", "none"),
        ("of.bool and offset share a part of their memory", tensors["offset"][1:]),
    ]
    for words, tensor in cases:
        if me() == 1:
            other["of.bool"] = tensor
            if tensor is None:
                del other["of.bool"]
        raises(tt.WeightsError, words, lambda: sync.sync(other))
        assert torch.equal(before, bits(tensors["strided"]))
    untied = dict(tensors)
    if me() == 2:
        untied["tied"] = tensors["tied"].clone()
    raises(tt.WeightsError, "the memory of of.bfloat16", lambda: sync.sync(untied))
    assert sync.sync(tensors).why_full and same(tensors)


def damage_changes_nothing(_: Path) -> None:
    """A byte of a payload, or of a header, is changed on its way to rank 2."""
    tensors = every_kind(me())
    payload_of, header_of = run.apply, run.Control.header

    def wrong_payload(bucket: Any, header: Any, payload: Any) -> None:
        if me() == 2 and header.number == 0:
            payload[payload.numel() // 2] ^= 4
        payload_of(bucket, header, payload)

    def wrong_header(control: Any, data: Any) -> bytes:
        found = bytearray(header_of(control, data))
        found[50] ^= me() == 2
        return bytes(found)

    for share, owner, name, wrong, words in (
        (0.01, run, "apply", wrong_payload, "bucket 0: a payload whose checksum is wrong"),
        (0.5, run, "apply", wrong_payload, "bucket 0: a payload whose checksum is wrong"),
        (0.01, run.Control, "header", wrong_header, "bucket 0: a header whose checksum is wrong"),
    ):
        sync = tt.WeightSync(bucket=SMALL)
        sync.sync(tensors)
        before = {name: bits(tensor) for name, tensor in tensors.items()}
        if me() == 0:
            change(tensors, share, 3)
        with patch.object(owner, name, wrong):
            raises(tt.WeightsError, f"rank 2: {words}", partial(sync.sync, tensors))
        if me() == 2:
            assert all(torch.equal(before[name], bits(each)) for name, each in tensors.items())
        report = sync.sync(tensors)
        assert report.why_full and same(tensors), report


def a_source_that_fails(_: Path) -> None:
    sync = tt.WeightSync(codec="no such codec", bucket=SMALL)
    tensors = every_kind(me())
    sync.sync(tensors)
    if me() == 0:
        change(tensors, 0.5, 3)
    raises(tt.WeightsError, "rank 0: bucket 0: ", lambda: sync.sync(tensors))
    assert sync.sync(tensors).why_full and same(tensors)


def a_group_and_another_source(_: Path) -> None:
    group = dist.new_group([1, 2])
    tensors = every_kind(me())
    if me() == 0:
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
    nothing_and_device_are_kept,
    a_module_and_its_buffers,
    who_is_new_or_was_changed,
    other_tensors_are_named,
    damage_changes_nothing,
    a_source_that_fails,
    a_group_and_another_source,
    two_models_by_turns,
]
