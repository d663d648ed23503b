"""Evaluation of a policy by playing it in a Gymnasium environment."""

import math
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import VectorEnv

from optimist import checks
from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.envs import GeometricReset, Gym, World
from optimist.envs.gym_world import check_id
from optimist.envs.players import ENDLESS
from optimist.errors import BadEnvironment


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """The returns and lengths of the episodes of an evaluation.

    Attributes
    ----------
    returns
        The sum of the rewards of each episode, [n].
    steps
        Its length, [n].
    terminated
        Whether it terminated, and was not truncated, [n].
    """

    returns: FloatArray
    steps: IntArray
    terminated: BoolArray

    @property
    def mean(self) -> float:
        """The mean return."""
        return float(self.returns.mean())

    @property
    def standard_error(self) -> float:
        """The standard error of the mean return; nan of a single episode."""
        n = len(self.returns)
        return float(self.returns.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan

    def __repr__(self) -> str:
        return (
            f"Evaluation(mean={self.mean:.6g}, standard_error={self.standard_error:.2g}, "
            f"episodes={len(self.returns):,}, steps={self.steps.sum():,})"
        )


def evaluate(policy: Any, env: Any, episodes: int = 100, seed: int = 0) -> Evaluation:
    """Play a policy, which learns nothing from it, and return what each episode earned.

    Parameters
    ----------
    policy
        A policy or an agent, any object whose ``predict(observation)`` returns an action, or
        ``(action, state)`` as models of Stable-Baselines3 do, or a function of an observation.
    env
        A Gymnasium environment, its id, or `envs.Gym`, whose episodes are the environment's own
        unless ``geometric=True``. Or a world, whose episodes have geometric lengths: then the mean
        return estimates the discounted value <nu0, V^pi>.
    episodes
        The number of episodes.
    seed
        Seeds the environment. The same seed gives the same result, if the policy draws nothing.

    Raises
    ------
    BadEnvironment
        If the environment fails, or an episode does not end.

    Examples
    --------
    >>> from optimist import envs
    >>> world = envs.RiverSwim(6, gamma=0.9)
    >>> best = world.mdp.optimal()
    >>> result = evaluate(lambda x: best.policy[x].argmax(), world, episodes=1000)
    >>> abs(result.mean - best.value) < 3 * result.standard_error
    True
    """
    answer = _action_function(policy)
    n = checks.count(episodes, "episodes")
    seed = checks.count(seed, "seed", least=0)
    played = _playable(env)
    try:
        rows = [_episode(answer, played, seed if i == 0 else None) for i in range(n)]
    finally:
        given = env.id if isinstance(env, Gym) else env
        if not isinstance(given, gymnasium.Env):  # it was made here
            played.close()
    returns, steps, terminated = (np.array(column) for column in zip(*rows, strict=True))
    return Evaluation(returns, steps, terminated)


def _action_function(policy: Any) -> Any:
    """The function from an observation to an action."""
    if not isinstance(policy, type):
        if callable(getattr(policy, "predict", None)):
            return policy.predict
        if callable(policy):
            return policy
    raise TypeError(
        f"policy must have predict(observation), or be a function of one; got {policy!r}"
    )


def _playable(env: Any) -> gymnasium.Env[Any, Any]:
    """The environment, in whichever way it is given."""
    if isinstance(env, World):
        return GeometricReset(env.make(), env.mdp.gamma)
    if isinstance(env, str):
        made: Any = gymnasium.make(check_id(env, "env"))
    elif isinstance(env, Gym):
        made = env.make()
    else:
        made = env
    if isinstance(made, VectorEnv):
        raise TypeError("env must be a single environment; got a vector of them: evaluate one")
    if not isinstance(made, gymnasium.Env):
        kind = type(env).__name__
        raise TypeError(f"env must be a gymnasium.Env, an id, envs.Gym or a World; got {kind}")
    if isinstance(env, Gym) and env.geometric:
        return GeometricReset(made, env.gamma)
    return made


def _episode(
    answer: Any, env: gymnasium.Env[Any, Any], seed: int | None
) -> tuple[float, int, bool]:
    """One episode: its return, its steps, whether it terminated."""
    most = max(ENDLESS, _time_limit(env) + 1)
    try:
        seen, _ = env.reset(seed=seed)
    except Exception as error:
        raise BadEnvironment(f"the environment failed in reset(): {error!r}") from error
    total = 0.0
    for n in range(1, most + 1):
        action = _action(answer(seen), env.action_space)
        try:
            seen, paid, terminated, truncated, _ = env.step(action)
            reward = float(paid)
        except Exception as error:
            raise BadEnvironment(f"the environment failed in step(): {error!r}") from error
        if not math.isfinite(reward):
            raise BadEnvironment(f"the environment must pay finite rewards; got {reward}")
        total += reward
        if terminated or truncated:
            return total, n, bool(terminated)
    raise BadEnvironment(
        f"an episode has not ended after {most:,} steps: wrap the environment in "
        "gymnasium.wrappers.TimeLimit or in envs.GeometricReset"
    )


def _action(answer: Any, space: spaces.Space[Any]) -> Any:
    """The action in the answer of a policy: all of it, or its first part."""
    for action in (answer, *(answer[:1] if isinstance(answer, tuple) else ())):
        if space.contains(action):  # a table needs an int as its key
            return int(action) if isinstance(space, spaces.Discrete) else action
    raise ValueError(f"policy must return an action in {space}; got {checks.short(answer)}")


def _time_limit(env: gymnasium.Env[Any, Any]) -> int:
    """After how many steps a wrapper cuts episodes off; 0 if none is known to."""
    name = "_max_episode_steps"  # of gymnasium.wrappers.TimeLimit
    return int(env.get_wrapper_attr(name) or 0) if env.has_wrapper_attr(name) else 0
