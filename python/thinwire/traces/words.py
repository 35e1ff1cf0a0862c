"""Figures as people read them, and text as HTML has it."""

from html import escape

_STEPS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def size(count: float) -> str:
    """As in "1.5 MiB"."""
    at = 0
    while abs(count) >= 1024 and at + 1 < len(_STEPS):
        count /= 1024
        at += 1
    return f"{count:.0f} {_STEPS[at]}" if at == 0 or count >= 100 else f"{count:.3g} {_STEPS[at]}"


def seconds(value: float) -> str:
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if value * factor >= 1 or unit == "us":
            scaled = value * factor
            return f"{scaled:.0f} {unit}" if scaled >= 100 else f"{scaled:.3g} {unit}"
    raise AssertionError


def saved(raw: float, took: float) -> str:
    """Of two times the difference, and its part of the first; "-" if none was predicted."""
    if raw <= 0:
        return "-"
    sign = "" if took <= raw else "-"
    return f"{sign}{seconds(abs(raw - took))} ({100 * (raw - took) / raw:.0f}%)"


def count(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ")


def ratio(raw: float, wire: float) -> str:
    return f"{raw / wire:.2f}" if wire else "-"


def text(value: object) -> str:
    return escape(str(value))


def marked(sentence: str) -> str:
    """A sentence whose `words` are code."""
    parts = escape(sentence).split("`")
    return "".join(f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts))


def table(
    heads: list[str], rows: list[list[str]], words: frozenset[int] | set[int] = frozenset({0})
) -> str:
    """Cells are HTML. It scrolls where it is wider than the page; `words`: columns of text."""

    def cell(tag: str, at: int, inner: str) -> str:
        kind = "" if at in words else ' class="n"'
        return f"<{tag}{kind}>{inner}</{tag}>"

    head = "".join(cell("th", at, text(each)) for at, each in enumerate(heads))
    body = "".join(
        "<tr>" + "".join(cell("td", at, each) for at, each in enumerate(row)) + "</tr>"
        for row in rows
    )
    return (
        '<div class="wide" tabindex="0"><table><thead><tr>'
        f"{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def section(title: str, inner: str, said: str = "") -> str:
    under = f'<p class="soft">{said}</p>' if said else ""
    return f"<section><h2>{text(title)}</h2>{under}{inner}</section>"
