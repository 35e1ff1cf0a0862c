"""HPC Challenge: what its parts say of their results; not their speeds."""

from collections.abc import Sequence
from pathlib import Path

from debian_packages import Debian
from program_runs import SHRINK, ProgramRun
from program_table import Place, Program, Results, Setting

PACKAGES = Debian(folder="hpcc", packages=("hpcc=1.5.0-3",))

INPUT = """HPLinpack benchmark input file
a small one
HPL.out
8
1
{order}
1
{block}
0
1
1
{ranks}
16.0
1
2
1
4
1
2
1
1
1
0
1
0
2
64
0
0
1
8
##### ignored
0
1200
0
40
"""
# Lines of the summary that do not depend on time.
KEPT = (
    "Success",
    "PTRANS_residual",
    "HPL_RnormI",
    "HPL_Anorm1",
    "HPL_AnormI",
    "HPL_Xnorm1",
    "HPL_XnormI",
    "HPL_BnormI",
    "MPIFFT_maxErr",
    "StarFFT_maxErr",
    "MPIRandomAccess_ErrorsFraction",
    "MPIRandomAccess_LCG_ErrorsFraction",
)


def _input(place: Place) -> str:
    # The order decides how large RandomAccess' table is, too: most of a run's time on two hosts.
    order, block = (720, 80) if place.large else (240, 24)
    return INPUT.format(ranks=place.ranks, order=order, block=block)


def _command(place: Place) -> Sequence[str | Path]:
    (place.folder / "hpccinf.txt").write_text(_input(place))
    return [place.root / "usr" / "bin" / "hpcc"]


def _results(place: Place, run: ProgramRun) -> Results:
    text = (place.folder / "hpccoutf.txt").read_text()
    summary = text[text.index("Begin of Summary section") :].splitlines()
    kept = [line for line in summary if line.partition("=")[0] in KEPT]
    assert "Success=1" in kept, text[-1500:]
    return {"summary": "\n".join(kept)}


ROWS = (
    Program(
        name="hpcc",
        mpis=("openmpi", "openmpi-5"),
        command=_command,
        results=_results,
        debian=PACKAGES,
        ranks=(2, 4),
        codecs=("mpc", "ndzip", SHRINK),
        threshold="256",
        setting=Setting(("--codec", "lossless", "--link", "{link}", "--threshold", "16KiB")),
    ),
)
