"""`thinwire codecs`: the registry."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from thinwire import codec as registry
from thinwire.bench.layout import print_wrapped
from thinwire.codec import CodecInfo


def codecs(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the codecs of this build: what they take, their options and an example of a spec."""
    rows = registry.codecs()
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
        return
    width = max(len(row.name) for row in rows)
    for row in rows:
        kind = "lossless" if row.lossless else "lossy"
        place = "GPU only" if row.gpu_only else ""
        head = f"{row.name:{width}}  {kind:8}  {' '.join(row.dtypes):22}  {place}"
        print_wrapped(head.rstrip(), hanging="    ")
        for line in _details(row):
            print_wrapped(line, indent="    ")


def _details(row: CodecInfo) -> list[str]:
    lines = [row.summary]
    if row.options:
        fill = "" if row.lossless or row.gpu_only else "; fill=<value> | nan | auto"
        lines += [f"options: {row.options}{fill}", f"example: {row.example}"]
    if not row.available:
        lines.append(f"cannot run here: {row.unavailable}")
    return lines
