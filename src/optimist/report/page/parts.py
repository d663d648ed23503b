"""The parts of the page that are plain HTML: its head, what failed, the worlds, the details."""

from html import escape
from typing import Any

from optimist.report.page import returns, tables
from optimist.report.page.numbers import count, number, percent

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#777777")
"""Okabe and Ito's, told apart by the colour-blind: without yellow, which is faint on paper, and
with grey for black, which is seen on light and on dark."""

DASHES = ("solid", "9px,4px", "2px,3px", "9px,3px,2px,3px", "16px,4px", "5px,2px")
"""Seven colours and six dashes have no common factor: 42 agents look different."""

TABS = 6
"""With more worlds than this the world is chosen from a list, not from tabs."""

FEW_SEEDS = 20
"""Below this many seeds bootstrap intervals are noticeably too narrow."""


def of(data: dict[str, Any]) -> dict[str, str]:
    """The parts by their names in the template."""
    worlds = data["worlds"]
    looks = {agent["name"]: look(i) for i, agent in enumerate(data["agents"])}
    return {
        "title": escape(data["title"]),
        "version": escape(data["version"]),
        "description": f"<p class='lead'>{escape(data['description'])}</p>"
        if data["description"]
        else "",
        "facts": " · ".join(_facts(data)),
        "notice": _notice(data),
        "agents": "\n".join(
            f"<li>{tables.swatch(looks[agent['name']])}<span><b>{escape(agent['name'])}</b> "
            f"<span class='quiet'>{escape(agent['detail'])}</span></span></li>"
            for agent in data["agents"]
        ),
        "summary": "Summary" if len(worlds) > 1 else "Agents",
        "overview": tables.overview(worlds, looks) if len(worlds) > 1 else "",
        "picker": _picker([world["name"] for world in worlds]),
        "results": "\n".join(
            _of_a_world(i, world, _world_facts(world) + tables.results(world, looks))
            for i, world in enumerate(worlds)
        ),
        "improvements": "\n".join(
            _of_a_world(i, world, tables.improvement(world, looks))
            for i, world in enumerate(worlds)
        ),
        "intervals": _about_intervals(data),
        "empty": "" if worlds else "hidden",
        "several": "" if len(worlds) > 1 else "hidden",
        "many": "" if len(worlds) > TABS else "open",
        "pairs": "" if len(data["agents"]) > 1 else "hidden",
        "pictures": "" if any(world["picture"] for world in worlds) else "hidden",
        "specification": "\n".join(
            f"<span>{escape(line)}</span>" for line in data["specification"].splitlines()
        ),
        "environment": "\n".join(
            f"<dt>{escape(name)}</dt><dd>{escape(str(text))}</dd>"
            for name, text in data["environment"].items()
        ),
    }


def look(i: int) -> dict[str, str]:
    """Colour and dash of the i-th agent."""
    return {"colour": COLOURS[i % len(COLOURS)], "dash": DASHES[i % len(DASHES)]}


def _facts(data: dict[str, Any]) -> list[str]:
    least, most = _seeds(data)
    return [
        count(len(data["worlds"]), "world"),
        count(len(data["agents"]), "agent"),
        count(most, "seed") if least == most else f"{least} to {count(most, 'seed')}",
        f"{_level(data)} intervals" if most > 1 else "no intervals",
        f"optimist {escape(data['version'])}",
        escape(data["created"]),
    ]


def _notice(data: dict[str, Any]) -> str:
    """What is missing from the report, said first."""
    failures, damaged, unfinished = data["failures"], data["damaged"], data["unfinished"]
    if not failures and not damaged and not unfinished:
        return ""
    said = []
    if failures:
        said.append(f"{count(len(failures), 'run')} failed")
    if damaged:
        said.append(f"{count(len(damaged), 'run')} {_are(len(damaged))} damaged")
    if unfinished:
        said.append(f"{count(unfinished, 'run')} {_are(unfinished)} not finished")
    which = _which("What failed", failures) + _which("What is damaged", damaged)
    return (
        f"<aside class='notice' id='notice' role='note'><p><b>{' and '.join(said)}.</b> "
        "The numbers below come from the other runs only; if those that are missing went worse, "
        f"the numbers flatter.</p>{which}</aside>"
    )


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _which(title: str, runs: list[dict[str, Any]]) -> str:
    """Runs, and what is wrong with each."""
    items = "\n".join(
        f"<li><b>{escape(r['agent'])}</b> in <b>{escape(r['world'])}</b>, seed {r['seed']}: "
        f"<code>{escape(r['message'])}</code></li>"
        for r in runs
    )
    return f"<details><summary>{title}</summary><ul>{items}</ul></details>" if runs else ""


def _picker(names: list[str]) -> str:
    """The control that chooses the world: tabs, or a list if there are many."""
    if len(names) < 2:
        return ""
    if len(names) > TABS:
        options = "".join(f"<option value='{i}'>{escape(n)}</option>" for i, n in enumerate(names))
        inner = f"<label>World <select id='world' data-state='world'>{options}</select></label>"
    else:
        inner = "<fieldset class='switch'><legend>World</legend>" + "".join(
            f"<label><input type='radio' name='world' data-state='world' value='{i}'"
            f"{' checked' if i == 0 else ''}><span>{escape(n)}</span></label>"
            for i, n in enumerate(names)
        )
        inner += "</fieldset>"
    return f"<div class='picker' id='picker'>{inner}</div>"


def _of_a_world(i: int, world: dict[str, Any], inner: str) -> str:
    """Something of one world, which the picker shows and hides."""
    return f"<article data-world='{i}'><h3>{escape(world['name'])}</h3>{inner}</article>"


def _world_facts(world: dict[str, Any]) -> str:
    played = f"{count(world['episodes'], 'episode')}, {count(world['seeds'], 'seed')}"
    if world.get("returns"):
        actions = f" · {count(world['actions'], 'action')}" if world["actions"] else ""
        return (
            f"<p class='facts'>{escape(world['detail'])}{actions} · {played} · "
            "no optimum is known</p>"
        )
    optimal, uniform = world["optimal"], world["uniform"]
    short = f", {percent(1 - uniform / optimal)}% short of it" if optimal else ""
    return (
        f"<p class='facts'>{escape(world['detail'])} · {count(world['states'], 'state')}, "
        f"{count(world['actions'], 'action')} · {played} · optimal value {number(optimal)}; "
        f"uniform play is worth {number(uniform)}{short}</p>"
    )


def _about_intervals(data: dict[str, Any]) -> str:
    """How far intervals can be trusted, given how many seeds there are, and what is bold."""
    least, most = _seeds(data)
    best = returns.words(data)["best"]
    if most < 2:
        return (
            "<b>There is one seed, hence no interval and no band:</b> a difference between two "
            f"agents may be luck. Bold is the {best}."
        )
    few = (
        f" With as few as {count(least, 'seed')} they are narrower than they should be."
        if least < FEW_SEEDS
        else ""
    )
    return (
        f"Brackets and bands are {_level(data)} intervals over the seeds, by {data['draws']:,} "
        f"bootstrap draws; those of a band hold at each point by itself.{few} <b>Bold</b> are the "
        f"{best} and all whose intervals overlap with its interval; nothing is bold where "
        "that would be everyone."
    )


def _seeds(data: dict[str, Any]) -> tuple[int, int]:
    """The fewest and the most seeds of a world in which anything has finished."""
    seeds = [world["seeds"] for world in data["worlds"] if world["seeds"]]
    return min(seeds, default=0), max(seeds, default=0)


def _level(data: dict[str, Any]) -> str:
    return f"{100 * data['level']:g}%"
