"""Make the data of a report from the results of a study."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

import optimist
from optimist.checks import FloatArray, IntArray
from optimist.envs import Gym, World
from optimist.experiments import peers, statistics
from optimist.experiments.cells import Cell
from optimist.experiments.certified import COLUMNS, first_within
from optimist.experiments.maps import SIDE, Maps
from optimist.experiments.snapshots import Snapshots
from optimist.experiments.specification import agent_table
from optimist.experiments.study import Run
from optimist.experiments.worlds import world_table
from optimist.parameters import Plain
from optimist.report import data
from optimist.text import printable

if TYPE_CHECKING:
    from optimist.experiments.results import Results

POINTS = 60
"""Points of a curve spaced evenly, and as many spaced evenly in the logarithm."""

ROUNDING = 1e-12
"""Smaller differences of exact occupancies, bonuses and probabilities of heaven count as zero."""


def summary(results: "Results") -> data.ReportData:
    """The data of a report."""
    study, shown = results.study, _displayed_agents(results)
    worlds = tuple(_world(results, name, shown[name]) for name in study.worlds)
    environment = _merged(results.environments)
    return data.ReportData(
        title=study.title,
        description=study.description,
        version=optimist.__version__,
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        level=statistics.LEVEL,
        draws=statistics.DRAWS,
        specification=printable(study.text),
        environment=environment,
        agents=_agents(results, shown),
        worlds=worlds,
        failures=listed(results.failures),
        damaged=listed(results.damaged),
        unfinished=results.unfinished,
        comparison=results.peers,
        certify=study.certify,
    )


def listed(runs: Mapping[Run, str]) -> tuple[data.MissingRun, ...]:
    """Runs with their error messages."""
    return tuple(
        data.MissingRun(r.world, r.agent, r.index, printable(message))
        for r, message in runs.items()
    )


# Agents


def _displayed_agents(results: "Results") -> dict[str, dict[str, str]]:
    """For each world, the displayed names and the agents they stand for.

    These are all agents. In a study with a subject they are the best setting of each family in
    hindsight, under the name of the family, as dozens of curves would be unreadable.
    """
    study = results.study
    every = {name: {agent: agent for agent in study.agents} for name in study.worlds}
    if results.peers is None or len(results.peers.worlds) < len(study.worlds):
        return every
    agents = {(f, peers.setting_of(agent, f)): agent for agent, f in study.family.items()}
    return {
        w.name: {family: agents[family, best.setting] for family, best in w.families.items()}
        for w in results.peers.worlds
    }


def _agents(results: "Results", shown: dict[str, dict[str, str]]) -> tuple[data.ShownAgent, ...]:
    study = results.study
    found = []
    for name in dict.fromkeys(name for agents in shown.values() for name in agents):
        settings = [agent for agent, family in study.family.items() if family == name] or [name]
        configs = {agent: study.configurations[agent] for agent in settings}
        abouts = {agent: about(agent_table(config), "agent") for agent, config in configs.items()}
        if len(abouts) == 1:
            [found_about] = abouts.values()
        else:
            lines = {agent: one_line(a.detail, a.parameters) for agent, a in abouts.items()}
            origins = dict.fromkeys(a.origin for a in abouts.values() if a.origin)
            title = f"the best of {len(lines)} settings in each world"
            found_about = data.About(title, lines, ", ".join(origins))
        found.append(data.ShownAgent(name, found_about))
    return tuple(found)


def about(table: Plain, key: str) -> data.About:
    """A world or an agent from its table, in which the key has its name.

    Examples
    --------
    >>> about({"agent": "mine:Greedy", "epsilon": 0.1, "source": "1a2b"}, "agent")
    About(detail='Greedy', parameters={'epsilon': '0.1'}, origin='mine:Greedy, source 1a2b')
    """
    given, name = dict(table), table[key]
    origins = [f"{kind} {given.pop(kind)}" for kind in ("arrays", "source") if kind in given]
    rest = {k: v for k, v in given.items() if k != key}
    if not origins:
        return data.About(name, parameters(rest))
    return data.About(name.partition(":")[2] or name, parameters(rest), ", ".join([name, *origins]))


def parameters(table: Plain) -> dict[str, str]:
    r"""Parameters as texts, except the layout of a world, which is shown as a picture.

    Examples
    --------
    >>> parameters({"beta": 0.5, "player": {"kind": "Rmax", "visits": 2}, "layout": "s.\n.$"})
    {'beta': '0.5', 'player': '(Rmax: visits 2)'}
    """
    found = {}
    for name, value in table.items():
        if isinstance(value, dict) and "kind" in value:
            value = f"({detail(value['kind'], {k: v for k, v in value.items() if k != 'kind'})})"
        elif isinstance(value, float):
            value = f"{value:g}"
        elif isinstance(value, str) and "\n" in value:
            continue
        found[name] = str(value)
    return found


def detail(kind: str, table: Plain) -> str:
    """A kind of world or agent and its parameters, in one line.

    Examples
    --------
    >>> detail("Rmax", {"visits": 2, "updates": 100})
    'Rmax: visits 2, updates 100'
    """
    return one_line(kind, parameters(table))


def one_line(kind: str, texts: Mapping[str, str]) -> str:
    """A kind and its parameters as texts, in one line."""
    shown = [f"{name} {text}" for name, text in texts.items()]
    return f"{kind}: {', '.join(shown)}" if shown else kind


# Worlds


def _world(results: "Results", name: str, shown: dict[str, str]) -> data.ShownWorld:
    study = results.study
    world = study.worlds[name]
    cells = {label: results.cell(name, agent) for label, agent in shown.items()}
    there = {label: cell for label, cell in cells.items() if cell is not None}
    described = about(world_table(world), "world")
    if isinstance(world, Gym):
        described = replace(described, detail=f"Gym {world.name}")
    found = data.ShownWorld(
        name=name,
        about=described,
        labels=study.track(name).labels,
        length=study.lengths[name],
        seeds=max((len(cell.seeds) for cell in there.values()), default=0),
        estimates={label: cell.estimates for label, cell in there.items()},
        improvement={a: _improvement(results, name, shown, a, list(there)) for a in there},
        curves={label: _curves(cell) for label, cell in there.items()},
    )
    recordings = {label: agent for label, agent in shown.items() if label in there}
    if isinstance(world, Gym):
        return _with_records(results, found, recordings)
    mdp = world.mdp
    return replace(
        found,
        states=mdp.n_states,
        actions=mdp.n_actions,
        optimal=mdp.optimal().value,
        uniform=float(mdp.value(mdp.uniform_policy)),
        picture=_board(results, name, world, recordings) if there else None,
        certified={k: _certified(c, mdp.optimal().value) for k, c in there.items() if c.certified},
        uncertified=_uncertified(results, name, recordings) if study.certify is not None else {},
    )


def _improvement(
    results: "Results", name: str, shown: dict[str, str], agent: str, others: list[str]
) -> dict[str, data.ShownEstimate]:
    found = {o: results.improvement(name, shown[agent], shown[o]) for o in others if o != agent}
    return {other: e for other, e in found.items() if e is not None}


def _curves(cell: Cell) -> data.Curves:
    at = shown_points(cell.at)
    shown = {k: cell.track.points(x, cell.at, at) for k, x in cell.curves.items()}
    rows = {"episode": cell.episodes.mean(axis=0), "steps": cell.steps.mean(axis=0)}
    rows[cell.track.column] = cell.at
    curves = {key: _curve(x, cell.track.labels.main == key) for key, x in shown.items()}
    return data.Curves(rows["episode"][at], rows["steps"][at], curves)


def _curve(points: FloatArray, main: bool) -> data.Curve:
    """A curve over the seeds; the main one has an interquartile mean as well."""
    iqm = statistics.iqm_band(points, np.random.default_rng(0)) if main else None
    return data.Curve(statistics.mean_band(points, np.random.default_rng(0)), points, iqm)


def _certified(cell: Cell, optimal: float) -> data.Certified:
    """The certificates of an agent, as shares of the optimal value."""
    lower, upper, value = (cell.certified[name] for name in COLUMNS)
    share, lost = ((high - low) / high for low, high in ((lower, upper), (value, optimal)))
    at, scale = shown_points(cell.at), optimal or 1.0
    means = (x.mean(axis=0)[at] / scale for x in (lower, upper, value))
    firsts = (first_within(cell.at, x, data.LEVELS) for x in (share, lost))
    return data.Certified(cell.at[at], *means, *firsts)


def _uncertified(results: "Results", name: str, shown: dict[str, str]) -> dict[str, str]:
    """Why agents have no certificates, as their first runs say."""
    first = results.first_runs(name)
    why = {k: results.folder.of(first[a]).result.get("uncertified") for k, a in shown.items()}
    return {label: printable(reason) for label, reason in why.items() if reason}


def shown_points(rows: IntArray) -> IntArray:
    """Indices of the points of a curve to show, whose rows are at these episodes or steps.

    Examples
    --------
    >>> len(shown_points(np.arange(1, 10_001)))
    112
    """
    last = len(rows) - 1
    even = np.linspace(0, last, POINTS).round()
    early = np.searchsorted(rows, np.geomspace(rows[0], rows[-1], POINTS))
    return np.union1d(even, np.minimum(early, last)).astype(np.int64)


# Pictures


def _board(
    results: "Results", name: str, world: World, shown: dict[str, str]
) -> data.Picture | None:
    """A known MDP, if it has a map. The expert of imitators is the optimum."""
    drawn, mdp, best = world.map, world.mdp, world.mdp.optimal()
    if drawn is None:
        return None
    expert = mdp.state_occupancy(best.policy)

    def recording(label: str, run: Run, shots: Snapshots) -> data.Recording:
        occupancy = mdp.state_occupancy(shots.policy)
        cell = results.cell(name, run.agent)
        imitates = cell is not None and "matching_error" in cell.curves
        more = occupancy - expert
        more[np.abs(more) < ROUNDING] = 0.0
        return data.Recording(
            label,
            run.index,
            shots.episodes,
            shots.value,
            bonus=_unless_zero(shots.bonus.mean(axis=2)),
            ascension=_unless_zero(shots.ascension.mean(axis=2)),
            occupancy=occupancy,
            difference=more if imitates else None,
            policy=shots.policy,
        )

    return data.Picture(
        **vars(drawn),
        runs=_recordings(results, name, shown, recording),
        optimum=data.ShownOptimum(best.V, expert, best.policy),
    )


def _with_records(
    results: "Results", world: data.ShownWorld, shown: dict[str, str]
) -> data.ShownWorld:
    """A Gymnasium environment, with what its runs recorded, as it is not imported to be shown."""
    runs = results.first_runs(world.name)
    results_of = {agent: results.folder.of(run).result for agent, run in runs.items()}
    drawn = {agent: found for agent, found in results_of.items() if found.get("plane")}
    recorded = next(iter((drawn or results_of).values()), {})
    actions, plane = recorded.get("actions"), _plane(recorded.get("plane"))
    shown = {label: agent for label, agent in shown.items() if agent in drawn}
    world = replace(world, actions=actions if type(actions) is int else None)
    if plane is None:
        return world

    def recording(label: str, run: Run, maps: Maps) -> data.Recording:
        return data.Recording(
            label,
            run.index,
            maps.episodes,
            maps.value,
            bonus=_unless_zero(maps.bonus),
            ascension=_unless_zero(maps.ascension),
            visits=maps.visits,
            action=maps.action,
        )

    cells = np.stack(np.divmod(np.arange(SIDE**2), SIDE), axis=1)
    maps = _recordings(results, world.name, shown, recording)
    return replace(world, picture=data.Picture(("." * SIDE,) * SIDE, cells, axes=plane, runs=maps))


def _recordings(
    results: "Results", name: str, shown: dict[str, str], recording: Any
) -> tuple[data.Recording, ...]:
    """The recording of the first seed of each agent."""
    first = results.first_runs(name)
    runs = {label: first[agent] for label, agent in shown.items()}
    shots = {label: results.shots(run) for label, run in runs.items()}
    return tuple(recording(k, runs[k], shot) for k, shot in shots.items() if shot is not None)


def _unless_zero(array: FloatArray) -> FloatArray | None:
    return array if array.max(initial=0.0) > ROUNDING else None


def _plane(recorded: Any) -> FloatArray | None:
    """The ends of both dimensions as written by a run; None if they are not those of a plane."""
    try:
        ends = np.array(recorded, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return ends if ends.shape == (2, 2) and np.isfinite(ends).all() else None


def _merged(environments: list[dict[str, str]]) -> dict[str, str]:
    """The environments of all runs merged: each name with all its values."""
    names = dict.fromkeys(name for e in environments for name in e)
    return {
        printable(n): printable(", ".join(dict.fromkeys(e[n] for e in environments if n in e)))
        for n in names
    }
