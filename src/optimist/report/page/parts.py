"""Parts of the page in plain HTML: head, failures, worlds and details."""

from html import escape
from typing import Any

from optimist.report.page import returns, tables
from optimist.report.page.numbers import count, number, percent

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#777777")
"""Okabe and Ito's colour-blind safe palette, without yellow, which is faint on paper, and with grey
instead of black, which is visible on light and dark."""

DASHES = ("solid", "9px,4px", "2px,3px", "9px,3px,2px,3px", "16px,4px", "5px,2px")
"""Seven colours and six dashes have no common factor, so that 42 agents differ."""

TABS = 6
"""Most worlds that are chosen from tabs; more are chosen from a list."""

FEW_SEEDS = 20
"""With fewer seeds, bootstrap intervals are noticeably too narrow."""


def fill(data: dict[str, Any]) -> dict[str, str]:
    """The parts of the page by their names in the template."""
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
            _article(i, world, _world_facts(world) + tables.results(world, looks))
            for i, world in enumerate(worlds)
        ),
        "improvements": "\n".join(
            _article(i, world, tables.improvement(world, looks)) for i, world in enumerate(worlds)
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
    """A notice of the runs that are missing from the report."""
    failures, damaged, unfinished = data["failures"], data["damaged"], data["unfinished"]
    if not failures and not damaged and not unfinished:
        return ""
    problems = []
    if failures:
        problems.append(f"{count(len(failures), 'run')} failed")
    if damaged:
        problems.append(f"{count(len(damaged), 'run')} {_are(len(damaged))} damaged")
    if unfinished:
        problems.append(f"{count(unfinished, 'run')} {_are(unfinished)} not finished")
    which = _run_list("Failed runs", failures) + _run_list("Damaged runs", damaged)
    return (
        f"<aside class='notice' id='notice' role='note'><p><b>{' and '.join(problems)}.</b> "
        "The numbers below come from the other runs only; they are too good if the missing runs "
        f"are worse.</p>{which}</aside>"
    )


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _run_list(title: str, runs: list[dict[str, Any]]) -> str:
    """Runs with their error messages."""
    items = "\n".join(
        f"<li><b>{escape(r['agent'])}</b> in <b>{escape(r['world'])}</b>, seed {r['seed']}: "
        f"<code>{escape(r['message'])}</code></li>"
        for r in runs
    )
    return f"<details><summary>{title}</summary><ul>{items}</ul></details>" if runs else ""


def _picker(names: list[str]) -> str:
    """The control that selects the world: tabs, or a list if there are many."""
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


def _article(i: int, world: dict[str, Any], inner: str) -> str:
    """The part of a section about one world; the picker shows and hides it."""
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
    """Explains intervals, their reliability given the number of seeds, and bold numbers."""
    least, most = _seeds(data)
    best = returns.wording(data)["best"]
    if most < 2:
        return (
            "<b>There is one seed, hence no interval and no band:</b> a difference between two "
            f"agents may be chance. Bold marks the {best}."
        )
    few = (
        f" With as few as {count(least, 'seed')} they are too narrow." if least < FEW_SEEDS else ""
    )
    return (
        f"Brackets and bands are {_level(data)} bootstrap intervals over the seeds, with "
        f"{data['draws']:,} resamples; bands are pointwise.{few} <b>Bold</b> marks the {best} and "
        "all agents whose intervals overlap with its interval; nothing is bold if that is everyone."
    )


def _seeds(data: dict[str, Any]) -> tuple[int, int]:
    """The fewest and the most seeds among worlds with finished runs."""
    seeds = [world["seeds"] for world in data["worlds"] if world["seeds"]]
    return min(seeds, default=0), max(seeds, default=0)


def _level(data: dict[str, Any]) -> str:
    return f"{100 * data['level']:g}%"
