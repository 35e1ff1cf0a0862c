"""What is on the site, in which order; and the Python reference's directives."""

import inspect
from pathlib import Path

import thinwire

ROOT = Path(__file__).resolve().parents[2]


def part(
    caption: str,
    *pages: str,
    folder: str = "",
    shown: bool = False,
) -> str:
    """A part of the contents; a page with a star stands for those that no other entry names. Shown
    also on the page that heads it, where that has no list of its own."""
    listed = [page for page in pages if "*" not in page]
    for pattern in set(pages) - set(listed):
        found = (
            str(path.relative_to(ROOT / folder)) for path in (ROOT / folder).glob(f"{pattern}.md")
        )
        others = {name.removesuffix(".md") for name in found} - set(listed) - {"README"}
        listed += sorted(others)
    options = (
        ":maxdepth: 1\n" + ":hidden:\n" * (not shown) + f":caption: {caption}\n" * bool(caption)
    )
    return f"\n\n```{{toctree}}\n{options}\n" + "\n".join(listed) + "\n```\n"


OF_PAGES = {
    "README": part(
        "Tutorials",
        "docs/tutorial/first-program",
        "docs/tutorial/gpu-buffers",
        "docs/tutorial/training",
        "docs/tutorial/codec-for-my-data",
        "docs/tutorial/when-it-does-not-gain",
        "docs/tutorial/*",
    )
    + part(
        "Guides",
        "docs/guide/install",
        "docs/guide/mpi",
        "docs/guide/clusters",
        "docs/guide/choosing-a-codec",
        "docs/guide/why",
        "docs/guide/seeing-it-work",
        "docs/guide/python",
        "docs/guide/c-library",
        "docs/guide/collectives",
        "docs/guide/nccl",
        "docs/guide/policy",
        "docs/guide/pytorch",
        "docs/guide/weights",
        "docs/guide/jax",
        "docs/guide/dask",
        "docs/guide/explain",
        "docs/guide/simulate",
        "docs/guide/lab",
        "docs/guide/measure",
        "docs/guide/files",
        "docs/guide/*",
        "examples/README",
    )
    + part(
        "Reference",
        "docs/reference/settings",
        "docs/reference/mpi",
        "docs/reference/nccl",
        "docs/reference/pytorch",
        "docs/reference/collectives",
        "docs/reference/stream",
        "docs/reference/policy",
        "docs/reference/dask",
        "docs/reference/report",
        "docs/reference/lines",
        "docs/reference/trace",
        "docs/reference/measure",
        "docs/reference/limits",
        "docs/reference/compatibility",
        "docs/reference/command-line",
        "docs/reference/c",
        "docs/reference/cpp",
        "docs/reference/python",
        "docs/reference/*",
        "spec/README",
    )
    + part(
        "Background",
        "docs/concepts/glossary",
        "docs/concepts/error-bounds",
        "docs/concepts/*",
        "SECURITY",
        "docs/results/README",
        "CHANGELOG",
    )
    + part(
        "Working on it",
        "ARCHITECTURE",
        "CONTRIBUTING",
        "docs/style",
        "tests/README",
        "bench/results/README",
        "bench/studies/roof/README",
        "shim/mpi/README",
        "shim/nccl/README",
        "third_party/README",
        "docs/decisions/README",
    ),
    "examples/README": part("", "*/README", folder="examples"),
    "tests/README": part("", "*/README", folder="tests"),
    "bench/results/README": part("", "*/rows", folder="bench/results"),
    "spec/README": part("", "frame", "mpi-message", "collective", "versions", "*", folder="spec"),
    "docs/results/README": part(
        "",
        "gains",
        "demo",
        "programs",
        "training",
        "mpi",
        "nccl",
        "never-lose",
        "codecs-on-cpus",
        "codecs-on-gpus",
        "conformance",
        "*",
        folder="docs/results",
    ),
    "docs/decisions/README": part(
        "",
        "frames",
        "codecs",
        "c-abi",
        "settings",
        "gpus",
        "names",
        "mpi-cards",
        "mpi-messages",
        "mpi-calls",
        "collectives",
        "never-lose",
        "slots",
        "nccl-calls",
        "nccl-helpers",
        "nccl-gain",
        "nccl-nodes",
        "python",
        "reports",
        "layers",
        "*",
        folder="docs/decisions",
        shown=True,
    ),
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
