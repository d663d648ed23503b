"""Made-up data of a report."""

import math
from dataclasses import is_dataclass, replace

import numpy as np

from optimist.experiments.statistics import Band, Estimate
from optimist.report import data, labels

ROOM = ("######", "#s..x#", "#.##.#", "#...$#", "######")
ROOM_CELLS = np.array(
    [(i, j) for i, line in enumerate(ROOM) for j, c in enumerate(line) if c != "#"]
)
FOUR_WAYS = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)])
SEA = ("s  ", ".. ", "..$", "===")
SEA_CELLS = np.array([(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 0)])
EPISODES = np.array([0, 1, 4, 16, 64])
SIDE = 30
"""The cells of a map along each axis."""


def changed(value, path, new):
    """The data with the part at a path replaced; its keys are fields, indices and names."""
    if not path:
        return new
    first, *rest = path.split(".") if isinstance(path, str) else path
    if isinstance(value, tuple):
        i = int(first)
        return (*value[:i], changed(value[i], rest, new), *value[i + 1 :])
    if is_dataclass(value):
        return replace(value, **{first: changed(getattr(value, first), rest, new)})
    return {**value, first: changed(value.get(first), rest, new)}


def about(value, low=math.nan, high=math.nan, note=""):
    return Estimate(value, low, high, n=4, note=note)


def estimate(numbers):
    """The mean and the extremes of some numbers; one number has no interval."""
    if len(numbers) == 1:
        return about(float(numbers[0]), note="one seed: no interval")
    return about(float(np.mean(numbers)), float(np.min(numbers)), float(np.max(numbers)))


def band(curves):
    """The mean and the extremes of curves [seeds, T] at each point."""
    low, high = (f(axis=0) for f in (curves.min, curves.max))
    none = np.full(curves.shape[1], math.nan)
    ends = (low, high) if len(curves) > 1 else (none, none)
    return Band(curves.mean(axis=0), *ends, n=len(curves))


def sample(
    worlds=("Room", "Sea", "River"), agents=("Bold", "Careful", "Idle"), seeds=4, imitators=()
):
    """A study; the first world has a room as its picture, the second a sea, the others none.

    Some of the agents may be imitators. The first world differs most between the agents.
    """
    rng = np.random.default_rng(7)
    return data.ReportData(
        title="A sample study",
        description="Made-up numbers.",
        version="0.1.0",
        created="2026-11-16 00:10 UTC",
        level=0.95,
        draws=2000,
        specification='[study]\ntitle = "A sample study"\n\nseeds = 4\n',
        environment={"python": "3.11.7", "commit": "f7df7dc"},
        agents=tuple(
            data.ShownAgent(name, data.About(f"Kind of {name}", {"beta": "0.5"}, f"mine:{name}"))
            for name in agents
        ),
        worlds=tuple(
            _world(i, name, agents, seeds, imitators, rng) for i, name in enumerate(worlds)
        ),
    )


def _world(i, name, agents, seeds, imitators, rng):
    losses = {agent: _losses(k, seeds, rng) / (1 + i) for k, agent in enumerate(agents)}
    averages = {agent: loss.mean(axis=1) for agent, loss in losses.items()}
    picture = None
    if i < 2:
        place = (
            (ROOM, ROOM_CELLS, FOUR_WAYS)
            if i == 0
            else (SEA, SEA_CELLS, np.array([(1, -1), (1, 1)]))
        )
        picture = _picture(*place, agents, imitators, rng)
    no_slope = about(math.nan, note="no regret to fit")
    return data.ShownWorld(
        name=name,
        about=data.About(f"Kind of {name}", {"slip": "0.1"}, f"mine:{name}, source 1a2b3c4d"),
        labels=labels.VALUES,
        states=9,
        actions=4,
        length=1000,
        seeds=seeds,
        optimal=10.0,
        uniform=1.5,
        estimates={
            agent: {
                "average": estimate(averages[agent]),
                "iqm": estimate(averages[agent]),
                "final": estimate(loss[:, -3:].mean(axis=1)),
                "regret": estimate(10 * loss.sum(axis=1)),
                "slope": no_slope if agent == agents[-1] else estimate(0.5 + averages[agent]),
            }
            for agent, loss in losses.items()
        },
        improvement={
            a: {b: _chance(averages[a], averages[b]) for b in agents if b != a} for a in agents
        },
        curves={agent: _curves(loss, agent in imitators) for agent, loss in losses.items()},
        picture=picture,
    )


def _losses(k, seeds, rng):
    """Suboptimality [seeds, T] that falls, the first agent's to exactly zero and below."""
    decay = np.exp(-np.arange(30) / (3 + 5 * k))
    losses = decay * (1 + 0.2 * rng.normal(size=(seeds, 1))) + 0.01 * k
    if k == 0:
        losses[:, 20:] = 0.0
        losses[:, 25:] = -0.001
    return np.minimum(losses, 1)


def _curves(losses, imitates):
    """The curves of an agent; the matching errors of an imitator are half the losses and 0.1."""
    numbers = {"regret": np.cumsum(10 * losses, axis=1), "suboptimality": losses}
    if imitates:
        numbers["matching_error"] = error = losses / 2 + 0.1
        so_far = np.cumsum(error, axis=1) / np.arange(1, error.shape[1] + 1)
        numbers["average_matching_error"] = so_far
    of = {name: data.Curve(band(curves), curves) for name, curves in numbers.items()}
    of["suboptimality"] = replace(of["suboptimality"], iqm=band(0.9 * losses))
    episode = np.unique(np.geomspace(1, 1001, 60).astype(int))[:30]
    return data.Curves(episode, 7.5 * episode, of)


def _chance(a, b):
    value = float(((a[:, None] < b) + 0.5 * (a[:, None] == b)).mean())
    return (
        estimate([value]) if len(a) == 1 else about(value, max(0, value - 0.2), min(1, value + 0.2))
    )


def _picture(board, cells, moves, agents, imitators, rng):
    n, n_actions = len(cells), len(moves)
    policy = np.eye(n_actions)[rng.integers(n_actions, size=n)]
    best = data.ShownOptimum(np.linspace(1, 9, n), rng.dirichlet(np.ones(n)), policy)
    fading = np.array([0.5, 0.6, 0.4, 0.1, 0.02])[:, None]  # it differs most at the second moment
    runs = []
    for agent in agents:
        time = np.array([np.append(0.0, rng.dirichlet(np.ones(n - 1) / (k + 1))) for k in range(5)])
        runs.append(data.Recording(
            agent,
            seed=0,
            episodes=EPISODES,
            value=10 * 0.8 ** np.arange(5)[:, None] * np.linspace(0.2, 1, n),
            bonus=fading * np.linspace(1, 0.1, n),
            ascension=None if agent == agents[-1] else fading * np.linspace(0.5, 0.1, n),
            occupancy=time,
            difference=time - best.occupancy if agent in imitators else None,
            policy=rng.dirichlet(np.ones(n_actions) / 2, size=(5, n)),
        ))  # fmt: skip
    return data.Picture(board, cells, moves, runs=tuple(runs), optimum=best)


def environment(agents, name="Plane", drawn=True):
    """A Gymnasium environment; the later an agent, the lower its returns."""
    rng = np.random.default_rng(3)
    rise = 1 - np.exp(-np.arange(20) / 5)
    returns = {
        agent: -200 + (40 - 10 * k) * rise + rng.normal(size=(4, 20))
        for k, agent in enumerate(agents)
    }
    episode = np.arange(10, 201, 10)
    return data.ShownWorld(
        name=name,
        about=data.About(f"Gym {name}-v0", {"gamma": "0.99"}),
        labels=labels.RETURNS,
        actions=3,
        length=200,
        seeds=4,
        estimates={
            agent: {
                "mean_return": estimate(numbers.mean(axis=1)),
                "final_return": estimate(numbers[:, -2:].mean(axis=1)),
            }
            for agent, numbers in returns.items()
        },
        improvement={a: {b: estimate([0.7, 0.8]) for b in agents if b != a} for a in agents},
        curves={
            agent: data.Curves(
                episode, 30.0 * episode, {"return": data.Curve(band(x), x, band(0.9 * x))}
            )
            for agent, x in returns.items()
        },
        picture=_maps(agents, rng) if drawn else None,
    )


def _maps(agents, rng):
    shape = (4, SIDE**2)
    runs = [
        data.Recording(
            agent,
            seed=0,
            episodes=np.array([0, 1, 8, 64]),
            value=50 + 10 * rng.random(shape),
            bonus=rng.random(shape),
            ascension=rng.random(shape),
            visits=100 * rng.random(shape),
            action=rng.integers(3, size=shape),
        )
        for agent in agents
    ]
    cells = np.stack(np.divmod(np.arange(SIDE**2), SIDE), axis=1)
    axes = np.array([[-1.2, 0.6], [-0.07, 0.07]])
    return data.Picture(("." * SIDE,) * SIDE, cells, axes=axes, runs=tuple(runs))


def comparison(worlds, families=("Bold", "Careful", "Idle"), held_out=1, spread=0.2):
    """A subject, the first family, and its peers; some of the worlds, the last, are held out."""
    rng = np.random.default_rng(0)
    first = len(worlds) - held_out
    found = tuple(_compared(w, families, i >= first, spread, rng) for i, w in enumerate(worlds))
    groups = {"all": found}
    if held_out:
        groups |= {"chosen": found[:first], "held_out": found[first:]}
    return data.Comparison(
        subject=families[0],
        families={name: 2 if i else 1 for i, name in enumerate(families)},
        sentence=f"{families[0]} is lowest or within 1.2 times the best peer on some worlds.",
        within=1.2,
        fails=0.5,
        succeeds=0.1,
        counts={
            group: {"worlds": len(some), "lowest": 0, "close": 0, "fails_alone": 0}
            for group, some in groups.items()
        },
        ranks={
            group: {name: _spread(1.0 + i, spread) for i, name in enumerate(families)}
            for group in groups
        },
        left_out=(),
        worlds=found,
    )


def _spread(value, spread):
    return estimate([value] if spread is None else [value * (1 - spread), value * (1 + spread)])


def _compared(name, families, held_out, spread, rng):
    subject, *others = families
    means = dict(zip(others, 0.01 * 10 ** rng.uniform(0, 1.2, len(others)), strict=True))
    peer = min(means, key=means.get)
    ratio = 10 ** rng.uniform(-0.3, 0.3)
    return data.Compared(
        name=name,
        held_out=held_out,
        peer=peer,
        ratio=_spread(ratio, spread),
        verdict="lowest" if ratio <= 1 else "within" if ratio <= 1.2 else "behind",
        failed=False,
        succeeded=(),
        families={
            family: data.Family(
                setting="" if family == subject else "beta 0.3",
                scores=np.array([mean]),
                average=_spread(mean, spread),
                ratio=mean / means[peer],
            )
            for family, mean in {subject: ratio * means[peer], **means}.items()
        },
    )


def certified(study):
    """A study with certificates in all worlds but the last agent, which has none.

    The bounds close in on the optimum. The first agent is certified within 20% and 10% of it by
    half of its seeds at episodes 100 and 300, and truly is that good at 10 and 30; others never.
    """
    episode = np.unique(np.geomspace(1, 1000, 20).astype(int))
    near = np.linspace(1, 0.1, len(episode))
    never = np.full((4, len(data.LEVELS)), math.nan)
    first = np.array([[100, 300], [100, 300], [90, math.nan], [math.nan, math.nan]])
    first = np.hstack([first, never[:, 2:]])
    *those, last = (agent.name for agent in study.agents)
    found = {
        name: data.Certified(
            episode,
            lower=1 - near,
            upper=1 + 3 * near,
            value=1 - near / 2,
            certified=never if i else first,
            truly=first / 10,
        )
        for i, name in enumerate(those)
    }
    worlds = (
        replace(world, certified=found, uncertified={last: "it keeps no counts"})
        for world in study.worlds
    )
    return replace(study, worlds=tuple(worlds), certify=0.05)
