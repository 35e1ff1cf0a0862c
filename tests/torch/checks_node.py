"""Two ranks of one node, told apart from those of several."""

from pathlib import Path

import torch
from checks_ddp import LEAST, Bucket

import thinwire
import thinwire.torch as tt


def one_node_is_raw(_: Path) -> None:
    hook = tt.ddp_hook()
    tt.set_policy(None, "lossless", min_bytes=LEAST)
    hook(None, Bucket(torch.ones(5000))).wait()
    row = tt.stats(reset=True)["dp"]["allreduce"]
    assert row.raw == {"peer on the same node": 1}, row


def rules_ask_where_ranks_lie(_: Path) -> None:
    text = (
        '[[rule]]\nspan = "between-nodes"\ncodec = "blockq"\n'
        '[[rule]]\nspan = "within-node"\ncodec = "off"\n'
    )
    hook = tt.ddp_hook()
    tt.set_policy(None, thinwire.Policy(text=text), min_bytes=LEAST, same_node=True)
    hook(None, Bucket(torch.ones(5000))).wait()
    assert tt.stats(reset=True)["dp"]["allreduce"].raw == {"codec off": 1}


CHECKS = [one_node_is_raw, rules_ask_where_ranks_lie]
