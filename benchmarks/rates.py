"""How regret grows with K, H, d and the number of updates: ``python -m benchmarks.rates``.

It prints the tables of docs/results/rates.md; ``--figure docs/results/rates.png`` draws its figure,
and ``--quick`` is a short run with four seeds. Regret is <nu0, V* - V^{pi_k}>, exact, summed over
every one of the K episodes. Powers are slopes of log mean-regret by least squares; their intervals,
of level 95%, are bootstraps over whole seeds.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read when BLAS is loaded, so before NumPy is imported

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

import optimist as opt
from optimist.checks import FloatArray
from optimist.core import Variant
from optimist.display.style import WIDE, style
from optimist.envs import CombinationLock, LowerK, RandomLinear, RiverSwim, World
from optimist.experiments.statistics import DRAWS, LEVEL, mean_band
from optimist.theory.lower_bounds import hardest_epsilon_K, lower_bound_K

ACTIONS, GAMMA, EPSILON = 4, 0.9, 0.05  # unless they vary
EPISODES, SLOW_EPISODES = 1000, 20_000  # the second with the slow learning rate of the theorem
LENGTHS = (100, 300, 1000, 3000, 10_000, 30_000)
HORIZONS, SLOW_HORIZONS = (10, 20, 50, 100, 200), (5, 10, 20, 50)
UPDATES = (1, 2, 5, 10, 50)
DEFAULT, SCALED, SLOW = "default", "beta = H / 20", "eta of the theorem"

Cell = Callable[[float, int], tuple[World, int, Variant]]
"""World, K and parameters for a value of whatever varies, and a seed."""


class Runs(NamedTuple):
    """What came of all seeds at each value of whatever varies."""

    x: FloatArray  # [T]
    regret: FloatArray  # [seeds, T]
    uniform: FloatArray  # the regret of uniform play, [T]

    @property
    def shares(self) -> str:
        """Mean regret over that of uniform play."""
        return ", ".join(f"{s:.3f}" for s in self.regret.mean(axis=0) / self.uniform)


def regrets(world: World, K: int, config: Variant, seed: int) -> FloatArray:
    """Of all policies of a run, [K]."""
    agent = opt.agents.VariantAgent(world, config=config, seed=seed, stride=1)
    return np.asarray(agent.learn(K, show_progress=False).regrets())


def sweep(x: Sequence[float], cell: Cell, seeds: int) -> Runs:
    """Play everything, one run after another."""
    found = np.empty((2, seeds, len(x)))
    for seed in range(seeds):
        for j, value in enumerate(x):
            world, K, config = cell(value, seed)
            found[0, seed, j] = regrets(world, K, config, seed).sum()
            found[1, seed, j] = K * world.mdp.suboptimality(world.mdp.uniform_policy)
    return Runs(np.array(x, dtype=float), found[0], found[1].mean(axis=0))


def powers(x: FloatArray, regret: FloatArray) -> FloatArray:
    """The slope of log mean-regret in log x: of all seeds, then of resamples, [1 + DRAWS].

    The resamples are the same for equal numbers of seeds, so that powers can be subtracted.
    """
    n, u = len(regret), np.log(x) - np.log(x).mean()
    draws = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=DRAWS)
    means = np.vstack([np.ones(n), draws]) @ regret / n
    return np.asarray(np.log(means) @ u / (u @ u))


def power(x: ArrayLike, y: ArrayLike) -> str:
    """The same of numbers that are known."""
    return f"{powers(np.asarray(x), np.array([y]))[0]:.2f}"


def interval(resampled: FloatArray) -> FloatArray:
    """The value, then the ends of its interval."""
    return np.append(resampled[0], np.quantile(resampled[1:], [(1 - LEVEL) / 2, (1 + LEVEL) / 2]))


def shown(resampled: FloatArray) -> str:
    """A power and its interval."""
    value, low, high = interval(resampled).round(2) + 0.0  # never -0.00
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def row(*cells: object) -> None:
    print("|", " | ".join(str(c) for c in cells), "|", flush=True)


def header(title: str, *names: object) -> None:
    print(f"\n### {title}\n\n| {' | '.join(map(str, names))} |\n{'|---' * len(names)}|")


def family(A: int, seed: int, epsilon: float | None, K: int, gamma: float) -> World:
    """The member whose turn it is, with the hardest epsilon for K if none is given."""
    epsilon = hardest_epsilon_K(K, A, gamma) if epsilon is None else epsilon
    return LowerK(A, seed % A, epsilon, gamma)


HARDEST, HALVED, RIVER = "LowerK, hardest epsilon", "LowerK, epsilon = delta / 2", "RiverSwim 6"
WORLDS: dict[str, tuple[Callable[[float, int], World], int]] = {
    HARDEST: (lambda gamma, seed: family(ACTIONS, seed, None, EPISODES, gamma), 100),
    HALVED: (lambda gamma, seed: family(ACTIONS, seed, (1 / gamma - 1) / 2, 0, gamma), 100),
    RIVER: (lambda gamma, seed: RiverSwim(6, gamma), 40),
    "CombinationLock 6": (lambda gamma, seed: CombinationLock(6, 4, seed, gamma), 40),
    "RandomLinear 20": (lambda gamma, seed: RandomLinear(20, 50, 4, seed, gamma), 20),
}
"""And how many seeds; in the last two the seed draws the world as well."""


def theorem(world: World, K: int) -> Variant:
    """The parameters of Theorem 1."""
    phi, mdp = opt.Optimist(world).features, world.mdp
    return opt.RmaxRaviUcb.Config.theory(
        K=K, d=phi.dim, n_actions=mdp.n_actions, gamma=mdp.gamma, B=max(1, phi.bound), W_max=1
    ).variant()


def of_length(fixed: float | None, beta: str, K: float, seed: int) -> Any:
    world = family(ACTIONS, seed, fixed, int(K), GAMMA)
    if beta == "theorem":
        return world, int(K), theorem(world, int(K))
    return world, int(K), opt.RmaxRaviUcb.Config(beta=float(beta.removeprefix("beta "))).variant()


def against_K(fixed: float | None, lengths: Sequence[int], seeds: int) -> dict[str, Runs]:
    """Regret on the family: with the hardest epsilon for each K, or with one."""
    title = "hardest epsilon for each K" if fixed is None else f"epsilon = {fixed:g}"
    learners = {"beta 0.5": seeds, "beta 2": seeds, "theorem": min(seeds, 20)}
    found = {b: sweep(lengths, partial(of_length, fixed, b), n) for b, n in learners.items()}
    x, _, uniform = found["theorem"]
    bound = np.array([K * lower_bound_K(K, ACTIONS, GAMMA, fixed) for K in lengths])
    header(f"Regret against K: LowerK, {title}, {seeds} seeds", "K", "uniform", "lower bound",
           *(f"{n} (share of uniform)" for n in learners))  # fmt: skip
    for j, K in enumerate(lengths):
        means = [f.regret[:, j].mean() for f in found.values()]
        cells = [f"{m:,.1f} ({m / uniform[j]:.3f})" for m in means]
        row(f"{K:,}", f"{uniform[j]:,.1f}", f"{bound[j]:,.1f}", *cells)
    late = x >= 1000
    for name, part in (("slope", x > 0), ("slope, K >= 1,000", late)):
        least = power(x[part], bound[part]) if fixed is None else "-"
        cells = [shown(powers(x[part], f.regret[:, part])) for f in found.values()]
        row(name, power(x[part], uniform[part]), least, *cells)
    for name, f in found.items() if fixed is not None else ():
        stuck = f.regret[:, -1] > uniform[-1] / 2
        print(f"\n{name}: {stuck.sum()} of {len(stuck)} seeds lose over half of uniform's regret")
        if len(rest := f.regret[~stuck][:, late]):
            print(f"the others {rest[:, -1].mean():.1f}, slope {shown(powers(x[late], rest))}")
    return {**found, "lower bound": Runs(x, bound[None], uniform)}


def of_dimension(kind: str, d: float, seed: int) -> Any:
    world: World = RandomLinear(int(d), 100, ACTIONS, seed, GAMMA)
    if kind != "RandomLinear":
        epsilon = None if kind == HARDEST else (1 / GAMMA - 1) / 2
        world = family(int(d) // 2 - 1, seed, epsilon, EPISODES, GAMMA)
    return world, EPISODES, opt.RmaxRaviUcb.Config().variant()


def against_d(quick: bool) -> None:
    """The default parameters at H = 10."""
    header(f"Power of d: default, gamma = {GAMMA}, K = {EPISODES:,}", "world", "d", "uniform",
           "power", "share of uniform")  # fmt: skip
    dims = (6, 10, 18, 34, 66)
    for kind, x, seeds in ((HARDEST, dims, 100), (HALVED, dims, 100),
                           ("RandomLinear", (5, 10, 20, 40, 80), 40)):  # fmt: skip
        f = sweep(x, partial(of_dimension, kind), 4 if quick else seeds)
        fitted = shown(powers(f.x, f.regret))
        row(kind, ", ".join(map(str, x)), power(f.x, f.uniform), fitted, f.shares)
    in_d = [lower_bound_K(EPISODES, d // 2 - 1, GAMMA) for d in dims]
    in_H = [lower_bound_K(EPISODES, ACTIONS, 1 - 1 / H) for H in HORIZONS]
    print(f"\nPowers of the lower bound: d {power(dims, in_d)}, H {power(HORIZONS, in_H)}")


def of_horizon(name: str, setting: str, updates: int, times: float, H: float, seed: int) -> Any:
    world = WORLDS[name][0](1 - 1 / H, seed)
    if setting == SLOW:
        eta = times * theorem(world, SLOW_EPISODES).eta
        return world, SLOW_EPISODES, opt.RmaxRaviUcb.Config(eta=eta, updates=updates).variant()
    beta = H / 20 if setting == SCALED else 0.5
    return world, EPISODES, opt.RmaxRaviUcb.Config(beta=beta, updates=updates).variant()


def against_H(setting: str, names: Sequence[str], quick: bool) -> dict[tuple[str, int], Runs]:
    """The power of H for each number m of updates, and the share of uniform play's regret."""
    slow, levels, found = setting == SLOW, [], dict[tuple[str, int], Runs]()
    every, K = 1 + quick, SLOW_EPISODES if slow else EPISODES
    x, updates = (SLOW_HORIZONS if slow else HORIZONS)[::every], UPDATES[::every]
    header(f"Power of H: {setting}, K = {K:,}, H = {', '.join(map(str, x))}", "world", "uniform",
           *(f"m = {m}" for m in updates), f"{updates[-1]} less 1")  # fmt: skip
    for name in names:
        seeds = 4 if quick else 20 if slow else WORLDS[name][1]
        longer = [(f"{name}: 1 update, m times eta", True)] if slow else []  # or is it the step?
        for kind, step in [(name, False), *longer]:
            cells = [(m, (1, m) if step else (m, 1)) for m in updates]
            runs = {m: sweep(x, partial(of_horizon, name, setting, *c), seeds) for m, c in cells}
            found |= {(kind, m): f for m, f in runs.items()}
            p = [powers(f.x, f.regret) for f in runs.values()]
            row(kind, power(runs[1].x, runs[1].uniform), *map(shown, p), shown(p[-1] - p[0]))
            levels.append((kind, *(f.shares for f in runs.values())))
    header("The same as a share of uniform play's regret, for each H", "world",
           *(f"m = {m}" for m in updates))  # fmt: skip
    for level in levels:
        row(*level)
    return found


def after_learning(seeds: int) -> None:
    """Whether what is lost in the river at H = 100 goes on growing with K."""
    K = np.array([100, 300, 1000, 3000, 10_000])
    header(f"Regret by K: {RIVER}, H = 100, {seeds} seeds", "beta", "m", *K, "slope, K >= 1,000")
    for beta, m in ((beta, m) for beta in (0.5, 5.0) for m in UPDATES):
        config = opt.RmaxRaviUcb.Config(beta=beta, updates=m).variant()
        runs = [regrets(RiverSwim(6, 0.99), 10_000, config, seed) for seed in range(seeds)]
        total = np.cumsum(runs, axis=1)[:, K - 1]
        row(beta, m, *total.mean(axis=0).round().astype(int), shown(powers(K[2:], total[:, 2:])))


BLUE, RED, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#777777"
SHADES = ("#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08306b")  # from 1 to 50 updates


def draw(ax: Any, f: Runs, **look: Any) -> None:
    band = mean_band(f.regret, np.random.default_rng(0))
    ax.plot(f.x, band.value, ms=3, **look)
    ax.fill_between(f.x, band.low, band.high, color=look["color"], alpha=0.15, lw=0)


def panels(axes: Any, lengths: dict[str, dict[str, Runs]], settings: Any) -> None:
    """Two against K, one against H, and one of the powers of H."""
    logs = {"xscale": "log", "yscale": "log", "ylabel": "regret, in value"}
    for ax, (title, found) in zip(axes[:2], lengths.items(), strict=True):
        draw(ax, found["beta 0.5"], color=BLUE, marker="o", label="default: $\\beta$ = 0.5")
        draw(ax, found["beta 2"], color=GREEN, marker="s", label="$\\beta$ = 2")
        draw(ax, found["theorem"], color=PURPLE, marker="^", ls="", label="the theorem's")
        x, bound, uniform = found["lower bound"]
        ax.plot(x, uniform, ":", color=GREY, label="uniform play")
        if bound.min() > 1:
            ax.plot(x, bound[0], "--", color=RED, label="lower bound")
        ax.set(**logs, xlabel="episodes $K$", title=title, ylim=(10, None))
    _, _, ax, last = axes
    for m, colour in zip(UPDATES, SHADES, strict=True):
        if f := settings[DEFAULT].get((RIVER, m)):  # a quick run has fewer
            draw(ax, f, color=colour, marker="o", label=f"{m} update{'s' * (m > 1)}")
    ax.plot(f.x, f.uniform, ":", color=GREY, label="uniform play")
    ax.plot(f.x, 0.5 * (f.x / 2) ** 2.25, "--", color=RED, label="slope 9/4")
    ax.set(**logs, xlabel="horizon $H$", title=f"{RIVER}, default, $K$ = {EPISODES:,}")
    ax.set(xticks=f.x, xticklabels=map(int, f.x), ylim=(10, 2e6))
    for i, (setting, colour) in enumerate(zip(settings, (BLUE, GREEN, PURPLE), strict=True)):
        for k, (name, line) in enumerate({RIVER: "o-", HALVED: "s--"}.items()):
            of = {m: powers(f.x, f.regret) for (n, m), f in settings[setting].items() if n == name}
            y, low, high = np.array([interval(p) for p in of.values()]).T
            x = np.array(list(of)) * 1.04 ** (2 * i + k - 2.5)
            last.errorbar(x, y, [y - low, high - y], fmt=line, color=colour, ms=3, elinewidth=0.7,
                          lw=1, label=setting if name == RIVER else None)  # fmt: skip
    last.axhline(2.25, color=RED, ls="--", label="9/4")
    last.set(xscale="log", xticks=UPDATES, xticklabels=UPDATES, xlabel="updates an episode")
    last.set(ylabel="fitted power of $H$", ylim=(0, 2.4), title=f"{RIVER} (solid), LowerK (dashed)")
    for ax, columns in zip(axes, (1, 1, 2, 2), strict=True):
        ax.legend(fontsize=6.5, labelspacing=0.3, ncols=columns)


def main() -> None:
    """Print everything; draw the figure if it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short run with four seeds")
    parser.add_argument("--figure", type=Path, help="where to draw the figure")
    wish, started = parser.parse_args(), time.perf_counter()
    quick, names = wish.quick, list(WORLDS)
    x, seeds = (LENGTHS[:4], 4) if quick else (LENGTHS, 100)
    lengths = {"LowerK, hardest $\\epsilon$ for each $K$": against_K(None, x, seeds)}
    lengths[f"LowerK, $\\epsilon$ = {EPSILON:g}"] = against_K(EPSILON, x, seeds)
    against_d(quick)
    settings = {DEFAULT: against_H(DEFAULT, names, quick)}
    settings |= {setting: against_H(setting, names[1:4], quick) for setting in (SCALED, SLOW)}
    after_learning(4 if quick else 40)
    print(f"\n{(time.perf_counter() - started) / 60:.1f} minutes")
    if wish.figure:
        with style(), rc_context({"text.parse_math": True, "mathtext.fontset": "stix"}):
            fig = Figure(figsize=(WIDE, 5.2), layout="constrained")
            panels(fig.subplots(2, 2).ravel(), lengths, settings)
            fig.savefig(wish.figure, dpi=200)


if __name__ == "__main__":
    main()
