"""Two ranks: what set_policy takes and refuses, which policy holds, what writers get."""

import importlib
import logging
import os
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import torch
import torch.distributed as dist
from checks_ddp import LEAST, Bucket
from torch.distributed.device_mesh import init_device_mesh
from training import raises

import thinwire
import thinwire.torch as tt
from thinwire.torch import setting
from thinwire.torch.groups import name_of
from thinwire.torch.setting import setting_of

TOML = '[[rule]]\ncommunicator = "dp*"\noperation = "allreduce"\ncodec = "szp:abs=1e-3"\n'


def a_group() -> object:
    """One that no check has named or given a policy."""
    return dist.new_group([0, 1], group_desc="dp")


def rules_of(group: object = None) -> list[str]:
    return [rule.text for rule in setting_of(group or dist.group.WORLD).policy.rules]


def every_form(folder: Path) -> None:
    path = folder / f"policy-{dist.get_rank()}.toml"  # places may differ, rules may not
    path.write_text(TOML)
    for form in (str(path), path, thinwire.Policy(path), thinwire.Policy(text=TOML)):
        tt.set_policy(None, form)
        assert rules_of() == ["allreduce on communicators named dp*: szp:abs=0.001"], form
    tt.set_policy(None, "blockq")
    assert rules_of()[1] == "all operations: lossless"
    tt.set_policy(None, {"dp": {"gradients": "blockq", "parameters": "expack", "*": "off"}})
    assert [text.rpartition(": ")[2] for text in rules_of()] == [
        "blockq:bits=8,block=32",
        "expack:mode=auto",
        "off",
    ]


def lossy_takes_no_more_than_it_was_named_for(_: Path) -> None:
    """By what a mapping leaves lossy for which kind of group."""
    lossy = {
        "dp_shard": {"allreduce", "reduce", "reduce-scatter", "alltoall", "send"},
        "tp": {"allreduce", "reduce", "reduce-scatter", "allgather", "alltoall", "send"},
        "data": {"allreduce", "reduce", "reduce-scatter", "alltoall", "send"},
    }
    operations = {*lossy["tp"], "bcast", "gather", "scatter"}
    for name, taken in lossy.items():
        mesh = init_device_mesh("cpu", (2,), mesh_dim_names=(name,))
        policy = tt.set_policy(mesh, {name: "blockq"}).policy
        codecs = {
            each: policy.match(each, "f32", 1 << 20, communicator=name, ranks=2).codec
            for each in operations
        }
        assert {each for each, codec in codecs.items() if codec != "lossless"} == taken, name
    for preset, high in (("mzhybrid", "lossless"), ("zhybrid", "zfp:rate=16"), ("off", "off")):
        policy = tt.set_policy(None, preset).policy
        rates = [
            policy.match("allreduce", "f32", 1 << 20, communicator=name, ranks=2).codec
            for name in ("dp_replicate", "tp", "pp")
        ]
        assert rates == ["off" if preset == "off" else "zfp:rate=8", high, high], preset


def wrong_ones(folder: Path) -> None:
    mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("dp",))
    bad = folder / "bad.toml"
    bad.write_text('[[rule]]\ncodec = "nothing"\n')
    wrong = [
        (mesh, {"tp": "lossless"}, ValueError, "no dimension 'tp': it is none of dp, *"),
        (None, {"dq": "lossless"}, ValueError, "no dimension 'dq'"),
        (None, {"dp": "zfp:rat=8"}, ValueError, "'dp': invalid argument: zfp"),
        (None, {"dp": {"grads": "off"}}, ValueError, "no operation 'grads'"),
        (None, {"dp": 8}, TypeError, "'dp': a codec spec"),
        (None, {}, ValueError, "empty"),
        (None, 8, TypeError, "not 8"),
        (None, "mzhybird", ValueError, "'mzhybird' is no preset (off, lossless, mzhybrid,"),
        (None, str(folder / "none.toml"), thinwire.ThinwireError, "none.toml"),
        (None, bad, thinwire.ThinwireError, "bad.toml:2"),
    ]
    for target, policy, kind, words in wrong:
        raises(kind, words, lambda t=target, p=policy: tt.set_policy(t, p))
    nameless = init_device_mesh("cpu", (2,))
    raises(ValueError, "no dimension names", lambda: tt.set_policy(nameless, "lossless"))
    net = torch.nn.Linear(4, 4)
    raises(TypeError, "Linear is neither", lambda: tt.attach(net))


def ranks_that_differ(_: Path) -> None:
    tt.set_policy(None, "lossless")
    before = rules_of()
    rank = dist.get_rank()
    raises(
        tt.PolicyMismatch,
        "differ in rule 1: allreduce on communicators named tp: blockq:bits=8,block=32 on rank 0, "
        "allreduce on communicators named tp: blockq:bits=4,block=32 on rank 1",
        lambda: tt.set_policy(None, {"tp": {"allreduce": f"blockq:bits={8 - 4 * rank}"}}),
    )
    raises(
        tt.PolicyMismatch,
        "differ in min_bytes: 65536 on rank 0, 65537 on rank 1",
        lambda: tt.set_policy(None, "lossless", min_bytes=65536 + rank),
    )
    error, words = (ValueError, "zfp") if rank else (tt.PolicyMismatch, "rank 1 has no policy")
    policy = {"dp": "zfp:rat=8" if rank else "zfp:rate=8"}
    raises(error, words, lambda: tt.set_policy(None, policy))
    assert rules_of() == before


def which_one_holds(_: Path) -> None:
    """A scope above the group's, that above the policy of all groups."""
    other = dist.new_group([0, 1], group_desc="tp")
    same = dist.new_group([0, 1])
    tt.set_policy(None, "lossless")
    tt.set_policy(other, "blockq")
    assert name_of(other) == "tp" and name_of(same, "x") == "x" and name_of(dist.group.WORLD)
    assert len(rules_of(other)) == 2 and rules_of(same) == ["all operations: lossless"]
    with tt.set_policy(None, "off"):
        assert rules_of(other) == rules_of(same) == ["all operations: off"]
        with tt.set_policy(same, "expack"):
            assert "expack" in rules_of(same)[0] and rules_of(other) == ["all operations: off"]
        assert rules_of(same) == ["all operations: off"]
    assert len(rules_of(other)) == 2 and rules_of(same) == ["all operations: lossless"]


def two_groups_of_the_same_ranks(_: Path) -> None:
    mesh = init_device_mesh("cpu", (1, 2), mesh_dim_names=("tp", "dp"))
    groups = {"dp": mesh.get_group("dp"), "second": dist.new_group([0, 1], group_desc="second")}
    tt.set_policy(None, "off", min_bytes=LEAST)
    tt.set_policy(mesh, {"dp": "lossless"}, min_bytes=LEAST)
    tt.set_policy(groups["second"], "blockq", min_bytes=LEAST)
    tt.stats(reset=True)
    for group in groups.values():
        hook = tt.ddp_hook(group)
        flats = [torch.randn(20_000) for _ in range(3)]
        for done in [hook(None, Bucket(flat)) for flat in flats]:
            done.wait()
    rows = {name: tt.stats()[name]["allreduce"].codecs for name in groups}
    assert rows == {
        "dp": {"lossless:reductions=coded": 3},
        "second": {"blockq:bits=8,block=32": 3},
    }


def a_policy_of_the_environment(folder: Path) -> None:
    kept = dict(setting._settings)
    setting._settings.clear()
    group = dist.new_group([0, 1], group_desc="dp")
    hook = tt.ddp_hook(group)
    flat = torch.randn(50_000)
    raises(RuntimeError, "no policy holds for group dp", lambda: hook(None, Bucket(flat)))
    path = folder / "environment.toml"
    path.write_text(TOML)
    os.environ["THINWIRE_POLICY"] = str(path)
    tt.stats(reset=True)
    hook(None, Bucket(flat)).wait()
    del os.environ["THINWIRE_POLICY"]
    setting._settings.update(kept)
    assert tt.stats()["dp"]["allreduce"].codecs == {"szp:abs=0.001": 1}


class Writer:
    def __init__(self) -> None:
        self.written: dict[str, float] = {}

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.written[name] = value


class Logger:
    def __init__(self) -> None:
        self.logged: list[tuple[int, dict[str, float]]] = []

    def log_metrics(self, metrics: dict[str, float], step: int) -> None:
        self.logged.append((step, metrics))


class Trainer:
    def __init__(self, logger: Logger) -> None:
        self.global_step, self.loggers = 0, [logger]


def writers(_: Path) -> None:
    group = a_group()
    tt.set_policy(group, "blockq", min_bytes=LEAST)
    tt.stats(reset=True)
    hook = tt.ddp_hook(group)
    hook(None, Bucket(torch.randn(50_000))).wait()
    hook(None, Bucket(torch.randn(10))).wait()
    writer = Writer()
    tt.write_scalars(writer, 1)
    assert writer.written["thinwire/dp/allreduce/ratio"] > 3.7
    assert writer.written["thinwire/dp/allreduce/calls"] == 2
    assert writer.written["thinwire/dp/allreduce/raw_calls"] == 1
    raises(TypeError, "neither add_scalar nor log_metrics", lambda: tt.write_scalars(3, 1))
    logger = Logger()
    trainer, callback = Trainer(logger), tt.StatsCallback(every=2)
    callback.setup(trainer, None, "fit")
    for trainer.global_step in range(1, 5):
        callback.on_train_batch_start(trainer, None, None, 0)
        callback.on_train_batch_end(trainer, None, None, None, 0)
    assert [step for step, _ in logger.logged] == [2, 4]
    assert logger.logged[0][1]["thinwire/dp/allreduce/compressed"] == 1
    assert tt.stats(reset=True) and not tt.stats()


def calls_of_nccl(calls: int, compressed: int, nbytes: int, reason: str) -> dict[str, object]:
    """As the preload library has them in its report."""
    raw = {reason: calls - compressed} if calls > compressed else {}
    coded = {"compressed_bytes": nbytes * compressed, "compressed_wire_bytes": nbytes // 4}
    figures = {"calls": calls, "compressed_calls": compressed, "bytes": nbytes * calls, **coded}
    return {**figures, "spilled_blocks": compressed, "raw_by_reason": raw}


def what_the_preload_library_counted(_: Path) -> None:
    """By name of the communicator, beside what the hooks did; since the last reset."""
    one = {"AllReduce": calls_of_nccl(3, 1, 400, "below the threshold")}
    two = {**one, "ReduceScatter": calls_of_nccl(1, 0, 80, "not agreed yet")}
    of_names = [("dp", one), ("dp", two), ("", {"Broadcast": calls_of_nccl(1, 0, 8, "none")})]
    report = {"communicators": [{"name": name, "operations": of} for name, of in of_names]}
    module = importlib.import_module("thinwire.torch.stats")
    group = a_group()
    tt.set_policy(group, "blockq", min_bytes=LEAST)
    tt.stats(reset=True)
    tt.ddp_hook(group)(None, Bucket(torch.randn(50_000))).wait()
    with patch.object(module, "nccl_report", lambda: report):
        rows = tt.stats()
        assert set(rows) == {"dp", "unnamed"} and set(rows["unnamed"]) == {"bcast"}
        assert rows["dp"]["reduce-scatter"].raw == {"not agreed yet": 1}
        row = rows["dp"]["allreduce"]
        assert (row.calls, row.compressed, row.bytes) == (7, 3, 2400 + 200_000)
        assert row.raw == {"below the threshold": 4}
        assert row.raw_packets == {"did not fit its slot": 2}
        assert row.codecs == {"blockq:bits=8,block=32": 1}
        assert tt.stats(reset=True) == rows and tt.stats() == {}
        one["AllReduce"] = calls_of_nccl(5, 3, 400, "below the threshold")
        row = tt.stats()["dp"]["allreduce"]
        assert (row.calls, row.compressed, row.sent_bytes, row.raw) == (2, 2, 800, {})
        scalars = tt.scalars("x")
        assert scalars["x/dp/allreduce/compressed"] == 2 and len(scalars) == 8
    tt.stats(reset=True)


class OnGpu:
    """As much of a model as attach() looks at first."""

    def parameters(self) -> list[object]:
        return [SimpleNamespace(device=SimpleNamespace(type="cuda"))]


def the_preload_library_goes_first(_: Path) -> None:
    assert not tt.preload_is_loaded()
    module = importlib.import_module("thinwire.torch.attach")
    with patch.object(module, "preload_is_loaded", return_value=True):
        assert tt.attach(OnGpu()).modules == 0
        raises(TypeError, "Linear is neither", lambda: tt.attach(torch.nn.Linear(4, 4)))


def a_policy_for_the_preload_library(folder: Path) -> None:
    raises(RuntimeError, "not in this process", lambda: tt.preload_policy("lossless"))
    own = folder / f"own-{dist.get_rank()}.toml"
    own.write_text(TOML)
    module = importlib.import_module("thinwire.torch.nccl")
    with patch.object(module, "preload_is_loaded", return_value=True):
        for policy, rules in (({"tp": "off"}, 1), (own, 1), ("zhybrid", 4)):
            path = tt.preload_policy(policy)
            assert os.environ["THINWIRE_POLICY"] == str(path)
            raises(RuntimeError, "names a policy already", lambda: tt.preload_policy("off"))
            del os.environ["THINWIRE_POLICY"]
            assert len(thinwire.Policy(path).rules) == rules
        raises(TypeError, "the file of", lambda: tt.preload_policy(thinwire.Policy(own)))
        raises(ValueError, "no dimension 'xx'", lambda: tt.preload_policy({"xx": "off"}, ("dp",)))


def profiler_ranges(_: Path) -> None:
    group = a_group()
    tt.set_policy(group, "blockq", min_bytes=LEAST)
    hook = tt.ddp_hook(group)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        hook(None, Bucket(torch.randn(50_000))).wait()
    names = {event.key for event in profile.key_averages()}
    assert "thinwire::allreduce/blockq:bits=8,block=32" in names


def a_slow_link_decides(_: Path) -> None:
    """With a link's rate the ranks measure, and go raw where that is faster."""
    flat, group = torch.randn(400_000), a_group()
    found = []
    for link in ("1mbit", "100000gbit"):
        tt.set_policy(group, "blockq", min_bytes=LEAST, link=link)
        tt.stats(reset=True)
        tt.ddp_hook(group)(None, Bucket(flat.clone())).wait()
        found.append(tt.stats()["dp"]["allreduce"])
    assert found[0].compressed == 1
    assert found[1].raw == {"would not gain": 1}, found[1]


def a_policy_that_nobody_goes_by(_: Path) -> None:
    """Is said at the program's end, and only then."""
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    logging.getLogger("thinwire.torch").addHandler(handler)
    tt.set_policy(None, "lossless", min_bytes=LEAST)
    for asked, lines in ((False, 1), (True, 1)):
        setting._asked = asked
        setting.say_if_nobody_asked()
        assert len(said) == lines and "nothing has gone by it" in said[0]
    setting._asked = False
    tt.ddp_hook(a_group())(None, Bucket(torch.randn(10_000))).wait()
    setting.say_if_nobody_asked()
    assert len(said) == 1, said
    logging.getLogger("thinwire.torch").removeHandler(handler)


CHECKS = [
    a_policy_that_nobody_goes_by,
    every_form,
    lossy_takes_no_more_than_it_was_named_for,
    wrong_ones,
    ranks_that_differ,
    which_one_holds,
    two_groups_of_the_same_ranks,
    a_policy_of_the_environment,
    writers,
    what_the_preload_library_counted,
    the_preload_library_goes_first,
    a_policy_for_the_preload_library,
    profiler_ranges,
    a_slow_link_decides,
]
