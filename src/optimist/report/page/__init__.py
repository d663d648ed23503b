"""The report as one HTML file that needs no network: tables, charts and pictures of optimism.

Templates write the tables, which need no JavaScript. The browser draws charts (with plotly) and
pictures from the numbers embedded in the page.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from optimist.core import storage
from optimist.display.numbers import FORMS, MISSING, count, times
from optimist.report.certificates import HEIGHT, TOP, WIDTH, band, half_by
from optimist.report.data import LEVELS, ReportData, ShownWorld, plain
from optimist.report.finding import finding, leaders, most_telling
from optimist.report.labels import ALL, Labels
from optimist.report.page import layout
from optimist.report.ratios import any_beyond, beyond, grouped, limits

SCRIPTS = (
    "dom.js",
    "base.js",
    "controls.js",
    "curves.js",
    "charts.js",
    "colours.js",
    "board.js",
    "panels.js",
    "optimism.js",
    "start.js",
)
"""The scripts in the order in which they are joined into one module."""

DIGITS, MAP_DIGITS = 5, 3
"""Significant digits of the numbers behind charts and pictures, and of maps, which are large."""

TABS = 6
"""Most worlds that are chosen from tabs; more are chosen from a list."""

FEW_SEEDS = 20
"""With fewer seeds, bootstrap intervals are noticeably too narrow."""


def write_page(data: ReportData, path: str | Path) -> None:
    """Write the page atomically."""
    storage.write_bytes(path, render(data).encode())


def render(data: ReportData) -> str:
    """The page as text; the same data give the same bytes."""
    template = _templates().get_template("page.html")
    script = "\n".join(asset(name) for name in SCRIPTS)
    plotly, plotly_digest = _plotly()
    seeds = [world.seeds for world in data.worlds if world.seeds]
    return template.render(
        data=data,
        finding=finding(data),
        opening=most_telling(data),
        tracks=_tracks(data),
        order={agent.name: i for i, agent in enumerate(data.agents)},
        places={world.name: i for i, world in enumerate(data.worlds)},
        least_seeds=min(seeds, default=0),
        most_seeds=max(seeds, default=0),
        imitators=any("matching_error" in c.of for w in data.worlds for c in w.curves.values()),
        maps=any(w.picture and w.picture.axes is not None for w in data.worlds),
        policy=_content_policy(_digest(script), plotly_digest),
        style=Markup(asset("page.css")),
        embedded=_embedded(_for_script(data)),
        plotly=plotly,
        script=Markup(script),
    )


def _tracks(data: ReportData) -> Sequence[Labels]:
    """The measurements in the worlds."""
    return [one for one in ALL if any(world.labels is one for world in data.worlds)] or ALL[:1]


def _for_script(data: ReportData) -> dict[str, Any]:
    """The data that the browser draws: agents with colour and dash, curves and pictures."""
    return {
        "agents": [{"name": a.name, **layout.look(i)} for i, a in enumerate(data.agents)],
        "tracks": {labels.key: plain(labels) for labels in _tracks(data)},
        "opening": most_telling(data),
        "worlds": [_world_for_script(world) for world in data.worlds],
    }


def _world_for_script(world: ShownWorld) -> dict[str, Any]:
    curves = plain(world.curves, DIGITS, f"curves of {world.name}")
    picture = None
    if world.picture:
        digits = DIGITS if world.picture.axes is None else MAP_DIGITS
        picture = plain(world.picture, digits, f"the picture of {world.name}")
        for run, recording in zip(picture["runs"], world.picture.runs, strict=True):
            run["opening"] = recording.opening
    return {"name": world.name, "track": world.labels.key, "curves": curves, "picture": picture}


def _embedded(value: Any) -> Markup:
    """JSON for a script element; "<" is escaped, so that no text can end the element."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))


@cache
def _templates() -> Environment:
    """The templates; they escape every text, and refuse names that are not there."""
    found = Environment(
        loader=PackageLoader(__name__, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(FORMS, times=times, count=count, zip=zip)
    for used in (leaders, any_beyond, beyond, grouped, limits, band, half_by, *layout.USED):
        found.globals[used.__name__] = used
    found.globals.update(FORMS=FORMS, MISSING=MISSING, GROUPS=layout.GROUPS, TABS=TABS)
    found.globals.update(LEVELS=LEVELS, TOP=TOP, WIDTH=WIDTH, HEIGHT=HEIGHT)
    found.globals.update(DIGITS=DIGITS, MAP_DIGITS=MAP_DIGITS, FEW_SEEDS=FEW_SEEDS)
    return found


def asset(name: str) -> str:
    """The text of a style sheet or a script of the page."""
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
