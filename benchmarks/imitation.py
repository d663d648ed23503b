"""How well FRA-IL imitates, against the paper's bounds: ``python -m benchmarks.imitation``.

It prints the tables of docs/results/imitation.md and draws its figure. Default parameters
throughout, or with ``--practical`` the paper's bonus; gaps are exact, <nu0, V^{pi_E} - V^{pi}>
under the true rewards, which no learner has seen. Intervals are of the mean over the runs, by the
bootstrap.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read when BLAS is loaded, so before NumPy is imported

import argparse
import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

import optimist as opt
from benchmarks.timing import best_of
from optimist.agents.plotted import cumulative
from optimist.checks import FloatArray
from optimist.experiments.experts import expert_data, shown_features
from optimist.experiments.statistics import Estimate, estimate
from optimist.imitation import (
    Ball,
    BehaviouralCloning,
    Box,
    FeatureDataset,
    FraIL,
    FraILConfig,
    ImitationHistory,
    Simplex,
)
from optimist.theory import imitation as theory

SEEDS = 30
DELTA = 0.1
"""The bound of the reward player's regret holds with probability 1 - 2 delta."""

WORLDS: dict[str, opt.envs.World] = {
    "slippery grid 5 x 5": opt.envs.GridWorld(),
    "FourRooms": opt.envs.FourRooms(),
    "RiverSwim 6": opt.envs.RiverSwim(6),
}
LENGTHS = (500, 2000, 8000, 32000)
SAMPLES = (30, 100, 300, 1000, 3000)

TAUS = (30, 100, 300, 1000, 3000, 10000)
TAU_RUNS, TAU_EPISODES = 100, 50_000

EPISODES = (10, 30, 100, 300, 1000, 3000, 10000, 30000)
K_RUNS, ACTIONS, EPSILON = 10, 4, 0.05
GAMMA = 0.9

Setting = Callable[..., FraILConfig]
"""What makes the parameters: `FraILConfig`, or `practical`."""


def practical(**others: Any) -> FraILConfig:
    """The paper's bonus and sigmoid for the policy player."""
    return FraILConfig(player=opt.RmaxRaviUcb.Config(ridge=0.01), **others)


def states(world: opt.envs.World) -> Any:
    """phi_r(x, a) = e_x."""
    return shown_features(world, "states")


def side_by_side(run: Any, cells: Iterable[tuple[Any, ...]]) -> list[Any]:
    """The results of a function at all these arguments, in their order."""
    return list(Parallel(n_jobs=-1)(delayed(run)(*cell) for cell in cells))


def spread(values: Any) -> Estimate:
    """The mean of some runs and its interval."""
    return estimate(values, "mean", np.random.default_rng(0))


def over_a_run(history: ImitationHistory, values: FloatArray) -> float:
    """The mean over the episodes of what is known of those that were evaluated."""
    episode = history.evaluated + 1
    return float(cumulative(episode, values)[-1] / episode[-1])


def share_of_bound(il: FraIL, history: ImitationHistory, regrets: FloatArray) -> float:
    """The reward player's regret over that which Theorem reward_regret_bound allows."""
    sizes = (il.mdp.gamma, 1.0, il.W_max, il.R_max / 2)  # R_max as it is before the shift
    bound = theory.reward_regret_bound(il.episodes, *sizes, il.expert.size, DELTA)
    return il.episodes * over_a_run(history, regrets) / bound


def row(*cells: Any) -> None:
    """A row of a table in Markdown."""
    print("|", " | ".join(str(c) for c in cells), "|")


def header(*cells: Any) -> None:
    """The head of a table in Markdown."""
    row(*cells)
    print("|---" * len(cells) + "|")


# In worlds that take exploration


class Imitation(NamedTuple):
    """What came of a run; the first three are of the last quarter of its episodes."""

    lost: float  # as a share of the expert's value
    astray: float  # the share of the policies that lose more than a tenth of it
    matching: float  # the matching error of the mixture of the policies
    regret: float  # of the reward player, as a share of its bound; nan if that does not apply
    steps: float


def imitate(name: str, K: int, samples: float, config: FraILConfig, seed: int) -> Imitation:
    """Imitate the optimal policy of a world from states."""
    world = WORLDS[name]
    best = world.mdp.optimal()
    expert = expert_data(world, states(world), samples, seed)
    il = FraIL(world, expert, config=config, seed=seed, stride=max(1, K // 2000))
    history = il.learn(K, show_progress=False)
    parts = history.regret(best.policy, world.mdp.r)
    late = slice(3 * len(history.evaluated) // 4, None)
    lost = parts.imitation[late] / best.value
    mixture = history.feature_expectations[late].mean(axis=0)
    matching = np.linalg.norm(mixture - world.mdp.state_occupancy(best.policy))
    share = math.nan
    if np.ptp(world.mdp.r, axis=1).max() == 0:  # r_true is linear in phi_r, of norm 1
        share = share_of_bound(il, history, parts.reward_player)
    astray = (lost > 0.1).mean()
    return Imitation(float(lost.mean()), float(astray), float(matching), share, float(il.steps))


def imitations(
    setting: Setting, name: str, K: int, samples: float = math.inf, **parameters: Any
) -> Imitation:
    """The same over all seeds, each an array."""
    cells = [(name, K, samples, setting(**parameters), seed) for seed in range(SEEDS)]
    return Imitation(*np.array(side_by_side(imitate, cells)).T)


def worlds(setting: Setting) -> None:
    """The share of the expert's value that is lost, by the number of episodes."""
    print(f"\n### Lost over the last quarter of K episodes, exact expert, {SEEDS} seeds\n")
    header("world", "K", "lost", "95% interval", "worst seed", "policies that lose > 10%",
           "matching error", "reward player's regret / bound")  # fmt: skip
    for name in WORLDS:
        for K in LENGTHS:
            found = imitations(setting, name, K)
            e, worst = spread(found.lost), np.max(found.regret)
            row(
                name,
                f"{K:,}",
                f"{e.value:.2%}",
                f"{e.low:.2%} - {e.high:.2%}",
                f"{np.max(found.lost):.2%}",
                f"{np.mean(found.astray):.1%}",
                f"{np.mean(found.matching):.3f}",
                "does not apply" if np.isnan(worst) else f"<= {worst:.3f}",
            )
    print(f"\n### The same with tau_E samples of the expert, K = 2,000, {SEEDS} seeds\n")
    header("world", *(f"tau_E = {n:,}" for n in SAMPLES), "exact")
    for name in WORLDS:
        kinds = [imitations(setting, name, 2000, samples) for samples in (*SAMPLES, math.inf)]
        row(name, *(f"{np.mean(found.lost):.1%}" for found in kinds))
    print(f"\n### The last pair of an episode, or a fresh rollout, K = 2,000, {SEEDS} seeds\n")
    header("world", "last pair: lost", "steps", "fresh rollout: lost", "steps")
    for name in WORLDS:
        both = [imitations(setting, name, 2000, fresh=fresh) for fresh in (False, True)]
        cells = [(f"{np.mean(f.lost):.1%}", f"{np.mean(f.steps):,.0f}") for f in both]
        row(name, *cells[0], *cells[1])
    classes(setting)


def classes(setting: Setting) -> None:
    """What the class of weights costs."""
    print(f"\n### Classes of reward weights, K = 2,000, exact expert, {SEEDS} seeds\n")
    W = (Ball(1.0), Simplex(1.0), Box(0.0, 1.0))
    header("world", *W)
    for name in WORLDS:
        found = [imitations(setting, name, 2000, weights=weights) for weights in W]
        row(name, *(f"{np.mean(f.lost):.1%}" for f in found))


# Against the lower bound in tau_E


def pair_gap(
    tau_E: int, epsilon: float, member: int, config: FraILConfig, seed: int
) -> tuple[float, float]:
    """The mean gap of the policies played, in a member of the pair; and the share of the bound."""
    world = opt.envs.LowerTauE(member=member, epsilon=epsilon, gamma=GAMMA)
    phi, rng = states(world), np.random.default_rng([seed, member, tau_E])
    expert = FeatureDataset.from_rollouts(world, world.expert, phi, tau_E, rng)
    il = FraIL(world, expert, phi, config=config, seed=seed, stride=TAU_EPISODES // 500)
    history = il.learn(TAU_EPISODES, show_progress=False)
    parts = history.regret(world.expert, world.mdp.r)
    share = share_of_bound(il, history, parts.reward_player)
    return over_a_run(history, parts.imitation), share


def slopes(points: Sequence[tuple[float, ...]]) -> FloatArray:
    """Print how gaps fall, in logarithms, from 100 on; the points as rows, [6, n]."""
    x, gap, *rest = np.array(points).T
    late = x >= 100
    found = np.polyfit(np.log(x[late]), np.log(gap[late]), 1)[0]
    print(f"\nThe slope of the gap in the logarithms is {found:.2f}.")
    return np.array([x, gap, *rest])


def against_tau_E(config: FraILConfig) -> FloatArray:
    """The gap on the hardest pair for each tau_E."""
    print(
        f"\n### LowerTauE: the hardest pair for each tau_E, K = {TAU_EPISODES:,}, "
        f"{TAU_RUNS} experts a member\n"
    )
    header("tau_E", "epsilon", "gap", "95% interval", "lower bound", "uniform play", "regret/bound")
    points = []
    for tau_E in TAUS:
        epsilon = theory.hardest_epsilon_tau_E(tau_E, GAMMA)
        cells = [(tau_E, epsilon, m, config, seed) for m in (0, 1) for seed in range(TAU_RUNS)]
        gaps, shares = np.array(side_by_side(pair_gap, cells)).T
        e, bound = spread(gaps), theory.lower_bound_tau_E(tau_E, GAMMA)
        pair = opt.envs.LowerTauE.pair(2, epsilon, GAMMA)
        guess = np.mean([w.mdp.value(w.expert) - w.mdp.value(w.mdp.uniform_policy) for w in pair])
        row(f"{tau_E:,}", f"{epsilon:.4f}", f"{e.value:.4f}", f"{e.low:.4f} - {e.high:.4f}",
            f"{bound:.4f}", f"{guess:.4f}", f"<= {shares.max():.3f}")  # fmt: skip
        points.append((tau_E, e.value, e.low, e.high, bound, guess))
    return slopes(points)


# Against the lower bound in K


def family_gap(
    K: int, epsilon: float, special: int, config: FraILConfig, seed: int
) -> tuple[float, float]:
    """The same in a member of the family, with an exact expert."""
    world = opt.envs.LowerK(ACTIONS, special, epsilon, GAMMA)
    expert = FeatureDataset.from_policy(world, world.expert, states(world))
    il = FraIL(world, expert, config=config, seed=seed, stride=max(1, K // 500))
    history = il.learn(K, show_progress=False)
    parts = history.regret(world.expert, world.mdp.r)
    share = share_of_bound(il, history, parts.reward_player)
    return over_a_run(history, parts.imitation), share


def against_K(fixed: float | None, config: FraILConfig) -> FloatArray:
    """The gap on the family for each K: with one epsilon, or with the hardest for each K."""
    which = "the hardest family for each K" if fixed is None else f"epsilon = {fixed:g}"
    print(f"\n### LowerK: {which}, {K_RUNS} seeds in each of {ACTIONS} members, exact expert\n")
    header("K", "epsilon", "gap", "95% interval", "lower bound", "uniform play", "regret/bound")
    points = []
    for K in EPISODES:
        epsilon = theory.hardest_epsilon_K(K, ACTIONS, GAMMA) if fixed is None else fixed
        cells = [(K, epsilon, a, config, seed) for a in range(ACTIONS) for seed in range(K_RUNS)]
        gaps, shares = np.array(side_by_side(family_gap, cells)).T
        e = spread(gaps)
        bound = theory.lower_bound_K(K, ACTIONS, GAMMA, epsilon)
        world = opt.envs.LowerK(ACTIONS, 0, epsilon, GAMMA)
        guess = world.mdp.value(world.expert) - world.mdp.value(world.mdp.uniform_policy)
        row(f"{K:,}", f"{epsilon:.4f}", f"{e.value:.4f}", f"{e.low:.4f} - {e.high:.4f}",
            f"{bound:.4f}", f"{guess:.4f}", f"<= {shares.max():.3f}")  # fmt: skip
        points.append((K, e.value, e.low, e.high, bound, guess))
    return slopes(points)


# When actions are observed


def clone(name: str, samples: int, seed: int) -> float:
    """The share of the expert's value that behavioural cloning of so many pairs loses."""
    mdp = WORLDS[name].mdp
    best, rng = mdp.optimal(), np.random.default_rng([seed, 1])
    features = opt.features.OneHot(mdp.n_states, mdp.n_actions)
    cloned = BehaviouralCloning.from_rollouts(mdp, best.policy, features, samples, rng).policy
    return float(mdp.suboptimality(cloned.probabilities(np.arange(mdp.n_states))) / best.value)


def cloning() -> None:
    """What cloning does with the same data, and with actions."""
    print("\n### Behavioural cloning, which needs actions\n")
    world = WORLDS["slippery grid 5 x 5"]
    try:
        BehaviouralCloning(expert_data(world, states(world), 100, seed=0))
    except (TypeError, ValueError) as error:
        print(f"> {error}\n")
    header("world", *(f"{n:,} pairs" for n in SAMPLES))
    for name in WORLDS:
        found = [np.mean([clone(name, n, seed) for seed in range(SEEDS)]) for n in SAMPLES]
        row(name, *(f"{lost:.1%}" for lost in found))


# Speed


def ratio(world: opt.envs.World, shown: str, own: bool, told: FraILConfig, episodes: int) -> float:
    """Time a step of FRA-IL over that of learning with fixed rewards, all else alike."""
    phi_r, phi_P = shown_features(world, shown), world.features if own else None
    expert = FeatureDataset.from_policy(world, world.mdp.optimal().policy, phi_r)
    config = FraIL(world, expert, phi_r, phi_P, config=told).variant
    rewarded = world.mdp.affine(config.r_max)

    def imitation() -> Any:
        il = FraIL(world, expert, phi_r, phi_P, config=told, seed=0, stride=0)
        il.learn(episodes)
        return il

    def fixed(features: Any) -> Any:
        agent = opt.agents.VariantAgent(rewarded, features, config=config, seed=0, stride=0)
        agent.learn(episodes)
        return agent

    imitation()
    seconds, il = best_of(5, imitation)
    other, agent = best_of(5, partial(fixed, il.features))
    return float(seconds / il.steps / (other / agent.steps))


def speed(config: FraILConfig) -> None:
    """Against learning with fixed rewards, on one thread."""
    print("\n### Time a step: FRA-IL over the same engine with fixed rewards\n")
    header("world", "phi_r", "phi_P", "ratio")
    E = opt.envs
    for world, shown, own, episodes in (
        (E.GridWorld(), "states", False, 20_000),
        (E.GridWorld(), "pairs", False, 20_000),
        (E.FourRooms(), "states", False, 5_000),
        (E.RiverSwim(6), "states", False, 20_000),
        (E.DeepSea(20), "states", False, 5_000),
        (E.RandomLinear(50, 200, 5), "linear", True, 500),
    ):
        name = type(world).__name__
        found = ratio(world, shown, own, config, episodes)
        row(name, shown, "the same" if own else "one-hot", f"{found:.2f}")


def figure(curves: Sequence[tuple[str, str, FloatArray]], file: Path) -> None:
    """The measured gaps over the lower bounds."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    from optimist.display.style import WIDE, style

    with style(), rc_context({"text.parse_math": True, "mathtext.fontset": "stix"}):
        fig = Figure(figsize=(WIDE, 2.3), layout="constrained")
        for ax, (title, label, points) in zip(fig.subplots(1, 3), curves, strict=True):
            x, gap, low, high, bound, guess = points
            there = bound > min(gap) / 3
            ax.plot(x, guess, color="#777777", ls=":", label="uniform play")
            ax.plot(x, gap, color="#0072B2", marker="o", ms=3, label="FRA-IL")
            ax.fill_between(x, low, high, color="#0072B2", alpha=0.2, lw=0)
            ax.plot(x[there], bound[there], color="#D55E00", ls="--", label="lower bound")
            ax.set(xscale="log", yscale="log", xlabel=label, title=title)
        fig.axes[0].set_ylabel("gap to the expert, in value")
        fig.axes[0].legend()
        fig.savefig(file, dpi=200)


def main() -> None:
    """Print everything and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--practical", action="store_true", help="the paper's bonus")
    setting = practical if parser.parse_args().practical else FraILConfig
    speed(setting())  # first, while nothing else runs
    worlds(setting)
    curves = [
        ("hardest pair for each $\\tau_E$", "expert samples $\\tau_E$", against_tau_E(setting())),
        ("hardest family for each $K$", "episodes $K$", against_K(None, setting())),
        (f"one family, $\\epsilon$ = {EPSILON:g}", "episodes $K$", against_K(EPSILON, setting())),
    ]
    cloning()
    figure(curves, Path(__file__).parents[1] / "docs" / "results" / "imitation-bounds.png")


if __name__ == "__main__":
    main()
