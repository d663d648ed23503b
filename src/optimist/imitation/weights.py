"""Classes W of reward weights: closed convex sets that contain w_true, with their projections.

A class determines W_max >= ||w|| (the paper's assumption) and the range of the rewards phi_r . w.
A constant shifts them into [0, R_max], as the policy player assumes; it changes no regret.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from optimist import checks
from optimist.checks import FloatArray


class WeightKind(IntEnum):
    """Classes with a compiled projection, and OTHER, whose weights move between compiled calls."""

    BALL = 0
    BOX = 1
    SIMPLEX = 2
    OTHER = 3


class WeightClass(ABC):
    """A closed convex set of reward weights.

    Examples
    --------
    A new class defines its projection and a bound on the norm of its weights. This one gives no
    reward for the first feature:

    >>> class FirstIsFree(WeightClass):
    ...     def project(self, w):
    ...         return Ball(1.0).project(np.concatenate([[0.0], w[1:]]))
    ...
    ...     def bound(self, dim):
    ...         return 1.0
    >>> FirstIsFree().project(np.array([3.0, 3.0, 4.0]))
    array([0. , 0.6, 0.8])
    """

    kind: ClassVar[WeightKind] = WeightKind.OTHER

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "project" in vars(cls) and "kind" not in vars(cls):
            cls.kind = WeightKind.OTHER  # the compiled projection is the parent's

    @property
    def numbers(self) -> tuple[float, float]:
        """The parameters, in the order of the compiled loop."""
        return 0.0, 0.0

    @abstractmethod
    def project(self, w: FloatArray) -> FloatArray:
        """The point of the class nearest to w, [d]."""

    @abstractmethod
    def bound(self, dim: int) -> float:
        """W_max in this dimension, an upper bound on the norms of the class."""

    def span(self, Phi: Any) -> tuple[float, float]:
        """Bounds on the rewards phi . w over the class and the rows of a sparse Phi [n, d].

        By default -B W_max and B W_max, by the Cauchy-Schwarz inequality.
        """
        most = float(sp.linalg.norm(Phi, axis=1).max()) * self.bound(Phi.shape[1])
        return -most, most


@dataclass(frozen=True)
class Ball(WeightClass):
    """The Euclidean ball ||w|| <= W_max.

    Attributes
    ----------
    radius
        W_max, the radius.

    Examples
    --------
    >>> Ball(1.0).project(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """

    radius: float = 1.0
    kind: ClassVar[WeightKind] = WeightKind.BALL

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", checks.positive(self.radius, "radius"))

    @property
    def numbers(self) -> tuple[float, float]:
        return self.radius, 0.0

    def project(self, w: FloatArray) -> FloatArray:
        norm = float(np.linalg.norm(w))
        return w * min(1.0, self.radius / norm) if norm else w.copy()

    def bound(self, dim: int) -> float:
        return self.radius


@dataclass(frozen=True)
class Box(WeightClass):
    """Every weight in [low, high].

    With one-hot features of states, `Box(0, 1)` contains every reward function in [0, 1].

    Attributes
    ----------
    low
        The least weight.
    high
        The largest weight.

    Examples
    --------
    >>> Box(0.0, 1.0).project(np.array([-1.0, 0.5, 2.0])), Box(0.0, 1.0).bound(4)
    (array([0. , 0.5, 1. ]), 2.0)
    """

    low: float = 0.0
    high: float = 1.0
    kind: ClassVar[WeightKind] = WeightKind.BOX

    def __post_init__(self) -> None:
        low, high = checks.real_number(self.low, "low"), checks.real_number(self.high, "high")
        if not low < high:
            raise ValueError(f"low must be below high; got low = {low:g}, high = {high:g}")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def numbers(self) -> tuple[float, float]:
        return self.low, self.high

    def project(self, w: FloatArray) -> FloatArray:
        return np.clip(w, self.low, self.high)

    def bound(self, dim: int) -> float:
        return math.sqrt(dim) * max(abs(self.low), abs(self.high))

    def span(self, Phi: Any) -> tuple[float, float]:
        up, down = Phi.maximum(0).sum(axis=1), Phi.minimum(0).sum(axis=1)
        least, most = self.low * up + self.high * down, self.high * up + self.low * down
        return float(least.min()), float(most.max())


@dataclass(frozen=True)
class Simplex(WeightClass):
    """Non-negative weights that sum to ``total``.

    Attributes
    ----------
    total
        Sum of the weights.

    Examples
    --------
    >>> Simplex(1.0).project(np.array([0.9, 0.5, -2.0]))
    array([0.7, 0.3, 0. ])
    """

    total: float = 1.0
    kind: ClassVar[WeightKind] = WeightKind.SIMPLEX

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", checks.positive(self.total, "total"))

    @property
    def numbers(self) -> tuple[float, float]:
        return self.total, 0.0

    def project(self, w: FloatArray) -> FloatArray:
        # max(w - t, 0) for the t that makes it sum to the total; the largest coordinates stay.
        w = w - w.max()  # the projection is the same, without cancellation of large numbers
        down = np.sort(w)[::-1]
        t = (np.cumsum(down) - self.total) / np.arange(1, w.size + 1)
        stay = int(np.count_nonzero(down > t))
        return np.asarray(np.maximum(w - t[stay - 1], 0.0))

    def bound(self, dim: int) -> float:
        return self.total

    def span(self, Phi: Any) -> tuple[float, float]:
        return self.total * float(Phi.min()), self.total * float(Phi.max())
