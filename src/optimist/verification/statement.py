"""A statement of the paper, and the claim that it makes about numbers."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from optimist.checks import BoolArray, FloatArray
from optimist.display.text import one_line

ROUNDING = 1e-9
"""Tolerance of every claim, relative to the largest number on either side."""

Subject = TypeVar("Subject")


class Needs(Enum):
    """The condition under which a statement holds."""

    NOTHING = "always"
    VALID_BONUSES = "if bonuses are valid"
    CHANCE = "with high probability"
    COVERED = "with high probability, with a beta that covers all values and ||m|| <= sqrt d"
    THEOREM = "with high probability, with the theorem's parameters and ||m|| <= sqrt d"


@dataclass(frozen=True)
class Claim:
    """The claim smaller <= larger, or smaller = larger, in each of several cases.

    Attributes
    ----------
    smaller, larger
        The two sides, one number a case.
    rounding
        The tolerance of each case.
    equal
        Whether the two sides should be equal.
    trivial
        An upper bound on the smaller side that holds for every learner and all data. If the larger
        side reaches it, the claim says nothing.
    """

    __repr__ = one_line

    smaller: FloatArray
    larger: FloatArray
    rounding: FloatArray
    equal: bool
    trivial: FloatArray

    @property
    def slack(self) -> FloatArray:
        """larger - smaller; minus the absolute difference if the sides should be equal."""
        gap = self.larger - self.smaller
        return -np.abs(gap) if self.equal else gap

    @property
    def broken(self) -> BoolArray:
        """The cases in which the claim fails by more than rounding; NaN fails."""
        return np.asarray(~(self.slack >= -self.rounding))

    @property
    def share(self) -> float:
        """The least slack relative to the larger absolute side, 0 if both sides are 0.

        For an equality, the differences are relative to the largest number of the claim.
        """
        size = np.maximum(np.abs(self.smaller), np.abs(self.larger))
        if self.equal:
            size = self.rounding / ROUNDING
        matters = (size > self.rounding) & np.isfinite(size)
        endless = np.where(np.isinf(size), np.sign(self.slack), 0.0)
        return float(np.divide(self.slack, size, out=endless, where=matters).min())

    @property
    def vacuous(self) -> bool:
        """Whether no learner could break the claim, as every bound is at least the trivial one."""
        return bool((self.larger >= self.trivial).all())


def at_most(
    smaller: ArrayLike, larger: ArrayLike, unit: float = 0.0, trivial: ArrayLike = np.inf
) -> Claim:
    """The claim smaller <= larger, element by element.

    Rounding is relative to the largest number on either side and to ``unit``, a typical size of
    both sides for the case that all numbers are 0.

    Examples
    --------
    >>> claim = at_most([1.0, 2.0], 1.5)
    >>> claim.slack, claim.broken, claim.vacuous
    (array([ 0.5, -0.5]), array([False,  True]), False)
    >>> at_most(0.3, 5.0, trivial=1.0).vacuous
    True
    """
    sides = (np.asarray(side, float) for side in (smaller, larger, trivial))
    a, b, most = (side.ravel() for side in np.broadcast_arrays(*sides))
    both = np.concatenate([a, b])
    scale = np.abs(both[np.isfinite(both)]).max(initial=unit)
    return Claim(a, b, np.full(a.shape, ROUNDING * scale), equal=False, trivial=most)


def equal(one: ArrayLike, other: ArrayLike, unit: float = 0.0) -> Claim:
    """The claim that both sides are equal up to rounding.

    Examples
    --------
    >>> equal(0.1 + 0.2, 0.3).broken, equal(1.0, 1.001).broken
    (array([False]), array([ True]))
    """
    return replace(at_most(one, other, unit), equal=True)


def join(*claims: Claim) -> Claim:
    """Join claims of the same kind into one; each keeps its own rounding."""
    arrays = ("smaller", "larger", "rounding", "trivial")
    parts = {a: np.concatenate([getattr(claim, a) for claim in claims]) for a in arrays}
    return Claim(**parts, equal=claims[0].equal)


@dataclass(frozen=True)
class Statement(Generic[Subject]):
    """A statement of the paper."""

    about: str  # the heading that it shares with other statements
    key: str  # its label in the paper, or a name of ours if it has none
    where: str  # its place in the paper
    says: str  # the claim, as a formula
    needs: Needs  # the condition under which it holds
    check: Callable[[Subject], Claim | None]  # None where the statement does not apply


class Statements(Generic[Subject]):
    """Statements under one heading, in the order of the paper."""

    def __init__(self, about: str) -> None:
        self.about = about
        self.all: list[Statement[Subject]] = []

    def add(
        self,
        key: str,
        where: str,
        says: str | None = None,
        needs: Needs = Needs.NOTHING,
        applies: Callable[[Subject], bool] = lambda subject: True,
    ) -> Callable[[Any], Any]:
        """Register the decorated function as the check of a statement.

        The function returns a claim, several claims of the same kind, or None where the statement
        does not apply; it is not called where ``applies`` is false. The first paragraph of its
        docstring is what the statement says, unless ``says`` is given.
        """

        def enter(claims_of: Callable[[Subject], Claim | Iterable[Claim] | None]) -> Any:
            def check(subject: Subject) -> Claim | None:
                found = claims_of(subject) if applies(subject) else None
                return join(*found) if isinstance(found, Iterable) else found

            formula = says or " ".join((inspect.getdoc(claims_of) or "").split("\n\n")[0].split())
            self.all.append(Statement(self.about, key, where, formula, needs, check))
            return claims_of

        return enter
