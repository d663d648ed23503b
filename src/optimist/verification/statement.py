"""A statement of the paper, and the comparison of numbers that it claims."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from optimist.checks import BoolArray, FloatArray

ROUNDING = 1e-9
"""How far both sides may be on the wrong side of each other, as a share of the larger numbers."""

Subject = TypeVar("Subject")


class Needs(Enum):
    """What a statement needs in order to hold."""

    NOTHING = "always"
    VALID_BONUSES = "if bonuses are valid"
    CHANCE = "with high probability"
    COVERED = "with high probability, with a beta that covers all values and ||m|| <= sqrt d"
    THEOREM = "with high probability, with the theorem's parameters and ||m|| <= sqrt d"


@dataclass(frozen=True)
class Comparison:
    """Claims that one number is at most another, or equal to it, in some cases.

    Attributes
    ----------
    smaller, larger
        Both sides, in each case.
    rounding
        How far they may be on the wrong side of each other, in each case.
    equal
        Whether they should be equal.
    trivial
        From where on the larger side says nothing, in each case: what is bounded is at most that
        anyway, whoever learns and whatever is seen.
    """

    smaller: FloatArray
    larger: FloatArray
    rounding: FloatArray
    equal: bool
    trivial: FloatArray

    @property
    def slack(self) -> FloatArray:
        """What the larger side has to spare; minus the difference where they should be equal."""
        gap = self.larger - self.smaller
        return -np.abs(gap) if self.equal else gap

    @property
    def broken(self) -> BoolArray:
        """Where the claim fails, beyond rounding; whatever is no number fails."""
        return np.asarray(~(self.slack >= -self.rounding))

    @property
    def share(self) -> float:
        """The least slack as a share of the larger of the two sides, 0 where both vanish.

        Where they should be equal, minus the largest difference as a share of all of its claim.
        """
        size = np.maximum(np.abs(self.smaller), np.abs(self.larger))
        if self.equal:
            size = self.rounding / ROUNDING
        matters = (size > self.rounding) & np.isfinite(size)
        endless = np.where(np.isinf(size), np.sign(self.slack), 0.0)
        return float(np.divide(self.slack, size, out=endless, where=matters).min())

    @property
    def vacuous(self) -> bool:
        """Whether no learner could break the claim: it allows what is the most anyway."""
        return bool((self.larger >= self.trivial).all())


def at_most(
    smaller: ArrayLike, larger: ArrayLike, unit: float = 0.0, trivial: ArrayLike = np.inf
) -> Comparison:
    """The claim smaller <= larger, element by element.

    Rounding is relative to the largest number on either side, and to ``unit``: a number of the size
    that both sides could have, for the case that all of them vanish.

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
    return Comparison(a, b, np.full(a.shape, ROUNDING * scale), equal=False, trivial=most)


def equal(one: ArrayLike, other: ArrayLike, unit: float = 0.0) -> Comparison:
    """The claim that both are equal, up to rounding.

    Examples
    --------
    >>> equal(0.1 + 0.2, 0.3).broken, equal(1.0, 1.001).broken
    (array([False]), array([ True]))
    """
    return replace(at_most(one, other, unit), equal=True)


def join(*claims: Comparison) -> Comparison:
    """Several claims of the same kind as one; each keeps its own rounding."""
    arrays = ("smaller", "larger", "rounding", "trivial")
    parts = {a: np.concatenate([getattr(claim, a) for claim in claims]) for a in arrays}
    return Comparison(**parts, equal=claims[0].equal)


@dataclass(frozen=True)
class Statement(Generic[Subject]):
    """A statement of the paper.

    Attributes
    ----------
    about
        What it is about, with others.
    key
        Its label in the paper where it has one, otherwise a name of ours.
    where
        Where it stands.
    says
        The claim, as a formula.
    needs
        What it needs in order to hold.
    check
        Compares both sides in a run, or wherever else it is claimed; None where it says nothing.
    """

    about: str
    key: str
    where: str
    says: str
    needs: Needs
    check: Callable[[Subject], Comparison | None]


class Statements(Generic[Subject]):
    """Statements about the same, in the order of the paper."""

    def __init__(self, about: str) -> None:
        self.about = about
        self.all: list[Statement[Subject]] = []

    def add(
        self, key: str, where: str, says: str, needs: Needs = Needs.NOTHING
    ) -> Callable[[Any], Any]:
        """Make a statement of a function that compares its two sides."""

        def enter(check: Callable[[Subject], Comparison | None]) -> Any:
            self.all.append(Statement(self.about, key, where, says, needs, check))
            return check

        return enter
