"""Run the algorithm in known worlds, check every statement of the analysis, and sum it up."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from optimist import checks
from optimist.agents import Configuration
from optimist.core import Switching
from optimist.envs import GridWorld, LowerK, RandomLinear, RiverSwim, World
from optimist.features import FeatureMap, OneHot, Table
from optimist.mdp import FiniteMDP, LinearMDP
from optimist.verification import (
    of_algorithm,
    of_covariance,
    of_functions,
    of_imitation,
    of_lower_bounds,
    of_regret,
    of_values,
    of_worlds,
)
from optimist.verification.run import Run
from optimist.verification.statement import Needs, Statement
from optimist.verification.trace import record

THEOREM, VALID, CHANGING, PRACTICE = "theorem", "valid", "changing rewards", "practice"
"""The parameters of a run: the theorem's; the smallest beta, of the practical one's doubles, whose
bonuses turn out valid, then again under rewards that change; and the practical ones."""

IMITATION, NUMBERS = "imitation", "numbers"
"""Where else statements are checked: in a run of FRA-IL, and where there is no run."""

OF_RUNS: list[Statement[Run]] = [
    *of_worlds.STATEMENTS.all,
    *of_algorithm.STATEMENTS.all,
    *of_values.STATEMENTS.all,
    *of_covariance.STATEMENTS.all,
    *of_regret.STATEMENTS.all,
]
OF_IMITATIONS: list[Statement[of_imitation.Imitation]] = of_imitation.STATEMENTS.all
OF_NUMBERS: list[Statement[None]] = [
    *of_functions.STATEMENTS.all,
    *of_lower_bounds.STATEMENTS.all,
]


@dataclass(frozen=True)
class Finding:
    """A statement in one place.

    Attributes
    ----------
    about, key, where, says, needs
        Those of the statement.
    world, setting
        The place.
    due
        Whether it should hold there.
    cases, broken
        In how many cases it was checked, and in how many it fails.
    equality
        Whether it says that both sides are equal.
    slack, share
        What the larger side has to spare in the worst case: in its own units, and as a share of the
        sides; minus the largest difference for an equality.
    """

    about: str
    key: str
    where: str
    says: str
    needs: str
    world: str
    setting: str
    due: bool
    cases: int
    broken: int
    equality: bool
    slack: float
    share: float

    @property
    def violated(self) -> bool:
        """Whether it should hold and does not."""
        return self.due and self.broken > 0


@dataclass(frozen=True)
class Report:
    """All findings of a verification."""

    findings: tuple[Finding, ...]
    K: int
    delta: float
    seed: int

    @property
    def violations(self) -> list[Finding]:
        """The statements that should hold and do not, each where it fails."""
        return [finding for finding in self.findings if finding.violated]

    def by_statement(self) -> list["Summary"]:
        """The findings on each statement, summed up, in the order of the paper."""
        keys = dict.fromkeys(finding.key for finding in self.findings)
        return [
            Summary(tuple(finding for finding in self.findings if finding.key == key))
            for key in keys
        ]

    def to_plain(self) -> dict[str, Any]:
        """All of it as plain data."""
        given = {"K": self.K, "delta": self.delta, "seed": self.seed}
        rows = [{**asdict(f), "violated": f.violated} for f in self.findings]
        return {**given, "violations": len(self.violations), "findings": rows}


@dataclass(frozen=True)
class Summary:
    """The findings on one statement."""

    findings: tuple[Finding, ...]

    @property
    def due(self) -> list[Finding]:
        """Where it should hold."""
        return [finding for finding in self.findings if finding.due]

    @property
    def worst(self) -> Finding | None:
        """Where least is to spare, of the places where it should hold."""
        return min(self.due, key=lambda f: f.share, default=None)

    @property
    def cases(self) -> int:
        """The cases where it should hold."""
        return sum(finding.cases for finding in self.due)

    @property
    def violated(self) -> bool:
        """Whether it fails where it should hold."""
        return any(finding.violated for finding in self.findings)

    @property
    def broken_in_practice(self) -> float | None:
        """The share of cases that fail with practical parameters; None if it was not tried."""
        tried = [finding for finding in self.findings if finding.setting == PRACTICE]
        cases = sum(finding.cases for finding in tried)
        return sum(finding.broken for finding in tried) / cases if cases else None


def verify(
    world: World | FiniteMDP | None = None, K: int = 1000, delta: float = 0.01, seed: int = 0
) -> Report:
    """Check every statement of the paper's analysis, exactly, since the worlds are known.

    Parameters
    ----------
    world
        Where; by default in four small worlds, and all that needs none.
    K
        The number of episodes of each run, at least 8 as the theorem needs it.
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
    K = checks.count(K, "K", least=8)
    if not 0 < checks.real_number(delta, "delta") < 0.5:
        raise ValueError(f"delta = {delta:g} is outside (0, 1/2)")
    findings: list[Finding] = []
    with threadpool_limits(1, "blas"):  # small matrices; their threads wait for one another
        for place in WORLDS if world is None else (world,):
            findings += in_world(place, K, delta, seed)
    findings += [found for s in OF_NUMBERS if (found := find(s, None, "", NUMBERS, due=True))]
    return Report(tuple(findings), K, delta, seed)


WORLDS: tuple[World, ...] = (
    RiverSwim(6, gamma=0.9),
    GridWorld("S..\n...\n..G", gamma=0.9),
    RandomLinear(d=6, n_states=30, n_actions=3, gamma=0.9),
    LowerK(n_actions=3, epsilon=0.05, gamma=0.9),
)
"""Where statements are checked by default: long, wide, with dense features, and hard."""


def in_world(world: World | FiniteMDP, K: int, delta: float, seed: int) -> list[Finding]:
    """The findings in one world, with several parameters and rewards."""
    name = repr(world)
    findings = []
    for setting, run in runs(world, K, delta, seed):
        for statement in OF_RUNS:
            due = {
                Needs.NOTHING: True,
                Needs.CHANCE: True,
                Needs.VALID_BONUSES: run.valid,
                Needs.THEOREM: run.theorem,
            }[statement.needs]
            found = find(statement, run, name, setting, due)
            findings += [found] if found else []
    mdp, features = parts(world)
    imitation = of_imitation.imitate(mdp, features, K, delta, seed)
    return findings + [
        found for s in OF_IMITATIONS if (found := find(s, imitation, name, IMITATION, due=True))
    ]


def runs(world: World | FiniteMDP, K: int, delta: float, seed: int) -> Iterator[tuple[str, Run]]:
    """A run with each choice of parameters, and one with rewards that change."""
    mdp, features = parts(world)
    practical = Configuration.practical()
    practice = Run(record(mdp, features, practical, K, seed), delta)
    theory = Configuration.theory(
        K=K,
        d=practice.d,
        n_actions=practice.n_actions,
        gamma=mdp.gamma,
        B=practice.B,
        W_max=practice.W_max,
        delta=delta,
    )
    yield THEOREM, Run(record(mdp, features, theory, K, seed), delta, theorem=True)
    turns = Switching(np.array([mdp.r, practice.R_max - mdp.r]), every=max(1, K // 10))
    for setting, rewards in ((VALID, None), (CHANGING, turns)):
        beta = practical.beta
        while beta < theory.beta:
            config = replace(theory, beta=beta, eta=practical.eta)
            run = Run(record(mdp, features, config, K, seed, rewards), delta)
            if run.valid:
                yield setting, run
                break
            beta *= 2
    yield PRACTICE, practice


def parts(world: World | FiniteMDP) -> tuple[FiniteMDP, FeatureMap]:
    """A world's MDP, and features in which it is linear."""
    if isinstance(world, World):
        return world.mdp, world.features
    if isinstance(world, LinearMDP):
        return world, Table(world.Phi)
    return world, OneHot(world.n_states, world.n_actions)


def find(
    statement: Statement[Any], subject: Any, world: str, setting: str, due: bool
) -> Finding | None:
    """What a statement comes to in one place; None where it says nothing."""
    claim = statement.check(subject)
    if claim is None or not claim.slack.size:
        return None
    return Finding(
        about=statement.about,
        key=statement.key,
        where=statement.where,
        says=statement.says,
        needs=statement.needs.value,
        world=world,
        setting=setting,
        due=due,
        cases=claim.slack.size,
        broken=int(claim.broken.sum()),
        equality=claim.equal,
        slack=float(claim.slack.min()),
        share=claim.share,
    )
