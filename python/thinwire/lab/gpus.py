"""Which GPUs this machine has, and which host of a lab gets which, without initialising CUDA.

A GPU is what CUDA_VISIBLE_DEVICES calls it: a number, or a UUID where the caller's variable has
one. Standard library only.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

VARIABLE = "CUDA_VISIBLE_DEVICES"
ORDER = "CUDA_DEVICE_ORDER"

# Names to deal out, or a hand of names for each host.
Gpus = Sequence[str | int] | Sequence[Sequence[str | int]]

_NODE = re.compile(r"nvidia\d+")
_NAME = re.compile(r"\d+|(GPU|MIG)-[0-9A-Za-z/-]+")


def visible(environment: Mapping[str, str], devices: Path = Path("/dev")) -> tuple[str, ...]:
    """The GPUs that a program in `environment` would see, in CUDA's order.

    Those of its CUDA_VISIBLE_DEVICES, up to the first entry that names none, as CUDA reads it;
    where that is not set, one for each of the driver's nodes in `devices`. A container that has
    been given nodes 3 and 5 has GPUs 0 and 1.
    """
    found = sum(1 for node in _names(devices) if _NODE.fullmatch(node))
    named = environment.get(VARIABLE)
    if named is None or found == 0:
        return tuple(str(number) for number in range(found))
    kept: list[str] = []
    for name in (word.strip() for word in named.split(",")):
        if not _NAME.fullmatch(name):
            break
        kept.append(name)
    return tuple(kept)


def parse(text: str, environment: Mapping[str, str]) -> Gpus | None:
    """The GPUs that `--gpus` names: "all" that are visible, "none", a list to deal out such as
    "0,2", or one list a host, as "0,1:2,3".

    None, which leaves CUDA_VISIBLE_DEVICES alone in the lab, is for "all" where there are none.
    ValueError for other words.
    """
    if text == "all":
        return visible(environment) or None
    if text == "none":
        return ()
    hands = [_checked(word.strip() for word in hand.split(",")) for hand in text.split(":")]
    return hands if len(hands) > 1 else hands[0]


def deal(gpus: Gpus, hosts: int) -> list[tuple[str, ...]]:
    """The GPUs of each host. One list is dealt out one after another, and again from the first
    where there are fewer GPUs than hosts, so that hosts then share them; several are one a host,
    which may have the same GPUs.

    ValueError for a name that is none or that a host would have twice, and where lists and hosts
    differ in number.
    """
    hands = [hand for hand in gpus if not isinstance(hand, str | int)]
    if hands:
        if len(hands) < len(gpus) or len(hands) != hosts:
            raise ValueError(f"there are {hosts} hosts, and lists of GPUs for {len(hands)}")
        return [_checked(hand) for hand in hands]
    return _dealt(_checked(gpu for gpu in gpus if isinstance(gpu, str | int)), hosts)


def _checked(names: Iterable[str | int]) -> tuple[str, ...]:
    """The names as text."""
    gpus = tuple(str(name) for name in names)
    for gpu in gpus:
        if not _NAME.fullmatch(gpu):
            raise ValueError(
                f"{gpu!r} is no GPU: give 'all', 'none', numbers such as 0,1, or for each host its "
                "own, as 0,1:2,3"
            )
    if len(set(gpus)) < len(gpus):
        raise ValueError("a GPU is named twice; hosts that share it have lists of their own, 0:0")
    return gpus


def _dealt(gpus: tuple[str, ...], hosts: int) -> list[tuple[str, ...]]:
    if not gpus:
        return [()] * hosts
    if len(gpus) < hosts:
        return [(gpus[host % len(gpus)],) for host in range(hosts)]
    return [tuple(gpus[host::hosts]) for host in range(hosts)]


def variables(gpus: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """What a host's environment says of its GPUs; the empty value hides them all. The order that
    CUDA numbers them in is the caller's on every host."""
    order = {ORDER: environment[ORDER]} if ORDER in environment else {}
    return {VARIABLE: ",".join(gpus), **order}


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
