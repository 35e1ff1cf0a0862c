"""Tables of a page, as its `page.toml` describes them.

rows      the file; `where` keeps the rows whose cells are named
columns   which to show, each a name or [name, heading]
code      columns that are set as code
same      columns whose cell is left out if the row above has it too
bold      {column = "> 1.02"}: cells to set in bold, which are losses
group     columns by which rows are summed up: least, most and median of each of `columns`,
          and with `count` = {column = "< 1"} how many are so
"""

import re
from decimal import ROUND_HALF_UP, Decimal
from statistics import median
from typing import Any

from results.rows import BadData, Row, number, numbers

CONDITION = re.compile(r"([<>]) (\d+(?:\.\d+)?)")


def holds(condition: str, value: Decimal | None) -> bool:
    found = CONDITION.fullmatch(condition)
    if not found:
        raise BadData(f"`{condition}` is no condition such as `> 1.02`")
    limit = Decimal(found[2])
    return value is not None and (value > limit if found[1] == ">" else value < limit)


def pairs(columns: list[Any]) -> list[tuple[str, str]]:
    """Columns with the headings that they get."""
    return [(each, each) if isinstance(each, str) else (each[0], each[1]) for each in columns]


def line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def as_markdown(spec: dict[str, Any], rows: list[Row]) -> list[str]:
    columns = pairs(spec["columns"])
    unknown = [name for name, _ in columns if rows and name not in rows[0]]
    if unknown or not rows:
        raise BadData(f"{spec['rows']} has no column {unknown}" if rows else "a table has no rows")
    if "group" in spec:
        return summed_up(spec, rows)
    heads = [heading for _, heading in columns]
    made = [line(heads), "|" + "---|" * len(heads)]
    above: list[str] = []
    for row in rows:
        plain = [row[name] for name, _ in columns]
        cells = [cell_of(spec, name, row[name]) for name, _ in columns]
        for at, (name, _) in enumerate(columns):
            # A cell is left out only while all before it are those of the row above, too.
            if name in spec.get("same", []) and above[: at + 1] == plain[: at + 1]:
                cells[at] = ""
        above = plain
        made.append(line(cells))
    return made


def cell_of(spec: dict[str, Any], name: str, text: str) -> str:
    if not text:
        return ""
    if name in spec.get("code", []):
        text = f"`{text}`"
    condition = spec.get("bold", {}).get(name)
    bold = condition and holds(condition, number(text))
    return f"**{text}**" if bold else text.replace("|", "\\|")


def summed_up(spec: dict[str, Any], rows: list[Row]) -> list[str]:
    by, columns = spec["group"], pairs(spec["columns"])
    heads = [*by, "rows", *(heading for _, heading in columns)]
    made = [line(heads), "|" + "---|" * len(heads)]
    for key in dict.fromkeys(tuple(row[name] for name in by) for row in rows):
        group = [row for row in rows if tuple(row[name] for name in by) == key]
        said = [spread(numbers(group, name), spec, name) for name, _ in columns]
        shown = [
            f"`{each}`" if name in spec.get("code", []) else each
            for name, each in zip(by, key, strict=True)
        ]
        made.append(line([*shown, str(len(group)), *said]))
    return made


def spread(values: list[Decimal], spec: dict[str, Any], name: str) -> str:
    if not values:
        return ""
    middle = median(values)
    digits = min(int(each.as_tuple().exponent) for each in values)
    middle = Decimal(middle).quantize(Decimal(1).scaleb(digits), ROUND_HALF_UP)
    condition = spec.get("count", {}).get(name)
    if len(values) == 1:
        short = condition and holds(condition, values[0])
        return f"**{values[0]}**" if short else str(values[0])
    said = f"{min(values)} to {max(values)}, median {middle}"
    if condition:
        many = sum(holds(condition, each) for each in values)
        said += f"; **{many} {condition}**" if many else f"; none {condition}"
    return said
