"""MobILE: optimistic matching of the expert's states inside a learnt model."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from optimist import checks
from optimist.agents.driver import Policy, RunSettings
from optimist.checks import FloatArray
from optimist.core import TablePolicy, schema
from optimist.imitation.tabular import CountingDriver, TabularImitator
from optimist.imitation.trajectories import TrajectoryDataset
from optimist.mdp import FiniteMDP, match_occupancy

NO_CERTIFICATE = 1e99
"""The certificate before the first solution, larger than any."""


@dataclass(frozen=True)
class MobileConfig:
    """The parameters of MobILE; the defaults are practical ones.

    Attributes
    ----------
    c
        The bonus is b(x,a) = gamma H min(1, c / sqrt n).
    delta
        If it is given, the bonus is that of the theory: b(x,a) = H min(2, sigma(n)) with
        sigma = sqrt(X log(k^2 X A / delta) / n) after k episodes, a bound on ||P^ - P||_1.
    """

    c: float = 0.3
    delta: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checks.real_number(self.c, "c"))
        if self.c < 0:
            raise ValueError(f"c must not be negative; got {self.c:g}")
        if self.delta is not None:
            delta = checks.positive(checks.probability(self.delta, "delta"), "delta")
            object.__setattr__(self, "delta", delta)

    @classmethod
    def theory(cls, delta: float = 0.1) -> "MobileConfig":
        """The parameters of the theory, with confidence 1 - delta."""
        return cls(delta=delta)

    def bonus(self, n: FloatArray, k: int, gamma: float) -> FloatArray:
        """b after k episodes, [X, A], of visits n [X, A].

        Examples
        --------
        >>> MobileConfig().bonus(np.array([[0, 9]]), k=3, gamma=0.9).round(9)
        array([[9. , 0.9]])
        """
        H, (X, A) = 1 / (1 - gamma), n.shape
        if self.delta is None:
            scale, width, most = gamma * H, self.c, 1.0
        else:
            scale, width = H, math.sqrt(X * math.log(k**2 * X * A / self.delta))
            most = 2.0
        sigma = width / np.sqrt(np.maximum(n, 1))
        return np.asarray(scale * np.where(n > 0, np.minimum(sigma, most), most))


class Best(NamedTuple):
    """The solution of least certificate so far."""

    pi: FloatArray  # [X, A]
    certificate: FloatArray  # [1]


class MobileDriver(CountingDriver):
    """Plays, and matches states in the model whenever the counts have grown."""

    GROUPS = ("playing", "seen", "best")

    def __init__(
        self, mdp: FiniteMDP, expert: TrajectoryDataset, K: int | None, run: RunSettings
    ) -> None:
        super().__init__(mdp, expert, K, run)
        self.m = expert.state_occupancy(mdp.n_states)
        self.best = Best(mdp.uniform_policy.copy(), np.array([NO_CERTIFICATE]))

    @property
    def bonus(self) -> FloatArray:
        """b, [X, A]."""
        bonus: FloatArray = self.config.bonus(self.n, self.episodes, self.gamma)
        return bonus

    def solve(self) -> None:
        b = self.bonus
        found = match_occupancy(self.P, self.nu0, self.m, self.gamma, states=True, bonus=b)
        self.playing.pi[:] = found.policy
        certificate = found.objective + 2 * float((b * found.mu).sum())
        if certificate < self.best.certificate[0]:
            self.best.pi[:] = found.policy
            self.best.certificate[0] = certificate

    @property
    def output(self) -> Policy:
        return TablePolicy(self.best.pi.copy())

    def layout(self, arrays: dict[str, Any]) -> schema.Layout:
        certificate = schema.real((1,), 0.0, NO_CERTIFICATE)
        return {**super().layout(arrays), "best.certificate": certificate}


class Mobile(TabularImitator):
    """MobILE (Kidambi, Chang and Sun, 2021), tabular: the expert's states only, P unknown.

    It learns a model P^ = N / n and plays the policy that matches the expert's law of states m
    inside it, with a bonus b where the model is uncertain: there imitation is waived, and the
    learner explores. After an episode in which some n(x,a) grew by half, or from 0, it solves

        mu, pi = argmin { ||mu_X - m||_1 - <b, mu> : mu an occupancy of P^, nu^ },
        b = gamma H min(1, c / sqrt n).

    In the world a solution is at most obj + 2 <b, mu> from m in L1, if b is at least
    gamma H ||P^ - P||_1. The output is the pi of the least such certificate. The paper solves after
    every episode. Its tabular sigma, in `MobileConfig.theory`, is from memory: its full text could
    not be read. By the inequality of Weissman et al. (2003), at a given n, P^ is further than sigma
    from P with probability at most (4 delta / (k^2 X A))^{X/2}.

    Parameters
    ----------
    world, expert, K, seed, stride, config, parameters
        As of `TabularImitator`. Actions in the data are ignored.

    Examples
    --------
    >>> from optimist import envs
    >>> from optimist.imitation import TrajectoryDataset
    >>> world, rng = envs.RiverSwim(6), np.random.default_rng(0)
    >>> best = world.mdp.optimal().policy
    >>> data = TrajectoryDataset.from_rollouts(world, best, 50, rng, actions=False)
    >>> il = Mobile(world, data, seed=0)
    >>> history = il.learn(300)
    >>> gaps = history.gaps(best, world.mdp.r)
    >>> bool(gaps[-1] < 0.1 * gaps[0])
    True
    """

    Config: ClassVar[type[Any]] = MobileConfig
    Driver = MobileDriver
    sees = "states"

    _driver: MobileDriver

    @property
    def certificate(self) -> float:
        """The certificate of the output; infinite before the first solution."""
        found = float(self._driver.best.certificate[0])
        return math.inf if found == NO_CERTIFICATE else found
