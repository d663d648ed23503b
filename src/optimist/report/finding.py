"""The finding of a report in a sentence, and the world that the page shows first."""

import math

from optimist.display.numbers import FORMS, count
from optimist.report.data import ReportData, ShownEstimate, ShownWorld
from optimist.report.labels import ALL


def leaders(world: ShownWorld) -> list[str]:
    """The best agent, then those whose intervals overlap with its interval, in their order.

    Without intervals only equal numbers overlap.
    """
    scores, sign = world.scores, -1 if world.labels.higher else 1
    if not scores:
        return []

    def ends(score: ShownEstimate) -> tuple[float, float]:
        """The better and the worse end, lower is better; the number itself without an interval."""
        known = [score.value] if math.isnan(score.low) else [score.low, score.high]
        return min(sign * x for x in known), max(sign * x for x in known)

    best = min(scores, key=lambda agent: sign * scores[agent].value)
    others = [a for a in scores if a != best and ends(scores[a])[0] <= ends(scores[best])[1]]
    return [best, *others]


def most_telling(data: ReportData) -> int:
    """The index of the world in which the agents differ most; of those with a picture, if any.

    The difference is that between the best and the worst agent: in the share of the optimal value
    that they lose, or in their returns as a share of the largest.
    """

    def telling(i: int) -> tuple[bool, float]:
        world = data.worlds[i]
        numbers = [score.value for score in world.scores.values()] or [0.0]
        size = max(map(abs, numbers)) if world.labels.higher else 1.0
        return world.picture is not None, (max(numbers) - min(numbers)) / (size or 1.0)

    return max(range(len(data.worlds)), key=telling, default=0)


def finding(data: ReportData) -> str:
    """The findings of the report, one sentence for each kind of measurement.

    It names the agent that leads alone in most worlds, and compares it with the next best where
    the agents differ most. An agent leads alone if its interval overlaps with no other.
    """
    if data.comparison is not None and data.comparison.worlds:
        return data.comparison.sentence
    kinds = [[w for w in data.worlds if w.labels is labels and w.scores] for labels in ALL]
    return " ".join(_sentence(data, worlds) for worlds in kinds if worlds)


def _sentence(data: ReportData, worlds: list[ShownWorld]) -> str:
    contested = [world for world in worlds if len(world.scores) > 1]
    if not contested:
        world = _opening(data, worlds)
        [agent] = world.scores
        return f"{agent} {_does(world, agent)} in {world.name}."
    first = {world.name: leaders(world) for world in contested}
    alone = [world for world in contested if len(first[world.name]) == 1]
    if not alone:
        world = _opening(data, contested)
        best, *others = first[world.name]
        return (
            f"No agent is distinguishable from all others in any world: in {world.name}, {best} "
            f"{_does(world, best)} and {others[0]} {_number(world, others[0])}{_caution(world)}."
        )
    wins = [first[world.name][0] for world in alone]
    agent = max(dict.fromkeys(wins), key=wins.count)
    won = [world for world in alone if first[world.name][0] == agent]
    world = _opening(data, won)
    scores, sign = world.scores, -1 if world.labels.higher else 1
    following = min((a for a in scores if a != agent), key=lambda a: sign * scores[a].value)
    among = [w for w in contested if agent in w.scores]
    ties = [w for w in among if agent in first[w.name] and len(first[w.name]) > 1]
    counted = _counted(agent, len(won), [first[w.name] for w in among])
    text = (
        f"{agent} {world.labels.verb} {world.labels.least}{counted}: "
        f"{_number(world, agent)} {world.labels.unit} in {world.name}, where the next best, "
        f"{following}, {world.labels.verb} {_number(world, following)}"
    )
    if ties:
        rivals = list(dict.fromkeys(a for w in ties for a in first[w.name] if a != agent))
        whom = "the others" if 1 < len(rivals) == len(world.scores) - 1 else _listed(rivals)
        more = ties[0].name if len(ties) == 1 else f"{len(ties)} more worlds"
        text += f"; in {more} it is not distinguishable from {whom}"
    return text + f"{_caution(world)}."


def _opening(data: ReportData, worlds: list[ShownWorld]) -> ShownWorld:
    """The most telling of some worlds."""
    return worlds[most_telling(ReportData(**{**vars(data), "worlds": tuple(worlds)}))]


def _number(world: ShownWorld, agent: str) -> str:
    form = world.labels.measures[0].form
    return FORMS[form](world.scores[agent].value) + ("%" if form == "percent" else "")


def _does(world: ShownWorld, agent: str) -> str:
    return f"{world.labels.verb} {_number(world, agent)} {world.labels.unit}"


def _counted(agent: str, won: int, first: list[list[str]]) -> str:
    """The number of worlds in which an agent leads alone, and the leaders of the others."""
    if len(first) == 1:
        return ""
    others = [" or ".join(names) for names in first if agent not in names]
    elsewhere = [f"{names} in {others.count(names)}" for names in dict.fromkeys(others)]
    share = "all" if won == len(first) else f"{won} of"
    return f" in {share} {count(len(first), 'world')}{f' ({_listed(elsewhere)})' if others else ''}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _caution(world: ShownWorld) -> str:
    return "" if world.seeds > 1 else " (one seed: the difference may be chance)"
