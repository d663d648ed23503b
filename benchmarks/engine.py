"""The engine against the plain pseudocode, NumPy, a bare simulation and BLAS: ``make bench``.

One run, one thread; every ratio is of times measured side by side, best of several.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read when BLAS is loaded, so before NumPy is imported

import math
import resource
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import optimist as opt
from benchmarks.timing import best_of
from optimist.checks import FloatArray, IntArray
from optimist.core import Sigmoid

K = 2_000
"""Episodes of the comparisons on RiverSwim 6."""

CONFIG = opt.core.Variant(
    eta=10.0, bonus=opt.core.FixedBonus(1.0), ascension=Sigmoid(2 * math.log(K), math.log(K))
)
"""Algorithm 1 as printed, one update an episode, at a practical beta."""


def learn(world: opt.envs.World, episodes: int, config: Any = CONFIG) -> Any:
    """A fresh agent that has learnt for so many episodes, without keeping policies."""
    agent = opt.agents.VariantAgent(world, config=config, seed=0, stride=0)
    agent.learn(episodes)
    return agent


def transcription() -> Any:
    """The line-by-line transcription of the pseudocode that the tests compare with."""
    tests = str(Path(__file__).parents[1] / "tests")
    if tests not in sys.path:
        sys.path.insert(0, tests)
    return import_module("reference.algorithm_1")


def numpy_learner(world: opt.envs.World, episodes: int) -> FloatArray:
    """The same algorithm in NumPy on counts, everything but the steps in whole-array operations."""
    mdp, rng = world.mdp, np.random.default_rng(0)
    X, A = mdp.r.shape
    P, start = np.cumsum(np.asarray(mdp.P), axis=2), np.cumsum(mdp.nu0)
    heaven, eta, beta = mdp.horizon, CONFIG.eta, 1.0
    counts, frozen = np.zeros((X, A, X)), np.ones((X, A))
    V, log_pi = np.zeros(X), np.full((X, A), -math.log(A))
    x, log_det = int(start.searchsorted(rng.random(), side="right")), 0.0
    CB, p = np.zeros((X, A)), np.zeros((X, A))
    for k in range(episodes):
        pi = np.cumsum(np.exp(log_pi), axis=1)
        while True:
            a = min(int(pi[x].searchsorted(rng.random(), side="right")), A - 1)
            if rng.random() >= mdp.gamma:
                x = int(start.searchsorted(rng.random(), side="right"))
                break
            after = int(P[x, a].searchsorted(rng.random(), side="right"))
            counts[x, a, after] += 1
            x = after
        Lambda = 1 + counts.sum(axis=2)
        now = np.log(Lambda).sum()
        if k == 0 or now >= log_det + math.log(2) - 1e-9:
            log_det, frozen = now, Lambda
            log_pi = np.full((X, A), -math.log(A))
            CB = beta / np.sqrt(frozen)
            p = 1 / (1 + np.exp(math.log(K) - 2 * math.log(K) * CB))
        Q = (1 - p) * (mdp.r + CB + mdp.gamma * (counts @ V) / Lambda) + p * heaven
        log_pi = log_pi + eta * Q
        top = log_pi.max(axis=1, keepdims=True)
        total = top + np.log(np.exp(log_pi - top).sum(axis=1, keepdims=True))
        log_pi = log_pi - total
        V = total[:, 0] / eta
    return V


@njit(cache=True)
def simulate(
    rng: np.random.Generator,
    first: IntArray,
    after: IntArray,
    cumulative: FloatArray,
    start: FloatArray,
    pi: FloatArray,
    gamma: float,
    steps: int,
) -> int:
    """Nothing but the steps of a fixed policy with geometric resets."""
    n_actions, x, seen = pi.shape[1], 0, 0
    for _ in range(steps):
        u, a = rng.random(), 0
        while a < n_actions - 1 and u >= pi[x, a]:
            a += 1
        if rng.random() >= gamma:
            u, x = rng.random(), 0
            while x < start.size - 1 and u >= start[x]:
                x += 1
        else:
            pair = x * n_actions + a
            u, entry = rng.random(), first[pair]
            while entry < first[pair + 1] - 1 and u >= cumulative[entry]:
                entry += 1
            x = after[entry]
        seen += x
    return seen


def against_simulation(world: opt.envs.World, episodes: int) -> float:
    """Time of learning over time of only simulating as many steps under the final policy."""
    learn(world, 10)
    ours, agent = best_of(3, partial(learn, world, episodes))
    mdp = world.mdp
    kernel = sp.csr_array(mdp.kernel)
    rows = np.repeat(np.arange(kernel.shape[0]), np.diff(kernel.indptr))
    cumulative = np.concatenate([np.cumsum(kernel.data[rows == i]) for i in range(kernel.shape[0])])
    pi = np.cumsum(agent.policy.probabilities(np.arange(mdp.n_states)), axis=1)
    arguments = (
        kernel.indptr.astype(np.int64), kernel.indices.astype(np.int64), cumulative,
        np.cumsum(mdp.nu0), pi, mdp.gamma,
    )  # fmt: skip
    rng = np.random.default_rng(0)
    simulate(rng, *arguments, 10)
    steps = int(agent.history.steps.sum())
    bare, _ = best_of(3, partial(simulate, rng, *arguments, steps))
    return ours / bare


def against_blas(gamma: float, episodes: int) -> float:
    """Dense features: time of learning over that of one product a step and one an update."""
    world = opt.envs.RandomLinear(50, 200, 5, gamma=gamma)
    learn(world, 10)
    ours, agent = best_of(2, partial(learn, world, episodes))
    square, tall, v = np.ones((50, 50)), np.ones((1000, 50)), np.ones(50)

    def product(matrix: FloatArray) -> float:
        seconds, _ = best_of(3, lambda: [matrix @ v for _ in range(5000)])
        return seconds / 5000

    steps = int(agent.history.steps.sum())
    return ours / (steps * product(square) + episodes * product(tall))


def ageing(world: opt.envs.World, episodes: int) -> float:
    """Time per episode of the last tenth over that of the first, in one run."""
    agent = opt.agents.VariantAgent(world, config=CONFIG, seed=0, stride=0)
    agent.learn(10)
    tenth = episodes // 10
    times = [best_of(1, partial(agent.learn, tenth))[0] for _ in range(10)]
    return times[-1] / times[0]


def memory(world: opt.envs.World, steps: int) -> float:
    """Megabytes by which the process grows over so many steps, the episodes' numbers included."""
    agent = opt.agents.VariantAgent(world, config=CONFIG, seed=0, stride=0)
    agent.learn(1000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    agent.learn(int(steps / world.mdp.horizon))
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def main() -> None:
    """Print the table."""
    console = Console(width=120)
    table = Table(title="The engine, in one run on one thread", box=SIMPLE)
    for heading in ("what", "measured", "aim"):
        table.add_column(heading)
    river = opt.envs.RiverSwim(6, gamma=0.99)
    learn(river, 10)
    grown = memory(river, 10**7)  # first, while the peak of the process is still its own
    ours, _ = best_of(3, partial(learn, river, K))

    def plain() -> None:
        mdp = river.mdp
        Phi = np.eye(12).reshape(6, 2, 12)
        omega = math.log(K)
        printed = transcription().Transcription(
            mdp, Phi, eta=10.0, beta=1.0, alpha=2 * omega, omega=omega, seed=0
        )
        for _ in range(K):
            printed.episode()

    seconds, _ = best_of(1, plain)
    table.add_row(
        f"RiverSwim 6: plain transcription / engine, {K:,} episodes",
        f"{seconds / ours:,.0f}x", ">= 1,000x",
    )  # fmt: skip
    seconds, _ = best_of(2, partial(numpy_learner, river, K))
    table.add_row("RiverSwim 6: NumPy on counts / engine", f"{seconds / ours:,.0f}x", ">= 100x")
    for world in (river, opt.envs.DeepSea(20)):
        ratio = against_simulation(world, 20_000)
        name = type(world).__name__
        table.add_row(f"{name}: engine / bare simulation of its steps", f"{ratio:.1f}x", "<= 3x")
    for gamma, episodes in ((0.9, 2_000), (0.9, 20_000), (0.99, 2_000)):
        ratio = against_blas(gamma, episodes)
        name = f"dense d = 50, X = 200, A = 5, gamma {gamma}, {episodes:,} episodes"
        table.add_row(f"{name}: engine / BLAS products", f"{ratio:.1f}x", "<= 3x")
    table.add_row(
        "last tenth of 50,000 episodes / first", f"{ageing(river, 50_000):.2f}x", "<= 1.1x"
    )
    table.add_row("memory grown over 10^7 steps", f"{grown:.0f} MB", "< 50 MB")
    console.print(table)


if __name__ == "__main__":
    main()
