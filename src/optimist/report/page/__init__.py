"""The report as one HTML file that needs no network: tables, charts and pictures of optimism.

Tables are written here and can be read and printed without JavaScript; charts (by plotly) and
pictures are drawn in the browser from the numbers inside the page.
"""

import base64
import hashlib
import json
import math
import re
import zlib
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from optimist.core import storage
from optimist.report.page import imitation, parts, peers, returns

SCRIPTS = (
    "base.js",
    "controls.js",
    "curves.js",
    "charts.js",
    "colours.js",
    "board.js",
    "panels.js",
    "optimism.js",
    "maps.js",
    "start.js",
)
"""In this order they are one module: what a file names, the later ones can use."""

DIGITS = 5
"""Significant digits of the numbers behind charts and pictures; the page says so."""


def write_page(data: dict[str, Any], path: str | Path) -> None:
    """Write the page; the file appears whole or not at all."""
    storage.write_bytes(path, render(data).encode())


def render(data: dict[str, Any]) -> str:
    """The page as text. The same data gives the same bytes.

    Parameters
    ----------
    data
        Titles, tables, curves and pictures as plain numbers, lists and texts; a number that is
        missing is None. A world's ``rows`` and ``improvement`` list its agents in one order.
    """
    script = "\n".join(_asset(name) for name in SCRIPTS)
    plotly, plotly_digest = _plotly()
    filled = {
        "policy": _content_policy(_digest(script), plotly_digest),
        "style": _asset("page.css"),
        "data": _embedded(_for_script(data)),
        "plotly": plotly,
        "script": script,
        "digits": str(DIGITS),
        **parts.of(data),
        **imitation.parts(data),
        **returns.parts(data),
        "peers": peers.section(data),
    }
    # One pass, so that braces in somebody's title are left alone.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: filled[found[1]], _asset("page.html"))


def _for_script(data: dict[str, Any]) -> dict[str, Any]:
    """What the browser draws from: agents with their looks, curves and pictures."""
    names = ("name", "optimal", "curves", "picture")
    return {
        "agents": [
            {"name": agent["name"], **parts.look(i)} for i, agent in enumerate(data["agents"])
        ],
        "worlds": [
            {
                **{name: _rounded(world[name], f"{name} of {world['name']}") for name in names},
                "returns": bool(world.get("returns")),
            }
            for world in data["worlds"]
        ],
    }


def _rounded(value: Any, where: str) -> Any:
    """The same with all floats to a few digits, which halves the page and shows nowhere."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where} is {value}; in a report a number that is missing is None")
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, list | tuple):
        return [_rounded(item, where) for item in value]
    if isinstance(value, dict):
        return {key: _rounded(item, f"{key} in {where}") for key, item in value.items()}
    return value


def _embedded(value: Any) -> str:
    """JSON that can stand inside a script element: without <, nothing in it can end the element."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _asset(name: str) -> str:
    return resources.files(__name__).joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _plotly() -> tuple[str, str]:
    """Plotly's own bundle, compressed (4.8 MB to 2 MB), and the digest of its text."""
    from plotly.offline import get_plotlyjs

    text = get_plotlyjs()
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode(), _digest(text)


def _digest(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _content_policy(*digests: str) -> str:
    """Forbid the browser all requests, and all scripts but ours, whatever a name may hold."""
    scripts = " ".join(f"'{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
