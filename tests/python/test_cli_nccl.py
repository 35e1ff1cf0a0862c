"""`thinwire run`, `exec` and `shim nccl` with programs of NCCL, made for it."""

import os
import sys
from pathlib import Path

import pytest
from mpi_stubs import (
    call,
    compile_with,
    make_installation,
    make_launcher,
    make_library,
    make_mpi,
    make_program,
    make_script,
    started,
)

from thinwire.launch import is_nccl_launcher, python_with_nccl
from thinwire.library import MPI_SHIMS, NCCL_SHIM


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of NCCL, one of NCCL and an MPI, and an installation for both."""
    folder = tmp_path_factory.mktemp("made")
    libraries = make_installation(folder / "installation")
    (libraries / NCCL_SHIM).unlink(missing_ok=True)
    make_library(folder / "shim", NCCL_SHIM, calls=["ncclSend"]).rename(libraries / NCCL_SHIM)
    nccl = make_library(folder / "nccl", "libnccl.so.2", calls=["ncclSend"])
    make_program(folder / "with_nccl", nccl)
    mpi = make_mpi(folder / "mpi", "libmpi.so.40", libraries / MPI_SHIMS["openmpi"][0])
    make_program(folder / "with_both", nccl, mpi)
    make_program(folder / "plain")
    return folder


@pytest.fixture
def machine(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, first on PATH, with those programs, and launchers."""
    for name in ("with_nccl", "with_both", "plain"):
        (tmp_path / name).symlink_to(made / name)
    make_launcher(tmp_path / "torchrun", "other")
    make_launcher(tmp_path / "mpirun", "openmpi-5")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def libraries(made: Path) -> dict[str, str]:
    return {"THINWIRE_LIBRARY_DIR": str(made / "installation" / "lib")}


def nccl(libraries: dict[str, str]) -> str:
    return f"{libraries['THINWIRE_LIBRARY_DIR']}/{NCCL_SHIM}"


def openmpi(libraries: dict[str, str]) -> str:
    return f"{libraries['THINWIRE_LIBRARY_DIR']}/{MPI_SHIMS['openmpi'][0]}"


def test_the_library_by_hand(machine: Path, libraries: dict[str, str]) -> None:
    done = call("shim", "nccl", environment=libraries)
    assert (done.returncode, done.stdout) == (0, nccl(libraries) + "\n")
    assert call("shim", "nccl", "--mpi", "abi", environment=libraries).returncode == 1


def test_what_torchrun_starts(machine: Path, libraries: dict[str, str]) -> None:
    words = ("run", "--codec", "off", "--", "torchrun", "--nproc-per-node", "2", "train.py")
    seen, environment = started(call(*words, environment=libraries))
    assert seen == ["--nproc-per-node", "2", "train.py"]
    assert environment["LD_PRELOAD"] == nccl(libraries)
    assert environment["THINWIRE_CODEC"] == "off"


def test_torchrun_by_its_module(machine: Path, libraries: dict[str, str]) -> None:
    make_launcher(machine / "python3", "other")
    words = ("run", "--", "python3", "-u", "-m", "torch.distributed.run", "train.py")
    _, environment = started(call(*words, environment=libraries))
    assert environment["LD_PRELOAD"] == nccl(libraries)


def preload_of(libraries: dict[str, str], *words: str) -> list[str]:
    """What `exec` preloads before it becomes a program that is linked to NCCL."""
    make_script(Path("show.sh"), "#!/bin/sh\necho $LD_PRELOAD")
    done = call("exec", *words, environment=libraries)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().split(":")


def test_a_program_that_is_linked_to_nccl(machine: Path, libraries: dict[str, str]) -> None:
    # As a word of a script's command line, as with tools that stand before a program.
    assert preload_of(libraries, "sh", "show.sh", "with_nccl") == [nccl(libraries)]


def test_a_program_that_does_not_show_it(machine: Path, libraries: dict[str, str]) -> None:
    assert preload_of(libraries, "--nccl", "sh", "show.sh", "plain") == [nccl(libraries)]


def test_a_program_of_both(machine: Path, libraries: dict[str, str]) -> None:
    both = [openmpi(libraries), nccl(libraries)]
    assert preload_of(libraries, "sh", "show.sh", "with_both") == both


def test_an_mpi_launcher_hands_both_on(machine: Path, libraries: dict[str, str]) -> None:
    words = ("run", "--", "mpirun", "-n", "2", "with_both")
    _, environment = started(call(*words, environment=libraries))
    listed = environment["OMPI_MCA_mca_base_env_list"].split(";")
    assert f"LD_PRELOAD={openmpi(libraries)}:{nccl(libraries)}" in listed


@pytest.mark.parametrize(
    "words",
    [
        ("accelerate", "launch", "train.py"),
        ("deepspeed", "--num_gpus", "2", "train.py"),
        ("python3", "-u", "-m", "deepspeed.launcher.runner", "train.py"),
        ("python3", "-X", "dev", "-W", "ignore", "-m", "accelerate.commands.launch", "train.py"),
    ],
    ids=lambda words: " ".join(words[:1] + words[-2:-1]),
)
def test_launchers_of_training(
    machine: Path, libraries: dict[str, str], words: tuple[str, ...]
) -> None:
    make_launcher(machine / words[0], "other")
    done = call("run", "--", *words, environment=libraries)
    seen, environment = started(done)
    assert (seen, environment["LD_PRELOAD"]) == (list(words[1:]), nccl(libraries))
    assert done.stderr == ""


@pytest.mark.parametrize(
    "words", [("python3", "train.py", "-m", "torch.distributed.run"), ("python3", "-m", "pytest")]
)
def test_what_is_no_launcher(words: tuple[str, ...]) -> None:
    assert not is_nccl_launcher(words)


def packages(folder: Path, *files: str) -> Path:
    """Packages of Python, as one that is asked sees them."""
    for file in files:
        path = folder / file
        path.parent.mkdir(parents=True)
        path.touch()
    return folder


NCCL_WHEEL = "nvidia/nccl/lib/libnccl.so.2"
TORCH_OF_CUDA = "torch/lib/libtorch_cuda.so"
TORCH = "torch/lib/libtorch_cpu.so"


@pytest.mark.parametrize("file", [NCCL_WHEEL, TORCH_OF_CUDA])
def test_a_python_that_has_nccl(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = packages(tmp_path / "packages", file)
    monkeypatch.setenv("PYTHONPATH", str(found))
    script = make_script(tmp_path / "serve", f"#!{sys.executable}")
    for words in ([sys.executable, "train.py"], ["sh", "-c", str(script)]):
        assert python_with_nccl(words) == f"{found}/{file}"


def test_a_python_that_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(packages(tmp_path / "packages", TORCH)))
    assert python_with_nccl([sys.executable, "train.py"]) is None
    assert python_with_nccl(["sh", "train.py"]) is None


def make_python(path: Path, found: Path | None) -> Path:
    """One without mpi4py, with NCCL at `found`; else shows what is preloaded."""
    answers = f"case $2 in *nccl*) echo {found or ''};; *mpi4py*) ;; *) echo $LD_PRELOAD;; esac"
    return make_script(path, f"#!/bin/sh\n{answers}")


def test_python_programs_alone_and_under_mpirun(
    machine: Path, libraries: dict[str, str], tmp_path: Path
) -> None:
    make_python(machine / "python3", packages(tmp_path / "packages", NCCL_WHEEL) / NCCL_WHEEL)
    for mode in ("run", "exec"):
        done = call(mode, "--", "python3", "train.py", environment=libraries)
        assert (done.stdout, done.stderr) == (nccl(libraries) + "\n", "")
    _, environment = started(
        call("run", "--", "mpirun", "python3", "train.py", environment=libraries)
    )
    both = f"{openmpi(libraries)}:{nccl(libraries)}"
    assert f"LD_PRELOAD={both}" in environment["OMPI_MCA_mca_base_env_list"].split(";")
    done = call("run", "--no-nccl", "--", "python3", "train.py", environment=libraries)
    assert done.stdout == openmpi(libraries) + "\n"


def test_no_mpi_is_needed_where_nccl_is_chosen(
    machine: Path, libraries: dict[str, str], tmp_path: Path
) -> None:
    make_python(machine / "python3", None)
    (machine / "mpirun").write_text("#!/bin/sh\n")
    refused = call("exec", "--", "python3", "train.py", environment=libraries)
    assert refused.returncode == 1 and "--nccl" in refused.stderr
    done = call("exec", "--nccl", "--", "python3", "train.py", environment=libraries)
    assert (done.stdout, done.stderr) == (nccl(libraries) + "\n", "")


def test_a_program_of_both_under_another_mpis_launcher(
    machine: Path, libraries: dict[str, str]
) -> None:
    """Its MPI cannot be had: refused for an MPI that is named alone."""
    environment = {**libraries, "MPI_LOCALNRANKS": "1"}
    done = call("exec", "with_both", environment=environment)
    assert done.returncode == 0
    assert "its calls of MPI stay as they are" in done.stderr and "MPICH" in done.stderr
    both = call("exec", "--no-nccl", "with_both", environment=environment)
    assert both.returncode == 1 and "MPICH" in both.stderr


def make_program_with_nccl_inside(path: Path, *, named: bool, says: bool) -> Path:
    """Linked statically: it shows by a name, or, stripped of that, by what it would print."""
    source = path.with_suffix(".c")
    version = "NCCL version 2.28.9+cuda13.0" if says else "none"
    source.write_text(
        f'const char* volatile version = "{version}";\n'
        "int ncclGetVersion(int* to) { *to = 22809; return 0; }\n"
        "int main(void) { int got; return ncclGetVersion(&got); }\n"
    )
    compile_with(source, *([] if named else ["-s"]), "-o", path)
    return path


@pytest.mark.parametrize(("named", "says"), [(True, False), (False, True), (False, False)])
def test_a_program_with_nccl_linked_into_it(
    machine: Path, libraries: dict[str, str], *, named: bool, says: bool
) -> None:
    make_program_with_nccl_inside(machine / "inside", named=named, says=says)
    for words in (("run", "--", "mpirun", "./inside"), ("exec", "--nccl", "./inside")):
        done = call(*words, environment=libraries)
        warned = "./inside has NCCL linked into it" in done.stderr
        assert warned == (named or says)
        assert done.returncode == 0


def test_a_program_that_loads_nccl_is_not_taken_for_one(
    machine: Path, libraries: dict[str, str]
) -> None:
    done = call("exec", "with_nccl", environment=libraries)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_mpi_program_in_a_python_that_has_nccl_needs_no_library_for_it(
    machine: Path, tmp_path: Path
) -> None:
    make_python(machine / "python3", packages(tmp_path / "packages", NCCL_WHEEL) / NCCL_WHEEL)
    without = make_installation(tmp_path / "without")
    (without / NCCL_SHIM).unlink(missing_ok=True)
    own = {"THINWIRE_LIBRARY_DIR": str(without)}
    done = call("exec", "--", "python3", "train.py", environment=own)
    assert done.stdout == openmpi(own) + "\n"


def test_no_library_of_nccl_is_said(made: Path, machine: Path, tmp_path: Path) -> None:
    without = make_installation(tmp_path / "without")
    (without / NCCL_SHIM).unlink(missing_ok=True)
    done = call("run", "--", "torchrun", environment={"THINWIRE_LIBRARY_DIR": str(without)})
    assert done.returncode == 1
    assert f"{without / NCCL_SHIM} does not exist" in done.stderr
