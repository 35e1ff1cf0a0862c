"""A receiver's side: a record applied to a bucket of live tensors, after all of it was checked."""

from typing import Any

import torch

from thinwire.torch.weights.buckets import Bucket
from thinwire.torch.weights.checksum import checksum, growth
from thinwire.torch.weights.errors import Damaged
from thinwire.torch.weights.record import Header, decode

_ALL = (1 << 64) - 1


def apply(bucket: Bucket, header: Header, payload: Any) -> None:
    """Makes of the bucket's tensors, whose checksum is the header's `base` if the record is no
    whole bucket, what the record says; Damaged, before anything is written, if that would not be
    the header's `result`."""
    change = decode(header, payload, bucket.elements, bucket.width)
    if change.positions is not None:
        # The sum is linear: what changes in it follows from what changes.
        old = bucket.take(change.positions)
        _check((header.base + growth(change.positions, change.values, old)) & _ALL, header)
        bucket.put(change.positions, change.values)
        return
    if change.values is None:
        return
    values = change.values
    if change.is_difference:
        staged = bucket.gather(torch.empty_like(values))
        staged ^= values
        values = staged
        _check(checksum(values), header)
    elif header.sum != header.result:
        raise Damaged("a whole bucket with two checksums")
    bucket.scatter(values)


def _check(found: int, header: Header) -> None:
    if found != header.result:
        raise Damaged("a record whose result has another checksum")
