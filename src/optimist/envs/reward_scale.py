"""From the rewards of an environment to those of the paper, which lie in [0, R_max]."""

import math
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium import wrappers
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv, VectorEnv

from optimist import checks
from optimist.envs.environment import FiniteEnv
from optimist.envs.players import AnyEnv
from optimist.envs.repeat import ActionRepeat
from optimist.envs.resets import GeometricReset
from optimist.errors import BadEnvironment

CLASSIC_CONTROL = {
    "MountainCar-v0": (-1.0, 0.0),
    "Acrobot-v1": (-1.0, 0.0),
    "CartPole-v0": (0.0, 1.0),
    "CartPole-v1": (0.0, 1.0),
}
"""The ranges of rewards of Gymnasium's own environments without tables."""

NO_REWARDS_CHANGED = (
    *(gymnasium.ObservationWrapper, gymnasium.ActionWrapper, GeometricReset),
    *(wrappers.TimeLimit, wrappers.OrderEnforcing, wrappers.PassiveEnvChecker),
    *(wrappers.RecordEpisodeStatistics, wrappers.RecordVideo, wrappers.HumanRendering),
)
"""Wrappers that pass rewards on; any other may change them."""

Range = tuple[float, float]
RewardMap = Callable[[float], float]


class RewardScale:
    """The map of rewards into [0, R_max], and what termination is worth there.

    Termination is an absorbing state that pays 0 in the environment's own units. So its value there
    is 0, and in the mapped units it is H times what 0 is mapped to: where each step costs 1 and
    [-1, 0] becomes [0, 1], the steps pay 0 and the end pays 1 for ever.

    Parameters
    ----------
    declared
        The range [low, high] of the rewards, mapped onto [0, R_max] by an affine map.
    r_max
        R_max.
    gamma
        The discount factor.
    own
        A user-defined map instead, whose values must lie in [0, R_max].
    learns
        Whether the range is learnt, if neither is given: its ends are 0 or the nearest powers of
        two that hold all rewards paid so far. As long as all were 0, it is [0, 1].

    Examples
    --------
    >>> scale = RewardScale((-1.0, 0.0), r_max=1.0, gamma=0.99)
    >>> scale(-1.0), round(scale.terminal, 9)
    (0.0, 100.0)
    >>> scale = RewardScale(None, r_max=1.0, gamma=0.99, learns=True)
    >>> scale.notice(-0.71), scale.notice(-0.9), (scale.low, scale.high)
    (True, False, (-1.0, 0.0))
    """

    def __init__(
        self,
        declared: Range | None,
        r_max: float,
        gamma: float,
        own: RewardMap | None = None,
        learns: bool = False,
    ) -> None:
        if declared is not None and own is not None:
            raise TypeError("give low and high or reward_map, not both")
        self.r_max, self._own = r_max, own
        self.mapped = own is not None  # by a user-defined map
        self.learns = learns and declared is None and own is None
        self.seen = (0.0, 0.0)  # the least and the largest reward so far, and that of an end
        self._slack = checks.RANGE_TOLERANCE * r_max
        self._declared = declared is not None
        low, high = declared or (0.0, 1.0 if self.learns else r_max)
        self.low, self.high = checks.real_number(low, "low"), checks.real_number(high, "high")
        if not self.low < self.high:
            raise ValueError(f"low must be less than high; got {low:g} and {high:g}")
        self.horizon = 1 / (1 - gamma)

    def notice(self, *rewards: float) -> bool:
        """Widen a range that is learnt to hold rewards that were paid; whether that changes it."""
        if not self.learns:
            return False
        before = self.low, self.high
        least, most = self.seen = min(self.seen[0], *rewards), max(self.seen[1], *rewards)
        if least < most:
            self.low, self.high = -_power_of_two(-least), _power_of_two(most)
        return (self.low, self.high) != before

    def __call__(self, reward: float) -> float:
        """The reward in [0, R_max]; one outside the range is an error that names it."""
        if self._own is not None:
            mapped = float(self._own(reward))
            if not -self._slack <= mapped <= self.r_max + self._slack:
                raise BadEnvironment(
                    f"reward_map made {mapped:.6g} of the reward {reward:.6g}, which is outside "
                    f"[0, r_max] = [0, {self.r_max:g}]"
                )
            return min(max(mapped, 0.0), self.r_max)
        mapped = (reward - self.low) / (self.high - self.low) * self.r_max
        if not -self._slack <= mapped <= self.r_max + self._slack:
            how = "declared" if self._declared else "the range assumed"
            raise BadEnvironment(
                f"the environment paid {reward:.6g}, and [{self.low:g}, {self.high:g}] is {how}: "
                "give low= and high= (on the command line --low and --high), or a reward_map= into "
                "[0, r_max]"
            )
        return min(max(mapped, 0.0), self.r_max)  # by rounding alone

    def value(self, value: float) -> float:
        """A value in the environment's own units, in those that rewards are mapped to.

        Examples
        --------
        >>> round(RewardScale((-1.0, 0.0), r_max=1.0, gamma=0.99).value(-20.0), 9)
        80.0
        """
        if self._own is not None:
            raise TypeError("value_bound cannot be mapped by a reward_map of one's own: give v_max")
        return (value - self.low * self.horizon) / (self.high - self.low) * self.r_max

    @property
    def terminal(self) -> float:
        """The value of termination."""
        try:
            return self(0.0) * self.horizon
        except BadEnvironment:
            raise BadEnvironment(
                "an episode has terminated, which pays 0 from then on, and 0 is outside the "
                f"rewards declared, [{self.low:g}, {self.high:g}]: widen low and high to hold it"
            ) from None


def _power_of_two(x: float) -> float:
    """The least power of two that is not below a positive number; 0 for 0."""
    fraction, exponent = math.frexp(x)
    return 0.0 if x == 0 else math.ldexp(1.0, exponent - (fraction == 0.5))


def known_range(env: AnyEnv) -> Range | None:
    """The rewards that an environment is known to pay, and 0 for its end; None if none are.

    They are read from the tables that toy-text environments and the worlds of this library expose,
    from a ``reward_range`` that an environment declares, and for classic control from a list here.

    Examples
    --------
    >>> known_range(gymnasium.make("CliffWalking-v1"))
    (-100.0, 0.0)
    >>> known_range(ActionRepeat(gymnasium.make("MountainCar-v0"), times=4))
    (-4.0, 0.0)
    """
    if isinstance(env, VectorEnv):
        if isinstance(env.unwrapped, SyncVectorEnv) and env.unwrapped is env:
            return known_range(env.envs[0])
        if isinstance(env.unwrapped, AsyncVectorEnv) or env.spec is None:
            return None  # the wrappers in other processes are unknown
        return None if env.spec.additional_wrappers else CLASSIC_CONTROL.get(env.spec.id)
    times, inner = 1, env
    while isinstance(inner, gymnasium.Wrapper):
        if isinstance(inner, ActionRepeat):
            times *= inner.times
        elif not isinstance(inner, NO_REWARDS_CHANGED):
            return None
        inner = inner.env
    found = _bare_range(inner)
    return None if found is None else (times * min(found[0], 0.0), times * max(found[1], 0.0))


def _bare_range(env: Any) -> Range | None:
    if isinstance(env, FiniteEnv):
        r = env.world.mdp.r
        paid = env.world.mdp.transition_rewards
        if paid is not None:
            r = paid if isinstance(paid, np.ndarray) else paid.data
        return float(r.min()), float(r.max())
    if isinstance(getattr(env, "P", None), dict):
        rewards = [o[2] for actions in env.P.values() for out in actions.values() for o in out]
        return float(min(rewards)), float(max(rewards))
    declared = getattr(env, "reward_range", None)
    if declared is not None and np.isfinite(declared).all():
        return float(declared[0]), float(declared[1])
    return CLASSIC_CONTROL.get(env.spec.id) if env.spec is not None else None
