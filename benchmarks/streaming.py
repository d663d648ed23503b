"""The streaming learner against BLAS, its own past and a peer: ``python -m benchmarks.streaming``.

One run, one thread; ratios are of times measured side by side, for updates of the processor. With
``--peers PYTHON``, the Python of an environment with rlberry-scool (benchmarks/peers/lsvi_ucb.py),
the peer is timed as well.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read when BLAS is loaded, so before NumPy is imported

import argparse
import json
import resource
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from threadpoolctl import threadpool_limits

import optimist as opt
from benchmarks.timing import best_of
from optimist.agents.driver import RunSettings
from optimist.agents.stream_driver import StreamDriver
from optimist.core import Sigmoid
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


class Update(NamedTuple):
    """Processor seconds of an update of all values, and of BLAS over the same features."""

    update: float
    one: float  # a product with one vector
    each: float  # with one for each action
    gain: float  # how many times as fast two threads are, by the clock
    megabytes: float  # by which the process has grown at most


def against_blas(T: int, s: int) -> Update:
    """One update over T stored transitions, and passes of BLAS over the same features."""
    rng, before = np.random.default_rng(0), peak()
    phi, world = PerAction(Given(s), ACTIONS), Gym("MountainCar-v0", memory=8 * 2.0**30)
    driver = StreamDriver(world, phi, CONFIG, RunSettings(CONFIG, 0, 0))
    rule, memory, epoch, none = driver.rule(0), driver.memory, driver.epoch, np.zeros((0, phi.dim))
    for first in range(0, T, 10_000):
        n = min(10_000, T - first)
        memory.find(rng.normal(size=(n, s)) / np.sqrt(s), None)
    initialise(rule, memory.states, epoch, none, 0, T)
    memory.reserve_links(T)
    chain, actions = np.arange(T), rng.integers(ACTIONS, size=T)
    stream = memory.stream(rule, epoch)
    links, chains = stream.links, stream.chains  # x to x + 1; the covariance is of no use here
    links.source[:T], links.action[:T], links.after[:T] = chain, actions, np.roll(chain, -1)
    links.weight[:T], links.paid[:T] = 1.0, rng.random(T)
    chains.head[:T], chains.following[:T] = np.roll(chain, 1), -1

    def update() -> float:
        weights, stop = np.zeros(phi.dim), np.zeros(1, np.bool_)
        return update_all(stream, weights, none, T, stop)

    def seconds(threads: int) -> float:
        with threadpool_limits(threads, user_api="blas"):
            return best_of(5, update)[0]

    Theta, features = rng.normal(size=(s, ACTIONS)), memory.states.rows[:T]
    update()
    runs = (update, lambda: features @ Theta[:, 0].copy(), lambda: features @ Theta)
    with threadpool_limits(1, user_api="blas"):
        ours, vector, actions_each = (best_of(5, run, time.process_time)[0] for run in runs)
    one, two = seconds(1), seconds(2)
    return Update(ours, vector, actions_each, one / two, peak() - before)


def peak() -> float:
    """The most memory that the process has taken so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


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
    parser.add_argument("--transitions", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 300, 667])
    parser.add_argument("--updates-only", action="store_true", help="print the first table alone")
    given = parser.parse_args()
    print("A value update over T transitions against one pass of BLAS over their features:")
    print("| T | d | update, ms | BLAS, one vector | BLAS, one an action | two threads | MB |")
    print("|---" * 7 + "|")
    for s in given.sizes:
        for T in given.transitions:
            found = against_blas(T, s)
            ms, one, each = (1e3 * seconds for seconds in found[:3])
            print(
                f"| {T:,} | {ACTIONS * s:,} | {ms:.2f} | {one:.2f} ({ms / one:.2f}x) | "
                f"{each:.2f} ({ms / each:.2f}x) | {found.gain:.2f}x | "
                f"{found.megabytes:,.0f} |",
                flush=True,
            )
    if given.updates_only:
        return
    print("The time of an episode of MountainCar-v0, in five stretches of a run:")
    for features, episodes in (("tiles:40", 500), ("rbf:10", 250)):
        for lazy in (False, True):
            growth(features, lazy, episodes)
    print("RiverSwim 6, one-hot, one update an episode:")
    against_peer(given.peers, 200)


if __name__ == "__main__":
    main()
