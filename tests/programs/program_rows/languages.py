"""Other languages: one program in each, which passes doubles around a ring and hands an array out,
so that messages and a collective travel by the language's own binding. Interpreters come as
packages, compilers are those of this machine."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from building import SOURCES, make_once
from debian_packages import TRIPLET, Debian, library_folders
from program_runs import SHRINK, ProgramRun
from program_table import Place, Program, Results

FLOATS = SOURCES / "languages"

R = Debian(folder="r", packages=("r-cran-rmpi=0.6-9.2-2",))
RUBY = Debian(folder="ruby", packages=("ruby-mpi=0.3.2-4+b2",))
FREEFEM = Debian(folder="freefem", packages=("freefem++=4.11+dfsg1-3",))
# Without the window and the plots that it takes besides.
GRETL = Debian(
    folder="gretl",
    alone=(
        "gretl=2022c-1",
        "libgretl1=2022c-1",
        "gretl-common=2022c-1",
        "libfftw3-double3=3.3.10-1",
    ),
)


def _needs(command: str) -> str:
    found = shutil.which(command)
    if found is None:
        pytest.skip(f"no {command} here")
    return found


def _r(place: Place) -> Sequence[str | Path]:
    interpreter = place.root / "usr" / "lib" / "R" / "bin" / "exec" / "R"
    return [interpreter, "--no-echo", "--vanilla", "--no-environ", f"--file={FLOATS / 'floats.R'}"]


def _r_folders(place: Place) -> Mapping[str, str]:
    """Where it finds itself; installed, a script says so."""
    home, share = place.root / "usr" / "lib" / "R", place.root / "usr" / "share" / "R"
    return {
        "R_HOME": str(home),
        "R_LIBS_SITE": str(home / "site-library"),
        "R_SHARE_DIR": str(share / "share"),
        "EDITOR": "vi",
        "PAGER": "cat",
    }


def _ruby(place: Place) -> Sequence[str | Path]:
    return [place.root / "usr" / "bin" / "ruby3.1", "--disable-gems", FLOATS / "floats.rb"]


def _ruby_folders(place: Place) -> Mapping[str, str]:
    both = (place.root / "usr" / "lib" / "ruby", place.root / "usr" / "lib" / TRIPLET / "ruby")
    inside = ("3.1.0", "vendor_ruby", "vendor_ruby/3.1.0")
    return {"RUBYLIB": ":".join(str(folder / name) for folder in both for name in inside)}


def _gretl(place: Place) -> Sequence[str | Path]:
    return [place.root / "usr" / "bin" / "gretlmpi", FLOATS / "floats.inp"]


def _freefem(place: Place) -> Sequence[str | Path]:
    return [place.root / "usr" / "bin" / "FreeFem++-mpi", "-nw", "-v", "0", FLOATS / "floats.edp"]


def _home(place: Place) -> Mapping[str, str]:
    return {"HOME": str(place.folder)}  # it leaves settings there


def _rust(place: Place) -> Sequence[str | Path]:
    """MPI's C functions by Rust's FFI: crates come from a registry that machines of tests lack."""
    compiler, source, family = _needs("rustc"), FLOATS / "floats.rs", place.mpi.family
    name = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}[family]
    folders = (*place.mpi.libraries, Path("/usr/lib") / TRIPLET)
    library = next(folder / name for folder in folders if (folder / name).exists())
    words = [compiler, "--edition=2021", "-O", "--cfg", family, source]
    return [make_once(place, "floats", [source], [*words, f"-Clink-arg={library}", "-o"])]


def _java(place: Place) -> Sequence[str | Path]:
    """By Intel MPI's own classes. Java compiles the source as it starts."""
    _needs("javac")
    lib, jar = place.mpi.libraries[0], place.mpi.libraries[0].parent / "share" / "java" / "mpi.jar"
    options = ["-XX:+UseSerialGC", f"-Djava.library.path={lib}", "-cp", jar]
    return [_needs("java"), *options, FLOATS / "Floats.java"]


def _java_preload(place: Place) -> Mapping[str, str]:
    source = FLOATS / "intel_memcpy.c"
    library = make_once(place, "memcpy.so", [source], ["cc", "-shared", "-fPIC", source, "-o"])
    return {"LD_PRELOAD": str(library)}


def _results(place: Place, run: ProgramRun) -> Results:
    found = sorted(place.folder.glob("rank-*"))
    assert len(found) == place.ranks, run.errors[-1500:]
    return {path.name: path.read_bytes() for path in found}


def _besides(folder: str) -> Callable[[Path], Sequence[Path]]:
    return lambda root: [*library_folders(root), root / "usr" / "lib" / folder]


def _row(
    name: str,
    mpis: Sequence[str],
    command: Callable[[Place], Sequence[str | Path]],
    debian: Debian | None = None,
    environment: Callable[[Place], Mapping[str, str]] = lambda place: {},
    libraries: Callable[[Path], Sequence[Path]] = library_folders,
) -> Program:
    return Program(
        name=f"language-{name}",
        mpis=mpis,
        command=command,
        results=_results,
        debian=debian,
        ranks=(2, 3),
        codecs=("lossless", SHRINK),
        threshold="64KiB",
        environment=environment,
        libraries=libraries,
    )


OPENMPI, MPICH = ("openmpi", "openmpi-5"), ("mpich", "mpich-5")

ROWS = (
    # Under Open MPI 5 these builds of Rmpi and FreeFEM do not start, natively too.
    _row("r", ("openmpi",), _r, R, _r_folders, _besides("R/lib")),
    _row("ruby", OPENMPI, _ruby, RUBY, _ruby_folders),
    _row("gretl", OPENMPI, _gretl, GRETL, _home, _besides("")),
    _row("freefem", ("openmpi",), _freefem, FREEFEM, _home),
    _row("rust", (*OPENMPI, *MPICH), _rust),
    _row("java", ("intel",), _java, environment=_java_preload),
)
