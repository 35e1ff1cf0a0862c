"""LAMMPS: molecular dynamics. Its ghost atoms travel as doubles, tags and types among them as
integers in a double's bits."""

from collections.abc import Sequence
from pathlib import Path

from debian_packages import Debian
from program_runs import ProgramRun
from program_table import Place, Program, Results, Setting

PACKAGES = Debian(
    folder="lammps",
    packages=("lammps=20220106.git7586adbb6a+ds1-2+b2",),
    alone=("lammps-examples=20220106.git7586adbb6a+ds1-2",),
)

# Sorted by atom, and as many digits as a double has.
DUMP = """
write_dump all custom final.dump id type x y z vx vy vz fx fy fz modify sort id format float %.17g
"""


def _command(example: str, small: dict[str, str], large: dict[str, str]):
    def command(place: Place) -> Sequence[str | Path]:
        changes = large if place.large else small
        source = place.root / "usr" / "share" / "lammps" / "examples" / example
        text = (source / f"in.{example}").read_text()
        for old, new in changes.items():
            assert old in text, f"in.{example} has no {old!r}"
            text = text.replace(old, new)
        (place.folder / "in.program").write_text(text + DUMP)
        for data in source.glob("data.*"):
            (place.folder / data.name).symlink_to(data)
        return [place.root / "usr" / "bin" / "lmp", "-in", "in.program"]

    return command


def _results(place: Place, run: ProgramRun) -> Results:
    lines = run.output.splitlines()
    return {
        "atoms": (place.folder / "final.dump").read_text(),
        "thermo": "\n".join(_thermo(lines)),
    }


def _thermo(lines: Sequence[str]) -> list[str]:
    """What is printed between the start of the run and its times."""
    kept, inside = [], False
    for line in lines:
        inside = (inside or line.startswith(("Step", "Per MPI"))) and not line.startswith("Loop")
        if inside and "CPU" not in line and "Per MPI" not in line:
            kept.append(line)
    return kept


def _energies(results: Results) -> list[float]:
    """Of the lines of thermo: temperature, energies, pressure; the step counts are no results."""
    rows = [line.split() for line in str(results["thermo"]).splitlines()]
    return [float(word) for row in rows if row and row[0].isdigit() for word in row[1:]]


MELT = {"run\t\t250": "run\t\t50"}
LARGE = {**MELT, "block 0 10 0 10 0 10": "block 0 32 0 32 0 32"}

ROWS = (
    Program(
        name="lammps-melt",
        mpis=("openmpi", "openmpi-5"),
        command=_command("melt", MELT, LARGE),
        results=_results,
        debian=PACKAGES,
        ranks=(2, 3),
        threshold="256",
        setting=Setting(("--codec", "szp:rel=1e-6", "--link", "{link}"), lossy=1e-3),
        # Positions travel with the error that was asked for; tags and types must stay whole.
        lossy={"szp:rel=1e-6": 1e-3, "zfp:rate=32": 1e-3},
        numbers=_energies,
    ),
)
