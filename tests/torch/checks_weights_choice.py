"""Three ranks: syncs that are a broadcast of all bytes, and what says that they are."""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from training import raises
from weights_data import change, every_kind, me, random_bits, same, told

import thinwire.torch as tt
from thinwire.torch.weights import begin, run
from thinwire.torch.weights import choice as choice_module
from thinwire.torch.weights.broadcast import Message
from thinwire.torch.weights.choice import Choice
from thinwire.torch.weights.report import SyncReport

WHY = "to compare it with 1.0000 s"


def planned(*ways: str) -> Any:
    """The source takes these ways, one after another, whatever a sync takes."""
    left = list(ways)
    return patch.object(Choice, "why_broadcast", lambda _: left.pop(0))


def large(seed: int) -> dict[str, Any]:
    """Tensors above and below the size of messages of their own, which lie otherwise by rank."""
    tensors = every_kind(seed)
    whole = random_bits(1500 * 1000, torch.float32, seed + 60).view(1500, 1000)
    tensors["large"] = whole if me() == 1 else whole.view(1000, 1500).t()
    tensors["larger"] = random_bits(3 << 20, torch.bfloat16, seed + 61)
    return tensors


def all_bits_come(_: Path) -> None:
    for keep in ("host", "nothing"):
        sync = tt.WeightSync(bucket="1MiB", keep=keep)
        tensors = large(me())
        with patch.object(begin, "LEAST_BYTES", 1), planned("", "", WHY, WHY, "", ""):
            for version in range(1, 7):
                if me() == 0:
                    change(tensors, 0.01, version)
                report = sync.sync(tensors)
                assert same(tensors), version
                assert report.version == version, report
                is_broadcast = version in (3, 4)
                assert report.way == ("broadcast" if is_broadcast else "changes")
                assert is_broadcast == (set(report.buckets) == {"broadcast"}), report
                assert (report.why_broadcast == WHY) == (is_broadcast and me() == 0), report
                wanted = {1: "the source's first", 5: "the version before was broadcast"}
                assert report.why_full == wanted.get(version, ""), report


def who_fails_leaves_nobody_waiting(_: Path) -> None:
    sync = tt.WeightSync(bucket="1MiB")
    tensors = large(me())

    def refuse(_: Message) -> None:
        raise MemoryError("refused")

    for rank, name in ((0, "stage"), (2, "apply")):
        with patch.object(begin, "LEAST_BYTES", 1), planned("", WHY, ""):
            sync.sync(tensors)
            with patch.object(Message, name, refuse if me() == rank else getattr(Message, name)):
                raises(tt.WeightsError, f"rank {rank}: refused", lambda: sync.sync(tensors))
            report = sync.sync(tensors)
        assert report.why_full == "the source's first" and same(tensors), report


def who_is_new_gets_a_broadcast_too(_: Path) -> None:
    sync = tt.WeightSync(bucket="1MiB")
    tensors = large(me())
    with patch.object(begin, "LEAST_BYTES", 1), planned("", WHY, ""):
        sync.sync(tensors)
        if me() == 1:
            sync.reset()
        assert sync.sync(tensors).way == "broadcast" and same(tensors)
        if me() == 0:
            change(tensors, 0.01, 3)
        assert sync.sync(tensors).why_full == "the version before was broadcast" and same(tensors)


def the_faster_way_is_taken(_: Path) -> None:
    """By a clock of our own: changes take longer first, then less."""
    now = [0.0]
    takes = {"full": 3.0, "changes": 2.0, "broadcast": 1.0}

    class Ticks:
        @staticmethod
        def perf_counter() -> float:
            return now[0]

    ways = []
    sync = tt.WeightSync(bucket="1MiB")
    tensors = large(me())
    agree = tt.WeightSync.sync
    with patch.object(begin, "LEAST_BYTES", 1), patch.object(choice_module, "time", Ticks):
        from thinwire.torch.weights.run import Run

        finish = Run._finish

        def slow(run: Run) -> None:
            now[0] += takes["full" if run._report.why_full else run._report.way]
            finish(run)

        with patch.object(Run, "_finish", slow):
            for number in range(60):
                if number == 30:
                    takes["changes"] = 0.7
                report = agree(sync, tensors)
                ways.append("full" if report.why_full else report.way)
    assert same(tensors)
    assert ways[:3] == ["full", "changes", "changes"], ways
    first_try = ways.index("full", 1)
    assert ways[3:first_try] == ["broadcast"] * (first_try - 3) and 17 <= first_try <= 21, ways
    assert ways[first_try + 1 : first_try + 3] == ["changes", "broadcast"], ways
    second_try = ways.index("full", first_try + 1)
    assert ways[first_try + 2 : second_try] == ["broadcast"] * (second_try - first_try - 2), ways
    assert second_try - first_try > 30 and set(ways[second_try + 1 :]) == {"changes"}, ways


def ways_of(choice: Choice, syncs: int, takes: Any) -> list[str]:
    """The ways that it chooses, by what each sync takes: `takes(number, way)`."""
    ways = []
    for number in range(syncs):
        is_full = not ways or ways[-1] == "broadcast"
        report = SyncReport(why_full="first" if is_full else "")
        if choice.why_broadcast():
            report = SyncReport(way="broadcast")
        ways.append(report.way if report.way == "broadcast" or not is_full else "full")
        now = iter([0.0, 0.0, takes(number, ways[-1])])
        clock = patch.object(choice_module.time, "perf_counter", lambda now=now: next(now))
        with clock, choice.timed(report, [1] * 8) as timed:
            timed.passed(0)
    return ways


def one_slow_sync_ends_no_trials(_: Path) -> None:
    def slow_first(number: int, way: str) -> float:
        return 2.0 if number == 0 else 0.044 if way == "broadcast" else 0.078

    ways = ways_of(Choice(), 400, slow_first)
    assert ways.count("broadcast") > 200, ways.count("broadcast")

    def slow_trial(number: int, way: str) -> float:
        if way != "broadcast":
            return 0.078
        slow_trial.times += 1
        return 2.0 if slow_trial.times == 1 else 0.044

    slow_trial.times = 0
    ways = ways_of(Choice(), 1000, slow_trial)
    assert ways.count("broadcast") > 500, ways.count("broadcast")

    def never_pays(number: int, way: str) -> float:
        return 1.0 if way == "broadcast" else 0.1

    assert ways_of(Choice(), 1000, never_pays).count("broadcast") < 8


def full_syncs_alone_are_compared_too(_: Path) -> None:
    """Two models in turn of which one is kept."""
    sync = tt.WeightSync(bucket="1MiB")
    models = [large(me()), {"other": random_bits(3 << 20, torch.bfloat16, me())}]
    with patch.object(begin, "LEAST_BYTES", 1), patch.object(run, "_MOST_MODELS", 1):
        ways = [[sync.sync(model).way for model in models] for _ in range(9)]
    assert all(same(model) for model in models)
    assert told(ways) == [ways] * 3 and "broadcast" in {way for turn in ways for way in turn}, ways


def small_models_and_whoever_says_so_send_changes(_: Path) -> None:
    tensors = {"small": random_bits(1 << 20, torch.bfloat16, me())}
    with planned(*[WHY] * 9):
        assert tt.WeightSync().sync(tensors).way == "changes"
        with patch.object(begin, "LEAST_BYTES", 1):
            assert tt.WeightSync(way="changes").sync(tensors).way == "changes"
            assert tt.WeightSync().sync(tensors).way == "broadcast"
    raises(ValueError, "way is one of auto, changes", lambda: tt.WeightSync(way="fast"))


CHECKS = [
    all_bits_come,
    who_fails_leaves_nobody_waiting,
    who_is_new_gets_a_broadcast_too,
    the_faster_way_is_taken,
    one_slow_sync_ends_no_trials,
    full_syncs_alone_are_compared_too,
    small_models_and_whoever_says_so_send_changes,
]
