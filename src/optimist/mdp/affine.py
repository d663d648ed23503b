"""Affine maps of rewards onto [0, R_max], and their inverses."""

from dataclasses import dataclass
from typing import Self, TypeVar

from optimist import checks
from optimist.checks import FloatArray

Numbers = TypeVar("Numbers", float, FloatArray)


@dataclass(frozen=True)
class AffineRewards:
    """The map r -> scale * r + shift with scale > 0, for rewards and for values.

    The value V of every policy becomes scale * V + shift / (1 - gamma). So policies keep their
    order, and regrets are multiplied by ``scale``.

    Examples
    --------
    >>> to_unit = AffineRewards.onto(low=-100, high=0, r_max=1)   # CliffWalking's rewards
    >>> to_unit(-1.0), round(to_unit.inverse(0.99), 12)
    (0.99, -1.0)
    >>> round(to_unit.inverse_value(to_unit.value(-13.0, gamma=0.9), gamma=0.9), 9)
    -13.0
    """

    scale: float = 1.0
    shift: float = 0.0

    def __post_init__(self) -> None:
        checks.real_number(self.shift, "shift")
        checks.positive(self.scale, "scale")  # so that the map has an inverse

    @classmethod
    def onto(cls, low: float, high: float, r_max: float) -> Self:
        """The map of [low, high] onto [0, r_max]; a single point, low = high, goes to 0."""
        low, high = checks.real_number(low, "low"), checks.real_number(high, "high")
        checks.positive(r_max, "r_max")
        if low > high:
            raise ValueError(f"low must be at most high = {high}; got {low}")
        scale = r_max / (high - low) if high > low else 1.0
        return cls(scale=scale, shift=-low * scale)

    def __call__(self, r: Numbers) -> Numbers:
        """The mapped rewards."""
        return self.scale * r + self.shift

    def inverse(self, r: Numbers) -> Numbers:
        """The original rewards of mapped rewards ``r``."""
        return (r - self.shift) / self.scale

    def value(self, V: Numbers, gamma: float) -> Numbers:
        """Values under the mapped rewards, from values ``V`` under the original ones."""
        return self.scale * V + self.shift / (1 - gamma)

    def inverse_value(self, V: Numbers, gamma: float) -> Numbers:
        """Values under the original rewards, from values ``V`` under the mapped ones."""
        return (V - self.shift / (1 - gamma)) / self.scale

    def then(self, other: "AffineRewards") -> "AffineRewards":
        """The map that applies this one, then the other."""
        return AffineRewards(other.scale * self.scale, other.scale * self.shift + other.shift)
