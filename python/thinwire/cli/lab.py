"""`thinwire lab`: a small cluster on this machine, for programs that need hosts and slow links."""

import os
import subprocess
import sys
import time
from contextlib import suppress
from typing import Annotated

import typer

from thinwire.cli import values
from thinwire.cli.before_command import BeforeCommand
from thinwire.lab import Lab, LabError, LabUnavailable, persistent
from thinwire.lab.gpus import parse
from thinwire.lab.signals import forward_signals
from thinwire.launch import is_torchrun

app = typer.Typer(
    rich_markup_mode="markdown",
    help="A small cluster on this machine: hosts joined by shaped links.",
    no_args_is_help=True,
)

# EX_UNAVAILABLE of sysexits.h: scripts can tell it from the command's own failure.
UNAVAILABLE = 69
# Time in which the other processes of a job may end by themselves after one has failed.
GRACE_SECONDS = 5

Hosts = Annotated[int, typer.Option(min=1, help="Number of hosts.")]
Link = Annotated[
    str,
    typer.Option(
        help="Each host's rate: 100mbit, 12.5gbit, or none.",
        metavar="RATE",
        callback=values.lab_link,
    ),
]
RanksPerHost = Annotated[int, typer.Option(min=1, help="MPI slots on each host.")]
Gpus = Annotated[
    str,
    typer.Option(
        help="GPUs to assign to the hosts in turn: all, none, or a list such as 0,1; or a list for "
        "each host, as 0,1:0,1, which may share them."
    ),
]
Name = Annotated[str, typer.Option(help="The lab's name.")]


@app.command(cls=BeforeCommand, context_settings={"allow_interspersed_args": False})
def run(
    command: Annotated[list[str], typer.Argument(help="The command, after '--'.")],
    hosts: Hosts = 2,
    link: Link = "100mbit",
    ranks_per_host: RanksPerHost = 1,
    gpus: Gpus = "all",
    name: Annotated[
        str, typer.Option(help="Run in a lab that `lab up` has started, by its name.")
    ] = "",
    host: Annotated[
        int | None,
        typer.Option(
            help="Run on this host, counted from 0, as in a fresh login; MPI is not set up there."
        ),
    ] = None,
    every_host: Annotated[
        bool,
        typer.Option(
            "--every-host",
            help="Run the command on every host at once, with RANK, WORLD_SIZE, MASTER_ADDR and "
            "so on set; torchrun is run so without being told.",
        ),
    ] = False,
    measure: Annotated[
        bool, typer.Option(help="Also report the rate that one TCP connection reaches.")
    ] = False,
) -> None:
    """Run a command in a lab, which ends with it; the exit code is that of the command.

    The command runs on host 0. `mpirun` or `mpiexec` there spreads its ranks over all hosts.
    `torchrun` runs on every host, with what tells each its place.
    """
    torchrun = _starts_torchrun(command)
    if every_host and host is not None:
        raise _failure(ValueError("--host and --every-host exclude each other"))
    try:
        named = parse(gpus, os.environ)
        lab = Lab.attach(name) if name else Lab(hosts, link, ranks_per_host, gpus=named)
        with lab:
            _say_link(lab)
            _say_gpus(lab)
            if every_host or (torchrun and host is None):
                code = _run_everywhere(lab, command, torchrun)
            else:
                code = _run_command(lab, command, host)
            if measure:
                _say(f"raw rate {lab.raw_rate() / 1e6:.1f} Mbit/s of payload, one TCP connection")
            _say_drops(lab.drops())
    except (LabError, ValueError) as error:
        raise _failure(error) from None
    raise typer.Exit(code)


@app.command()
def up(
    name: Name = "lab",
    hosts: Hosts = 2,
    link: Link = "100mbit",
    ranks_per_host: RanksPerHost = 1,
    gpus: Gpus = "all",
) -> None:
    """Start a lab that stays until `lab down`."""
    try:
        record = persistent.up(Lab(hosts, link, ranks_per_host, name, parse(gpus, os.environ)))
    except (LabError, ValueError) as error:
        raise _failure(error) from None
    _say(f"{record.name!r} is up: {record.hosts} hosts, link {record.link}")


@app.command("set-link")
def set_link(
    rate: Annotated[
        str,
        typer.Argument(help="The new rate, as 100mbit.", metavar="RATE", callback=values.lab_link),
    ],
    name: Name = "lab",
) -> None:
    """Change the rate of a lab that is up, while programs run in it."""
    try:
        with Lab.attach(name) as lab:
            lab.set_link(rate)
    except (LabError, ValueError) as error:
        raise _failure(error) from None
    _say(f"{name!r}: every link has {rate} now")


@app.command()
def status() -> None:
    """List the labs that are up: name, hosts, link, ranks per host, process that holds the lab."""
    try:
        alive, dead = persistent.status()
    except LabError as error:
        raise _failure(error) from None
    for name in dead:
        _say(f"{name!r} had ended without `down`; forgotten")
    for record in alive:
        print(
            f"{record.name}\thosts={record.hosts}\tlink={record.link}"
            f"\tranks_per_host={record.ranks_per_host}\tprocess={record.process}"
        )


@app.command()
def down(name: Name = "lab") -> None:
    """Remove a lab, and end everything that runs in it."""
    try:
        was_alive = persistent.down(name)
    except LabError as error:
        raise _failure(error) from None
    _say(f"{name!r} is down" if was_alive else f"{name!r} had ended already; forgotten")


def _run_command(lab: Lab, command: list[str], host: int | None) -> int:
    """The command's exit code, or 128 and the signal's number, as shells have it."""
    process: subprocess.Popen[bytes] = lab.popen(command, host=host)
    forward_signals(process.pid)
    code = process.wait()
    return code if code >= 0 else 128 - code


def _run_everywhere(lab: Lab, command: list[str], torchrun: bool) -> int:
    """The exit code of the first process that fails; the others then end, too."""
    processes = lab.popen_everywhere(command, torchrun=torchrun)
    forward_signals(*(process.pid for process in processes))
    failed, deadline = 0, float("inf")
    while any(process.poll() is None for process in processes):
        codes = [process.poll() for process in processes]
        if not failed and any(codes):
            failed = next(code for code in codes if code)
            deadline = time.monotonic() + GRACE_SECONDS
        if time.monotonic() > deadline:
            deadline = float("inf")
            for process in processes:
                with suppress(ProcessLookupError):
                    process.terminate()
        time.sleep(0.02)
    code = failed or next((each.returncode for each in processes if each.returncode), 0)
    return code if code >= 0 else 128 - code


def _starts_torchrun(command: list[str]) -> bool:
    """Whether the command is torchrun, or hands it on after a `--`, as `thinwire run` does."""
    parts = [command, *(command[at + 1 :] for at, word in enumerate(command) if word == "--")]
    return any(part and is_torchrun(part) for part in parts)


def _say_link(lab: Lab) -> None:
    burst = lab.link.burst_bytes
    but = f" (the first {burst} bytes after a pause are not slowed down)" if burst else ""
    _say(f"{lab.hosts} hosts, link {lab.link.text}{but}")
    if not lab.keeps_order():
        _say("packets of a connection may overtake each other here, and TCP slows down for it")


def _say_gpus(lab: Lab) -> None:
    """Says in one line which hosts have which GPUs; nothing if there are none."""
    dealt = zip(lab.host_names(), lab.gpus(), strict=True)
    words = [f"{','.join(gpus)} on {name}" for name, gpus in dealt if gpus]
    if words:
        _say(f"GPUs {'; '.join(words)}")


def _say_drops(drops: int) -> None:
    if drops:
        _say(f"WARNING: {drops} packets dropped; figures of this run are void")
    else:
        _say("0 packets dropped")


def _say(text: str) -> None:
    """Messages go to stderr: stdout is the command's."""
    print(f"lab: {text}", file=sys.stderr, flush=True)


def _failure(error: Exception) -> typer.Exit:
    _say(str(error))
    return typer.Exit(UNAVAILABLE if isinstance(error, LabUnavailable) else 2)
