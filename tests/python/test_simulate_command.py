"""`thinwire simulate` and what it is fitted to; machines, calls and options that are refused."""

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import thinwire
from thinwire.cli import command_line
from thinwire.codec import Codec, CodecCost
from thinwire.errors import ThinwireError
from thinwire.simulation import Machine
from thinwire.simulation.calibrate import calibrate
from thinwire.simulation.points import Point, predict, read_points
from thinwire.simulation.run import Call, run

BARE = Machine(1e9, latency=0, message=0, inside=0, inside_latency=0, copy=0, coding=0)
MPC, FREE = Codec("mpc"), CodecCost(1e18, 1e18, 2)


def made_points(machine: Machine) -> Iterator[Point]:
    for link in (1.25e7, 1.25e8, 1.25e9):
        for nbytes in (1 << 16, 1 << 20, 1 << 23):
            for ranks in (2, 4):
                for codec, ratio in (("off", 1.0), (MPC.spec, 1.5)):
                    for operation, way in (("bcast", "chain"), ("allgather", "ring")):
                        call = Call(operation, nbytes, "f32", ranks, 1)
                        point = Point(call, link, codec, way, "once", 1, ratio)
                        yield replace(point, seconds=predict(point, machine))


def test_calibration_finds_a_machine_that_predicts_the_other_half(tmp_path: Path) -> None:
    """The points are another machine's of the same model: nothing is measured here."""
    other = Machine(
        1,
        link_share=0.8,
        latency=3e-4,
        message=3e-5,
        stack=1e9,
        copy=2e9,
        call=3e-4,
        cores=2,
        one_machine=True,
        costs={MPC.spec: (5e8, 8e8)},
    )
    points = list(made_points(other))
    fit = calibrate(points, cores=2, one_machine=True)
    assert len(fit.fitted) == len(fit.held_back) == len(points) / 2
    assert fit.near >= 0.9
    fit.machine.save(tmp_path / "machine.json")
    assert Machine.read(tmp_path / "machine.json") == fit.machine


@pytest.mark.parametrize(
    "given",
    [
        {"link": 0.0},
        {"link": -1.0},
        {"link": float("nan")},
        {"link": float("inf")},
        {"latency": -1e-6},
        {"latency": float("nan")},
        {"inside": -5.0},
        {"overlap": 1.5},
        {"overlap": float("nan")},
        {"incast": -0.1},
        {"link_share": 0.0},
        {"burst": -1.0},
        {"pause": float("nan")},
        {"eager": -1.0},
        {"buffer": float("inf")},
    ],
)
def test_machines_that_are_none(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(given)).removesuffix("_share")):
        Machine(**({"link": 1e9} | given))


@pytest.mark.parametrize(
    "given",
    [
        {"nodes": 0},
        {"nodes": -1},
        {"nodes": 1 << 40},
        {"nodes": 1 << 17},
        {"per_node": 0},
        {"dtype": "bool"},
        {"over": "udp"},
        {"nbytes": 0},
        {"nbytes": -1},
        {"operation": "scan"},
        {"codec": "off"},
        {"cost": CodecCost(1e9, 1e9, 0)},
        {"cost": CodecCost(float("nan"), 1e9, 2)},
        {"cost": CodecCost(1e9, -1e9, 2)},
        {"algorithm": "bruck"},
    ],
)
def test_calls_that_are_none(given: dict[str, Any]) -> None:
    asked = {
        "operation": "bcast",
        "nbytes": 1 << 20,
        "machine": BARE,
        "codec": "mpc",
        "cost": FREE,
        "nodes": 2,
    } | given
    with pytest.raises((ValueError, thinwire.ThinwireError)):
        thinwire.simulate(asked.pop("operation"), asked.pop("nbytes"), **asked)


def call(*arguments: str) -> Any:
    return CliRunner().invoke(command_line(), ["simulate", *arguments])


STATED = ("--codec", "mpc", "--ratio", "2", "--encode", "2GB/s", "--link", "1gbit")


def test_the_command_prints_rows_and_from_how_many_ranks_it_loses() -> None:
    done = call("--op", "bcast", "--size", "1MiB", "--nodes", "2,4", *STATED)
    assert done.exit_code == 0, done.output
    assert "chain once" in done.stdout and "compressing gains at 4096 ranks" in done.stdout
    done = call("--op", "bcast", "--size", "1MiB", "--nodes", "2,4", *STATED, "--json")
    found = json.loads(done.stdout)
    assert [row["ranks"] for row in found["rows"]] == [2, 4]
    assert found["loses_from_ranks"] is None and found["rows"][0]["gain"] > 1.5


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--nodes", "0"), "'0' is no number of nodes"),
        (("--nodes", "-2"), "'-2' is no number of nodes"),
        (("--nodes", "nan"), "'nan' is no number of nodes"),
        (("--nodes", "70000"), "70000 ranks"),
        (("--per-node", "0"), "per-node"),
        (("--ratio", "nan"), "nan is no ratio"),
        (("--ratio", "-1"), "-1.0 is no ratio"),
        (("--encode", "-2GB/s"), "encode"),
        (("--link", "-1gbit"), "link"),
        (("--latency", "-1"), "latency"),
        (("--latency", "nan"), "latency"),
        (("--incast", "-1"), "incast"),
        (("--overlap", "2"), "overlap"),
        (("--inside", "nothing"), "inside"),
        (("--eager", "nothing"), "eager"),
        (("--size", "0"), "nbytes"),
        (("--machine", "README.md"), "no machine"),
        (("--calibrate", "README.md"), "no rows"),
        (("--calibrate", "README.md", "--again", "README.md"), "no rows"),
    ],
)
def test_hostile_options_are_errors(
    arguments: tuple[str, str], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    done = call(*STATED, *arguments)
    assert done.exit_code == 2 and says in done.output.replace("\n", " "), done.output


def test_long_messages_that_are_asked_for_take_longer() -> None:
    asked = ("--op", "bcast", "--size", "1MiB", "--nodes", "4", "--json", "--no-search", *STATED)
    early, late = (
        json.loads(call(*asked, *more).stdout)["rows"][0]["raw"]["seconds"]
        for more in ((), ("--eager", "4KiB"))
    )
    assert early < late < 2 * early


def test_the_command_fits_both_halves_and_says_what_repeats(tmp_path: Path) -> None:
    """The same rows again repeat all of themselves."""
    row = {"data": "wave", "ranks": 2, "nodes": 2, "verified": True, "note": "", "codec": "off"}
    way = {"link": "1gbit", "op": "bcast", "algorithm": "chain", "coding": "once", "ratio": 1}
    rows = [row | way | {"size": 1 << n, "seconds": (1 << n) / 1e8} for n in range(16, 22)]
    file, machine = tmp_path / "rows.json", tmp_path / "machine.json"
    file.write_text(json.dumps(rows))
    words = ("--calibrate", str(file), "--again", str(file), "--save", str(machine), "--json")
    done = call(*words)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["repeats"] == {"pairs": 6, "near": 1, "bound": 1}
    assert found["held_back"] == 6 and len(found["near_of_each"]) == 2
    assert Machine.read(machine).link_share < 1


def test_points_are_rows_with_figures(tmp_path: Path) -> None:
    row = {
        "link": "1gbit",
        "op": "bcast",
        "codec": "mpc",
        "algorithm": "chain",
        "coding": "once",
        "data": "wave",
        "ranks": 4,
        "nodes": 4,
        "size": 1 << 20,
        "seconds": 0.01,
        "min_seconds": 0.009,
        "ratio": 1.5,
        "verified": True,
        "note": "",
    }
    file = tmp_path / "rows.json"
    file.write_text(json.dumps([row, row, row | {"verified": False}]))
    assert [point.seconds for point in read_points([file])] == [0.01, 0.01]
    assert read_points([file], fastest=True)[0].seconds == 0.009
    file.write_text(json.dumps([row]))
    with pytest.raises(ValueError, match="too few"):
        read_points([file])
    for name, value in (
        ("seconds", 5e-324),
        ("seconds", -1),
        ("seconds", math.inf),
        ("link", "1e-320B/s"),
        ("burst_bytes", -1),
        ("burst_bytes", math.nan),
        ("encode_seconds", 10**400),
        ("ranks", math.inf),
        ("nodes", -4),
        ("ratio", 10**400),
        ("algorithm", []),
        ("coding", "twice"),
        ("op", {}),
    ):
        file.write_text(json.dumps([row, row, row | {name: value}]))
        with pytest.raises(ValueError, match="no rows of"):
            read_points([file])


@pytest.mark.parametrize(
    "changed",
    [{"cores": 1.5}, {"cores": "x"}, {"threads": -1}, {"one_machine": [1]}, {"latency": 10**400}],
    ids=str,
)
def test_a_machine_of_other_values_is_none(changed: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "machine.json"
    Machine(1e9).save(file)
    file.write_text(json.dumps(json.loads(file.read_text()) | changed))
    with pytest.raises(ValueError, match="no machine of"):
        Machine.read(file)


def test_a_time_that_no_number_says_is_an_error() -> None:
    with pytest.raises(ThinwireError, match="so slow"):
        run(
            Call("allreduce", 1 << 30, "f32", 4, 1),
            Machine(1e-307),
            None,
            None,
            algorithm="ring",
            coding="once",
        )
