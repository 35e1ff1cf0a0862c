"""What a row of the table says of a program, and how results are compared."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from debian_packages import Debian, library_folders
from program_runs import SHRINK, ProgramMpi, ProgramRun

# Results of a run, by name: each to be equal to that of the native one.
Results = Mapping[str, str | bytes]

LOSSLESS = ("mpc", "lorenzo", "ndzip", SHRINK)


@dataclass(frozen=True)
class Place:
    """Where a row runs."""

    root: Path  # its unpacked packages; what is built of them is kept there too
    folder: Path  # of this run, empty at first
    mpi: ProgramMpi
    ranks: int
    # For measuring: an input whose messages are of useful size, so many times as long as on the
    # slowest link; 0: that of the tests.
    large: int = 0

    @property
    def built(self) -> Path:
        """Shared by the runs under one MPI."""
        made = self.root / f"built-{self.mpi.name}"
        made.mkdir(exist_ok=True)
        return made


@dataclass(frozen=True)
class Setting:
    """What a user who knows the program would give `thinwire run`; `measure.py` takes it."""

    options: Sequence[str]  # "{link}" stands for the link's rate
    collectives: str | None = None  # THINWIRE_COLLECTIVES; None: as by default
    lossy: float | None = None  # how far `numbers` may be off; None: results are the same


@dataclass(frozen=True, eq=False)
class Program:
    name: str
    mpis: Sequence[str]
    # The program's words; it writes the input, and builds what is not built yet.
    command: Callable[[Place], Sequence[str | Path]]
    results: Callable[[Place, ProgramRun], Results]
    debian: Debian | None = None
    ranks: Sequence[int] = (2,)
    codecs: Sequence[str] = LOSSLESS
    threshold: str = "1KiB"
    # Codecs under which messages of this program shrink, which is then asserted; None: all.
    shrinks: Sequence[str] | None = None
    # Lossy codecs, each with how far `numbers` may be off, as a share of the largest of them.
    lossy: Mapping[str, float] = field(default_factory=dict)
    numbers: Callable[[Results], Sequence[float]] | None = None
    environment: Callable[[Place], Mapping[str, str]] = lambda place: {}
    libraries: Callable[[Path], Sequence[Path]] = library_folders
    # Measured by `measure.py`, on the larger input; None: the row is for tests alone.
    setting: Setting | None = None
    # Why a native run is left out, by MPI, if the program cannot run there.
    absent: Mapping[str, str] = field(default_factory=dict)


def difference(native: Results, ours: Results) -> str | None:
    """The first difference, in words."""
    for name in sorted({*native, *ours}):
        if name not in native or name not in ours:
            return f"{name} is there in one run alone"
        if native[name] != ours[name]:
            return f"{name}: {_where(native[name], ours[name])}"
    return None


def _where(native: str | bytes, ours: str | bytes) -> str:
    if isinstance(native, str) and isinstance(ours, str):
        pairs = enumerate(zip(native.splitlines(), ours.splitlines(), strict=False), 1)
        for number, (left, right) in pairs:
            if left != right:
                return f"line {number} is {right!r}, natively {left!r}"
    else:
        for place, (left, right) in enumerate(zip(native, ours, strict=False)):
            if left != right:
                return f"byte {place} of {len(native)} differs"
    return f"{len(ours)} long, natively {len(native)}"


def distance(native: Sequence[float], ours: Sequence[float]) -> float:
    """The largest difference, as a share of the largest number."""
    assert len(native) == len(ours) > 0, f"{len(native)} numbers natively, {len(ours)} here"
    scale = max(abs(value) for value in native)
    # A NaN is as far as can be: comparisons with it are false.
    gaps = [abs(a - b) for a, b in zip(native, ours, strict=True)]
    return max(gap if gap == gap else float("inf") for gap in gaps) / scale
