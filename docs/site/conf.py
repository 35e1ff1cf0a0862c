"""Sphinx's settings of the site: `make docs` builds the tree's own Markdown into build/site."""

import re
import shutil
import sys
from pathlib import Path

import sphinx.application
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.errors import ExtensionError

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

import commands  # noqa: E402, beside this file
import contents  # noqa: E402
import header  # noqa: E402

project = "Thinwire"
author = "the authors of Thinwire"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]

# The source is the tree itself, so that a link means the same on the site and in the tree.
root_doc = "README"
include_patterns = ["*.md", "docs/**.md", "spec/**.md", "**/README.md", "bench/results/*/rows.md"]
exclude_patterns = ["build*", "dist", ".*", "src", "python", "**/node_modules"]

myst_heading_anchors = 4  # as the web views of repositories make them
myst_enable_extensions = ["colon_fence"]
default_role = "code"  # docstrings have single backquotes
autodoc_member_order = "bysource"
autoclass_content = "both"  # what `__init__` says of the arguments, too
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
maximum_signature_line_length = 92
add_module_names = False
highlight_language = "none"
smartquotes = False

html_theme = "furo"
html_title = "Thinwire"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_search_scorer = str(HERE / "static" / "scorer.js")
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
copybutton_selector = "div:not(.highlight-text) > div.highlight > pre"

HEADER = re.compile(r"<!-- site: header (\S+) -->")
COMMANDS = "<!-- site: commands -->"
NAMED = re.compile(r"(?<!\[)`((?:docs|spec|tests|shim|examples)/[\w./-]+\.md)`")
FOREIGN = re.compile(r"<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=\"(?:https?:)?//[^>]*>")
PYTHON = re.compile(r"<!-- site: python ([\w ]+) -->")


def is_page(name: str) -> bool:
    return (ROOT / name).is_file() and (name.startswith(("docs/", "spec/")) or "README" in name)


def fill_in(app: sphinx.application.Sphinx, page: str, source: list[str]) -> None:
    """Puts the references where a page asks for them, and the contents into the pages that head
    a part. A page that is named as a file of the tree becomes a link to it."""

    def of_header(mark: re.Match[str]) -> str:
        app.env.note_dependency(str(header.INCLUDE / mark[1]))
        return header.as_markdown(mark[1])

    text = HEADER.sub(of_header, source[0])
    if COMMANDS in text:
        for each in (ROOT / "python" / "thinwire" / "cli").glob("*.py"):
            app.env.note_dependency(str(each))
        text = text.replace(COMMANDS, commands.as_markdown())
    text = PYTHON.sub(lambda mark: contents.of_python(mark[1].split()), text)
    text = NAMED.sub(lambda name: f"[{name[0]}](/{name[1]})" if is_page(name[1]) else name[0], text)
    source[0] = text + contents.OF_PAGES.get(page, "")


def unlink_bytes(app: sphinx.application.Sphinx, tree: nodes.document) -> None:
    """Python's type, which has no page here, is not an attribute that a class has of that name."""
    for reference in list(tree.findall(pending_xref)):
        if reference.get("refdomain") == "py" and reference["reftarget"] == "bytes":
            reference.replace_self(nodes.Text("bytes"))


def finish(app: sphinx.application.Sphinx, error: Exception | None) -> None:
    """Adds the start page; no page may take anything from another host."""
    if error is not None:
        return
    shutil.copy(Path(app.outdir) / "README.html", Path(app.outdir) / "index.html")
    for page in Path(app.outdir).rglob("*.html"):
        if found := FOREIGN.search(page.read_text()):
            raise ExtensionError(f"{page}: {found[0]}")


def setup(app: sphinx.application.Sphinx) -> None:
    # A page more or less, or another line here, changes all pages.
    made_by = [each.read_text() for each in sorted(HERE.glob("*.py"))]
    app.add_config_value("made_by", repr((contents.OF_PAGES, made_by)), "env", [str])
    app.connect("source-read", fill_in)
    app.connect("doctree-read", unlink_bytes)
    app.connect("build-finished", finish)
