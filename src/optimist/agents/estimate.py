"""Estimates of how good a policy is, from a holdout of episodes: they are no certificates."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from scipy.special import stdtrit

from optimist import checks
from optimist.agents.evaluation import Evaluation, evaluate
from optimist.checks import FloatArray
from optimist.display.card import card
from optimist.envs import ArrayWorld, Gym, World
from optimist.mdp import FiniteMDP

if TYPE_CHECKING:
    from optimist.agents.agent import Agent

HOLDOUT = 0xE571
"""Sets the seeds of holdouts apart from those of learning."""


@dataclass(frozen=True, repr=False)
class Estimate:
    """What a policy is worth, from fresh episodes: a mean with an interval, and no certificate.

    The interval is of Student's t, corrected for the skewness of the returns (Hall, 1992). It
    covers the value in about a share ``level`` of all holdouts if there are enough episodes;
    nothing guarantees that, and it says nothing of how much better the best policy is.

    Attributes
    ----------
    value
        The mean return of the episodes. In a finite world their lengths are geometric, so that it
        estimates the discounted value <nu_0, V^pi>.
    low, high
        The interval.
    level
        Its nominal level.
    hope
        In a finite world the value at the start that the agent is optimistic to reach, at its last
        episode; None elsewhere. It is no bound.
    evaluation
        The episodes.
    """

    value: float
    low: float
    high: float
    level: float
    hope: float | None
    evaluation: Evaluation

    def __str__(self) -> str:
        hope = "" if self.hope is None else f"; it hopes for {self.hope:.6g}, no bound"
        return (
            f"{self.value:.6g} in [{self.low:.6g}, {self.high:.6g}] at level {self.level:g} by "
            f"{len(self.evaluation.returns):,} fresh episodes, not certified{hope}"
        )

    def __repr__(self) -> str:
        return f"Estimate({self})"

    def _repr_html_(self) -> str:
        facts = {
            "value": f"{self.value:.6g}",
            "interval": f"[{self.low:.6g}, {self.high:.6g}] at level {self.level:g}",
            "fresh episodes": f"{len(self.evaluation.returns):,}",
            **({} if self.hope is None else {"hopes for, no bound": f"{self.hope:.6g}"}),
        }
        return card("Estimate, not a certificate", facts)


def estimate(agent: "Agent", episodes: int, level: float, env: Any, seed: int) -> Estimate:
    """As `Agent.estimate`."""
    n = checks.count(episodes, "episodes", least=2)
    level = checks.real_number(level, "level")
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1); got {level:g}")
    entropy = (HOLDOUT, agent.seed, checks.count(seed, "seed", least=0))
    played, drawn = np.random.SeedSequence(entropy).spawn(2)
    rng, policy = np.random.default_rng(drawn), agent.policy
    found = evaluate(
        lambda seen: policy.predict(seen, rng),
        _fresh(agent.world) if env is None else env,
        n,
        int(played.generate_state(1)[0]),
    )
    low, high = interval(found.returns, level)
    return Estimate(found.mean, low, high, level, _hope(agent), found)


def interval(returns: FloatArray, level: float) -> tuple[float, float]:
    """An interval of the mean by Student's t, corrected for skewness.

    With W = (mean - mu) / s and the skewness g of n returns, W + g W^2 / 3 + g^2 W^3 / 27 + g / 6 n
    is more nearly distributed as t / sqrt(n) than W is (Hall, 1992).

    Examples
    --------
    >>> low, high = interval(np.array([0.0, 0.0, 1.0, 0.0, 2.0]), level=0.9)
    >>> round(low, 2), round(high, 2)
    (-0.11, 1.74)
    """
    n, mean, s = len(returns), float(returns.mean()), float(returns.std(ddof=1))
    if s == 0:
        return mean, mean
    g = float(((returns - mean) ** 3).mean()) / s**3
    q = float(stdtrit(n - 1, 0.5 + level / 2)) / math.sqrt(n)
    if abs(g) < 1e-6:  # where the inverse is that of W = Q
        return mean - s * q, mean + s * q
    low, high = (3 / g * (math.cbrt(1 + g * (Q - g / (6 * n))) - 1) for Q in (q, -q))
    return mean - s * low, mean - s * high


def _fresh(world: Any) -> Any:
    """What the agent plays, to be played once more beside it."""
    if isinstance(world, FiniteMDP):
        return ArrayWorld(world)
    if isinstance(world, Gym) and isinstance(world.id, gymnasium.Env):
        raise ValueError(
            "env must be given: the agent plays an environment that was made already, which cannot "
            "be played beside it; make another"
        )
    if isinstance(world, World | Gym):
        return world
    raise ValueError("env must be given: this learner does not know the rewards where it plays")


def _hope(agent: "Agent") -> float | None:
    """The optimistic value at the start, where it has the units of the returns."""
    if not isinstance(agent.world, World | FiniteMDP) or not agent.remembers:
        return None
    last = float(agent.history.optimistic_value[-1])
    return last if math.isfinite(last) else None
