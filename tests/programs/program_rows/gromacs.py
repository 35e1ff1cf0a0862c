"""GROMACS: molecular dynamics of a box of water, which it is asked to make reproducible."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from debian_packages import Debian, library_folders
from program_runs import ProgramRun
from program_table import Place, Program, Results, Setting

PACKAGES = Debian(folder="gromacs", packages=("gromacs=2022.5-2",))

STEPS = """integrator = md
nsteps = {steps}
nstxout = 20
nstvout = 20
nstfout = 20
nstenergy = 20
coulombtype = PME
rcoulomb = 0.7
rvdw = 0.7
verlet-buffer-tolerance = -1
rlist = 0.8
gen-vel = yes
gen-seed = 1
ld-seed = 1
"""
TOPOLOGY = """#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spce.itp"
[ system ]
water
[ molecules ]
"""


def _environment(place: Place) -> Mapping[str, str]:
    return {"GMXLIB": str(place.root / "usr" / "share" / "gromacs" / "top"), "GMX_MAXBACKUP": "-1"}


def _prepare(place: Place, words: str) -> None:
    """By the program for one process."""
    libraries = ":".join(str(folder) for folder in library_folders(place.root))
    variables = {**os.environ, **_environment(place), "LD_LIBRARY_PATH": libraries}
    program = [place.root / "usr" / "bin" / "gmx", "-quiet", *words.split()]
    done = subprocess.run(
        program, cwd=place.folder, env=variables, capture_output=True, text=True, timeout=300
    )
    if done.returncode != 0:
        pytest.fail(f"gmx {words}: {done.stderr[-1500:]}")


def _command(place: Place) -> Sequence[str | Path]:
    (place.folder / "steps.mdp").write_text(STEPS.format(steps=40 * max(1, place.large)))
    (place.folder / "water.top").write_text(TOPOLOGY)
    box = "8 8 8" if place.large else "3 3 3"
    _prepare(place, f"solvate -cs spc216 -box {box} -p water.top -o water.gro")
    _prepare(place, "grompp -f steps -c water -p water -o steps.tpr -maxwarn 2")
    options = "mdrun -s steps.tpr -deffnm done -reprod -ntomp 1 -dlb no -npme 0 -notunepme -pin off"
    return [place.root / "usr" / "bin" / "gmx_mpi", *options.split()]


def _results(place: Place, run: ProgramRun) -> Results:
    return {
        "trajectory": (place.folder / "done.trr").read_bytes(),
        "last": (place.folder / "done.gro").read_text(),
    }


ROWS = (
    Program(
        name="gromacs",
        mpis=("openmpi", "openmpi-5"),
        command=_command,
        results=_results,
        debian=PACKAGES,
        ranks=(2, 4),
        threshold="256",
        setting=Setting(("--codec", "lossless", "--link", "{link}", "--threshold", "16KiB")),
        environment=_environment,
    ),
)
