"""The streaming learner against BLAS, its own past and a peer: ``python -m benchmarks.streaming``.

One run, one thread; ratios are of times measured side by side. With ``--peers PYTHON``, the Python
of an environment with rlberry-scool (benchmarks/peers/lsvi_ucb.py), the peer is timed as well.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read when BLAS is loaded, so before NumPy is imported

import argparse
import json
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import optimist as opt
from benchmarks.timing import best_of
from optimist.agents.driver import RunSettings
from optimist.agents.stream_driver import StreamDriver
from optimist.core import Sigmoid
from optimist.core.links import add_transitions
from optimist.core.streaming import initialise, update_all
from optimist.envs import Gym
from optimist.features import PerAction, StateFeatures

ACTIONS = 3
CONFIG = opt.core.Variant(
    eta=10.0, bonus=opt.core.FixedBonus(0.5), ascension=Sigmoid(8.0, 4.0), updates=1
)


class Given(StateFeatures):
    """State features of some dimension, which are the observations themselves."""

    def __init__(self, dim: int) -> None:
        super().__init__(dim, bound=1.0, blocks=1)

    def __call__(self, observations: Any) -> Any:
        return np.array(observations, dtype=np.float64)


def against_blas(T: int, s: int) -> None:
    """One update over T stored transitions, and one pass of BLAS over the same features."""
    rng = np.random.default_rng(0)
    phi, world = PerAction(Given(s), ACTIONS), Gym("MountainCar-v0", memory=8 * 2.0**30)
    driver = StreamDriver(world, phi, CONFIG, RunSettings(CONFIG, 0, 0))
    rule, memory, epoch, none = driver.rule(0), driver.memory, driver.epoch, np.zeros((0, phi.dim))
    memory.find(rng.normal(size=(T, s)) / np.sqrt(s), None)
    initialise(rule, memory.states, epoch, none, 0, T)
    memory.reserve_links(T)
    chain, actions = np.arange(T), rng.integers(ACTIONS, size=T)
    stream = memory.stream(rule, epoch)
    add_transitions(stream, 0.0, 0, chain, actions, np.roll(chain, -1), rng.random(T))

    def update() -> float:
        weights, stop = np.zeros(phi.dim), np.zeros(1, np.bool_)
        return update_all(stream, weights, none, T, stop)

    Theta, features = rng.normal(size=(s, ACTIONS)), memory.states.rows[:T]
    update()
    ours, _ = best_of(7, update)
    one, _ = best_of(7, lambda: features @ Theta[:, 0].copy())
    each, _ = best_of(7, lambda: features @ Theta)
    print(
        f"  T = {T:>7,}, psi of {s} (d = {phi.dim}): {1e3 * ours:6.2f} ms; a pass of BLAS with one "
        f"vector {1e3 * one:6.2f} ms ({ours / one:.2f}x), with one for each action "
        f"{1e3 * each:6.2f} ms ({ours / each:.2f}x)"
    )


def growth(features: str, lazy: bool, episodes: int) -> None:
    """The time of an episode, as the memory grows."""
    config = replace(opt.RmaxRaviUcb.Config().variant(), lazy=lazy)
    env = gymnasium.make("MountainCar-v0")
    agent = opt.agents.VariantAgent(env, features, config=config, gamma=0.99)
    agent.learn(1, show_progress=False)
    cells = []
    for _ in range(5):
        begin = time.perf_counter()
        history = agent.learn(episodes // 5, show_progress=False)
        taken = (time.perf_counter() - begin) / (episodes // 5)
        cells.append(f"{history.states[-1]:>7,} states {1e3 * taken:6.1f} ms")
    when = "every epoch  " if lazy else "every episode"
    print(f"  {features:9} {when}: {'; '.join(cells)}; {agent.history.epoch[-1]} epochs")


def against_peer(python: str | None, episodes: int) -> None:
    """RiverSwim 6 with one-hot features: time a step, and that of rlberry-scool's LSVI-UCB."""
    world = opt.envs.RiverSwim(6, gamma=0.9)
    config = opt.RmaxRaviUcb.Config(updates=1).variant()
    for name, given, terms in (
        ("streaming", world.make(), {"gamma": 0.9}),
        ("compiled", world, {}),
    ):
        agent = opt.agents.VariantAgent(given, config=config, stride=0, **terms)  # type: ignore[arg-type]
        agent.learn(10, show_progress=False)
        before, begin = agent.steps, time.perf_counter()
        agent.learn(episodes, show_progress=False)
        each = (time.perf_counter() - begin) / (agent.steps - before)
        print(f"  {name}: {1e6 * each:.2f} us a step over {episodes} episodes")
    if python is None:
        return
    mdp = world.mdp
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "mdp.npz"
        Phi = world.features.all_actions(np.arange(mdp.n_states))
        np.savez(file, P=np.asarray(mdp.P), r=mdp.r, nu0=mdp.nu0, gamma=mdp.gamma, Phi=Phi)
        script = Path(__file__).parent / "peers" / "lsvi_ucb.py"
        answer = subprocess.run(
            [python, script, file, str(episodes)], capture_output=True, text=True, check=True
        )
    peer = json.loads(answer.stdout.splitlines()[-1])
    each = 1e6 * peer["seconds"] / peer["steps"]
    print(f"  rlberry-scool {peer['version']}, LSVI-UCB: {each:,.0f} us a step, likewise")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", help="the Python that has rlberry-scool")
    given = parser.parse_args()
    print("A value update over T transitions against one pass of BLAS over their features:")
    for s in (100, 300):
        for T in (10_000, 100_000):
            against_blas(T, s)
    print("The time of an episode of MountainCar-v0, in five stretches of a run:")
    for features, episodes in (("tiles:40", 500), ("rbf:10", 250)):
        for lazy in (False, True):
            growth(features, lazy, episodes)
    print("RiverSwim 6, one-hot, one update an episode:")
    against_peer(given.peers, 200)


if __name__ == "__main__":
    main()
