"""What is on the site, in which order; and the Python reference's directives."""

import inspect

import thinwire


def part(caption: str, *pages: str, options: str = "") -> str:
    options = "\n".join(filter(None, [":hidden:", f":caption: {caption}" * bool(caption), options]))
    listed = "\n".join(pages)
    return f"\n\n```{{toctree}}\n{options}\n\n{listed}\n```\n"


OF_PAGES = {
    "README": part(
        "Guides",
        "docs/guide/install",
        "docs/guide/mpi",
        "docs/guide/choosing-a-codec",
        "docs/guide/python",
        "docs/guide/c-library",
        "docs/guide/collectives",
        "docs/guide/nccl",
        "docs/guide/lab",
        "docs/guide/measure",
        "docs/guide/measuring-codecs",
        "examples/README",
    )
    + part(
        "Reference",
        "docs/reference/settings",
        "docs/reference/report",
        "docs/reference/limits",
        "docs/reference/c",
        "docs/reference/cpp",
        "docs/reference/python",
        "spec/README",
    )
    + part(
        "Background",
        "docs/concepts/glossary",
        "docs/concepts/error-bounds",
        "SECURITY",
        "docs/results/README",
        "CHANGELOG",
    )
    + part(
        "Working on it",
        "ARCHITECTURE",
        "CONTRIBUTING",
        "tests/README",
        "shim/mpi/README",
        "shim/nccl/README",
        "docs/decisions/README",
    ),
    "examples/README": part("", "*/README", options=":glob:"),
    "tests/README": part("", "*/README", options=":glob:"),
    "spec/README": part(
        "", "frame", "mpi-message", "collective", "versions", "codec-*", options=":glob:"
    ),
    "docs/results/README": part("", "20*", options=":glob:\n:reversed:"),
    "docs/decisions/README": part("", "0*", options=":glob:"),
}


def of_python(names: list[str]) -> str:
    """Directives for names of the package, from their docstrings."""
    listed = []
    for name in names:
        item = getattr(thinwire, name)
        kind = "class" if inspect.isclass(item) else "function" if callable(item) else "data"
        options = (
            "   :members:\n   :undoc-members:\n   :inherited-members:\n" if kind == "class" else ""
        )
        if kind == "class" and issubclass(item, Exception):
            options = "   :show-inheritance:\n"
        listed.append(f".. auto{kind}:: thinwire.{name}\n{options}")
    return "```{eval-rst}\n" + "\n".join(listed) + "```"
