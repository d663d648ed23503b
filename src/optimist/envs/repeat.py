"""Action repeat: fewer decisions with longer effects."""

from typing import Any, SupportsFloat, TypeVar

import gymnasium

from optimist import checks

ObsType = TypeVar("ObsType")
ActType = TypeVar("ActType")


class ActionRepeat(
    gymnasium.Wrapper[ObsType, ActType, ObsType, ActType], gymnasium.utils.RecordConstructorArgs
):
    """Take each action several times, and pay the sum of the rewards.

    A single step may change the state too little to change its features, such as its tile; several
    steps do. The repetition stops when the episode ends.

    Parameters
    ----------
    env
        The environment to wrap.
    times
        The number of times that each action is taken.

    Examples
    --------
    >>> env = ActionRepeat(gymnasium.make("CartPole-v1"), times=4)
    >>> _ = env.reset(seed=0)
    >>> env.step(0)[1]
    4.0
    """

    def __init__(self, env: gymnasium.Env[ObsType, ActType], times: int) -> None:
        self.times = checks.count(times, "times")
        gymnasium.utils.RecordConstructorArgs.__init__(self, times=self.times)
        gymnasium.Wrapper.__init__(self, env)

    def step(self, action: ActType) -> tuple[ObsType, SupportsFloat, bool, bool, dict[str, Any]]:
        """Take the action ``times`` times, or until the episode ends."""
        total = 0.0
        for _ in range(self.times):
            observation, reward, terminated, truncated, info = super().step(action)
            total += float(reward)
            if terminated or truncated:
                break
        return observation, total, terminated, truncated, info
