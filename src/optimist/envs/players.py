"""Gymnasium environments as a learner plays them: one, or several side by side, step by step."""

import math
from typing import Any, NamedTuple, TypeAlias

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import iterate
from gymnasium.wrappers import TimeLimit
from numpy.typing import NDArray

from optimist.envs.environment import FiniteEnv
from optimist.envs.resets import resets_of, without_resets
from optimist.errors import BadEnvironment
from optimist.features import count_actions

AnyEnv: TypeAlias = gymnasium.Env[Any, Any] | VectorEnv[Any, Any, Any]
Observations: TypeAlias = NDArray[Any]
"""A batch of observations [n, ...]; those that are no arrays are the objects of an array [n]."""

LIMITS = ("max_episode_steps", "_max_episode_steps", "max_steps")
"""Attributes with the time limits of environments that do not use Gymnasium's wrapper."""

ENDLESS = 100_000
"""The number of steps from which an episode counts as endless, unless a longer limit is known."""

LONGEST = 50
"""Practically no geometric length exceeds this multiple of its mean: the probability is e^-50."""


class Step(NamedTuple):
    """One step of every player, n of each."""

    after: Observations  # the next observations, [n, ...]; of an episode that ended, its last one
    reward: list[float]
    terminated: list[bool]
    truncated: list[bool]
    began: list[bool]  # not a step: the environment used it to begin an episode


class Players:
    """One environment, or those of a vector environment, with every answer checked.

    Parameters
    ----------
    env
        The environment, with a finite number of actions.

    Examples
    --------
    >>> players = Players(gymnasium.make("FrozenLake-v1", is_slippery=False))
    >>> players.begin(seed=0)
    array([0])
    >>> players.step([1])
    Step(after=array([4]), reward=[0.0], terminated=[False], truncated=[False], began=[False])
    """

    def __init__(self, env: AnyEnv) -> None:
        self.env = env
        self.observation_space: spaces.Space[Any]
        self._vector = env if isinstance(env, VectorEnv) else None
        if self._vector is not None:
            self.n = self._vector.num_envs
            self.observation_space = self._vector.single_observation_space
            action_space = self._vector.single_action_space
            self._mode = self._vector.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
        else:
            self.n = 1
            self.observation_space, action_space = env.observation_space, env.action_space
            self._mode = AutoresetMode.DISABLED
        self.n_actions = count_actions(action_space)
        self._arrays = self.observation_space.shape is not None
        limit = _time_limit(env)
        self.limited = limit > 0  # whether episodes are known to end
        self.endless = not limit and isinstance(_one(env).unwrapped, FiniteEnv)  # known never to
        self.geometric = False  # whether the learner breaks them off, instead of a wrapper
        self._most = max(ENDLESS, limit + 1)
        self._steps = [0] * self.n
        self._starting = [False] * self.n
        self._starts: Observations | None = None  # of those that began within the step

    @property
    def can_be_stopped(self) -> bool:
        """Whether one episode can be broken off while the others go on."""
        return bool(self._mode == AutoresetMode.DISABLED)

    def begin(self, seed: int | None = None) -> Observations:
        """Begin an episode in every environment; the observations, [n, ...]."""
        seen = self._reset(seed)
        self._steps = [0] * self.n
        self._starting = [False] * self.n
        return self._checked(seen)

    def step(self, actions: list[int]) -> Step:
        """One step in every environment."""
        given: Any = actions[0] if self._vector is None else np.array(actions)
        try:
            after, reward, terminated, truncated, info = self.env.step(given)
        except Exception as error:
            raise BadEnvironment(f"the environment failed in step(): {error!r}") from error
        seen = self._as_array(after)
        began, self._starting = self._starting, [False] * self.n
        paid = self._each(reward, float)
        over, cut = self._each(terminated, bool), self._each(truncated, bool)
        if not all(map(math.isfinite, paid)):
            bad = next(r for r in paid if not math.isfinite(r))
            raise BadEnvironment(f"the environment must pay finite rewards; got {bad}")
        if self._mode == AutoresetMode.SAME_STEP:
            self._starts = self._checked(seen)
            seen = seen.copy()
            for i in range(self.n):
                if over[i] or cut[i]:
                    seen[i] = self._final_observation(info, i)
        for i in range(self.n):
            self._steps[i] = 0 if began[i] else self._steps[i] + 1
        if max(self._steps) > self._most:
            raise BadEnvironment(
                f"an episode has not ended after {self._most:,} steps: turn on geometric resets "
                "(geometric=True), or wrap the environment in gymnasium.wrappers.TimeLimit"
            )
        return Step(self._checked(seen), paid, over, cut, began)

    def restart(self, ended: list[bool]) -> Observations | None:
        """Begin an episode where one has ended; the observations there, [n, ...].

        A vector environment that resets itself with the next step returns None.
        """
        for i in range(self.n):
            self._steps[i] *= not ended[i]
        if self._mode == AutoresetMode.NEXT_STEP:
            self._starting = list(ended)
            return None
        if self._mode == AutoresetMode.SAME_STEP:
            return self._starts
        if self._vector is not None:
            return self._checked(self._reset(None, {"reset_mask": np.array(ended)}))
        return self._checked(self._reset(None))

    def _reset(self, seed: int | None, options: dict[str, Any] | None = None) -> Observations:
        if self.geometric:
            options = without_resets(self.env, options)
        try:
            seen, _ = self.env.reset(seed=seed, options=options)
        except Exception as error:
            raise BadEnvironment(f"the environment failed in reset(): {error!r}") from error
        space = (
            self.env.observation_space
            if self._vector is None
            else (self._vector.single_observation_space)
        )
        if space != self.observation_space:
            raise BadEnvironment(
                f"the environment's observations must stay in {self.observation_space}, as when "
                f"learning began; got the space {space}"
            )
        return self._as_array(seen)

    def _as_array(self, seen: Any) -> Observations:
        try:
            if self._arrays:
                return np.asarray(seen)[None] if self._vector is None else np.asarray(seen)
            each = [seen]
            if self._vector is not None:
                each = list(iterate(self._vector.observation_space, seen))
        except ValueError as error:
            raise BadEnvironment(
                f"observations must be in {self.observation_space}: {error}"
            ) from error
        batch = np.empty(len(each), dtype=object)
        for i, observation in enumerate(each):
            batch[i] = observation
        return batch

    def _checked(self, seen: Observations) -> Observations:
        """The observations, if they have the declared shape and are finite."""
        shape = (self.n, *(self.observation_space.shape or ()))
        if self._arrays and seen.shape != shape:
            raise BadEnvironment(
                f"observations must have the shape of the environment's space, {shape[1:]}; got "
                f"{seen.shape[1:]}"
            )
        if seen.dtype.kind == "f" and not np.isfinite(seen).all():
            raise BadEnvironment(f"observations must be finite; got {seen[~np.isfinite(seen)][0]}")
        return seen

    def _final_observation(self, info: dict[str, Any], i: int) -> Any:
        try:
            return info["final_obs"][i]
        except (KeyError, IndexError):
            raise BadEnvironment(
                "the environment resets within a step: info['final_obs'] must hold the last "
                "observation of the episode"
            ) from None

    def _each(self, given: Any, kind: type[Any]) -> list[Any]:
        """A number for each player."""
        try:
            found = [kind(given)] if self._vector is None else [kind(x) for x in given]
            if len(found) == self.n:
                return found
        except (TypeError, ValueError):
            pass
        raise BadEnvironment(f"the environment must return {self.n} numbers; got {given!r}")


def _one(env: AnyEnv) -> Any:
    """One of the environments of a vector, if they can be seen."""
    return env.unwrapped.envs[0] if isinstance(env.unwrapped, SyncVectorEnv) else env


def _time_limit(env: AnyEnv) -> int:
    """After how many steps episodes are certainly cut off; 0 if that is not known."""
    inner = _one(env)
    limit = getattr(inner.spec, "max_episode_steps", None) or 0
    while isinstance(inner, gymnasium.Wrapper):
        if isinstance(inner, TimeLimit):
            limit = inner._max_episode_steps
        inner = inner.env
    own = (getattr(inner, name, None) for name in LIMITS)
    declared = next((n for n in own if isinstance(n, int | np.integer) and n > 0), 0)
    resets = resets_of(env)
    longest = 0 if resets is None else math.ceil(LONGEST / (1 - resets.gamma))
    return int(limit or declared or longest)
