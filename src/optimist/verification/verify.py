"""Run the algorithm in known worlds and check every statement of the analysis."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from optimist import checks
from optimist.agents.finite_driver import default_features
from optimist.agents.rmax_ravi_ucb import RmaxRaviUcbConfig
from optimist.core import Switching
from optimist.envs import GridWorld, LowerK, RandomLinear, RiverSwim, World
from optimist.features import FeatureMap
from optimist.mdp import FiniteMDP, LinearMDP
from optimist.theory import concentration, covariance, parameters
from optimist.verification import (
    of_algorithm,
    of_confidence,
    of_covariance,
    of_functions,
    of_imitation,
    of_lower_bounds,
    of_regret,
    of_values,
    of_worlds,
)
from optimist.verification.findings import Finding, Play, Setting, Verification
from optimist.verification.run import RecordedRun
from optimist.verification.statement import Needs, Statement, Subject
from optimist.verification.trace import record

OF_RUNS: list[Statement[RecordedRun]] = [
    *of_worlds.STATEMENTS.all,
    *of_algorithm.STATEMENTS.all,
    *of_values.STATEMENTS.all,
    *of_covariance.STATEMENTS.all,
    *of_regret.STATEMENTS.all,
]
OF_IMITATIONS: list[Statement[of_imitation.Imitation]] = of_imitation.STATEMENTS.all
OF_PROVEN: list[Statement[of_confidence.ProvenRun]] = of_confidence.STATEMENTS.all
OF_NUMBERS: list[Statement[None]] = [
    *of_functions.STATEMENTS.all,
    *of_lower_bounds.STATEMENTS.all,
]


def verify(
    world: World | FiniteMDP | None = None, K: int = 1000, delta: float = 0.01, seed: int = 0
) -> Verification:
    """Check every statement of the paper's analysis, exactly, since the worlds are known.

    Parameters
    ----------
    world
        The world; by default five small worlds, and two longer runs in which bounds are
        nontrivial. Statements that need no world are always checked.
    K
        The number of episodes of each run, at least 8 as the theorem assumes.
    delta
        The failure probability of statements that hold with high probability.
    seed
        Seeds the runs.

    Examples
    --------
    >>> report = verify(RiverSwim(6, gamma=0.9), K=50)
    >>> report.violations, len(report.by_statement()) > 30
    ([], True)
    """
    K, seed = checks.count(K, "K", least=8), checks.count(seed, "seed", least=0)
    if not 0 < checks.real_number(delta, "delta") < 0.5:
        raise ValueError(f"delta must be in (0, 1/2); got {delta:g}")
    findings: list[Finding] = []
    plays: list[Play] = []
    notes: list[str] = []

    def look(run: RecordedRun, where: str, setting: Setting) -> None:
        findings.extend(of_run(run, where, setting))
        plays.append(play_of(run, where, setting))

    with threadpool_limits(1, "blas"):  # small matrices; their threads wait for one another
        for place in WORLDS if world is None else (world,):
            name, tried = repr(place), set()
            for setting, run in runs(place, K, delta, seed):
                look(run, name, setting)
                tried.add(setting)
            notes += [
                f"{name} ({setting}): no beta below the theorem's has valid bonuses; "
                "that may be for want of a bound on m (PAPER.md, E1)"
                for setting in (Setting.VALID, Setting.CHANGING)
                if setting not in tried
            ]
            imitation = of_imitation.imitate(*parts(place), K, delta, seed)
            findings += find_all(OF_IMITATIONS, imitation, name, Setting.IMITATION)
            proven = of_confidence.play_proven(imitation.mdp, K, delta, seed)
            findings += find_all(OF_PROVEN, proven, name, Setting.PROVEN)
        if world is None:
            look(long_run(K, delta, seed), repr(SMALL), Setting.LONG)
            look(covered_run(K, delta, seed), repr(NARROW), Setting.COVERED)
            proven = of_confidence.play_proven(SMALL.mdp, 20 * K, delta, seed)
            findings += find_all(OF_PROVEN, proven, repr(SMALL), Setting.PROVEN)
    findings += find_all(OF_NUMBERS, None, "", Setting.NUMBERS)
    return Verification(tuple(findings), tuple(plays), tuple(notes), K, delta, seed)


def large_rewards() -> LinearMDP:
    """A random linear MDP with features up to length 3 and rewards up to 2."""
    mdp = RandomLinear(d=4, n_states=12, n_actions=2, seed=1, gamma=0.6).mdp
    assert isinstance(mdp, LinearMDP)
    w = 2 * mdp.w / mdp.r.max() / 3
    return LinearMDP(3 * mdp.Phi, mdp.M / 3, w, mdp.nu0, mdp.gamma)


WORLDS: tuple[World | FiniteMDP, ...] = (
    RiverSwim(6, gamma=0.9),
    GridWorld("S..\n...\n..G", gamma=0.95),
    RandomLinear(d=6, n_states=30, n_actions=3, gamma=0.8),
    LowerK(n_actions=3, epsilon=0.4, gamma=0.5),
    large_rewards(),
)
"""The default worlds: a chain, a grid, dense features, a hard family, and rewards above 1."""


def play_of(run: RecordedRun, world: str, setting: Setting) -> Play:
    """The summary of a run."""
    range_of_p = float(run.trace.p.min()), float(run.trace.p.max())
    from_uniform = float(np.abs(run.trace.played - 1 / run.n_actions).max())
    return Play(world, setting, run.K, run.eta, run.beta, run.valid, *range_of_p, from_uniform)


def of_run(run: RecordedRun, world: str, setting: Setting) -> list[Finding]:
    """The findings of all statements in a run."""
    normalised = run.m_norm <= run.d**0.5 * (1 + 1e-9)
    due = {
        Needs.VALID_BONUSES: run.valid,
        Needs.COVERED: run.covered and normalised,
        Needs.THEOREM: run.theorem and normalised,
    }
    return find_all(OF_RUNS, run, world, setting, due)


def find_all(
    statements: list[Statement[Subject]],
    subject: Subject,
    world: str,
    setting: Setting,
    due: Mapping[Needs, bool] = {},
) -> list[Finding]:
    """The findings of all statements that apply; each should hold unless its needs are not met."""
    found = (find(s, subject, world, setting, due.get(s.needs, True)) for s in statements)
    return [finding for finding in found if finding]


def runs(
    world: World | FiniteMDP, K: int, delta: float, seed: int
) -> Iterator[tuple[Setting, RecordedRun]]:
    """A run with each setting, and its name."""
    mdp, features = parts(world)
    R_max = max(1.0, mdp.reward_range[1])
    # A seed for each run and world; with one seed all runs would have episodes of equal lengths.
    text = f"{world!r} {K}".encode()
    seeds = np.random.SeedSequence([seed, *text]).generate_state(4).tolist()
    practical = RmaxRaviUcbConfig(r_max=R_max)
    practice = RecordedRun(record(mdp, features, practical, K, seeds[0]), delta)
    theory = RmaxRaviUcbConfig.theory(*practice.sizes)
    trace = record(mdp, features, theory, K, seeds[1])
    yield Setting.THEOREM, RecordedRun(trace, delta, theorem=True, covered=True)
    turns = Switching(np.array([mdp.r, R_max - mdp.r]), every=max(1, K // 10))
    for setting, rewards, own in (
        (Setting.VALID, None, seeds[2]),
        (Setting.CHANGING, turns, seeds[3]),
    ):
        for beta in doubles(practical.beta, theory.beta):
            config = replace(theory, eta=practical.eta, beta=beta)
            run = RecordedRun(record(mdp, features, config, K, own, rewards), delta)
            if run.valid:
                yield setting, run
                break
    yield Setting.PRACTICE, practice


SMALL = RiverSwim(2, gamma=0.3)
"""A world in which the bound on regret+ is nontrivial after a long run."""


def long_run(K: int, delta: float, seed: int) -> RecordedRun:
    """A run of 20 K episodes where d and H are small, with the eta that minimises the bound."""
    K, mdp, A = 20 * K, SMALL.mdp, SMALL.mdp.n_actions
    d, H = SMALL.features.dim, mdp.horizon
    theory = RmaxRaviUcbConfig.theory(K, d, A, mdp.gamma, B=1, W_max=1, delta=delta)
    Q_max = parameters.value_bound(mdp.gamma, 1.0, theory.omega, theory.alpha)
    epochs = covariance.number_of_epochs_sharp(K * H, d, 1)
    eta = float(np.sqrt(epochs * np.log(A) / (2 * Q_max**2 * np.sqrt(H) * K)))
    for beta in (*doubles(1.0, theory.beta), theory.beta):
        config = replace(theory, beta=beta, eta=eta)
        run = RecordedRun(record(mdp, SMALL.features, config, K, seed), delta)
        if run.valid:
            break
    return run


NARROW = RandomLinear(d=2, n_states=4, n_actions=2, gamma=0.8)
"""A world in which the bonuses of a covered run soon fall below the values."""


def covered_run(K: int, delta: float, seed: int) -> RecordedRun:
    """A run of 10 K episodes where d is small, with the beta that covers all values."""
    K, mdp = 10 * K, NARROW.mdp
    d, X, A = NARROW.features.dim, mdp.n_states, mdp.n_actions
    theory = RmaxRaviUcbConfig.theory(K, d, A, mdp.gamma, B=1, W_max=1, delta=delta)
    Q_max = parameters.value_bound(mdp.gamma, 1.0, theory.omega, theory.alpha)
    T = parameters.steps(K, mdp.gamma, delta)
    beta = float(concentration.beta_for_all_values(T, d, X, 1.0, Q_max, delta))
    trace = record(mdp, NARROW.features, replace(theory, beta=beta), K, seed)
    return RecordedRun(trace, delta, covered=True)


def doubles(first: float, below: float) -> Iterator[float]:
    """The numbers first, 2 first, 4 first, ... below a limit.

    Examples
    --------
    >>> list(doubles(0.5, below=3))
    [0.5, 1.0, 2.0]
    """
    while first < below:
        yield first
        first *= 2


def parts(world: World | FiniteMDP) -> tuple[FiniteMDP, FeatureMap]:
    """The MDP of a world, and features in which it is linear."""
    if isinstance(world, World):
        return world.mdp, world.features
    return world, default_features(world)


def find(
    statement: Statement[Subject], subject: Subject, world: str, setting: Setting, due: bool
) -> Finding | None:
    """The finding of a statement for one subject; None where it does not apply."""
    claim = statement.check(subject)
    if claim is None or not claim.slack.size:
        return None
    return Finding(
        *(statement.about, statement.key, statement.where, statement.says, statement.needs.value),
        *(world, setting, due),
        cases=claim.slack.size,
        broken=int(claim.broken.sum()),
        equality=claim.equal,
        vacuous=claim.vacuous,
        slack=float(claim.slack.min()),
        share=claim.share,
    )
