"""The tables of the page, as HTML."""

from collections.abc import Callable
from html import escape
from typing import Any, NamedTuple

from optimist.report.page.numbers import MISSING, decimal, number, percent

Form = Callable[[float | None], str]


class Kind(NamedTuple):
    """The columns of a table of results; agents are ranked by the first."""

    title: str
    unit: str
    columns: tuple[tuple[str, str, Form], ...]
    higher: bool  # is better

    @property
    def first(self) -> str:
        return self.columns[0][0]


LOSSES = Kind(
    "Average suboptimality",
    " in % of the optimal value",
    (
        ("average", "average, %", percent),
        ("iqm", "IQM, %", percent),
        ("final", "final, %", percent),
        ("regret", "total regret", number),
        ("slope", "slope", decimal),
    ),
    higher=False,
)
RETURNS = Kind(
    "Mean return",
    "",
    (("mean_return", "mean return", number), ("final_return", "final return", number)),
    higher=True,
)

Looks = dict[str, dict[str, str]]
"""Colour and dash of each agent."""

EMPTY = f"<td>{MISSING}</td>"


def swatch(look: dict[str, str]) -> str:
    """A sample of an agent's line."""
    dash = "" if look["dash"] == "solid" else look["dash"].replace("px", "")
    return (
        "<svg class='swatch' viewBox='0 0 32 8' aria-hidden='true'><line x1='1' x2='31' y1='4' "
        f"y2='4' stroke='{look['colour']}' stroke-width='2.5' stroke-dasharray='{dash}'/></svg>"
    )


def overview(worlds: list[dict[str, Any]], looks: Looks) -> str:
    """The first column of every agent in every world, one table for each kind of worlds."""
    return "".join(
        _overview(kind, [(i, w) for i, w in enumerate(worlds) if _kind(w) is kind], looks)
        for kind in (LOSSES, RETURNS)
    )


def _kind(world: dict[str, Any]) -> Kind:
    return RETURNS if world.get("returns") else LOSSES


def _overview(kind: Kind, worlds: list[tuple[int, dict[str, Any]]], looks: Looks) -> str:
    if not worlds:
        return ""
    form = kind.columns[0][2]
    head = "".join(
        f"<th scope='col'>{swatch(k)}{name_html(name)}</th>" for name, k in looks.items()
    )
    body = []
    for i, world in worlds:
        rows = {row["agent"]: row for row in world["rows"]}
        best = _leaders(world["rows"], kind)
        cells = "".join(
            _cell(rows[name][kind.first], form, name in best) if name in rows else EMPTY
            for name in looks
        )
        body.append(
            f"<tr><th scope='row'><a href='#results' data-choose='{i}'>"
            f"{name_html(world['name'])}</a></th>{cells}</tr>"
        )
    return scrolling(
        kind.title,
        "id='overview'" if kind is LOSSES else "id='overview-of-returns'",
        f"<caption>{kind.title}{kind.unit}</caption>"
        f"<thead><tr><th scope='col'>World</th>{head}</tr></thead>",
        body,
    )


def results(world: dict[str, Any], looks: Looks) -> str:
    """The results in a world, one row per agent; a click on a column sorts them."""
    rows, notes = world["rows"], _Notes()
    if not rows:
        return "<p>No run has finished in this world.</p>"
    kind = _kind(world)
    best, first = _leaders(rows, kind), kind.first
    scale = kind.columns[0][2]
    low, high = _range([row[first] for row in rows], zero=kind is LOSSES)
    head = "".join(
        f"<th scope='col' data-column='{key}'><button type='button'>{title}</button></th>"
        + (
            f"<th class='strip' aria-hidden='true'><span>{scale(low)}</span>"
            f"<span>{scale(high)}</span></th>"
            if key == first
            else ""
        )
        for key, title, _ in kind.columns
    )
    body = []
    for row in rows:
        cells = "".join(
            _cell(row[key], form, key == first and row["agent"] in best, notes)
            + (_strip(row[key], low, high, looks[row["agent"]]) if key == first else "")
            for key, _, form in kind.columns
        )
        body.append(
            f"<tr data-agent='{escape(row['agent'])}'>"
            f"<th scope='row'>{_agent(row['agent'], looks)}</th>{cells}</tr>"
        )
    head = f"<thead><tr><th scope='col'>Agent</th>{head}</tr></thead>"
    return scrolling(f"Results in {world['name']}", "class='results'", head, body) + notes.html()


def improvement(world: dict[str, Any], looks: Looks) -> str:
    """The probability that the agent of a row does better than that of a column."""
    names = [row["agent"] for row in world["rows"]]
    if len(names) < 2:
        return "<p>Fewer than two agents have finished in this world.</p>"
    columns = "".join(
        f"<th scope='col' title='{escape(name)}'><span class='number'>{j + 1}</span>"
        f"<span class='hidden'> {escape(name)}</span></th>"
        for j, name in enumerate(names)
    )
    body, notes = [], _Notes()
    for i, (name, line) in enumerate(zip(names, world["improvement"], strict=True)):
        cells = "".join(
            f"<td class='self' aria-label='the same agent'>{MISSING}</td>"
            if name == other
            else _chance(estimate, name, other, notes)
            if estimate
            else EMPTY
            for other, estimate in zip(names, line, strict=True)
        )
        body.append(
            f"<tr><td class='number'>{i + 1}</td><th scope='row'>{_agent(name, looks)}</th>"
            f"{cells}</tr>"
        )
    head = f"<thead><tr><td></td><td></td>{columns}</tr></thead>"
    label = f"Probabilities of improvement in {world['name']}"
    return scrolling(label, "class='chances'", head, body) + notes.html()


def scrolling(label: str, attributes: str, head: str, rows: list[str]) -> str:
    """A table that scrolls sideways on narrow screens, also with the keyboard."""
    return (
        f"<div class='scroll' tabindex='0' role='region' aria-label='{escape(label)}'>"
        f"<table {attributes}>{head}<tbody>{''.join(rows)}</tbody></table></div>"
    )


def name_html(name: str) -> str:
    """A name, wrapped only if it is long."""
    return f"<span class='name'>{escape(name)}</span>"


def _agent(name: str, looks: Looks) -> str:
    return f"<span class='agent'>{swatch(looks[name])}{name_html(name)}</span>"


class _Notes:
    """The notes of a table, listed once below it and referred to by letters."""

    def __init__(self) -> None:
        self._letters: dict[str, str] = {}

    def mark(self, note: str) -> str:
        if not note:
            return ""
        letter = self._letters.setdefault(note, chr(ord("a") + len(self._letters)))
        return f"<sup>{letter}</sup>"

    def html(self) -> str:
        notes = "; ".join(f"<sup>{k}</sup> {escape(note)}" for note, k in self._letters.items())
        return f"<p class='notes'>{notes}</p>" if notes else ""


def _cell(
    estimate: dict[str, Any],
    form: Form,
    best: bool,
    notes: _Notes | None = None,
) -> str:
    """A cell with a value above its interval."""
    value, low, high = estimate["value"], estimate["low"], estimate["high"]
    text = f"<b>{form(value)}</b>" if best else form(value)
    mark = notes.mark(estimate["note"]) if notes else ""
    interval = "" if low is None or high is None else f"<small>[{form(low)}, {form(high)}]</small>"
    order = "" if value is None else f" data-value='{value!r}'"
    return f"<td{order}>{text}{mark}{interval}</td>"


def _chance(estimate: dict[str, Any], name: str, other: str, notes: _Notes) -> str:
    """A probability of improvement, coloured by its distance from 1/2."""
    value, low, high = estimate["value"], estimate["low"], estimate["high"]
    if value is None:
        return f"<td>{MISSING}{notes.mark(estimate['note'])}</td>"
    rgb = "0,114,178" if value > 0.5 else "213,94,0"
    interval, decided = "", False
    if low is not None and high is not None:
        interval = f"<small>[{decimal(low)}, {decimal(high)}]</small>"
        decided = low > 0.5 or high < 0.5
    text = f"<b>{decimal(value)}</b>" if decided else decimal(value)
    title = escape(f"{name} does better than {other} with probability {decimal(value)}")
    return (
        f"<td style='background:rgba({rgb},{abs(value - 0.5):.3f})' title='{title}' "
        f"data-value='{value!r}'>{text}{notes.mark(estimate['note'])}{interval}</td>"
    )


def _leaders(rows: list[dict[str, Any]], kind: Kind) -> set[str]:
    """The best agent, and those whose intervals overlap with its interval; empty if all do."""
    sign, good, bad = (-1, "high", "low") if kind.higher else (1, "low", "high")
    known = [row for row in rows if row[kind.first]["value"] is not None]
    if len(known) < 2:
        return set()

    def end(row: dict[str, Any], which: str) -> float:
        estimate = row[kind.first]
        known_end = estimate["value"] if estimate[which] is None else estimate[which]
        return sign * float(known_end)

    most = end(min(known, key=lambda row: end(row, "value")), bad)
    leaders = {row["agent"] for row in known if end(row, good) <= most}
    return leaders if len(leaders) < len(known) else set()


def _range(estimates: list[dict[str, Any]], zero: bool) -> tuple[float, float]:
    """The range of all values and ends of intervals, including zero if ``zero``."""
    numbers = [e[key] for e in estimates for key in ("value", "low", "high") if e[key] is not None]
    shown = [0.0, *numbers] if zero or not numbers else numbers
    return min(shown), max(shown) if max(shown) > min(shown) else min(shown) + 1.0


def _strip(estimate: dict[str, Any], low: float, high: float, look: dict[str, str]) -> str:
    """The value as a dot and its interval as a bar, on the scale of the column."""
    if estimate["value"] is None:
        return "<td class='strip'></td>"

    def x(value: float) -> str:
        return f"{100 * (value - low) / (high - low):.2f}%"

    bar = ""
    if estimate["low"] is not None and estimate["high"] is not None:
        bar = (
            f"<line x1='{x(estimate['low'])}' x2='{x(estimate['high'])}' y1='8' y2='8' "
            f"stroke='{look['colour']}' stroke-width='5' stroke-linecap='round' opacity='.45'/>"
        )
    return (
        "<td class='strip'><svg aria-hidden='true'>"
        "<line x1='0' x2='100%' y1='8' y2='8' class='rule'/>"
        f"{bar}<circle cx='{x(estimate['value'])}' cy='8' r='3.2' fill='{look['colour']}'/>"
        "</svg></td>"
    )
