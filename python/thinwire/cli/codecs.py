"""`thinwire codecs`: the registry."""

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from thinwire import codec as registry


def codecs(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the codecs of this build."""
    rows = registry.codecs()
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
        return
    table = Table("name", "id", "kind", "types", "options", "what", box=None)
    for row in rows:
        kind = "lossless" if row.lossless else "lossy"
        table.add_row(row.name, str(row.id), kind, " ".join(row.dtypes), row.options, row.summary)
    Console().print(table)
    for row in rows:
        if not row.available:
            print(f"{row.name} cannot run here: {row.unavailable}")
