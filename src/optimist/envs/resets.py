"""Geometric resets: episodes of processes that never end (Section 2.3)."""

from typing import Any, SupportsFloat, TypeVar

import gymnasium
import numpy as np
from gymnasium.vector import SyncVectorEnv

from optimist import checks

ObsType = TypeVar("ObsType")
ActType = TypeVar("ActType")

FLAG = "geometric_reset"
"""The entry of ``info`` at a truncation by `GeometricReset`, and of the options of ``reset``."""


class GeometricReset(
    gymnasium.Wrapper[ObsType, ActType, ObsType, ActType], gymnasium.utils.RecordConstructorArgs
):
    """Truncate the episode after each step with probability 1 - gamma, in any environment.

    In an environment that never ends by itself, episodes then have geometric lengths of mean
    H = 1 / (1 - gamma), and the undiscounted sum of their rewards is an unbiased estimate of the
    discounted value <nu0, V^pi>. This also holds with terminations, but not under a time limit.
    Steps truncated here carry ``info["geometric_reset"] = True``; ends of the environment's own are
    passed on unchanged. An episode begun by ``reset(options={"geometric_reset": False})`` is not
    truncated here. The outer one of two of these wrappers asks this of the inner one.

    The wrapper has its own generator, seeded with the environment by ``reset(seed=...)``, so the
    environment's random stream is the same with and without it.

    Parameters
    ----------
    env
        The environment to wrap.
    gamma
        The probability of continuing, in [0, 1).

    Examples
    --------
    >>> from optimist import envs
    >>> env = GeometricReset(envs.RiverSwim(6).make(), gamma=0.9)
    >>> lengths = []
    >>> state, _ = env.reset(seed=0)
    >>> for t in range(100_000):
    ...     *_, truncated, info = env.step(1)
    ...     if truncated:
    ...         lengths.append(t + 1 - sum(lengths))
    ...         state, _ = env.reset()
    >>> round(float(np.mean(lengths)), 1)
    10.0
    """

    def __init__(self, env: gymnasium.Env[ObsType, ActType], gamma: float) -> None:
        self.gamma = checks.discount(gamma)
        gymnasium.utils.RecordConstructorArgs.__init__(self, gamma=self.gamma)
        gymnasium.Wrapper.__init__(self, env)
        self._coin = np.random.default_rng()
        self._tossed = True  # in this episode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObsType, dict[str, Any]]:
        """Begin an episode; a seed also seeds the resets."""
        if seed is not None:
            # A child of the seed, independent of the environment's own stream.
            self._coin = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
        options = dict(options or {})
        self._tossed = bool(options.pop(FLAG, True))
        return super().reset(seed=seed, options=without_resets(self.env, options or None))

    def step(self, action: ActType) -> tuple[ObsType, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step, then truncate with probability 1 - gamma."""
        observation, reward, terminated, truncated, info = super().step(action)
        ends = self._coin.random() >= self.gamma and self._tossed
        if ends and not (terminated or truncated):
            truncated, info = True, {**info, FLAG: True}
        return observation, reward, terminated, truncated, info


def resets_of(env: Any) -> GeometricReset[Any, Any] | None:
    """The outermost `GeometricReset` of an environment, or of those of a vector, if there is one.

    Examples
    --------
    >>> resets_of(gymnasium.make("optimist/RiverSwim-v0")).gamma
    0.99
    """
    inner = env.unwrapped.envs[0] if isinstance(env.unwrapped, SyncVectorEnv) else env
    while isinstance(inner, gymnasium.Wrapper) and not isinstance(inner, GeometricReset):
        inner = inner.env
    return inner if isinstance(inner, GeometricReset) else None


def without_resets(env: Any, options: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """The options of ``reset`` for a caller who ends episodes in place of any `GeometricReset`."""
    return options if resets_of(env) is None else {**(options or {}), FLAG: False}
