"""Tables of the rows that `lossless_rows.py` printed, as Markdown.

python bench/studies/lossless/lossless_tables.py rows.json ...
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]

# Whose ratios are the mark.
MARKS = ("Bitcomp", "ndzip", "MPC", "zstd -3", "zstd -3, byte planes")
OTHERS = ("zstd -19, byte planes", "blosc2", "fpzip")
CHOSEN = "lossless"
LEAST_OF_BEST = 0.98
LEAST_OF_ORDER0 = 0.97
TRAINING = ("grad", "gradients", "weights", "activations", "moment", "cache", "experts")


def ratio(row: Row, coded: Row) -> float:
    return float(row["bytes"] / coded["bytes"])


def best(row: Row, codec: str = "") -> Row:
    """Of our own, with each codec in each shape."""
    own = [each for each in row["own"] if each["spec"].startswith(codec)]
    return dict(min(own, key=lambda each: each["bytes"])) if own else {}


def short(spec: str) -> str:
    """Without the options that are as usual."""
    for usual in (":tuple=1", ":stride=1", ":mode=auto"):
        spec = spec.replace(usual, "")
    return spec


def table(heads: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    rows = [heads, ["---"] * len(heads), *lines]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def own_lines(rows: list[Row]) -> Iterator[list[str]]:
    for row in rows:
        taken, most = row[CHOSEN], best(row)
        share = most["bytes"] / taken["bytes"]
        yield [
            row["file"],
            row["shape"],
            f"{short(taken['spec'])} {taken['shape']}",
            f"{ratio(row, taken):.3f}",
            f"{short(most['spec'])} {most['shape']}",
            f"{ratio(row, most):.3f}",
            f"{1 - share:.1%}" + ("" if share >= LEAST_OF_BEST else ", short"),
        ]


def rival_lines(rows: list[Row]) -> Iterator[list[str]]:
    for row in rows:
        cells = [row["file"], f"{ratio(row, best(row)):.3f}"]
        for name in (*MARKS, *OTHERS):
            coded = row["rivals"].get(name)
            cells.append(f"{ratio(row, coded):.3f}" if coded else "-")
        yield cells


def ahead(row: Row, names: Iterable[str]) -> list[tuple[str, float]]:
    """Who makes less than our best codec, and by how much their ratio is higher; the most first."""
    most = best(row)["bytes"]
    gaps = []
    for name in names:
        coded = row["rivals"].get(name)
        if coded and coded["bytes"] < most:
            label = f"{name} ({coded['setting']})" if coded["setting"] else name
            gaps.append((label, most / coded["bytes"] - 1))
    return sorted(gaps, key=lambda gap: -gap[1])


def behind_lines(rows: list[Row], names: Iterable[str]) -> Iterator[list[str]]:
    for row in rows:
        gaps = ahead(row, names)
        if gaps:
            words = "; ".join(f"{label} {gap:+.1%}" for label, gap in gaps)
            yield [row["file"], f"{ratio(row, best(row)):.3f}", words]


def order0_lines(rows: list[Row]) -> Iterator[list[str]]:
    """Of files of training and inference: what of order 0 `expack` reaches."""
    for row in rows:
        packed = best(row, "expack")
        if not packed or not any(word in row["file"] for word in TRAINING):
            continue
        share = ratio(row, packed) / row["order0"]
        yield [
            row["file"],
            f"{row['order0']:.3f}",
            f"{ratio(row, packed):.3f}",
            f"{share:.3f}" + ("" if share >= LEAST_OF_ORDER0 else ", short"),
        ]


def main() -> None:
    lines = [line for path in sys.argv[1:] for line in Path(path).read_text().splitlines()]
    rows = list(map(json.loads, lines))
    print("### Own choice\n")
    heads = ["file", "shape", "chosen", "ratio", "best of ours", "ratio", "choice loses"]
    print(table(heads, own_lines(rows)))
    print("\n### Rivals\n")
    print(table(["file", "ours, best", *MARKS, *OTHERS], rival_lines(rows)))
    heads = ["file", "ours, best", "whose ratio is higher, and by how much"]
    print("\n### Behind the marks\n")
    print(table(heads, behind_lines(rows, MARKS)))
    print("\n### Behind the others\n")
    print(table(heads, behind_lines(rows, OTHERS)))
    print("\n### expack and order 0\n")
    print(table(["file", "order 0", "expack", "expack / order 0"], order0_lines(rows)))


if __name__ == "__main__":
    main()
