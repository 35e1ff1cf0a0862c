"""What `make docs` makes of headers and docstrings leaves nothing public out."""

import re
import sys
from pathlib import Path

import pytest

import thinwire

ROOT = Path(__file__).parents[2]
INCLUDE = ROOT / "include" / "thinwire"
sys.path.insert(0, str(ROOT / "docs" / "site"))

import commands  # noqa: E402, the site's own modules
import header  # noqa: E402

REFERENCE = ROOT / "docs" / "reference"


def headers_of(page: str) -> list[str]:
    return re.findall(r"<!-- site: header (\S+) -->", (REFERENCE / page).read_text())


def code_of(text: str) -> str:
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


@pytest.mark.parametrize("name", ["thinwire.h", "thinwire_mpi.h", "thinwire_nccl.h"])
def test_the_c_reference_has_each_declaration_once(name: str) -> None:
    code = code_of((INCLUDE / name).read_text().split("BEGIN declarations */")[1])
    made = header.as_markdown(name)
    assert "----" not in made
    functions = re.findall(r"^[a-z][^(){};]*?\b(tw_\w+)\(", code, re.M)
    listed = re.findall(r"^::::\{c:function\} [^(]*?(tw_\w+)\(", made, re.M)
    assert functions and sorted(listed) == sorted(functions)
    types = re.findall(
        r"^\} (tw_\w+);|^typedef [^{]*?(tw_\w+);|^typedef enum (tw_\w+) \{.*\}", code, re.M
    )
    named = {"".join(each) for each in types}
    assert set(re.findall(r"^::::\{c:(?:struct|enum|type)\} (\w+)", made, re.M)) == named


def test_each_text_over_a_function_is_in_the_c_reference() -> None:
    """By the first words of each comment that stands over a declaration."""
    made = re.sub(r"\{c:func\}|[`\\()]", "", header.as_markdown("thinwire.h"))
    body = (INCLUDE / "thinwire.h").read_text().split("BEGIN declarations */")[1]
    comments = re.findall(r"^/\* (?!----)([^\n*]{20,}?)[\n*]", body, re.M)
    assert len(comments) > 50
    missing = [text for text in comments if re.sub(r"[`()]", "", text).strip() not in made]
    assert [text for text in missing if "END decl" not in text] == []


def test_the_references_name_all_headers_and_all_of_the_package() -> None:
    headers = {str(path.relative_to(INCLUDE)) for path in INCLUDE.rglob("*.h*")}
    assert sorted(headers_of("c.md") + headers_of("cpp.md")) == sorted(headers)
    names = re.findall(r"<!-- site: python ([\w ]+) -->", (REFERENCE / "python.md").read_text())
    assert sorted(" ".join(names).split()) == sorted(thinwire.__all__)


def test_the_cpp_reference_has_no_bodies_and_nothing_private() -> None:
    made = "".join(map(header.as_markdown, headers_of("cpp.md")))
    assert not re.search(r"private:|^ +return |detail", made, re.M)
    for name in ("class Codec", "encode(", "decode(", "class Communicator", "class Scratch"):
        assert name in made


def test_the_command_line_reference_has_each_command() -> None:
    made = commands.as_markdown()
    for name in ("env", "run", "exec", "lab run", "bench collective", "advise"):
        shown = made.split(f"## thinwire {name}\n")[1].split("## ")[0]
        assert re.search(rf"Usage: thinwire {name}\b", shown) and "Options" in shown
    assert made.count("## thinwire") == made.count("Usage: thinwire")
