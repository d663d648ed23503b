"""What was found: each statement in each place, and all of them summed up."""

from dataclasses import asdict, dataclass
from typing import Any

from scipy.stats import binom

from optimist.verification.statement import Needs

THEOREM, VALID, CHANGING, PRACTICE = "theorem", "valid", "changing rewards", "practice"
"""The parameters of a run: the theorem's; the smallest beta, of the practical one's doubles, whose
bonuses turn out valid, then again under rewards that change; and the practical ones."""

LONG, COVERED = "long", "all values"
"""Runs so long that bounds say something: one with valid bonuses and the eta of the least bound on
its regret, and one whose beta covers all values in [0, Q_max] at once."""

IMITATION, NUMBERS = "imitation", "numbers"
"""Where else statements are checked: in a run of FRA-IL, and where there is no run."""


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
    vacuous
        Whether the bound is so large here that no learner could break it.
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
    vacuous: bool
    slack: float
    share: float

    @property
    def failed(self) -> bool:
        """Whether it should hold and does not."""
        return self.due and self.broken > 0


@dataclass(frozen=True)
class Play:
    """How a run went.

    Attributes
    ----------
    world, setting
        The place.
    K, eta, beta
        Its episodes and parameters.
    valid
        Whether all its bonuses were valid.
    p_least, p_most
        The range of the ascension functions p_k+, over all pairs and episodes.
    from_uniform
        By how much pi_k(a|x) differs from 1 / A at most.
    """

    world: str
    setting: str
    K: int
    eta: float
    beta: float
    valid: bool
    p_least: float
    p_most: float
    from_uniform: float

    @property
    def idle(self) -> bool:
        """Whether every pair leads to heaven, and play is uniform therefore."""
        return min(self.p_least, 1 - self.from_uniform) > 1 - 1e-9


@dataclass(frozen=True)
class Report:
    """All findings of a verification.

    Attributes
    ----------
    findings
        Every statement in every place.
    runs
        How the runs went.
    notes
        What could not be tried, in sentences.
    K, delta, seed
        What was asked for.
    """

    findings: tuple[Finding, ...]
    runs: tuple[Play, ...]
    notes: tuple[str, ...]
    K: int
    delta: float
    seed: int

    @property
    def violations(self) -> list[Finding]:
        """The statements that should hold and do not, each where it fails.

        What holds with probability 1 - delta may fail now and then, and is a violation only if it
        fails in more runs than would come about once in a thousand times.
        """
        return [f for summary in self.by_statement() for f in summary.violations(self.delta)]

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
        violations = self.violations
        rows = [{**asdict(f), "violated": f in violations} for f in self.findings]
        return {
            **given,
            "violations": len(violations),
            "notes": list(self.notes),
            "runs": [asdict(run) for run in self.runs],
            "findings": rows,
        }


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

    def violations(self, delta: float) -> list[Finding]:
        """Where it should hold and does not, unless that is bad luck."""
        failed = [finding for finding in self.due if finding.failed]
        by_chance = {Needs.CHANCE.value, Needs.COVERED.value, Needs.THEOREM.value}
        if not failed or failed[0].needs not in by_chance:
            return failed
        luck = binom.sf(len(failed) - 1, len(self.due), 2 * delta)  # some are two events
        return failed if luck < 1e-3 else []

    @property
    def vacuous(self) -> bool:
        """Whether it could fail nowhere that it is due."""
        return bool(self.due) and not self.telling

    @property
    def telling(self) -> list[Finding]:
        """Where it should hold and could fail."""
        return [finding for finding in self.due if not finding.vacuous]

    @property
    def broken_in_practice(self) -> float | None:
        """The share of cases that fail with practical parameters; None if it was not tried."""
        tried = [finding for finding in self.findings if finding.setting == PRACTICE]
        cases = sum(finding.cases for finding in tried)
        return sum(finding.broken for finding in tried) / cases if cases else None
