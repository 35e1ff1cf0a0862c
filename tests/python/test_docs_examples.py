"""Every shell example of README, guide and tutorials is run here or elsewhere, or is marked with
the machine that it needs (doc_examples.py has the marks)."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from doc_examples import NEEDS, PAGES, ROOT, Example, environment, examples_of, faults_of, unsaid

FIRST = "docs/tutorial/first-program.md"


def run_on(page: str, slow: bool) -> bool:
    """Whether a page has something to run; slow: something that only `make test-all` runs."""
    runs = [each for each in examples_of((ROOT / page).read_text()) if each.is_run]
    return any(each.slow for each in runs) if slow else any(not each.slow for each in runs)


@pytest.mark.parametrize("page", PAGES)
def test_each_shell_example_is_run_or_marked(page: str) -> None:
    assert faults_of((ROOT / page).read_text()) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("```sh\nls\n```", "neither run nor marked"),
        ("```\nls\n```", "without a language"),
        ("<!-- example: run -->\n\nWords.\n\n```sh\nls\n```", "neither run nor marked"),
        ("<!-- example: run, needs luck -->\n```sh\nls\n```", "no such mark"),
        ("<!-- example: running -->\n```sh\nls\n```", "no such mark"),
        ("<!-- example: tested by no.py -->\n```sh\nls\n```", "there is no no.py"),
        ("<!-- example: run -->\nWords.", "no fence"),
        ("<!-- example: run, needs the lab, slow -->\n```sh\nls\n```", ""),
        ("1. In a list:\n\n   <!-- example: needs two nodes -->\n   ```sh\n   ls\n   ```", ""),
        ("```c\nint x;\n```", ""),
    ],
)
def test_an_example_without_a_mark_is_found(text: str, fault: str) -> None:
    found = faults_of(text)
    assert bool(found) == bool(fault) and all(fault in each for each in found[:1])


def test_output_is_compared_but_for_its_figures() -> None:
    said = "a\n  compressed  5 messages, 123 bytes as 45.6\n 12 ms, error 0\n"
    assert unsaid("compressed 5 messages, 99 bytes as 1.02\n...\n", said) == []
    assert unsaid("compressed 6 messages, 99 bytes as 1.02\n", said) != []
    assert unsaid("99 ms, error 9.9e-05\n", said) != []


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The MPI program that the guide calls ./program: that of the first tutorial."""
    folder = tmp_path_factory.mktemp("program")
    source = next(
        each.text for each in examples_of((ROOT / FIRST).read_text()) if each.mark == "file send.c"
    )
    (folder / "send.c").write_text(source)
    command = ["mpicc", "-O2", "send.c", "-o", "program", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "program"


def run_example(each: Example, page: str, folder: Path) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", each.text],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, f"{page}:{each.line}\n{each.text}\n{done.stdout}"
    return done.stdout


def marks_of(page: str, slow: bool) -> list[pytest.MarkDecorator]:
    marks = [pytest.mark.slow] if slow else []
    # Its advice is of the codec that it finds the fastest.
    return [*marks, pytest.mark.alone] if page == "docs/tutorial/codec-for-my-data.md" else marks


@pytest.mark.multiproc
@pytest.mark.parametrize(
    ("page", "slow"),
    [
        pytest.param(page, slow, marks=marks_of(page, slow))
        for slow in (False, True)
        for page in PAGES
        if run_on(page, slow)
    ],
)
def test_the_examples_of_a_page_run(page: str, slow: bool, program: Path, tmp_path: Path) -> None:
    """In one folder, in their order; where slow, with those that only `make test-all` runs."""
    (tmp_path / "program").symlink_to(program)
    axis = np.linspace(0, 3, 24 * 96 * 96, dtype="<f4")
    np.sin(axis).tofile(tmp_path / "field.f32")
    missing: list[str] = []
    output: str | None = None
    for each in examples_of((ROOT / page).read_text()):
        if each.mark.startswith("file "):
            (tmp_path / each.mark.removeprefix("file ")).write_text(each.text)
        elif each.is_run:
            output = None
            if not NEEDS[each.needs]():
                missing.append(f"line {each.line} needs {each.needs}")
            elif slow or not each.slow:
                output = run_example(each, page, tmp_path)
        elif each.mark == "prints" and output is not None:
            assert unsaid(each.text, output) == [], f"{page}:{each.line}\n{output}"
    if missing:
        pytest.skip(f"{page}: {'; '.join(missing)}; the others ran")
