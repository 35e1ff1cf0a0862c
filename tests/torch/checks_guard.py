"""Two ranks: the guard, which times steps with compressed calls and with torch's own."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import torch.distributed as dist
from checks_ddp import LEAST
from checks_fsdp import sharded
from torch.nn.parallel import DistributedDataParallel
from training import bits_of, model, raises, same_on_all_ranks, train

import thinwire.torch as tt
from thinwire.torch.guard import EACH_WAY, SLOWER, TIMED, UNKNOWN_STEP, Guard

CPU = torch.device("cpu")


class Job:
    """A rank alone on a clock of its own: steps of `calls` calls, which take as long as is said."""

    def __init__(self, calls: int, raw: float, coded: float, known: bool = True) -> None:
        self.now, self.made, self._known = 0.0, 0, known
        self._calls, self._raw, self._coded = calls, raw, coded
        self.asked = 0
        self.guard = Guard("dp", self._agree, lambda: self.made, self)

    def _agree(self, numbers: list[float]) -> list[float]:
        self.asked += 1
        return numbers

    def mark(self, device: Any) -> Any:
        return self.now

    def seconds(self, first: Any, last: Any) -> float:
        return last - first

    def step(self, more: float = 0.0, optimizers: int = 1) -> list[str]:
        said = []
        for _ in range(self._calls):
            said.append(self.guard.why_raw(CPU))
            self.now += (self._raw if said[-1] else self._coded) / self._calls
        self.now += more
        self.made += optimizers * self._known
        return said


def the_faster_is_kept_to(_: Path) -> None:
    for calls in (1, 3, 5, 48):
        for raw, coded in ((1.0, 1.1), (1.0, 0.9)):
            job = Job(calls, raw, coded)
            # Computation takes ten times as long, and now and then much longer.
            said = [why for step in range(400) for why in job.step(10 + 50 * (step % 7 == 3))]
            last = SLOWER if coded > raw else ""
            assert set(said[-calls:]) == {last}, (calls, raw, coded)
            assert said.count(TIMED) == EACH_WAY * calls
            assert set(said) <= {"", TIMED, SLOWER}


def layers_of_different_cost_do_not_decide(_: Path) -> None:
    """Rounds of one call each, every other of which takes ten times as long, however coded."""
    for raw, coded in ((1.0, 1.1), (1.0, 0.9)):
        job = Job(1, raw, coded, known=True)
        for call in range(600):
            said = job.step(10.0 * (call % 2))
        assert said == [SLOWER if coded > raw else ""]


def optimizers_in_one_another_make_one_step(_: Path) -> None:
    """As ZeroRedundancyOptimizer's: rounds are whole steps still."""
    job = Job(3, 1.0, 1.1)
    said = [why for _ in range(40) for why in job.step(10, optimizers=2)]
    assert said.count(TIMED) == 3 * EACH_WAY and said[-1] == SLOWER


def without_an_optimizer_it_decides_as_well(_: Path) -> None:
    job = Job(1, 1.0, 2.0, known=False)
    said = [why for _ in range(1000) for why in job.step()]
    assert said.count(TIMED) == EACH_WAY * UNKNOWN_STEP and said[-1] == SLOWER
    assert job.asked == 4


def ranks_decide_alike(_: Path) -> None:
    """By the slowest of each, though the ranks' own times differ."""
    rank = dist.get_rank()
    channel = SimpleNamespace()
    channel.largest = lambda numbers: _largest(numbers)
    job = Job(2, 1.0, 0.5 if rank == 0 else 3.0)
    job.guard = Guard("dp", channel.largest, lambda: job.made, job)
    for _step in range(60):
        said = job.step()
    assert said == [SLOWER] * 2


def _largest(numbers: list[float]) -> list[float]:
    tensor = torch.tensor(numbers, dtype=torch.float64)
    dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
    return list(tensor.tolist())


def training_goes_on_as_it_would(_: Path) -> None:
    """To the bit, whichever way its steps go; the counters have what was timed."""
    native = model()
    wrapped = DistributedDataParallel(native, bucket_cap_mb=0.1)
    train(wrapped, 24)
    wanted = bits_of(native)
    tt.set_policy(None, "lossless", min_bytes=LEAST)
    guarded = model()
    net = DistributedDataParallel(guarded, bucket_cap_mb=0.1)
    tt.attach(net)
    tt.stats(reset=True)
    train(net, 24)
    assert bits_of(guarded) == wanted and same_on_all_ranks(wanted)
    row = tt.stats()["dp"]["allreduce"]
    calls = row.raw[TIMED] / EACH_WAY
    assert calls == round(calls) >= 1, row
    assert row.compressed >= 16 + EACH_WAY * calls, row
    assert row.compressed + row.raw.total() == row.calls
    assert row.raw[SLOWER] in (0, row.raw.total() - row.raw[TIMED] - row.raw["below min_bytes"])


def sharded_training_goes_on_as_it_would(_: Path) -> None:
    net = sharded()
    wanted = train(net, 20), bits_of(net)
    net = sharded({"dp": "lossless"})
    assert (train(net, 20), bits_of(net)) == wanted
    rows = tt.stats()["dp_shard"].values()
    timed = sum(row.raw[TIMED] for row in rows) / EACH_WAY
    assert timed == round(timed) >= 7, rows
    assert sum(row.compressed for row in rows) >= 16 + EACH_WAY * timed, rows


def ranks_that_differ_in_force_are_told(_: Path) -> None:
    def call() -> None:
        tt.set_policy(None, "lossless", force=dist.get_rank() == 0)

    raises(tt.PolicyMismatch, "the ranks differ in force: ", call)


CHECKS = [
    the_faster_is_kept_to,
    layers_of_different_cost_do_not_decide,
    optimizers_in_one_another_make_one_step,
    without_an_optimizer_it_decides_as_well,
    ranks_decide_alike,
    training_goes_on_as_it_would,
    sharded_training_goes_on_as_it_would,
    ranks_that_differ_in_force_are_told,
]
