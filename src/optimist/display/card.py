"""Cards: an object as HTML in a notebook, with a few numbers beside a small picture.

A card has no script, no style sheet and no colours of its own but one, and takes all others from
the text around it: so it is legible on light and dark, whichever way a page was made dark.
"""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

BOX = (
    "display:inline-flex;flex-wrap:wrap;gap:.5em 1.5em;align-items:center;line-height:1.35;"
    "padding:.5em .9em;border:1px solid #8886;border-radius:6px"
)
HEAD, FAINT = "font-weight:600", "opacity:.7;font-size:85%"
CELL = "padding:.15em .7em;text-align:right;white-space:nowrap;border:0"


def card(title: str, facts: Mapping[str, object], *pictures: str, note: str = "") -> str:
    """A title, facts by their names, and pictures; texts are escaped, pictures are HTML.

    Examples
    --------
    >>> print(card("History", {"episodes": 5}))      # doctest: +ELLIPSIS
    <div style="..."><div style="...">History</div><div><div style="...">episodes</div>5</div></div>
    """
    parts = [
        f'<div><div style="{FAINT}">{escape(name)}</div>{escape(str(value))}</div>'
        for name, value in facts.items()
    ]
    under = f'<div style="flex-basis:100%;{FAINT}">{escape(note)}</div>' if note else ""
    head = f'<div style="{HEAD}">{escape(title)}</div>'
    return f'<div style="{BOX}">{head}{"".join([*parts, *pictures])}{under}</div>'


def table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows of texts, the first of which has the names of the columns, as an HTML table."""
    lines = [*rows]
    if not lines:
        return ""
    cells = [[*lines[0]], *([*line.values()] for line in lines)]
    made = ["".join(f'<td style="{CELL}">{escape(str(c))}</td>' for c in line) for line in cells]
    body = "".join(f'<tr style="background:none">{line}</tr>' for line in made[1:])
    head = f'<tr style="{FAINT};background:none">{made[0]}</tr>'
    shown = f'<table style="border-collapse:collapse;font-size:95%">{head}{body}</table>'
    return f'<div style="max-width:100%;overflow-x:auto">{shown}</div>'
