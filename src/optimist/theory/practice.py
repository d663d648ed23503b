"""The numbers that are used in practice instead of the theorem's."""

from dataclasses import dataclass

from optimist.theory import parameters


@dataclass(frozen=True)
class Practice:
    """What works at practical numbers of episodes, for rewards in [0, 1], outside the theorem.

    Chosen on eight worlds (docs/defaults.md).

    Attributes
    ----------
    beta
        The exploration coefficient: bonuses are of the size of a reward, not of d H of them.
    eta
        The learning rate of the policy.
    updates
        Updates of values and policy after each episode.
    ridge
        The initial covariance is ridge times the identity.
    K
        The number of episodes whose omega = log K and alpha = 2 log K the sigmoid has.

    Examples
    --------
    >>> PRACTICE.beta, round(PRACTICE.omega, 3)
    (0.5, 9.21)
    """

    beta: float = 0.5
    eta: float = 10.0
    updates: int = 10
    ridge: float = 1.0
    K: int = 10_000

    @property
    def omega(self) -> float:
        """The threshold of the sigmoid."""
        return float(parameters.omega(self.K))

    @property
    def alpha(self) -> float:
        """The slope of the sigmoid."""
        return float(parameters.alpha(self.K))


PRACTICE = Practice()
"""What `Configuration.practical` takes if nobody says otherwise."""
