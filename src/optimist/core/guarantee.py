"""The numbers of a certificate that a saved policy keeps."""

from dataclasses import dataclass
from typing import Any

from optimist import checks
from optimist.core import schema

FIELDS = {
    **dict.fromkeys(("lower", "upper", "delta"), float),
    **dict.fromkeys(("episodes", "steps"), range(checks.MOST)),
}
"""The fields of a guarantee in the header of a file."""


def failure_probability(value: object, name: str = "delta") -> float:
    """``value`` as a float in (0, 1): with which probability bounds may fail."""
    number = checks.real_number(value, name)
    if not 0 < number < 1:
        raise ValueError(f"{name} must be in (0, 1); got {number:g}")
    return number


@dataclass(frozen=True)
class Guarantee:
    """Bounds that hold with probability 1 - delta, at all times at once.

    Attributes
    ----------
    lower
        A lower bound on the value of a policy from the initial distribution.
    upper
        An upper bound on the optimal value from there.
    delta
        With which probability any of them fails, at any time of the run.
    episodes, steps
        How many had been played.

    Examples
    --------
    >>> Guarantee(lower=9.0, upper=10.0, delta=0.05, episodes=100, steps=1000).share
    0.1
    """

    lower: float
    upper: float
    delta: float
    episodes: int
    steps: int

    @property
    def gap(self) -> float:
        """An upper bound on the policy's distance from the optimum."""
        return self.upper - self.lower

    @property
    def share(self) -> float:
        """The same as a share of the optimal value, where rewards are not negative."""
        return self.gap / self.upper if self.upper > 0 else 0.0

    def __str__(self) -> str:
        return (
            f"within {self.share:.2%} of the optimum: {self.lower:.6g} <= V^pi <= V* <= "
            f"{self.upper:.6g}, delta = {self.delta:g}, after {self.episodes:,} episodes"
        )


def read_guarantee(data: object) -> Guarantee:
    """The guarantee in the header of a file; impossible numbers are refused."""
    schema.fields(data, FIELDS, "certificate")
    given: Any = data
    bounds = {name: float(given[name]) for name in ("lower", "upper", "delta")}
    found = Guarantee(**bounds, episodes=given["episodes"], steps=given["steps"])
    failure_probability(found.delta)
    for name in ("lower", "upper"):
        if not abs(getattr(found, name)) <= schema.LARGEST:
            raise ValueError(f"{name} must be in [-{schema.LARGEST:g}, {schema.LARGEST:g}]")
    if found.lower > found.upper:
        raise ValueError(f"lower must be at most upper; got {found.lower:g} > {found.upper:g}")
    return found
