"""With which codec a seed runs, and what is left out of programs until the library bears it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from thinwire import codecs

# The policy that says what the programs' bytes and 16-bit integers are taken for: they hold
# anything, and come back so.
WORDS = Path(__file__).with_name("words.toml")

ALL_CALLS = "on,gatherv,scatterv,alltoallv,alltoallw"


@dataclass(frozen=True)
class Configuration:
    codec: str
    lossy: bool = False
    tolerance: float | None = None  # of one coding; None: the codec promises no absolute one
    link: str | None = None
    words: bool = False  # the policy of WORDS

    def settings(self) -> dict[str, str]:
        """Small messages count, between the ranks of one host too, whatever compressing costs."""
        link = {} if self.link is None else {"THINWIRE_LINK": self.link}
        policy = {"THINWIRE_POLICY": str(WORDS)} if self.words else {}
        return (
            link
            | policy
            | {
                "THINWIRE_CODEC": self.codec,
                "THINWIRE_FORCE": "1",
                "THINWIRE_SAME_NODE": "1",
                "THINWIRE_THRESHOLD": "256",
                "THINWIRE_COLLECTIVES": ALL_CALLS,
            }
        )

    def options(self) -> list[str]:
        words = ["--lossy", "1"] if self.lossy else []
        return words + ([] if self.tolerance is None else ["--tolerance", str(self.tolerance)])


# A seed takes the one of its remainder. A link that is slow enough lets `auto` choose any codec,
# and collectives' messages travel in parts. Codecs that no row names run as their example.
CONFIGURATIONS = [
    Configuration("mpc", link="1gbit"),
    Configuration("zfp:rate=16", lossy=True, link="1gbit"),
    Configuration("expack", words=True),
    Configuration("szp:abs=1e-3", lossy=True, tolerance=1e-3),
    Configuration("auto", link="1mbit"),
    Configuration("lorenzo", words=True),
    Configuration("szp:rel=1e-4", lossy=True),
    Configuration("ndzip"),
    Configuration("blockq", lossy=True),
    Configuration("mpc:stride=2"),
    Configuration("lossless:reductions=ordered", link="1mbit"),
]
_NAMED = {each.codec.partition(":")[0] for each in CONFIGURATIONS} | {"raw"}
CONFIGURATIONS += [
    Configuration(row.example, lossy=not row.lossless)
    for row in codecs()
    if row.name not in _NAMED and not row.gpu_only
]

_ELSEWHERE = (
    "a blocking receive becomes a non-blocking one and a wait, whose error is raised on another "
    "communicator"
)

# Features that programs are made without until the library bears them, and why; by MPI as below.
KNOWN: dict[str, dict[str, str]] = {
    "mpich": {
        "truncated_with_threads": _ELSEWHERE,
        "own_truncated_with_threads": _ELSEWHERE,
    },
    "mpich-5": {"own_truncated_with_threads": _ELSEWHERE},
    "impi": {
        "truncated_with_threads": _ELSEWHERE,
        "own_truncated_with_threads": _ELSEWHERE,
    },
}

_PACKED = (
    "in pieces it receives no packed members of several sizes (Bsend, Sendrecv_replace, trees)"
)
_DIVIDES = "MPI_Get_elements divides by zero where members of several bases have one size"
_WRITES = "its broadcast writes to the root's buffer"
_RING = "its ring is cut by the extent of each rank's own type"
_SHARED = "hangs now and then over shared memory, on 4 ranks of 2 processors"
_FREED = "persistent collectives use types that the program has freed"

# Faults of the MPIs themselves, each shown by a small program without the library. A row holds for
# the MPIs whose names begin so; the longest one counts.
LEFT_OUT: dict[str, dict[str, str]] = {
    "openmpi": {
        "persistent_collective": "came with MPI 4",
        "persistent_bsend_again": "sends the first round's values again",
        "bcast_of_unequal_items": "cuts by the size of each rank's own type",
        "allgatherv_of_unequal_items": "chooses its algorithm by the size of each rank's own type",
        "started_alltoallv_in_place": "computes something else",
        "started_alltoallw_in_place": "computes something else",
    },
    "openmpi-5": {
        "persistent_bsend_again": "sends the first round's values again",
        "persistent_collective_types_freed": _FREED + " and crash",
        "bcast_of_unequal_items": "cuts by the size of each rank's own type",
        "allgatherv_of_unequal_items": "chooses its algorithm by the size of each rank's own type",
        "started_alltoallv_in_place": "computes something else",
        "started_alltoallw_in_place": "computes something else",
        "double_complex": "receives other values in types whose strides are not multiples of 16",
    },
    "mpich": {
        "persistent_collective": "stay active behind Waitany, fail in Testall, lose data",
        "mixed_of_one_size": _DIVIDES,
        "mixed_in_pieces": _PACKED,
        "read_only_root": _WRITES,
        "allgatherv_of_unequal_extents": _RING,
        "allgatherv_alone_with_places": "a process alone gets its block at 0",
        "reduce_in_place_off_0": "crashes",
        "started_alltoallw_in_place": "computes something else",
        "handler_communicates_with_threads": "asserts that no call is made in a handler",
    },
    # The first six are shown; the others are MPICH 4's and not looked for by themselves.
    "impi": {
        "persistent_collective": "receive other values from the second start on, and hang",
        "mixed_of_one_size": _DIVIDES,
        "mixed_in_pieces": _PACKED,
        "read_only_root": _WRITES,
        "used_while_freed": _SHARED,
        "intercommunicator": _SHARED,
        "allgatherv_of_unequal_extents": _RING,
        "allgatherv_alone_with_places": "a process alone gets its block at 0",
        "reduce_in_place_off_0": "crashes",
        "started_alltoallw_in_place": "computes something else",
        "handler_communicates_with_threads": "asserts that no call is made in a handler",
        "persistent_looked_at": "MPI_Request_get_status ends persistent requests",
        "code_behind_handler": "a call succeeds whose error handler has returned",
    },
    "mpich-5": {
        "allgatherv_of_unequal_extents": _RING,
        "code_behind_handler": "a call succeeds whose error handler has returned",
        "persistent_looked_at": "MPI_Request_get_status ends persistent requests",
        "persistent_collective_by_testall": "MPI_Testall fails",
        "persistent_collective_types_freed": _FREED,
        "mixed_of_one_size": _DIVIDES,
        "mixed_in_pieces": _PACKED,
        "read_only_root": _WRITES,
    },
}

# Features that programs have only with another.
NEED = {
    "persistent_collective_by_testall": "persistent_collective",
    "persistent_collective_by_some": "persistent_collective",
    "persistent_collective_types_freed": "persistent_collective",
}

# Corners of other features, told apart because an MPI gets them wrong: they occur, and seldom.
CORNERS = {
    "allgatherv_alone_with_places",
    "own_truncated_with_threads",
    "truncated_with_threads",
    "handler_communicates_with_threads",
    "reduce_in_place_off_0",
    "started_alltoallv_in_place",
    "started_alltoallw_in_place",
}

# MPICH 5 copies between processes in pieces, and fails if there are more than 1024. Intel MPI's
# k-nomial allgather takes the sender's items for the receiver's, which may be of another type; 1 is
# recursive doubling.
ENVIRONMENT = {
    "mpich-5": {"MPIR_CVAR_CH4_CMA_ENABLE": "0"},
    "impi": {"I_MPI_ADJUST_ALLGATHER": "1"},
}


def row_of(table: dict[str, dict[str, str]], mpi: str) -> dict[str, str]:
    names = [name for name in table if mpi.startswith(name)]
    return table[max(names, key=len)] if names else {}


def left_out(mpi: str) -> dict[str, str]:
    return row_of(KNOWN, mpi) | row_of(LEFT_OUT, mpi)


def expected(mpi: str, features: Iterable[str]) -> set[str]:
    """Those that programs for this MPI must have."""
    out = left_out(mpi).keys()
    return {name for name in features if name not in out and NEED.get(name) not in out}


def environment_of(mpi: str) -> dict[str, str]:
    return row_of(ENVIRONMENT, mpi)


def configuration(codec: str) -> Configuration:
    """By its name: a seed has another one when there are more."""
    return next(each for each in CONFIGURATIONS if each.codec == codec)


def configuration_of(seed: int) -> Configuration:
    return CONFIGURATIONS[seed % len(CONFIGURATIONS)]


def wants_threads(seed: int) -> bool:
    """Half of the seeds of each codec ask for MPI_THREAD_MULTIPLE."""
    return seed // len(CONFIGURATIONS) % 2 == 1
