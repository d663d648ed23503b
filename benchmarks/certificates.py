"""Certificates, measured: ``python -m benchmarks.certificates [coverage|width|exploration|speed]``.

coverage     how often a certificate of a run fails, in small worlds and random MDPs
width        the bounds beside others of the literature, on the same counts
exploration  episodes until certified, playing as usual and for the certificate
speed        what a certificate costs
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import argparse
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import optimist as opt
from optimist import envs
from optimist.agents.certificate import Certifier, Seen
from optimist.checks import FloatArray
from optimist.core import certificate
from optimist.core.arrays import simulator

DELTA = 0.05


def random_mdp(rng: np.random.Generator) -> opt.FiniteMDP:
    """Two to six states, one to three actions, from deterministic to dense."""
    X, A = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    P = rng.dirichlet(np.full(X, 10 ** rng.uniform(-1.5, 0.5)), size=(X, A))
    P = np.where(P > 1e-9, P, 0)
    P /= P.sum(axis=2, keepdims=True)
    nu0 = rng.dirichlet(np.full(X, 0.3))
    return opt.FiniteMDP(P, rng.random((X, A)), nu0 / nu0.sum(), float(rng.choice([0.5, 0.8, 0.9])))


SMALL: dict[str, Callable[[np.random.Generator], opt.FiniteMDP]] = {
    "a coin": lambda rng: opt.FiniteMDP(
        np.array([[[0, 0.3, 0.7]], [[0, 1, 0]], [[0, 0, 1]]]), [[0], [1], [0]], [1, 0, 0], 0.5
    ),
    "RiverSwim 4": lambda rng: envs.RiverSwim(4, gamma=0.8).mdp,
    "DeepSea 3": lambda rng: envs.DeepSea(3, slip=0.1, gamma=0.8).mdp,
    "random MDPs": random_mdp,
}


TIMES = np.unique((1.6 ** np.arange(16)).astype(int))
"""The episodes after which a certificate is asked for."""

AGENTS = (opt.Optimist, opt.Psrl, opt.Prover)


def fails(mdp: opt.FiniteMDP, found: Any) -> bool:
    """Whether a certificate is wrong, by the exact values."""
    value = mdp.value(found.policy.table)
    return bool(found.lower > value or found.upper < mdp.optimal().value)


def coverage(worlds: list[str], runs: int) -> None:
    """Shares of runs in each world that fail at a random time, and at any time asked."""
    print("world, runs, fails at a random time, at the worst time, allowed")
    for delta, n in ((0.05, runs), (0.5, runs // 5)):
        for name in worlds:
            make = SMALL[name]
            rng, once, ever = np.random.default_rng(0), 0, 0
            for run in range(n):
                mdp = make(rng)
                agent = AGENTS[run % 3](mdp, seed=int(rng.integers(2**31)), stride=0)
                support = mdp if rng.random() < 0.5 else None
                failed: list[bool] = []
                for episodes in TIMES:
                    agent.learn(episodes - agent.episodes)
                    failed.append(fails(mdp, agent.certificate(delta, support)))
                once += failed[rng.integers(len(failed))]
                ever += any(failed)
            print(f"{name}, {n:,}, {once / n:.2%}, {ever / n:.2%}, {delta:.0%}", flush=True)


WORLDS: dict[str, envs.World] = {
    "RiverSwim 6": envs.RiverSwim(6, gamma=0.9),
    "RiverSwim 20": envs.RiverSwim(20, gamma=0.95),
    "RandomTabular 20": envs.RandomTabular(20, gamma=0.9),
    "DeepSea 6": envs.DeepSea(6, gamma=0.95),
    "DeepSea 6, slippery": envs.DeepSea(6, slip=0.1, gamma=0.95),
    "CombinationLock 6": envs.CombinationLock(6, gamma=0.9),
    "SixArms": envs.SixArms(gamma=0.9),
    "GridWorld": envs.GridWorld(gamma=0.9),
}

LEARNERS: dict[str, Callable[[envs.World], Any]] = {
    "Optimist": lambda world: opt.Optimist(world, seed=0, stride=0),
    "RmaxRaviUcb": lambda world: opt.RmaxRaviUcb(world, seed=0, stride=0),
    "Rmax": lambda world: opt.Rmax(world, seed=0, stride=0),
    "Psrl": lambda world: opt.Psrl(world, lazy=True, seed=0, stride=0),
    "Ucbvi": lambda world: opt.Ucbvi(world, seed=0, stride=0),
    "Prover": lambda world: opt.Prover(world, seed=0, stride=0),
}


LEVELS = (0.2, 0.1, 0.05, 0.02, 0.01)
"""Shares of the optimum."""


def exploration(episodes: int, figure: Path) -> None:
    """What is certified after so many episodes, and when first at each of the levels.

    *Truly* is when the policy of the certificate is that good by its exact value.
    """
    table = Table("world", *LEARNERS, title=f"certified after {episodes:,} episodes")
    times = Table("world", "learner", *(f"{level:.0%}" for level in LEVELS))
    asks = np.unique(np.geomspace(10, episodes, 60).astype(int))
    points: list[tuple[str, float, float, float]] = []  # learner, level, truly, certified
    for name, world in WORLDS.items():
        cells = []
        for kind, make in LEARNERS.items():
            agent, certified, truly = make(world), {}, {}  # type: Any, dict[float, int], Any
            for ask in asks:
                agent.learn(int(ask) - agent.episodes)
                found = agent.certificate(DELTA)
                loss = world.mdp.suboptimality(found.policy.table) / world.mdp.optimal().value
                for level in LEVELS:
                    if found.share <= level:
                        certified.setdefault(level, int(ask))
                    if loss <= level:
                        truly.setdefault(level, int(ask))
            cells.append(f"{found.share:.1%} / {agent.certificate(DELTA, world).share:.1%}")
            row = [f"{certified.get(x, 0):,} / {truly.get(x, 0):,}" for x in LEVELS]
            times.add_row(name, kind, *row)
            never = math.inf
            points += [(kind, x, truly.get(x, never), certified.get(x, never)) for x in LEVELS]
        table.add_row(name, *cells)
        print(name, *cells, sep=", ", flush=True)
    console = Console(width=140)
    console.print(table)
    times.title = "episodes until certified / until truly that good; 0: not yet"
    console.print(times)
    draw(points, episodes, figure)


def draw(points: list[tuple[str, float, float, float]], episodes: int, figure: Path) -> None:
    """Episodes until certified over episodes until truly that good, a panel for each learner."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(2, 3, figsize=(9, 6), sharex=True, sharey=True)
    colours = plt.get_cmap("viridis")(np.linspace(0, 0.9, len(LEVELS)))
    for ax, kind in zip(axes.flat, LEARNERS, strict=True):
        for level, colour in zip(LEVELS, colours, strict=True):
            here = [(x, y) for k, at, x, y in points if k == kind and at == level and x < math.inf]
            done = np.array([(x, y) for x, y in here if y < math.inf]).reshape(-1, 2)
            open_ = np.array([(x, 1.6 * episodes) for x, y in here if y == math.inf])
            ax.scatter(*done.T, color=colour, s=28, label=f"{level:.0%}")
            if open_.size:
                ax.scatter(*open_.T, facecolors="none", edgecolors=colour, s=28, marker="^")
        ax.plot([10, episodes], [10, episodes], color="0.6", lw=0.8)
        ax.axhline(1.25 * episodes, color="0.6", lw=0.8, ls=":")
        ax.set(title=kind, xscale="log", yscale="log")
        ax.title.set_fontsize(10.5)
    axes[0, 0].legend(title="within", fontsize=8, title_fontsize=8)
    fig.supxlabel("episodes until the policy is truly that good", fontsize=10)
    fig.supylabel(f"episodes until it is certified (triangles: not in {episodes:,})", fontsize=10)
    fig.tight_layout()
    fig.savefig(figure, dpi=110)


def operator_bounds(
    counts: FloatArray, r: FloatArray, gamma: float, kind: str
) -> tuple[FloatArray, FloatArray]:
    """Bounds on V* from counts [X, A, X] by other means of the literature, the same for both ends.

    bernstein: P V* is within sqrt(2 Var V L / n) + 3 H L / n of P^ V, L = log(6 X A n (n + 1) /
    delta), the V and its variance being those of the bound itself: Var of V* is not known, so this
    is what a Bernstein bound in terms of V* would be worth if it cost nothing to know it.
    jonsson: KL balls of the radius log(2 X A / delta) + (X - 1) log(e (1 + n / (X - 1))).
    """
    X, A = r.shape
    n, H = counts.sum(axis=2), 1 / (1 - gamma)
    m = np.maximum(n, 1)
    p = counts / m[:, :, None]
    found = []
    for sign in (1, -1):
        W = np.full(X, H if sign > 0 else 0.0)
        for _ in range(3000):
            mean = p @ W
            if kind == "bernstein":
                L = np.log(6 * X * A * m * (m + 1) / DELTA)
                bonus = np.sqrt(2 * np.maximum(p @ W**2 - mean**2, 0) * L / m) + 3 * H * L / m
                later = mean + sign * bonus
            else:
                b = (np.log(2 * X * A / DELTA) + (X - 1) * np.log(np.e * (1 + m / (X - 1)))) / m
                top = (sign * W).max()
                above = np.geomspace(1e-9, 1e4, 400) * H
                logs = np.log(top + above - sign * W[:, None])  # [X, grid]
                later = sign * (top + above - np.exp(p @ logs - b[:, :, None])).min(axis=2)
            later = np.clip(np.where(n > 0, later, sign * np.inf), 0, H)
            before, W = W, (r + gamma * later).max(axis=1)
            if np.abs(W - before).max() < 1e-6 * H:
                break
        found.append(W)
    return found[0], found[1]


def width(steps: list[int]) -> None:
    """Shares that could be certified, by known first states, from the same draws of all pairs."""
    table = Table("world", "draws", "these", "Bernstein, V known", "Jonsson et al.")
    for name in ("RiverSwim 6", "RandomTabular 20", "DeepSea 6, slippery", "GridWorld"):
        mdp, rng = WORLDS[name].mdp, np.random.default_rng(0)
        world, (X, A) = simulator(mdp), mdp.r.shape
        P = np.asarray(mdp.kernel.toarray() if hasattr(mdp.kernel, "toarray") else mdp.kernel)
        mu = (mdp.occupancy(mdp.optimal().policy) + mdp.occupancy(mdp.uniform_policy)).ravel() / 2
        for T in steps:
            N = np.array([
                rng.multinomial(int(np.ceil(T * m)), row / row.sum())
                for m, row in zip(mu, P, strict=True)
            ]).astype(float)  # fmt: skip
            rows = np.repeat(np.arange(X * A), np.diff(world.first))
            certifier = Certifier(world, mdp.r, DELTA, None)
            starts = (1e12 * mdp.nu0).astype(np.int64)
            ours = certifier.certificate(Seen(N[rows, world.after], starts, mdp.r), 1, 1).share
            others = []
            for kind in ("bernstein", "jonsson"):
                U, L = operator_bounds(N.reshape(X, A, X), mdp.r, mdp.gamma, kind)
                others.append(f"{1 - mdp.nu0 @ L / (mdp.nu0 @ U):.1%}")
            table.add_row(name, f"{T:,}", f"{ours:.1%}", *others)
    Console().print(table)


SIZES: dict[str, envs.World] = {
    **{name: WORLDS[name] for name in ("RiverSwim 6", "RandomTabular 20", "GridWorld")},
    "FourRooms": envs.FourRooms(gamma=0.95),
    "DeepSea 20": envs.DeepSea(20, gamma=0.95),
    "Taxi": envs.ToyText("Taxi-v4", gamma=0.95),
}

UPDATES, SLOWER = 20, 0.1
"""The aims: a certificate costs no more updates, and asking every 100 episodes no more time."""


class Timed:
    """The compiled search of certificates, with the CPU seconds of its calls."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, *given: Any) -> Any:
        begin = time.process_time()
        found = COMPILED(*given)
        between = time.process_time()
        COMPILED(*given[:5], False, 0, 1.0)  # a call from Python, which searches nothing
        self.seconds.append(2 * between - begin - time.process_time())
        return found


KERNELS: Any = certificate
COMPILED = KERNELS.certify


def speed() -> None:
    """CPU time of a certificate against that of an update, and of learning that asks for it."""
    names = ("world", "agent", "an update", "anew", "again", "100 episodes", "asking, more", "met")
    table = Table(*names)
    for name, world in SIZES.items():
        update = update_seconds(world)
        for kind in (opt.RmaxRaviUcb, opt.Optimist):
            KERNELS.certify = timed = Timed()
            for _ in range(3):
                ask(kind, world, True)
            best = np.reshape(timed.seconds, (3, 51)).min(axis=0)  # the same work three times
            KERNELS.certify = COMPILED
            plain, asking = (
                min(ask(kind, world, asks) for _ in range(3)) for asks in (False, True)
            )
            more, again = asking / plain - 1, best[1:].mean()
            table.add_row(
                *(name, kind.__name__, f"{1e6 * update:,.2f} us"),
                *(f"{1e6 * t:,.1f} us = {t / update:,.0f}" for t in (best[0], again)),
                *(f"{1e6 * plain:,.0f} us", f"{more:.1%}"),
                f"{again <= UPDATES * update} / {more < SLOWER}",
            )
    Console(width=140).print(table)


def ask(kind: Any, world: envs.World, asks: bool) -> float:
    """CPU seconds of 100 episodes, with a certificate or not."""
    agent = kind(world, seed=0, stride=0)
    agent.learn(1000)
    agent.certificate(DELTA)
    begin = time.process_time()
    for _ in range(50):
        agent.learn(100)
        if asks:
            agent.certificate(DELTA)
    return (time.process_time() - begin) / 50


def update_seconds(world: envs.World) -> float:
    """CPU seconds of one update: what 400 more after an episode take."""
    seconds = []
    for updates in (1, 401):
        other = opt.RmaxRaviUcb(world, updates=updates, seed=0, stride=0)
        other.learn(1000)
        begin = time.process_time()
        other.learn(300)
        seconds.append((time.process_time() - begin) / 300)
    return (seconds[1] - seconds[0]) / 400


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["coverage", "width", "exploration", "speed"])
    parser.add_argument("--world", choices=SMALL, action="append")
    parser.add_argument("--runs", type=int, default=2500, help="in each world")
    parser.add_argument("--episodes", type=int, default=100_000)
    parser.add_argument("--figure", type=Path, default=Path("docs/certificates.png"))
    given = parser.parse_args()
    measures: dict[str, Callable[[], None]] = {
        "coverage": lambda: coverage(given.world or list(SMALL), given.runs),
        "width": lambda: width([10**5, 10**6, 10**7]),
        "exploration": lambda: exploration(given.episodes, given.figure),
        "speed": speed,
    }
    measures[given.what]()


if __name__ == "__main__":
    main()
