"""A page of docs/results from its folder in bench/results: words, tables, charts, a command."""

import re
import tomllib
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

from results import charts, headlines, tables
from results.rows import BadData, Row, Run, chosen, runs_of, tables_of

MARK = re.compile(r"^<!-- (table|chart|runs|headlines)(?: (\S+))? -->$", re.M)
MANY = 3  # runs of a table that are not told one by one
HEAD = "<!-- Made by tools/results_pages from {folder}: change it there. -->\n\n"


def wrapper() -> Callable[[str], str]:
    """The function of tools/wrap_markdown, so that lint finds no line that is too long."""
    loader = SourceFileLoader(
        "wrap_markdown", str(Path(__file__).resolve().parent.parent / "wrap_markdown")
    )
    spec = spec_from_loader("wrap_markdown", loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    wrapped: Callable[[str], str] = module.wrapped
    return wrapped


class Page:
    """What one folder holds, and the files that are made of it."""

    def __init__(self, folder: Path, root: Path):
        self.folder, self.root = folder, root
        self.runs = runs_of(folder)
        self.spec = tomllib.loads((folder / "page.toml").read_text())
        self.text = (folder / "page.md.in").read_text()
        self.tables = tables_of(folder / "rows.md", self.runs)
        self.used: set[tuple[str, str]] = set()
        self.said: list[Run] = []  # of the table above
        self.shown: set[str] = set()  # runs of which a table or a chart has rows

    def made(self) -> dict[Path, str]:
        """The page and its charts, by their paths."""
        results = self.root / "docs" / "results"
        head = HEAD.format(folder=self.folder.relative_to(self.root))
        found: dict[Path, str] = {}

        def put(mark: re.Match[str]) -> str:
            kind, name = mark[1], mark[2] or ""
            self.used.add((kind, name))
            if kind == "runs":
                return self.command(name)
            if kind == "headlines":
                return headlines.as_markdown(self.root)
            spec = self.spec.get(kind, {}).get(name)
            if spec is None:
                raise BadData(f"{self.folder.name}/page.toml describes no {kind} `{name}`")
            rows = self.rows(spec)
            self.shown |= {row["run"] for row in rows}
            if kind == "table":
                return "\n".join([*tables.as_markdown(spec, rows), "", self.caption(spec, rows)])
            path = results / "charts" / f"{self.folder.name}-{name}.svg"
            found[path] = charts.as_svg(spec, rows)
            picture = f"![{spec['title']}](charts/{path.name})"
            return f"{picture}\n\n{self.caption(spec, rows)}" if "alone" in spec else picture

        page = MARK.sub(put, self.text)
        self.complain()
        found[results / f"{self.folder.name}.md"] = wrapper()(head + page)
        return found

    def rows(self, spec: dict[str, Any]) -> list[Row]:
        if spec["rows"] not in self.tables:
            raise BadData(f"{self.folder.name}/rows.md has no table {spec['rows']}")
        return chosen(self.tables[spec["rows"]], spec.get("where", {}))

    def caption(self, spec: dict[str, Any], rows: list[Row]) -> str:
        """Machine, date and commit of a table's runs, and where all rows are."""
        runs = [self.runs[name] for name in dict.fromkeys(row["run"] for row in rows)]
        whole, shown = len(self.tables[spec["rows"]]), len(rows)
        many = "all rows" if shown < whole or "group" in spec else "data"
        where = f"../../{self.folder.relative_to(self.root)}/rows.md#{spec['rows']}"
        same, self.said = runs == self.said, runs
        heads = "; ".join(run.head for run in runs)
        if len(runs) > MANY:
            dates = sorted(run.date for run in runs)
            first, last = dates[0], dates[-1]
            days = f"from {first} to {last}" if first < last else f"of {first}"
            heads = f"{len(runs)} runs {days}, which each row names"
        return f"{'The same' if same else heads} ([{many}]({where}))."

    def command(self, name: str) -> str:
        """The command of one run that is shown; those of the others are in the data."""
        if name not in self.shown or not self.runs[name].command:
            raise BadData(f"{self.folder.name}/page.md.in: no command of a run `{name}` is shown")
        words = f"../../{self.folder.relative_to(self.root)}/runs.toml"
        more = f"Other rows, and how all were checked: [runs.toml]({words})."
        run = self.runs[name]
        made = ["```sh", f"# {run.date}, {run.commit}", *run.command.splitlines(), "```"]
        return "\n".join([*made, "", more])

    def complain(self) -> None:
        """Data that no reader would find, and descriptions of nothing."""
        described = {(kind, name) for kind, each in self.spec.items() for name in each}
        left = described - self.used
        if left:
            raise BadData(f"{self.folder.name}/page.md.in has no place for {sorted(left)}")
        shown = {
            self.spec[kind][name]["rows"]
            for kind, name in self.used
            if name in self.spec.get(kind, {})
        }
        linked = {name for name in self.tables if f"/rows.md#{name})" in self.text}
        if lost := set(self.tables) - shown - linked:
            raise BadData(f"{self.folder.name} neither shows nor links {sorted(lost)}")
        named = {row["run"] for rows in self.tables.values() for row in rows}
        if idle := set(self.runs) - named:
            raise BadData(f"{self.folder.name}/runs.toml: no row is of {sorted(idle)}")


def folders(root: Path) -> list[Path]:
    return sorted(path.parent for path in (root / "bench" / "results").glob("*/page.toml"))


__all__ = ["BadData", "Page", "Run", "folders"]
