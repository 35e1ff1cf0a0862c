"""The machine that is simulated: links, memory, processors."""

import json
import sys
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

from thinwire.codec import CodecCost

# Fields that the C interface calls otherwise.
IN_C = {
    "latency": "latency_seconds",
    "message": "message_seconds",
    "stack": "stack_bytes_per_second",
    "inside": "inside_bytes_per_second",
    "inside_latency": "inside_latency_seconds",
    "copy": "copy_bytes_per_second",
    "call": "call_seconds",
    "coding": "coding_seconds",
    "incast": "incast",
    "overlap": "overlap",
    "burst": "burst_bytes",
    "pause": "pause_seconds",
    "eager": "eager_bytes",
    "buffer": "buffer_bytes",
}


@dataclass(frozen=True)
class Machine:
    """Rates are in bytes per second, where 0 says that a thing costs no time; times are in seconds,
    besides those of the bytes.

    `link` is a node's rate each way, and `link_share` of it carries values. `latency` is of a
    message between nodes, `inside_latency` of one inside a node; `message` the processor's time for
    a message at each end, `stack` what one processor brings through the network's software.
    `inside` is a node's memory, which its ranks share; over NCCL a GPU's own links. `copy` is of
    copies and raw sums, `coding` of each encode or decode, `call` of each call. `incast` is the
    share of a receiver's rate that each doubling of waiting messages costs, `overlap` the share of
    its messages' time in which a rank can code. Each end of a link lets `burst` bytes through at
    once after a pause, and `pause` is how long it lay idle when the call begins. Beyond `eager`
    bytes a message between nodes is asked for, as MPIs do (0: none is); `buffer` bytes of each
    connection lie ready for the link. A node has `cores` (0: as many as there is
    work for), or all have those of `one_machine`; a rank codes with `threads`.

    `costs` are bytes per second of encoding and decoding by codec, where these were fitted.
    """

    link: float
    link_share: float = 1.0
    latency: float = 10e-6
    message: float = 5e-6
    stack: float = 0.0
    inside: float = 5e9
    inside_latency: float = 1e-6
    copy: float = 5e9
    call: float = 0.0
    coding: float = 10e-6
    incast: float = 0.0
    overlap: float = 1.0
    burst: float = 0.0
    pause: float = 0.0
    eager: float = 0.0
    buffer: float = 0.0
    cores: int = 0
    threads: int = 1
    one_machine: bool = False
    costs: dict[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("link", "link_share", *IN_C):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 <= value <= sys.float_info.max:
                raise ValueError(f"{name}: {value} is no rate, time or share")
        for name in ("cores", "threads", "one_machine"):
            value = getattr(self, name)
            if not isinstance(value, int) or not 0 <= value < 1 << 32:
                raise ValueError(f"{name}: {value} is no number of them")
        if self.link * self.link_share <= 0:
            raise ValueError(f"link: {self.link * self.link_share} bytes per second carry nothing")
        if self.overlap > 1:
            raise ValueError(f"overlap: {self.overlap} is more than the whole")

    @classmethod
    def with_gpus(cls, link: float, **given: Any) -> Self:
        """Defaults of a node of GPUs: 10 us a launch, 200 GB/s between GPUs, sums at 1 TB/s."""
        defaults = {
            "latency": 5e-6,
            "message": 1e-6,
            "inside": 200e9,
            "copy": 1e12,
            "call": 10e-6,
        }
        return cls(link, **(defaults | given))

    @classmethod
    def read(cls, path: Path, link: float | None = None) -> Self:
        """A machine that save() wrote, with another link. ValueError for what is none."""
        try:
            known = json.loads(path.read_text())
            costs = {str(spec): (float(e), float(d)) for spec, (e, d) in known["costs"].items()}
            machine = cls(**(known | {"costs": costs}))
        except (
            LookupError,
            TypeError,
            ValueError,
            ArithmeticError,
            AttributeError,
            RecursionError,
        ) as error:
            raise ValueError(f"{path}: no machine of `thinwire simulate`: {error}") from error
        return machine if link is None else replace(machine, link=link)

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=2) + "\n")

    def cost_of(self, spec: str, ratio: float) -> CodecCost | None:
        """What the codec was fitted to cost."""
        found = self.costs.get(spec)
        return None if found is None else CodecCost(*found, ratio)

    def fill(self, struct: Any, cost: CodecCost | None) -> None:
        """Fills a tw_simulation_machine."""
        struct.link_bytes_per_second = self.link * self.link_share
        for own, name in IN_C.items():
            setattr(struct, name, getattr(self, own))
        struct.one_machine = int(self.one_machine)
        if cost is not None:
            for each in fields(cost):
                setattr(struct.cost, each.name, getattr(cost, each.name))
