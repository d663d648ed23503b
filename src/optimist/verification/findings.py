"""The results of a verification: each statement in each run, and summaries."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from scipy.stats import binom

from optimist.display.card import card, table
from optimist.display.text import one_line
from optimist.verification.statement import Needs

MOST_SHOWN = 10
"""Violations that a notebook shows; `Verification.violations` has all."""


class Setting(StrEnum):
    """The parameters of a run, or the subject of statements that are not about one."""

    THEOREM = "theorem"
    VALID = "valid"  # the practical beta, doubled until bonuses are valid
    CHANGING = "changing rewards"  # the same with rewards that change
    PRACTICE = "practice"
    LONG = "long"  # so long that bounds are nontrivial, with the eta that minimises that on regret
    COVERED = "all values"  # as long, with a beta that covers all values in [0, Q_max] at once
    IMITATION = "imitation"  # a run of FRA-IL
    PROVEN = "proven"  # a run of Optimist with the constants of its proof
    NUMBERS = "numbers"  # no run


@dataclass(frozen=True)
class Finding:
    """The result of checking a statement in one run; the first five fields are the statement's."""

    about: str
    key: str
    where: str
    says: str
    needs: str
    world: str
    setting: Setting
    due: bool  # whether the statement should hold there
    cases: int  # the number of cases checked
    broken: int  # the number of cases in which it fails
    equality: bool  # whether it claims that both sides are equal
    vacuous: bool  # whether the bound is so large here that no learner could break it
    slack: float  # the least slack; minus the largest difference for an equality
    share: float  # the same, relative to the sides

    @property
    def failed(self) -> bool:
        """Whether the statement should hold and does not."""
        return self.due and self.broken > 0


@dataclass(frozen=True)
class Play:
    """A summary of one run."""

    world: str
    setting: Setting
    K: int
    eta: float
    beta: float
    valid: bool  # whether all bonuses were valid
    p_least: float  # the range of the ascension functions p_k+, over all pairs and episodes
    p_most: float
    from_uniform: float  # the largest |pi_k(a|x) - 1 / A|

    @property
    def idle(self) -> bool:
        """Whether every pair leads to heaven, so that play is uniform."""
        return min(self.p_least, 1 - self.from_uniform) > 1 - 1e-9


@dataclass(frozen=True)
class Verification:
    """All findings of a verification.

    Attributes
    ----------
    findings
        Every statement in every run.
    runs
        A summary of each run.
    notes
        The settings that could not be tried, one sentence each.
    K, delta, seed
        The arguments of `verify`.
    """

    findings: tuple[Finding, ...]
    runs: tuple[Play, ...]
    notes: tuple[str, ...]
    K: int
    delta: float
    seed: int

    @property
    def facts(self) -> dict[str, str]:
        """The few numbers that matter."""
        statements = self.by_statement()
        return {
            "statements": f"{len(statements)}",
            "cases": f"{sum(s.cases for s in statements):,}",
            "violations": f"{sum(len(s.violations(self.delta)) for s in statements)}",
            "runs": f"{len(self.runs)}",
            "K": f"{self.K:,}",
            "delta": f"{self.delta:g}",
        }

    def __repr__(self) -> str:
        return f"Verification({', '.join(f'{name}={value}' for name, value in self.facts.items())})"

    def _repr_html_(self) -> str:
        shown = [
            {"statement": f.key, "says": f.says, "world": f.world, "setting": f.setting,
             "broken": f"{f.broken:,} of {f.cases:,}"}
            for f in self.violations[:MOST_SHOWN]
        ]  # fmt: skip
        return card("Verification", self.facts, table(shown), note=" ".join(self.notes))

    @property
    def violations(self) -> list[Finding]:
        """The findings of statements that should hold and do not.

        A statement that holds with probability 1 - delta may fail by chance. It is violated only if
        so many failures have a probability below 1/1000.
        """
        return [f for summary in self.by_statement() for f in summary.violations(self.delta)]

    def by_statement(self) -> list["Summary"]:
        """The findings grouped by statement, in the order of the paper."""
        keys = dict.fromkeys(f.key for f in self.findings)
        return [Summary(tuple(f for f in self.findings if f.key == key)) for key in keys]

    def to_plain(self) -> dict[str, Any]:
        """The verification as plain data."""
        violations = self.violations
        return {
            "K": self.K,
            "delta": self.delta,
            "seed": self.seed,
            "violations": len(violations),
            "notes": list(self.notes),
            "runs": [asdict(run) for run in self.runs],
            "findings": [{**asdict(f), "violated": f in violations} for f in self.findings],
        }


@dataclass(frozen=True)
class Summary:
    """All findings of one statement."""

    __repr__ = one_line

    findings: tuple[Finding, ...]

    @property
    def due(self) -> list[Finding]:
        """The findings where the statement should hold."""
        return [finding for finding in self.findings if finding.due]

    @property
    def worst(self) -> Finding | None:
        """The finding with the least relative slack where the statement should hold."""
        return min(self.due, key=lambda f: f.share, default=None)

    @property
    def cases(self) -> int:
        """The number of cases in which the statement should hold."""
        return sum(finding.cases for finding in self.due)

    def violations(self, delta: float) -> list[Finding]:
        """The findings where it should hold and does not, unless that may be chance."""
        failed = [finding for finding in self.due if finding.failed]
        by_chance = {Needs.CHANCE.value, Needs.COVERED.value, Needs.THEOREM.value}
        if not failed or failed[0].needs not in by_chance:
            return failed
        luck = binom.sf(len(failed) - 1, len(self.due), 2 * delta)  # some are two events
        return failed if luck < 1e-3 else []

    @property
    def vacuous(self) -> bool:
        """Whether it could fail nowhere that it should hold."""
        return bool(self.due) and not self.telling

    @property
    def telling(self) -> list[Finding]:
        """The findings where the statement should hold and could fail."""
        return [finding for finding in self.due if not finding.vacuous]

    @property
    def broken_in_practice(self) -> float | None:
        """The share of cases that fail with practical parameters; None if not checked there."""
        tried = [finding for finding in self.findings if finding.setting == Setting.PRACTICE]
        cases = sum(finding.cases for finding in tried)
        return sum(finding.broken for finding in tried) / cases if cases else None
