"""The wheel, installed alone into a fresh environment, away from the source tree."""

import json
import os
import re
import shutil
import sys
import sysconfig
from pathlib import Path

import pytest
from outside import BUILD, ROOT, run

from thinwire.library import MPI_SHIMS, NCCL_SHIM, built_shims

PROGRAM = """
#include <thinwire/thinwire.h>
#include <stdio.h>
int main(void) {
  tw_codec* codec = 0;
  if (tw_codec_create("zfp:rate=8", &codec) != TW_OK) return 1;
  puts(tw_codec_spec(codec));
  tw_codec_destroy(codec);
  return 0;
}
"""


def mpis(work: Path) -> str:
    """THINWIRE_MPIS, where it is unset as `make build` sets it: a build makes the preload libraries
    of the MPIs that it finds."""
    named = os.environ.get("THINWIRE_MPIS")
    return ":".join(run([ROOT / "tools/setup_mpis"], work).split()) if named is None else named


def new_environment(tmp_path: Path) -> Path:
    environment = tmp_path / "environment"
    run([sys.executable, "-m", "venv", environment], tmp_path)
    return environment


def packages_of(environment: Path) -> Path:
    return next((environment / "lib").glob("python*/site-packages"))


def test_what_the_build_puts_into_a_wheel_works_alone(tmp_path: Path) -> None:
    """The wheel's two halves, without compiling again what is compiled: the Python of a wheel that
    is made now, and the component that the build installs into one."""
    wheels = tmp_path / "wheels"
    python_alone = ["--no-build-isolation", "--config-settings=wheel.cmake=false"]
    run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", *python_alone, "-w", wheels, ROOT],
        tmp_path,
    )
    environment = new_environment(tmp_path)
    pip = [environment / "bin" / "pip", "install", "--quiet", "--no-deps", "--no-index"]
    run([*pip, *wheels.glob("thinwire-*.whl")], tmp_path)
    # Its packages come from here: only what lies there is seen, not this checkout's own package.
    packages = packages_of(environment)
    (packages / "needed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    folder = packages / "thinwire"
    assert not (folder / "lib").exists()
    run(["cmake", "--install", BUILD, "--component", "wheel", "--prefix", folder], tmp_path)
    works_alone(environment, tmp_path)


def make_wheel(folder: Path, *options: str) -> Path:
    """As `make wheel` does, auditwheel's judgement included; WHEELS_TO_TEST names a folder that has
    the wheels already."""
    if built := os.environ.get("WHEELS_TO_TEST"):
        names = {"--cuda": "thinwire_cu*.whl", "--aarch64": "thinwire-*_aarch64.whl"}
        (found,) = Path(built).glob(names[options[0]] if options else "thinwire-*_x86_64.whl")
        return found
    maker = [sys.executable, ROOT / "tools" / "make_wheel", "--output", folder, *options]
    return Path(run(maker, folder, timeout=3600).splitlines()[-1])


def commands_of_the_guide(wheel: Path) -> tuple[str, str]:
    """Those that install a wheel, and the one that uses it, but for the build, which is done."""
    blocks = re.findall(
        r"^```\w*\n(.*?)^```$", (ROOT / "docs" / "guide" / "install.md").read_text(), re.S | re.M
    )
    (block,) = [block for block in blocks if "dist/thinwire-" in block]
    make, *lines, demo = block.splitlines()
    assert make.startswith("make wheel ") and demo.endswith('/bin/thinwire" demo --quick')
    return "\n".join(lines).replace("dist/thinwire-*.whl", str(wheel)), demo


@pytest.mark.slow
def test_wheel_works_alone(tmp_path: Path) -> None:
    """It is of a manylinux, and what the guide says of it holds in a bare environment."""
    wheel = make_wheel(tmp_path)
    tag = re.search(r"manylinux_2_(\d+)_", wheel.name)
    assert tag and int(tag[1]) <= 34, f"{wheel.name}: docs/guide/install.md promises glibc 2.34"
    environment = tmp_path / "with-thinwire"
    install, demo = commands_of_the_guide(wheel)
    run(["bash", "-ec", install], tmp_path, HOME=str(tmp_path))
    works_alone(environment, tmp_path)
    typed = packages_of(environment) / "thinwire" / "py.typed"
    assert typed.exists()
    if shutil.which("mpirun") is None:
        pytest.skip("no mpirun: the demo is not run")
    run(["bash", "-ec", demo], tmp_path, HOME=str(tmp_path))
    rows = json.loads((tmp_path / "build" / "demo" / "report.json").read_text())
    assert rows and all(row["verified"] for row in rows)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/usr/local/cuda/bin/nvcc").exists(), reason="no nvcc")
def test_the_wheel_with_the_gpu_side_has_a_name_of_its_own(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "--cuda")
    assert re.fullmatch(r"thinwire_cu\d+-[^-]+-py3-none-manylinux\w+\.whl", wheel.name)
    environment = new_environment(tmp_path)
    run([environment / "bin" / "pip", "install", "--quiet", wheel], tmp_path)
    listed = run([environment / "bin" / "pip", "list"], tmp_path)
    assert re.search(r"^thinwire-cu\d+ ", listed, re.M)
    # A build without the GPU side has another reason for finding none.
    assert "has no CUDA" not in run([environment / "bin" / "thinwire", "env"], tmp_path)
    works_alone(environment, tmp_path)


ARM = ("aarch64-linux-gnu-g++", "qemu-aarch64-static")


@pytest.mark.slow
@pytest.mark.skipif(not all(map(shutil.which, ARM)), reason="no compiler or emulator for ARM")
def test_the_wheel_for_arm_has_a_library_that_runs(tmp_path: Path) -> None:
    """Its Python is the other wheels'; of its libraries one runs, emulated."""
    wheel = make_wheel(tmp_path, "--aarch64")
    assert re.search(r"manylinux_2_\d+_aarch64\.whl$", wheel.name)
    shutil.unpack_archive(wheel, tmp_path / "wheel", "zip")
    package = tmp_path / "wheel" / "thinwire"
    assert {name for names in MPI_SHIMS.values() for name in names} <= {
        path.name for path in (package / "lib").iterdir()
    }
    (tmp_path / "program.c").write_text(PROGRAM)
    library = package / "lib" / "libthinwire.so.0"
    words = ["program.c", "-I", package / "include", library, f"-Wl,-rpath,{library.parent}"]
    run(["aarch64-linux-gnu-gcc", *words, "-o", "program"], tmp_path)
    emulated = ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu", tmp_path / "program"]
    assert run(emulated, tmp_path) == "zfp:rate=8\n"


def works_alone(environment: Path, tmp_path: Path) -> None:
    binaries = environment / "bin"
    where = run([binaries / "python", "-c", "import thinwire; print(thinwire.__file__)"], tmp_path)
    assert Path(where).is_relative_to(environment)
    assert "zfp" in run([binaries / "thinwire", "codecs"], tmp_path)
    script = (
        "import numpy, thinwire; "
        "print(thinwire.decompress(thinwire.compress(numpy.zeros(9), 'raw')))"
    )
    assert "0." in run([binaries / "python", "-c", script], tmp_path)

    package = packages_of(environment) / "thinwire"
    (tmp_path / "program.c").write_text(PROGRAM)
    library = package / "lib" / "libthinwire.so.0"
    run(
        ["cc", "program.c", "-I", package / "include", library, f"-Wl,-rpath,{library.parent}"]
        + ["-o", "program"],
        tmp_path,
    )
    assert run([tmp_path / "program"], tmp_path) == "zfp:rate=8\n"

    preloads_are_whole(package / "lib", binaries / "thinwire", tmp_path)


def preloads_are_whole(folder: Path, thinwire: Path, work: Path) -> None:
    """Every preload library of this build is in the wheel, is found, and bears a program without
    MPI; nothing else that could be taken for one is in it."""
    inside = {path.name for path in folder.glob("libthinwire_mpi_*")}
    expected = {mpi: MPI_SHIMS[mpi] for mpi in built_shims()}
    assert inside == {name for names in expected.values() for name in names}, (
        "the installation was built for other MPIs"
    )
    for mpi, names in expected.items():
        found = run([thinwire, "shim", "mpi", "--mpi", mpi], work).strip()
        assert found in {str(folder / name) for name in names}
    assert run([thinwire, "shim", "nccl"], work).strip() == str(folder / NCCL_SHIM)
    for name in {*inside, NCCL_SHIM}:
        # The loader says what it cannot preload, and goes on.
        assert run(["sh", "-c", f"LD_PRELOAD={folder / name} /bin/true 2>&1"], work) == ""
