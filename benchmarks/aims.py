"""What a run should cost at most, and what it costs here: ``python -m benchmarks.aims``.

Every row is a ratio to a peer in the same process, or seconds, on one thread. Times are of the
processor, but for cold starts and the engine. ``make bench`` prints it after the tables of the
exact solver and of the engine. It takes a minute on an idle core.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read when BLAS is loaded, so before NumPy is imported

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import optimist as opt
from benchmarks import engine, scale, start, streaming
from benchmarks.timing import best_of
from optimist.experiments import Study

EPISODES = 300
"""How many are played in each world of a comparison of agents."""


class Row(NamedTuple):
    """An aim: what is measured, in which unit, and the most that it should be."""

    what: str
    measured: float
    most: float
    unit: str = "x"
    more: str = ""


def learn_seconds(agent: Callable[[], Any], episodes: int = EPISODES) -> float:
    """Seconds of the processor that fresh agents take to learn."""

    def run() -> None:
        agent().learn(episodes, show_progress=False)

    return best_of(2, run, time.process_time)[0]


def cold_starts() -> Iterator[Row]:
    """The first calls with an empty cache of compiled functions."""
    with tempfile.TemporaryDirectory() as cache:
        for what, (code, most) in start.PARTS.items():
            seconds = start.seconds(code, cache)
            if most is None:
                continue
            yield Row(f"cold start: {what}", seconds, most, " s")


def engines() -> Iterator[Row]:
    """The compiled loop against what it cannot do without."""
    river, deep = opt.envs.RiverSwim(6, gamma=0.99), opt.envs.DeepSea(20)
    for world, most in ((river, 2.5), (deep, 4.0)):
        name = type(world).__name__
        ratio = engine.against_simulation(world, 20_000)
        yield Row(f"{name}: engine / bare simulation of its steps", ratio, most)
    ratio = engine.against_blas(0.9, 2_000)
    yield Row("dense d = 50, 2,000 episodes: engine / BLAS products", ratio, 3.0)


def no_knob() -> Iterator[Row]:
    """`Optimist` against the engine with one update an episode."""
    ratios = {}
    for name, world in Study.read("exploration").worlds.items():
        engine_alone = partial(opt.RmaxRaviUcb, world, updates=1, seed=0, stride=0)
        optimist = partial(opt.Optimist, world, seed=0, stride=0)
        ratios[name] = learn_seconds(optimist) / learn_seconds(engine_alone)
    worst = max(ratios, key=ratios.__getitem__)
    within = sum(ratio <= 3 for ratio in ratios.values())
    mean = float(np.exp(np.log(list(ratios.values())).mean()))
    said = f"mean {mean:.1f}x; {within} of {len(ratios)} within; worst in {worst}"
    yield Row("Optimist / engine with one update, exploration study", ratios[worst], 3.0, "x", said)


def imitation() -> Iterator[Row]:
    """FRA-IL against its policy player with fixed rewards."""
    players = {
        "RmaxRaviUcb": (opt.RmaxRaviUcb.Config(), opt.RmaxRaviUcb),
        "Optimist": (opt.Optimist.Config(), opt.Optimist),
    }
    worlds = opt.envs.GridWorld(), opt.envs.RiverSwim(6, gamma=0.99), opt.envs.FourRooms()
    for name, (player, agent) in players.items():
        ratios = {}
        for world in worlds:
            mdp = world.mdp
            phi_r = opt.features.StateOnly(opt.features.OneHotState(mdp.n_states), mdp.n_actions)
            expert = opt.imitation.FeatureDataset.from_policy(world, mdp.optimal().policy, phi_r)
            imitator = partial(opt.FraIL, world, expert, player=player, seed=0, stride=0)
            fixed = partial(agent, world, seed=0, stride=0)
            ratios[type(world).__name__] = learn_seconds(imitator) / learn_seconds(fixed)
        each = ", ".join(f"{world} {ratio:.1f}x" for world, ratio in ratios.items())
        yield Row(f"FRA-IL / {name} with fixed rewards", max(ratios.values()), 1.5, "x", each)


def large() -> Iterator[Row]:
    """Many states, many features, many transitions."""
    for name, make in scale.AGENTS.items():
        few, many = (scale.seconds_an_episode(make, scale.grid(side)) for side in (45, 300))
        said = f"{1e3 * few:.1f} and {1e3 * many:.1f} ms"
        what = f"{name}, 2,000 states met: grid of 90,000 states / of 2,025"
        yield Row(what, many / few, 2.0, "x", said)
    seconds = scale.dense_seconds(2_000, episodes=50)
    yield Row("dense d = 2,000, X = 200: an episode", seconds, 0.15, " s")
    found = streaming.against_blas(100_000, 667)
    said = f"{found.update / found.each:.2f}x a product with a vector for each action"
    what = "streaming, d = 2,001, 100,000 transitions: update / BLAS, one vector"
    yield Row(what, found.update / found.one, 2.0, "x", said)


GROUPS = {
    "start": cold_starts,
    "engine": engines,
    "no-knob": no_knob,
    "imitation": imitation,
    "large": large,
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=list(GROUPS), choices=GROUPS)
    given = parser.parse_args()
    table = Table(title="Aims", box=SIMPLE)
    for heading in ("aim", "measured", "at most", "met", ""):
        table.add_column(heading)
    for name in given.only:
        for row in GROUPS[name]():
            met = "yes" if row.measured <= row.most else "NO"
            measured, most = (f"{value:.3g}{row.unit}" for value in (row.measured, row.most))
            table.add_row(row.what, measured, most, met, row.more)
            print(f"{row.what}: {measured}, at most {most}: {met}", flush=True)
    Console(width=170).print(table)


if __name__ == "__main__":
    main()
