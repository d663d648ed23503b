"""The report as one HTML file that needs no network: tables, charts and pictures of optimism.

Python writes the tables, which need no JavaScript. The browser draws charts (with plotly) and
pictures from the numbers embedded in the page.
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
"""The scripts in the order in which they are joined into one module."""

DIGITS = 5
"""Significant digits of the numbers behind charts and pictures, as stated on the page."""


def write_page(data: dict[str, Any], path: str | Path) -> None:
    """Write the page atomically."""
    storage.write_bytes(path, render(data).encode())


def render(data: dict[str, Any]) -> str:
    """The page as text; the same data give the same bytes.

    Parameters
    ----------
    data
        Titles, tables, curves and pictures as plain numbers, lists and texts. Missing numbers are
        None. A world's ``rows`` and ``improvement`` list its agents in the same order.
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
        **parts.fill(data),
        **imitation.parts(data),
        **returns.parts(data),
        "peers": peers.section(data),
    }
    # One pass, so that braces in titles and names are not replaced.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: filled[found[1]], _asset("page.html"))


def _for_script(data: dict[str, Any]) -> dict[str, Any]:
    """The data that the browser draws: agents with colour and dash, curves and pictures."""
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
    """The value with all floats rounded, which halves the size of the page."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where} must be finite, or None if it is missing; got {value}")
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, list | tuple):
        return [_rounded(item, where) for item in value]
    if isinstance(value, dict):
        return {key: _rounded(item, f"{key} in {where}") for key, item in value.items()}
    return value


def _embedded(value: Any) -> str:
    """JSON for a script element; "<" is escaped, so that no text can end the element."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _asset(name: str) -> str:
    return resources.files(__name__).joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _plotly() -> tuple[str, str]:
    """Plotly's bundle, compressed from 4.8 MB to 2 MB, and the digest of its text."""
    from plotly.offline import get_plotlyjs

    text = get_plotlyjs()
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode(), _digest(text)


def _digest(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _content_policy(*digests: str) -> str:
    """A policy that forbids all requests, and all scripts other than those with these digests."""
    scripts = " ".join(f"'{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
