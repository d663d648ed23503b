"""A statement of the paper, and the comparison of numbers that it claims."""

from collections.abc import Callable
from dataclasses import dataclass
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
    THEOREM = "with high probability, with the theorem's parameters"


@dataclass(frozen=True)
class Comparison:
    """Claims that one number is at most another, or equal to it, in some cases.

    Attributes
    ----------
    smaller, larger
        Both sides, in each case.
    equal
        Whether they should be equal.
    unit
        A number of the size that both sides could have, for the case that all of them vanish.
    """

    smaller: FloatArray
    larger: FloatArray
    equal: bool = False
    unit: float = 0.0

    @property
    def slack(self) -> FloatArray:
        """What the larger side has to spare; minus the difference where they should be equal."""
        gap = self.larger - self.smaller
        return -np.abs(gap) if self.equal else gap

    @property
    def scale(self) -> float:
        """The largest number on either side, and no less than the unit."""
        both = np.concatenate([self.smaller, self.larger])
        finite = both[np.isfinite(both)]
        return float(np.abs(finite).max(initial=self.unit))

    @property
    def share(self) -> float:
        """The least slack as a share of the larger of the two sides, 0 where both vanish.

        Where they should be equal, minus the largest difference as a share of all.
        """
        size = np.maximum(np.abs(self.smaller), np.abs(self.larger))
        if self.equal:
            size = np.full_like(size, self.scale)
        matters = size > ROUNDING * self.scale
        shares = np.divide(self.slack, size, out=np.zeros_like(size), where=matters)
        return float(shares.min())

    @property
    def broken(self) -> BoolArray:
        """Where the claim fails, beyond rounding; whatever is no number fails."""
        return np.asarray(~(self.slack >= -ROUNDING * self.scale))


def at_most(smaller: ArrayLike, larger: ArrayLike, unit: float = 0.0) -> Comparison:
    """The claim smaller <= larger, element by element.

    Examples
    --------
    >>> claim = at_most([1.0, 2.0], 1.5)
    >>> claim.slack, claim.broken
    (array([ 0.5, -0.5]), array([False,  True]))
    """
    a, b = np.broadcast_arrays(np.asarray(smaller, float), np.asarray(larger, float))
    return Comparison(a.ravel(), b.ravel(), unit=unit)


def equal(one: ArrayLike, other: ArrayLike, unit: float = 0.0) -> Comparison:
    """The claim that both are equal, up to rounding.

    Examples
    --------
    >>> equal(0.1 + 0.2, 0.3).broken, equal(1.0, 1.001).broken
    (array([False]), array([ True]))
    """
    claim = at_most(one, other)
    return Comparison(claim.smaller, claim.larger, equal=True, unit=unit)


def join(*claims: Comparison) -> Comparison:
    """Several claims of the same kind as one."""
    smaller, larger = (
        np.concatenate([getattr(claim, side) for claim in claims]) for side in ("smaller", "larger")
    )
    return Comparison(smaller, larger, claims[0].equal, max(claim.unit for claim in claims))


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
