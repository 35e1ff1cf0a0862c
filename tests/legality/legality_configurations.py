"""With which codec a seed runs, and what is left out of programs until the library bears it."""

from dataclasses import dataclass

ALL_CALLS = "on,gatherv,scatterv,alltoallv,alltoallw"


@dataclass(frozen=True)
class Configuration:
    codec: str
    lossy: bool = False
    tolerance: float | None = None  # of one coding; None: the codec promises no absolute one
    link: str | None = None

    def settings(self) -> dict[str, str]:
        """Small messages count, between the ranks of one host too."""
        link = {} if self.link is None else {"THINWIRE_LINK": self.link}
        return link | {
            "THINWIRE_CODEC": self.codec,
            "THINWIRE_SAME_NODE": "1",
            "THINWIRE_THRESHOLD": "256",
            "THINWIRE_COLLECTIVES": ALL_CALLS,
        }

    def options(self) -> list[str]:
        words = ["--lossy", "1"] if self.lossy else []
        return words + ([] if self.tolerance is None else ["--tolerance", str(self.tolerance)])


# A seed takes the one of its remainder. A link that is slow enough lets `auto` choose any codec.
CONFIGURATIONS = [
    Configuration("mpc"),
    Configuration("zfp:rate=16", lossy=True),
    Configuration("expack"),
    Configuration("szp:abs=1e-3", lossy=True, tolerance=1e-3),
    Configuration("auto", link="1mbit"),
    Configuration("lorenzo"),
    Configuration("szp:rel=1e-4", lossy=True),
    Configuration("ndzip"),
    Configuration("blockq", lossy=True),
    Configuration("mpc:stride=2"),
]

# Features that programs are made without, and why.
KNOWN: dict[str, str] = {}


def configuration_of(seed: int) -> Configuration:
    return CONFIGURATIONS[seed % len(CONFIGURATIONS)]


def wants_threads(seed: int) -> bool:
    """Half of the seeds of each codec ask for MPI_THREAD_MULTIPLE."""
    return seed // len(CONFIGURATIONS) % 2 == 1
