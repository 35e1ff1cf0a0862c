"""Three ranks: whose versions, tensors or records do not fit, and what sync_weights makes of it."""

from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from training import raises
from weights_data import SMALL, bits, change, every_kind, me, same

import thinwire.torch as tt
from thinwire.torch.weights import run
from thinwire.torch.weights.buckets import Bucket
from thinwire.torch.weights.sender import Sender


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
        ("of.bool and of.bool share a part", torch.arange(9.0).as_strided((4, 3), (2, 1))),
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


def none(*_: Any) -> None:
    raise MemoryError("no memory")


def a_receiver_that_fails(_: Path) -> None:
    """Without memory for what it has to do before it hears of a bucket."""
    sync = tt.WeightSync(bucket=SMALL)
    tensors = every_kind(me())
    sync.sync(tensors)

    for owner, name in ((Bucket, "checksum"), (run.Run, "_make_room")):
        with patch.object(owner, name, none if me() == 1 else getattr(owner, name)):
            raises(tt.WeightsError, "rank 1: bucket 0: no memory", partial(sync.sync, tensors))
        assert sync.sync(tensors).why_full and same(tensors)


def words_that_differ(_: Path) -> None:
    """At the first call and later; what only the source goes by may change."""
    tensors = every_kind(me())
    for bucket, keep in (("16KiB", "host"), ("32KiB", "nothing"), ("16KiB", "device")):
        mine = bucket if me() == 1 else "16KiB"
        call = partial(tt.sync_weights, tensors, bucket=mine, keep=keep if me() == 0 else "host")
        if bucket == "16KiB":
            call()
            assert same(tensors)
        else:
            raises(tt.WeightsError, "the ranks differ in format, bucket or src", call)
    tt.close()


def a_source_that_fails(_: Path) -> None:
    sync = tt.WeightSync(codec="no such codec", bucket=SMALL)
    tensors = every_kind(me())
    sync.sync(tensors)
    if me() == 0:
        change(tensors, 0.5, 3)
    raises(tt.WeightsError, "rank 0: bucket 0: ", lambda: sync.sync(tensors))
    assert sync.sync(tensors).why_full and same(tensors)


def a_source_that_fails_after_an_agreement(_: Path) -> None:
    """Without memory for all bytes of a bucket that a receiver has changed."""
    sync = tt.WeightSync(bucket=SMALL)
    tensors = every_kind(me())
    sync.sync(tensors)

    if me() == 1:
        change(tensors, 0.01, 5)
    with patch.object(Sender, "whole", none if me() == 0 else Sender.whole):
        raises(tt.WeightsError, "rank 0: bucket 0: no memory", partial(sync.sync, tensors))
    assert sync.sync(tensors).why_full and same(tensors)


CHECKS = [
    who_is_new_or_was_changed,
    other_tensors_are_named,
    damage_changes_nothing,
    a_receiver_that_fails,
    words_that_differ,
    a_source_that_fails,
    a_source_that_fails_after_an_agreement,
]
