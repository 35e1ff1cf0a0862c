"""Options of `thinwire simulate`, made into a machine and a codec's cost."""

import json
from collections import defaultdict
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

from thinwire.bench.prices import Call, by_table_or_measuring
from thinwire.codec import Codec, CodecCost
from thinwire.library import ThinwireError, parse_link_rate, parse_size
from thinwire.simulation.calibrate import Fit, calibrate
from thinwire.simulation.machine import Machine
from thinwire.simulation.points import NEAR, Repeats, read_points, repeats

MOST_RANKS = 65536


class Over(StrEnum):
    """What --over takes."""

    MPI = "mpi"
    NCCL = "nccl"


@dataclass(frozen=True)
class MachineOptions:
    """As they were given."""

    link: str | None
    machine: Path | None
    latency: float | None
    incast: float
    overlap: float
    eager: str | None
    cores: int
    inside: str | None


def numbers(text: str, per_node: int) -> list[int]:
    """Numbers of nodes, at least 1 each and no more ranks than can be simulated."""
    found = []
    for word in text.split(","):
        if not word.strip().isdecimal() or int(word) < 1:
            raise typer.BadParameter(f"--nodes: {word!r} is no number of nodes")
        if int(word) * per_node > MOST_RANKS:
            raise typer.BadParameter(
                f"--nodes: {int(word) * per_node} ranks, of {MOST_RANKS} at most"
            )
        found.append(int(word))
    return found


def _rate(option: str, text: str) -> float:
    try:
        return parse_link_rate(text)
    except ThinwireError as error:
        raise typer.BadParameter(f"{option}: {error.args[0]}") from error


def machine_of(options: MachineOptions, over: Over) -> Machine:
    """By a file, or by defaults and what was given."""
    link = _rate("--link", options.link) if options.link else None
    given: dict[str, Any] = {"incast": options.incast, "overlap": options.overlap}
    if options.latency is not None:
        given["latency"] = options.latency * 1e-6
    if options.cores:
        given["cores"] = options.cores
    if options.eager:
        given["eager"] = parse_size(options.eager)
    if options.inside:
        given["inside"] = _rate("--inside", options.inside)
    try:
        if options.machine is not None:
            return replace(Machine.read(options.machine, link), **given)
        if link is None:
            raise typer.BadParameter("--link: a rate is needed, as in 100gbit, or --machine")
        return Machine.with_gpus(link, **given) if over == Over.NCCL else Machine(link, **given)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def cost_of(
    spec: str,
    dtype: str,
    over: Over,
    machine: Machine,
    ratio: float | None,
    encode: str | None,
    decode: str | None,
) -> tuple[CodecCost, str]:
    """By options, by the calibrated machine, by this machine's table, or measured now; and which
    it was."""
    if ratio is not None and not 1 / 1024 < ratio < 1e6:
        raise typer.BadParameter(f"--ratio: {ratio} is no ratio")
    if encode and ratio is not None:
        rates = _rate("--encode", encode), _rate("--decode", decode or encode)
        return CodecCost(*rates, ratio), f"ratio {ratio:g}, as stated"
    codec = Codec(spec)
    fitted = machine.cost_of(codec.spec, ratio or 0)
    if fitted is not None and ratio is not None:
        return fitted, f"ratio {ratio:g} as stated, rates as calibrated"
    if over == Over.NCCL:
        raise typer.BadParameter("--encode and --ratio: what the codec costs on a GPU is needed")
    call = Call("allreduce", 1 << 20, dtype, 2, 2)
    priced = by_table_or_measuring(call)(codec)
    if priced.cost is None:
        raise typer.BadParameter(f"--codec: {priced.failed}")
    cost = priced.cost if ratio is None else replace(priced.cost, ratio=ratio)
    return cost, f"ratio {cost.ratio:.3g}; {priced.source}"


def calibrated(
    paths: list[Path],
    again: list[Path],
    *,
    save: Path | None,
    cores: int,
    one_machine: bool,
    fastest: bool,
    as_json: bool,
) -> None:
    """Fits a machine to each half of the rows, says how near they come, and writes the first."""
    try:
        points = read_points(paths, fastest=fastest)
        own = repeats(points, read_points(again, fastest=fastest)) if again else None
        fits = [
            calibrate(points, cores=cores, one_machine=one_machine, swapped=swapped)
            for swapped in (False, True)
        ]
    except (ValueError, ThinwireError) as error:
        raise typer.BadParameter(str(error)) from error
    if save is not None:
        fits[0].machine.save(save)
    if as_json:
        print(json.dumps(_as_json(fits, own), indent=2))
        return
    for fit in fits:
        print(
            f"fitted to {len(fit.fitted)} points, of which {fit.near_fitted:.0%} are within "
            f"{NEAR:.0%}; of {len(fit.held_back)} others {fit.near:.0%}"
        )
    for name, shares in by_kind(fits).items():
        print(f"  {name}: {sum(shares)} of {len(shares)}")
    if own is not None:
        print(
            f"the machine repeats {own.near:.0%} of {own.pairs} rows so near; who knew each row's "
            f"true time would come so near to {own.bound:.0%}"
        )


def by_kind(fits: list[Fit]) -> dict[str, list[bool]]:
    """Which of the points that were held back came near, by operation, link and codec."""
    found: dict[str, list[bool]] = defaultdict(list)
    for point, error in (
        each for fit in fits for each in zip(fit.held_back, fit.errors, strict=True)
    ):
        link = f"{point.link * 8 / 1e9:g} Gbit/s"
        for name in (point.call.operation, link, point.codec):
            found[name].append(abs(error) <= NEAR)
    return dict(sorted(found.items()))


def _as_json(fits: list[Fit], own: Repeats | None) -> dict[str, Any]:
    """`near` is of both halves."""
    held_back = sum(len(fit.held_back) for fit in fits)
    return {
        "machine": asdict(fits[0].machine),
        "fitted": len(fits[0].fitted),
        "held_back": held_back,
        "near": sum(fit.near * len(fit.held_back) for fit in fits) / held_back,
        "near_of_each": [fit.near for fit in fits],
        "near_fitted": fits[0].near_fitted,
        "near_by_kind": {name: [sum(each), len(each)] for name, each in by_kind(fits).items()},
        "repeats": asdict(own) if own else None,
    }
