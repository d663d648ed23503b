"""Certificates, measured: ``python -m benchmarks.certificates WHAT``.

coverage     how often a certificate of a run fails, in small worlds and random MDPs
width        the bounds beside others of the literature, on the same counts
support      what is certified without and with the support
exploration  episodes until certified, in the runs of `optimist sweep certificates` in --folder
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
from optimist.experiments import Study, open_results
from optimist.report.certificates import half_by
from optimist.report.data import LEVELS
from optimist.report.figures import save_figure
from optimist.report.figures_certificates import certificates_figure
from optimist.theory.certifying import episodes_to_certify

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


WORLDS: dict[str, envs.World] = dict(Study.read("certificates").worlds)

LEARNERS: dict[str, Callable[[envs.World], Any]] = {
    "Optimist": lambda world: opt.Optimist(world, seed=0, stride=0),
    "RmaxRaviUcb": lambda world: opt.RmaxRaviUcb(world, seed=0, stride=0),
    "Rmax": lambda world: opt.Rmax(world, seed=0, stride=0),
    "Psrl": lambda world: opt.Psrl(world, lazy=True, seed=0, stride=0),
    "Ucbvi": lambda world: opt.Ucbvi(world, seed=0, stride=0),
    "Prover": lambda world: opt.Prover(world, seed=0, stride=0),
}


def support(episodes: int) -> None:
    """The share that is certified after so many episodes, without and with the support."""
    table = Table("world", *LEARNERS, title=f"certified after {episodes:,} episodes")
    for name, world in WORLDS.items():
        cells = []
        for make in LEARNERS.values():
            agent = make(world)
            agent.learn(episodes)
            shares = (agent.certificate(DELTA, known).share for known in (None, world))
            cells.append(" / ".join(f"{share:.1%}" for share in shares))
        table.add_row(name, *cells)
        print(name, *cells, sep=", ", flush=True)
    Console(width=140).print(table)


def exploration(folder: Path, figure: Path) -> None:
    """First episodes of the study `certificates` in a folder, and the lower bound on them."""
    data = open_results(folder).data
    levels = [f"{level:.0%}" for level in LEVELS]
    times = Table("world", "learner", *levels)
    times.title = "episodes until certified / until truly that good; -: not by the end"
    ratios = Table("world", *levels)
    ratios.title = "lower bound on the episodes; those of Prover until certified as a multiple"
    for world in data.worlds:
        for agent, found in world.certified.items():
            pairs = zip(found.certified.T, found.truly.T, strict=True)
            cells = [" / ".join(episode_text(half_by(x)) for x in pair) for pair in pairs]
            times.add_row(world.name, agent, *cells)
        bounds = [episodes_to_certify(WORLDS[world.name].mdp, x, DELTA) for x in LEVELS]
        prover = [half_by(x) for x in world.certified["Prover"].certified.T]
        cells = [
            f"{bound:,.0f}; {'-' if math.isnan(took) else f'{took / bound:.0f}'}"
            for bound, took in zip(bounds, prover, strict=True)
        ]
        ratios.add_row(world.name, *cells)
        print(world.name, *cells, sep=", ", flush=True)
    console = Console(width=140)
    console.print(times)
    console.print(ratios)
    save_figure(certificates_figure(data), figure)


def episode_text(episode: float) -> str:
    """An episode; a dash if it was not reached."""
    return "-" if math.isnan(episode) else f"{episode:,.0f}"


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
    for name in ("RiverSwim 6", "RandomTabular 20", "slippery DeepSea 6", "GridWorld"):
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
    parser.add_argument("what", choices=["coverage", "width", "support", "exploration", "speed"])
    parser.add_argument("--world", choices=SMALL, action="append")
    parser.add_argument("--runs", type=int, default=2500, help="in each world")
    parser.add_argument("--episodes", type=int, default=100_000, help="of support")
    parser.add_argument("--folder", type=Path, default=Path("runs/certificates"))
    parser.add_argument("--figure", type=Path, default=Path("docs/certificates.png"))
    given = parser.parse_args()
    measures: dict[str, Callable[[], None]] = {
        "coverage": lambda: coverage(given.world or list(SMALL), given.runs),
        "width": lambda: width([10**5, 10**6, 10**7]),
        "support": lambda: support(given.episodes),
        "exploration": lambda: exploration(given.folder, given.figure),
        "speed": speed,
    }
    measures[given.what]()


if __name__ == "__main__":
    main()
