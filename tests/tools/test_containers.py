"""LD_PRELOAD that a container inherits: the page on clusters says what comes of it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "shim"))

from shim_runs import PRODUCTION, preloaded, run  # noqa: E402

CANNOT = "cannot be preloaded"


def contained(*bound: Path) -> list[str]:
    """The words of a container that has the system's files, and these folders."""
    if shutil.which("bwrap") is None:
        pytest.skip("no bubblewrap (Debian)")
    seen = [
        word for name in ("/usr", "/lib", "/lib64", "/bin") for word in ("--ro-bind", name, name)
    ]
    more = [word for path in bound for word in ("--ro-bind", str(path), str(path))]
    words = ["bwrap", *seen, *more, "--dev", "/dev", "--proc", "/proc"]
    if subprocess.run([*words, "/bin/true"], capture_output=True).returncode != 0:
        pytest.skip("no containers may be made here")
    return words


def test_a_path_that_the_container_lacks_is_passed_over() -> None:
    done = run([*contained(), *preloaded(["/bin/echo", "went on"], PRODUCTION)])
    assert (done.code, done.output) == (0, "went on\n")
    assert CANNOT in done.errors


def test_a_path_that_is_bound_is_loaded() -> None:
    done = run([*contained(PRODUCTION.parent), *preloaded(["/bin/echo", "went on"], PRODUCTION)])
    assert (done.code, done.output, done.errors) == (0, "went on\n", "")


def test_musl_does_not_load_it(tmp_path: Path) -> None:
    if shutil.which("musl-gcc") is None:
        pytest.skip("no musl-tools (Debian)")
    (tmp_path / "empty.c").write_text("int main(void) { return 0; }\n")
    for name, flags, wanted in (("shared", [], 127), ("static", ["-static"], 0)):
        words = ["musl-gcc", *flags, "-o", tmp_path / name, tmp_path / "empty.c"]
        subprocess.run(words, check=True)
        assert run(preloaded([tmp_path / name], PRODUCTION)).code == wanted
        assert run(preloaded([tmp_path / name], Path("/nowhere/x.so"))).code == 0
