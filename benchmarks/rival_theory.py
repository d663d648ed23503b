"""Further tables of `benchmarks.rivals`: constants, longer trajectories, StandardImitation."""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

import optimist as opt
from benchmarks.imitation import header, row, spread
from benchmarks.rival_panels import ROUNDING, ROWS
from benchmarks.rival_runs import Cell, run, world_of
from optimist.agents import RmaxRaviUcb
from optimist.experiments.experts import expert_trajectories
from optimist.imitation import IMITATORS, FraILConfig
from optimist.mdp import match_occupancy
from optimist.theory.literature import Problem

WORLD, TAU_E, K, H = "GridWorld", 100, 3000, 10
SHARE = 0.1
"""The gap that costs are asked for, as a share of V_E = H."""


class Constants(NamedTuple):
    """A learner with the constants of its theory."""

    config: Any
    text: str
    visits: Callable[[float], float] | None  # the bonus over the largest value after n visits


def theory_of(name: str) -> Callable[..., Any]:
    """The constants of a learner's theory, given sizes."""
    found: Callable[..., Any] = IMITATORS[name].Config.theory
    return found


def theories() -> dict[str, Constants]:
    """The configurations of the theories, and what their bonuses are."""
    mdp = world_of(Cell(WORLD, "", "", TAU_E, K, H, 0)).mdp
    X, A, gamma = mdp.n_states, mdp.n_actions, mdp.gamma
    oal = theory_of("Oal")(K, X, A, gamma)
    tail, mobile = theory_of("MbTail")(gamma), theory_of("Mobile")()
    mixture = replace(theory_of("OgaIL")(K, X * X * A, gamma), table=True)
    ilarl = theory_of("Ilarl")(K, X * A, A, gamma)
    paper = RmaxRaviUcb.Config.theory(K, X * A, A, gamma, B=1, W_max=1)
    log = tail.log_term(X * A, gamma)

    def of_tail(n: float) -> float:
        return float(15 * H * (log + X * math.log(8 * math.e * (n + 1))) / n)

    def of_mobile(n: float) -> float:
        return float(mobile.bonus(np.array([[n] * A] * X), K, gamma).max() / H)

    return {
        "Oal": Constants(oal, f"bonus {oal.bonus:.0f} H / sqrt n", lambda n: oal.bonus / n**0.5),
        "MbTail": Constants(tail, "bonus of RF-Express", of_tail),
        "ForwardAIL": Constants(theory_of("ForwardAIL")(gamma), "importance weights", None),
        "Mobile": Constants(mobile, "bonus H min(2, sigma)", of_mobile),
        "OgaIL": Constants(mixture, f"kappa {mixture.kappa:.0f}", lambda n: mixture.kappa / n**0.5),
        "Ilarl": Constants(
            ilarl, f"beta {ilarl.beta:.0f}, batches of {ilarl.batch}", lambda n: ilarl.beta / n**0.5
        ),
        "FraIL": Constants(
            FraILConfig(player=paper), f"beta {paper.beta:,.0f}", lambda n: paper.beta / H / n**0.5
        ),
    }


def visits_needed(ratio: Callable[[float], float]) -> float:
    """After how many visits a decreasing bonus is below the largest value, to three digits."""
    high = next(2.0**i for i in count() if ratio(2.0**i) < 1)
    low = high / 2
    while high > 1.001 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if ratio(middle) < 1 else (middle, high)
    return high


def constants(seeds: int, jobs: int) -> None:
    """What the constants of the theories give, beside those by default."""
    X, A = world_of(Cell(WORLD, "", "", TAU_E, K, H, 0)).mdp.r.shape
    sizes = Problem(
        epsilon=SHARE * H, H=H, d=X * A, n_states=X, n_actions=A, log_policies=X * math.log(A),
        log_values=X, log_rewards=X, log_models=X * X * A,
    )  # fmt: skip
    print(
        f"\n### Constants of the theory: {WORLD}, X = {X}, A = {A}, H = {H}, tau_E = {TAU_E}, "
        f"K = {K:,}, {seeds} seeds\n"
    )
    header("learner", "theory", "visits of a pair until its bonus is below the largest value",
           f"episodes for a gap of {SHARE:.0%}, without constants and logarithms",
           "gap by default", "gap with the theory's")  # fmt: skip
    for name, (config, text, ratio) in theories().items():
        view = {"MbTail": "paths", "ForwardAIL": "by time"}.get(name, "whole")
        cells = [Cell(WORLD, name, view, TAU_E, K, H, seed) for seed in range(seeds)]
        shares = [
            np.array([found.gap / found.scale for _, found in side_by_side(jobs, cells, given)])
            for given in (None, config)
        ]
        needed = "-" if ratio is None else f"{visits_needed(ratio):,.0f}"
        of_K = ROWS[name].mdp
        assert of_K is not None  # as all of these play
        d = X * X * A if name == "OgaIL" else X * A
        row(name, text, needed, f"{of_K(replace(sizes, d=d)):.0e}", *map(spread, shares))


def side_by_side(
    jobs: int, cells: list[Cell], config: Any = None, length: int | None = None
) -> Any:
    """The runs of some cells, on several cores."""
    return Parallel(n_jobs=jobs)(delayed(run)(cell, config, None, length) for cell in cells)


# Where trajectories end

CUTS = (0.02, 0.002, 0.0002)
LATE = 30_000


def cuts(seeds: int, jobs: int) -> None:
    """How much of the gap is left because trajectories are cut at T."""
    print(
        f"\n### Longer trajectories: {WORLD}, H = {H}, tau_E = 3,000, K = {LATE:,}, {seeds} seeds\n"
    )
    lengths = [math.ceil(math.log(1 / cut) * H) for cut in CUTS]
    header("learner", "view", *(f"T = {T}" for T in lengths))
    for name in ("Oal", "Mobile", "FraIL"):
        cells = [Cell(WORLD, name, "whole", 3000, LATE, H, seed) for seed in range(seeds)]
        found = [side_by_side(jobs, cells, length=T) for T in lengths]
        row(name, "whole", *(spread(np.array([f.gap / f.scale for _, f in r])) for r in found))


# StandardImitation

COUNTS = (10, 30, 100, 300, 1000)
EPISODES = 1000


def standard(seeds: int) -> None:
    """Gaps on StandardImitation, where matching may lose on states that were seen."""
    print(
        f"\n### StandardImitation: gap over tau_E; X = 20, A = 5, H = {H}, K = {EPISODES:,} where "
        f"episodes are played, {seeds} seeds\n"
    )
    columns = [plain_matching(tau_E, seeds) for tau_E in COUNTS]
    header("what", *(f"tau_E = {tau_E:,}" for tau_E in COUNTS))
    row("matching: least gap of a minimiser", *(f"{c.least:.3f}" for c in columns))
    row("matching: largest gap of a minimiser", *(f"{c.most:.3f}" for c in columns))
    row("H sum (rho - rho^)_+", *(f"{c.exact:.3f}" for c in columns))
    row("H sqrt(X / (2 pi tau_E))", *(f"{H * math.sqrt(10 / (math.pi * n)):.3f}" for n in COUNTS))
    row("H (1 - 1/A) rho(unseen), in the mean", *(f"{H * 0.8 * 0.95**n:.3f}" for n in COUNTS))
    for name in ("BehaviouralCloning", "MimicMD", "MbTail", "Oal"):
        view = {"BehaviouralCloning": "last", "Oal": "whole"}.get(name, "paths")
        found = []
        for tau_E in COUNTS:
            episodes = 0 if name in ("BehaviouralCloning", "MimicMD") else EPISODES
            cells = [Cell("", name, view, tau_E, episodes, H, seed) for seed in range(seeds)]
            runs = [run(cell, None, standard_world(cell.seed))[1].gap for cell in cells]
            found.append(np.array(runs))
        row(name, *map(spread, found))


class Minimisers(NamedTuple):
    """Of the occupancies nearest to the expert's frequencies, in the mean over the seeds."""

    least: float
    most: float
    exact: float  # the largest, by its closed form


def standard_world(seed: int) -> opt.envs.World:
    """One of the worlds."""
    return opt.envs.StandardImitation(seed=seed, gamma=1 - 1 / H)


def plain_matching(tau_E: int, seeds: int, tie: float = 1e-4) -> Minimisers:
    """The best and the worst minimiser of the L1 distance; ties are broken by a small bonus."""
    found = []
    for seed in range(seeds):
        world = standard_world(seed)
        mdp, best = world.mdp, world.mdp.optimal()
        data = expert_trajectories(world, tau_E, seed, best.policy)
        target = data.occupancy(mdp.n_states, mdp.n_actions)
        gaps = []
        for sign in (1, -1):
            match = match_occupancy(mdp.P, mdp.nu0, target, mdp.gamma, bonus=sign * tie * mdp.r)
            gaps.append(float(best.value - mdp.value(match.policy)))
        short = np.maximum(mdp.nu0 - target.sum(axis=1), 0).sum()
        found.append((*gaps, H * float(short)))
    mean = np.array(found).mean(axis=0)
    mean[np.abs(mean) < ROUNDING] = 0
    return Minimisers(*mean.tolist())
