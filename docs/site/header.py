"""The public headers as Markdown for the site: what stands above a declaration is its text."""

import re
import textwrap
from pathlib import Path

INCLUDE = Path(__file__).resolve().parents[2] / "include" / "thinwire"
SECTION = re.compile(r"/\* ---- (.*?) ----(.*)\*/", re.S)
COMMENT = re.compile(r"/\*.*?\*/|(?:^//[^\n]*\n?)+", re.S | re.M)
TYPE = re.compile(r"typedef (?:(?:enum|struct) )?(\w+)")


def as_markdown(name: str) -> str:
    """The reference of one header, thinwire.h or cpp/codec.hpp say."""
    text = (INCLUDE / name).read_text()
    lead = COMMENT.match(text)
    assert lead, f"{name} begins with no comment"
    intro = prose(lead[0])
    if name.endswith(".h"):
        body = text.split("/* BEGIN declarations */")[1].split("/* END declarations */")[0]
        return "\n\n".join([intro, *c_items(body)])
    if "namespace thinwire {" not in text:
        return intro
    body = text.split("namespace thinwire {\n")[1].rsplit("}  // namespace thinwire", 1)[0]
    body = re.sub(r"namespace detail \{.*?\}  // namespace detail\n", "", body, flags=re.S)
    return "\n\n".join([f"## {intro.rstrip('.')}", *cpp_items(body)])


def c_items(body: str) -> list[str]:
    """Headings, declarations and the comments over them, in the header's order."""
    items = []
    for block in blocks(body):
        if section := SECTION.fullmatch(block):
            title = " ".join(re.sub(r"\n \*", " ", section[1]).split())
            items += [f"## {title}", prose(f"/*{section[2]}*/")]
            continue
        comment = COMMENT.match(block)
        words = prose(comment[0]) if comment else ""
        found = declarations(block[comment.end() :] if comment else block)
        if not found:
            items.append(words)
            continue
        # Declarations that stand together share the text above: that of a type, else of all its
        # functions.
        spoken = len(found) - 1 if found[0][0] == "function" else 0
        for index, (directive, signature, code) in enumerate(found):
            inside = "\n\n".join(filter(None, [words * (index == spoken), code]))
            items.append(f"::::{{c:{directive}}} {signature}\n{inside}\n::::")
    return items


def declarations(code: str) -> list[tuple[str, str, str]]:
    """(kind, signature, block of code) of declarations that stand together."""
    found: list[tuple[str, str, str]] = []
    for part in statements(code):
        if not part.startswith("typedef"):
            found.append(("function", " ".join(part.rstrip(";").split()), ""))
        elif "{" in part:
            kind = "enum" if part.startswith("typedef enum") else "struct"
            found.append((kind, TYPE.match(part)[1], f"```c\n{part}\n```"))
        else:
            found.append(("type", TYPE.match(part)[1], ""))
    return found


def cpp_items(body: str) -> list[str]:
    items = []
    for block in blocks(re.sub(r"\n private:.*?(?=\n\};)", "", body, flags=re.S)):
        comment = COMMENT.match(block)
        code = without_bodies(block[comment.end() :] if comment else block).strip()
        code = re.sub(r"\n+\};$", "\n};", code)
        items += [prose(comment[0])] if comment else []
        items += [f"```cpp\n{code}\n```"] if code else []
    return items


def blocks(text: str) -> list[str]:
    """What blank lines separate, but for those within braces or comments."""
    found, rest = [], text.strip() + "\n\n"
    while rest.strip():
        depth = 0
        for line in re.finditer(r"/\*.*?\*/|//[^\n]*|[{}]|\n[ \t]*\n", rest, re.S):
            depth += {"{": 1, "}": -1}.get(line[0], 0)
            if depth == 0 and line[0].isspace():
                break
        found.append(rest[: line.start()].strip())
        rest = rest[line.end() :].lstrip("\n")
    return found


def statements(code: str) -> list[str]:
    """What semicolons end at the depth of no brace, comments aside."""
    found, depth, start = [], 0, 0
    for mark in re.finditer(r"/\*.*?\*/|[{};]", code, re.S):
        depth += {"{": 1, "}": -1}.get(mark[0], 0)
        if mark[0] == ";" and depth == 0:
            found.append(code[start : mark.end()].strip())
            start = mark.end()
    return found


def without_bodies(code: str) -> str:
    """C++ without the bodies of functions and what constructors initialise."""
    out, at = "", 0
    for brace in re.finditer(r"\{", code):
        if brace.start() < at or not re.search(
            r"(\)|\bconst|\bnoexcept)\s*$", code[: brace.start()]
        ):
            continue
        end, depth = brace.end(), 1
        while depth:
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
        head = re.sub(
            r"\)\s*:\s+\w[\w:]*\([^()]*\)(, \w+\([^()]*\))*\s*$", ")", code[at : brace.start()]
        )
        out, at = out + head.rstrip() + ";", end
    return out + code[at:]


def prose(comment: str) -> str:
    """A comment's text as Markdown; what it indents after a blank line is code."""
    lines = re.sub(r"^/\* ?|\s*\*/$", "", comment).splitlines()
    lines = [re.sub(r"^ ?(\*|//) ?", "", line).rstrip() for line in lines]
    text = "\n".join(lines).strip()
    if not re.search(r"^ +- ", text, re.M):
        text = re.sub(r"^(\S[^\n]*)\n(?=  )", r"\1\n\n", text, flags=re.M)
        text = re.sub(r"^(  [^\n]*)\n(?=\S)", r"\1\n\n", text, flags=re.M)
    parts = []
    for part in text.split("\n\n"):
        if "BEGIN" in part:
            continue  # a word to those who read the header as a file
        if re.match(r" +[^\s-]", part):
            parts.append(f"```cpp\n{textwrap.dedent(part)}\n```")
        else:
            parts.append(linked(re.sub(r"\n(?= +- )", "\n\n", part, count=1)))
    return "\n\n".join(parts).replace("\n```\n\n```cpp\n", "\n\n")


def linked(text: str) -> str:
    """Names of functions and pages become links; what Markdown would take for a mark is escaped."""
    spans = re.split(r"(`[^`]*`)", text)
    for index in range(0, len(spans), 2):
        span = re.sub(r"([<*])", r"\\\1", spans[index])
        span = re.sub(r"\b(tw_\w+)\(\)", r"{c:func}`\1`", span)
        span = re.sub(r"(?<!`)\b((?:tw|TW|THINWIRE)_[A-Z_a-z0-9]+)\b(?![`\\(=])", r"`\1`", span)
        spans[index] = re.sub(r"(?<![\w/`])((?:docs|spec)/[\w./-]+\.md)", r"[\1](/\1)", span)
    return "".join(spans)
