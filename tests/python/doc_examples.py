"""The shell examples of the guide: what stands in fences, and the marks above them.

A mark is a comment that readers do not see, in the line before the fence:

    <!-- example: run -->                     run by test_docs_examples.py, in the page's order
    <!-- example: run, needs the lab -->       the same where that is there: a key of NEEDS
    <!-- example: run, slow -->                the same, in `make test-all`
    <!-- example: prints -->                  what the example above says, beside other lines
    <!-- example: file send.c -->             put into the folder that the page's examples run in
    <!-- example: needs two nodes -->         run by nobody: it names the machine
    <!-- example: tested by tests/x.py -->    run there

In the lines of `prints` numbers of two digits and more stand for any number, and `...` for lines.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in [
        ROOT / "README.md",
        *ROOT.glob("docs/guide/*.md"),
        *ROOT.glob("docs/tutorial/*.md"),
    ]
)
SHELL = {"sh", "bash", "shell", "console"}
MARK = re.compile(r"<!-- example: ([^>]*?) -->")
CUDA = "/usr/local/cuda/bin"


@dataclass(frozen=True)
class Example:
    line: int
    language: str
    text: str
    mark: str

    @property
    def is_run(self) -> bool:
        return re.match(r"run\b", self.mark) is not None

    @property
    def needs(self) -> str:
        """What `run` needs of the machine; "" for nothing."""
        found = re.fullmatch(r"run(?:, needs (.+?))?(?:, slow)?", self.mark)
        return (found[1] or "") if found else ""

    @property
    def slow(self) -> bool:
        return self.mark.endswith(", slow")


def environment() -> dict[str, str]:
    """That of somebody who has activated the virtual environment."""
    there = [str(Path(sys.executable).parent), os.environ["PATH"], CUDA]
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return os.environ | as_root | {"PATH": os.pathsep.join(there)}


@cache
def env_says() -> str:
    done = subprocess.run(
        ["thinwire", "env"], env=environment(), capture_output=True, text=True, check=True
    )
    return done.stdout


NEEDS: dict[str, Callable[[], bool]] = {
    "": lambda: True,
    "the lab": lambda: re.search(r"^namespaces +allowed", env_says(), re.M) is not None,
    "nvcc": lambda: shutil.which("nvcc", path=environment()["PATH"]) is not None,
    "a GPU": lambda: re.search(r"^GPUs +(?!none)\S", env_says(), re.M) is not None,
}


def examples_of(text: str) -> list[Example]:
    """All fences of a page, with the mark that stands directly above."""
    found, mark = [], ""
    for token in MarkdownIt().parse(text):
        if token.type == "html_block":
            marks = MARK.findall(token.content)
            mark = marks[-1] if marks else ""
        elif token.type == "fence":
            found.append(Example(token.map[0] + 1, token.info.strip(), token.content, mark))
            mark = ""
        elif token.content:
            mark = ""
    return found


def faults_of(text: str) -> list[str]:
    """What this convention forbids: shell that nobody runs and no mark explains; other marks."""
    faults = []
    examples = examples_of(text)
    for each in examples:
        here = f"line {each.line}: "
        if not each.language:
            faults.append(here + "a fence without a language")
        if each.language in SHELL and not re.match(r"(run|needs .+|tested by .+)", each.mark):
            faults.append(here + "neither run nor marked with the machine that it needs")
        if each.mark.startswith("run") and (
            not re.fullmatch(r"run(, needs .+?)?(, slow)?", each.mark) or each.needs not in NEEDS
        ):
            faults.append(here + f"no such mark: {each.mark}")
        if by := re.fullmatch(r"tested by (.+)", each.mark):
            faults += [] if (ROOT / by[1]).is_file() else [here + f"there is no {by[1]}"]
    if len(MARK.findall(text)) != sum(bool(each.mark) for each in examples):
        faults.append("a mark with no fence directly under it")
    return faults


def masked(line: str) -> str:
    """A line as it is compared: numbers of two digits and more, those that are a column of a
    table, and spaces are all the same; so are the tuples of `lorenzo`, which on a field of none are
    so near each other that a busy machine decides which is the fastest."""
    line = re.sub(r"(?<=tuple=)\d", "#", line)
    line = re.sub(r"\d[\d.]*(?:e[+-]?)?\d+", "#", line)
    return re.sub(r"\s+", " ", re.sub(r"(?<=  )\d(?=  |$)", "#", line)).strip()


def unsaid(expected: str, output: str) -> list[str]:
    """The lines that an example should have printed and did not."""
    lines = {masked(line) for line in output.splitlines()}
    return [line for line in expected.splitlines() if line != "..." and masked(line) not in lines]


def main() -> int:
    """For `make lint`: names what the convention forbids."""
    faults = [f"{page}: {each}" for page in PAGES for each in faults_of((ROOT / page).read_text())]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
