"""Parallel HDF5: its own tests of MPI and of the library, from its source package, with Debian's
library. They check what they write and read; each rank's verdicts are compared, and the files that
are left."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from building import compile_once
from debian_packages import TRIPLET, Debian
from program_runs import SHRINK, ProgramRun
from program_table import Place, Program, Results, Setting

VERSION = "1.10.8+repack1-1"
PACKAGES = Debian(
    folder="hdf5",
    packages=(f"libhdf5-openmpi-103-1={VERSION}", f"libhdf5-mpich-103-1={VERSION}"),
    alone=(
        f"libhdf5-openmpi-dev={VERSION}",
        f"libhdf5-mpich-dev={VERSION}",
        "libaec-dev=1.0.6-1+b1",
    ),
    sources=(f"hdf5={VERSION}",),
)

PHDF5 = (
    "testphdf5 t_dset t_file t_file_image t_mdset t_ph5basic t_coll_chunk t_span_tree "
    "t_chunk_alloc t_filter_read t_prop t_coll_md_read"
)
# On two hosts the native MPI fails it, too: MPI-IO's atomic mode, by which a rank reads what one on
# another host has just written.
FAILS_ON_TWO_HOSTS = {"testphdf5": ("-exclude", "atomicity")}
TESTS = {"t_mpi": "t_mpi", "testphdf5": PHDF5, "t_shapesame": "t_shapesame"}


def _command(test: str):
    def command(place: Place) -> Sequence[str | Path]:
        (source,) = (place.root / "source").glob("hdf5-*")
        usr = place.root / "usr"
        # Its own build makes this, to say where its sources lie.
        text = '#define _H5SRCDIR_STR_H\nstatic const char* config_srcdir = ".";\n'
        (place.built / "H5srcdir_str.h").write_text(text)
        mine = ("testframe", "h5test")
        sources = [source / "testpar" / f"{name}.c" for name in TESTS[test].split()]
        sources += [source / "test" / f"{name}.c" for name in mine]
        headers = [source / "testpar", source / "test", source / "src", place.built]
        headers += [usr / "include" / "hdf5" / place.mpi.family, usr / "include"]
        library = usr / "lib" / TRIPLET / f"libhdf5_{place.mpi.family}.so.103"
        options = [f"-I{folder}" for folder in headers]
        options += [library, "-Wl,--allow-shlib-undefined", "-lm", "-lz"]
        program = compile_once(place, test, sources, options)
        return [program, *(FAILS_ON_TWO_HOSTS.get(test, ()) if place.large else ())]

    return command


def _environment(place: Place) -> Mapping[str, str]:
    return {"HDF5_PARAPREFIX": str(place.folder), "HDF5_NOCLEANUP": "1"}


def _results(place: Place, run: ProgramRun) -> Results:
    text = run.output.replace(str(place.folder), "")
    assert "PASSED" in text or "finished" in text or "successfully" in text, text[-1500:]
    # Ranks print when they like, and some lines have times.
    lines = (re.sub(r"[\d.]+ *(s|sec|seconds)\b", "", line) for line in text.splitlines())
    return {"verdicts": "\n".join(sorted(lines))}


# Codecs of numbers find none of a size here: what it sends are bytes and addresses.
def _row(test: str, shrinks: Sequence[str], setting: Setting | None = None) -> Program:
    return Program(
        name=f"hdf5-{test}",
        mpis=("openmpi", "openmpi-5", "mpich", "mpich-5"),
        command=_command(test),
        results=_results,
        debian=PACKAGES,
        ranks=(2, 3),
        codecs=("mpc", SHRINK),
        threshold="256",
        shrinks=shrinks,
        environment=_environment,
        setting=setting,
    )


ROWS = (
    _row("t_mpi", ()),
    _row(
        "testphdf5",
        (SHRINK,),
        Setting(("--codec", "lossless", "--link", "{link}", "--threshold", "4KiB")),
    ),
    _row("t_shapesame", ()),
)
