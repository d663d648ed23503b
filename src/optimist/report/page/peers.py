"""The section of the page that compares a subject with the best of its peers."""

import math
from collections.abc import Callable, Iterable
from html import escape
from typing import Any

from optimist.report.page.marks import key, mark
from optimist.report.page.numbers import count, decimal, percent, times
from optimist.report.page.tables import EMPTY, name_html, scrolling
from optimist.report.ratios import beyond, grouped, limits

TICKS = tuple(m * 10.0**e for e in range(-4, 7) for m in (1, 2, 5))
"""Candidates for ticks."""

NARROW = 8
"""Most ticks; if there are more, only powers of ten are shown."""

HEADINGS = {"all": "all worlds", "chosen": "not held out", "held_out": "held out"}

VERDICTS = {"lowest": "lowest", "within": "close", "behind": "behind"}


def section(data: dict[str, Any]) -> str:
    """The section; empty if the study has no subject."""
    peers = data.get("peers")
    if not peers:
        return ""
    inner = f"<p class='lead' id='peers-counts'>{escape(peers['sentence'])}</p>"
    if peers["worlds"]:
        places = {world["name"]: i for i, world in enumerate(data["worlds"])}
        inner += _explanation(peers) + _figure(data, peers, places)
        inner += (_ranks(peers) if peers["ranks"] else "") + _losses(peers, places)
    if peers["left_out"]:
        names = escape(", ".join(peers["left_out"]))
        inner += f"<p class='notes'>Too little has finished to compare: {names}.</p>"
    return (
        "<section id='peers' aria-labelledby='peers-title'>\n"
        f"<h2 id='peers-title'>Against the best peer</h2>\n{inner}\n</section>\n"
    )


def _explanation(peers: dict[str, Any]) -> str:
    subject, within = escape(peers["subject"]), f"{peers['within']:g}"
    held_out = (
        "None of its constants was chosen on the worlds that are <b>held out</b>. "
        if "held_out" in peers["counts"]
        else "No world is marked as held out from the choice of its constants. "
    )
    return (
        f"<div class='prose'><p><b>Peers are tuned, {subject} is not.</b> Each peer has the best "
        "setting of its grid in each world, chosen in hindsight on the seeds that are shown. "
        f"{subject} has one setting in all worlds. {held_out}"
        f"Lowest (ties included) and within {within} times refer to the mean over the seeds; "
        "intervals resample the seeds of the chosen settings, not the choice. "
        f"{subject} <b>fails</b> if over the last tenth of the run it still loses more than "
        f"{peers['fails']:.0%} of what uniform play loses; a peer succeeds if, in any of its "
        f"settings, it loses less than {peers['succeeds']:.0%} of that.</p></div>"
    )


# The figure


def _figure(data: dict[str, Any], peers: dict[str, Any], places: dict[str, int]) -> str:
    """The figure: one row per world on a logarithmic axis."""
    low, high = limits(peers)

    def x(ratio: float) -> str:
        share = math.log(max(ratio, low) / low) / math.log(high / low)
        return f"{100 * min(share, 1.0):.2f}%"

    legend = "".join(
        f"<li>{key(i)}{escape(name)}{_settings(n)}</li>"
        for i, (name, n) in enumerate(peers["families"].items())
    )
    ticks = "".join(f"<span style='left:{x(tick)}'>{tick:g}</span>" for tick in _ticks(low, high))
    lines = "".join(
        f"<line x1='{x(at)}' x2='{x(at)}' y1='0' y2='100%' class='{kind}'/>"
        for at, kind in ((1.0, "one"), (peers["within"], "close"))
    )
    body = [
        _row(world, peers, places, x, lines, high)
        if isinstance(world, dict)
        else _heading(world, 4)
        for world in _rows_with_headings(peers)
    ]
    outside = any(beyond(world, high) for world in peers["worlds"])
    caption = (
        "Average suboptimality as a multiple of that of the best peer, logarithmic; lines at 1 "
        f"and at {peers['within']:g}. Large: {escape(peers['subject'])}, untuned, filled if it is "
        f"lowest or close, with its {100 * data['level']:g}% interval. Small: each peer at its "
        "best setting in that world, chosen in hindsight."
        f"{' +n: n peers lie beyond the axis.' if outside else ''}"
    )
    head = (
        "<thead><tr><th scope='col'>World</th><th class='dots' aria-hidden='true'>"
        f"<div>{ticks}</div></th><th scope='col'>ratio</th><th scope='col'>best peer</th></tr>"
        "</thead>"
    )
    table = scrolling("Ratios to the best peer", "class='ratios' id='ratios'", head, body)
    return (
        f"<figure><figcaption class='notes'>{caption}</figcaption>"
        f"<ul class='families' id='families'>{legend}</ul>{table}</figure>"
    )


def _settings(n: int) -> str:
    return f" <span class='quiet'>best of {n}</span>" if n > 1 else ""


def _ticks(low: float, high: float) -> list[float]:
    shown = [tick for tick in TICKS if low <= tick <= high]
    if len(shown) > NARROW:
        shown = [tick for tick in shown if math.log10(tick).is_integer()]
    return shown


def _rows_with_headings(peers: dict[str, Any]) -> Iterable[Any]:
    for heading, worlds in grouped(peers):
        if heading:
            yield heading
        yield from worlds


def _heading(text: str, columns: int) -> str:
    return (
        f"<tr class='heading'><th scope='rowgroup'>{escape(text)}</th>"
        f"<td colspan='{columns - 1}'></td></tr>"
    )


def _row(
    world: dict[str, Any],
    peers: dict[str, Any],
    places: dict[str, int],
    x: Callable[[float], str],
    lines: str,
    high: float,
) -> str:
    ratio, drawn = world["ratio"], [lines]
    if ratio["low"] is not None and ratio["high"] is not None:
        drawn.append(f"<line x1='{x(ratio['low'])}' x2='{x(ratio['high'])}' class='bar'/>")
    for i, name in reversed(list(enumerate(peers["families"]))):
        family = world["families"].get(name)
        if family is None or not family["ratio"] or (i > 0 and family["ratio"] > high):
            continue
        title = escape(f"{_label(name, family)}: {times(family['ratio'])} times the best peer")
        hollow = i == 0 and world["verdict"] == "behind"
        drawn.append(
            f"<svg x='{x(family['ratio'])}' y='50%' class='at'><g><title>{title}</title>"
            f"{mark(i, hollow)}</g></svg>"
        )
    outside = beyond(world, high)
    more = (
        f"<span class='more' title='{escape(', '.join(outside))}'>+{len(outside)}</span>"
        if outside
        else ""
    )
    peer = world["families"][world["peer"]]
    return (
        f"<tr data-verdict='{world['verdict']}'><th scope='row'>{_link(world, places)}</th>"
        f"<td class='dots'><svg aria-hidden='true'>{''.join(drawn)}</svg>{more}</td>"
        f"{_ratio(world)}<td class='peer'>{escape(world['peer'])}"
        f"{_small(peer['setting'])}</td></tr>"
    )


def _link(world: dict[str, Any], places: dict[str, int]) -> str:
    return (
        f"<a href='#results' data-choose='{places[world['name']]}'>{name_html(world['name'])}</a>"
    )


def _ratio(world: dict[str, Any], brief: bool = False) -> str:
    """The ratio of the subject's loss to the best peer's; with its interval unless ``brief``."""
    ratio = world["ratio"]
    text = times(ratio["value"])
    verdict = VERDICTS[world["verdict"]]
    verdict += ", fails" if world["failed"] and world["succeeded"] else ""
    interval = (
        f"[{times(ratio['low'])}, {times(ratio['high'])}]" if ratio["low"] is not None else ""
    )
    interval = interval or (f"{ratio['note']}," if ratio["note"] else "")
    small = "" if brief else _small(f"{interval} {verdict}".strip())
    order = "" if ratio["value"] is None else f" data-value='{ratio['value']!r}'"
    bold = world["verdict"] == "lowest"
    return f"<td{order}>{f'<b>{text}</b>' if bold else text}{small}</td>"


# The tables


def _losses(peers: dict[str, Any], places: dict[str, int]) -> str:
    """The loss of each family at its best setting in every world."""
    names = list(peers["families"])
    head = "".join(
        f"<th scope='col'>{key(i)}{name_html(name)}</th>" for i, name in enumerate(names)
    )
    body = []
    for world in _rows_with_headings(peers):
        if not isinstance(world, dict):
            body.append(_heading(world, len(names) + 2))
            continue
        families = world["families"]
        lowest = min(family["average"]["value"] for family in families.values())
        cells = "".join(
            _loss(name, families[name], families[name]["average"]["value"] == lowest)
            if name in families
            else EMPTY
            for name in names
        )
        cells += _ratio(world, brief=True)
        body.append(f"<tr><th scope='row'>{_link(world, places)}</th>{cells}</tr>")
    head = f"<thead><tr><th scope='col'>World</th>{head}<th scope='col'>ratio</th></tr></thead>"
    caption = (
        f"Average suboptimality in % of the optimal value: {escape(peers['subject'])} with its one "
        "setting, and each peer with its best setting in hindsight, in small print. Bold marks the "
        "lowest; the ratio is that of the first column to the lowest of the others."
    )
    table = scrolling("Each family at its best", "class='losses' id='tuned'", head, body)
    return (
        "<details open id='tuned-details'><summary>Each family at its best, in every world"
        f"</summary><p class='notes'>{caption}</p>{table}</details>"
    )


def _loss(name: str, family: dict[str, Any], best: bool) -> str:
    average = family["average"]
    value, low, high = (percent(average[end]) for end in ("value", "low", "high"))
    interval = f" [{low}, {high}]" if average["low"] is not None else ""
    title = escape(f"{_label(name, family)}: {value}%{interval}")
    text = f"<b>{value}</b>" if best else value
    small = _small(family["setting"])
    return f"<td title='{title}' data-value='{average['value']!r}'>{text}{small}</td>"


def _ranks(peers: dict[str, Any]) -> str:
    """The mean rank of each family."""
    groups = peers["ranks"]
    whole = [w for w in peers["worlds"] if len(w["families"]) == len(peers["families"])]
    held_out = sum(world["held_out"] for world in whole)
    worlds = {"all": len(whole), "chosen": len(whole) - held_out, "held_out": held_out}
    head = "".join(
        f"<th scope='col'>{HEADINGS[group]}<br>{count(worlds[group], 'world')}</th>"
        for group in groups
    )
    order = {name: i for i, name in enumerate(peers["families"])}
    first = next(iter(groups.values()))
    body = [
        f"<tr><th scope='row'><span class='agent'>{key(order[name])}{name_html(name)}</span></th>"
        + "".join(_rank(ranks[name]) for ranks in groups.values())
        + "</tr>"
        for name in sorted(first, key=lambda name: first[name]["value"])
    ]
    head = f"<thead><tr><th scope='col'>Family</th>{head}</tr></thead>"
    some = len(whole) < len(peers["worlds"])
    caption = (
        f"Mean rank among {count(len(order), 'family', 'families')}, peers at their best in "
        "hindsight; 1 is the best. Intervals account for other seeds, not for other worlds."
        f"{' Worlds in which a family has not finished are left out.' if some else ''}"
    )
    table = scrolling("Mean ranks", "class='losses' id='ranks'", head, body)
    return f"<h3>Mean ranks</h3><p class='notes'>{caption}</p>{table}"


def _rank(rank: dict[str, Any]) -> str:
    low, high = decimal(rank["low"]), decimal(rank["high"])
    interval = _small(f"[{low}, {high}]" if rank["low"] is not None else rank["note"])
    return f"<td data-value='{rank['value']!r}'>{decimal(rank['value'])}{interval}</td>"


def _label(name: str, family: dict[str, Any]) -> str:
    return f"{name}, {family['setting']}" if family["setting"] else name


def _small(text: str) -> str:
    return f"<small>{escape(text)}</small>" if text else ""
