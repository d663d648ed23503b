"""A Gymnasium environment and its settings, declared once."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal

import gymnasium
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from optimist import checks, limits, registry
from optimist.envs.players import AnyEnv
from optimist.envs.repeat import ActionRepeat
from optimist.errors import StudyError
from optimist.features import count_actions, default_name, features_named

LEAST_BYTES = 10_000
"""An environment with its wrappers takes at least as much."""

GIBIBYTE = 2.0**30

PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}
"""What JSON calls them: as text, "False" would be true."""


@dataclass(frozen=True)
class Gym:
    """A Gymnasium environment, given by its id or as an object, and how to play it.

    It is not a `World`: only its spaces are known, so nothing is solved exactly. Agents, studies
    and the command line take the same parameters.

    Attributes
    ----------
    id
        The name of the environment, such as "MountainCar-v0", or "module:function" for a function
        or class that makes one; in Python also the environment, or the function, itself.
        A module that is named here is not imported unless it is trusted.
    features
        The name of its features: onehot, distinct, tiles:12, tiles:12x8, tiles:8*4, rbf:12 or
        fourier:100. If empty, onehot or tiles, fourier from seven dimensions on, and distinct for
        images and text.
    gamma
        The discount factor.
    repeat
        How many times each action is repeated.
    geometric
        Whether an episode is broken off after each step with probability 1 - gamma, as in the
        paper. By default it is if the environment does not end its episodes itself.
        True also turns off the environment's own `GeometricReset`, so that one coin is tossed.
    low
        The least reward of a step, or 0 if that is less and episodes terminate. Rewards are mapped
        from [low, high] onto [0, R_max]. By default the known range of the environment; if none is
        known, the range is learnt. With known rewards or a value bound it is then [0, R_max].
    high
        The largest reward of a step, or 0 if that is more and episodes terminate.
    options
        Arguments of gymnasium.make, as map_name=8x8,is_slippery=false; the values are JSON or text.
    parallel
        How many copies of the environment are played side by side.
    value_bound
        Upper bound on the optimal values of all states, in the units of the rewards, if one is
        known; it caps the optimistic value.
    memory
        Approximate limit in bytes on the memory for the states met.
    when_full
        Whether to forget pairs (`optimist.core.thinning`) or to stop with an error when the
        memory is full.
    reward
        The rewards as a known function of observations [n, ...], [n, A], in the environment's own
        units (Python only). By default they are estimated by the regression of the transitions.
    reward_map
        A map of rewards into [0, R_max] instead of a range (Python only). It also maps 0, which an
        episode that has terminated pays from then on.

    Examples
    --------
    >>> lake = Gym("FrozenLake-v1", gamma=0.95, options="map_name=8x8,is_slippery=false")
    >>> lake.make().observation_space, lake.n_actions
    (Discrete(64), 4)
    >>> Gym("FrozenLake-v1", features="rbf:12")
    Traceback (most recent call last):
    ...
    ValueError: features = 'rbf:12': 'rbf:12' are features of a Box with one axis; those of
    Discrete(16) are 'onehot' or 'distinct'
    """

    id: str | AnyEnv | Callable[..., AnyEnv]
    features: str = ""
    gamma: float = 0.99
    repeat: int = 1
    geometric: bool | None = None
    low: float | None = None
    high: float | None = None
    options: str = ""
    parallel: int = 1
    value_bound: float | None = None
    memory: float = GIBIBYTE
    when_full: Literal["thin", "error"] = "thin"
    reward: Callable[[Any], Any] | None = field(default=None, metadata={"plain": False})
    reward_map: Callable[[float], float] | None = field(default=None, metadata={"plain": False})
    source: str = field(default="", metadata={"plain": False}, repr=False)
    """Digest of the source of the function that makes it, if one does."""

    def __post_init__(self) -> None:
        checks.discount(self.gamma)
        checks.count(self.repeat, "repeat")
        n = checks.count(self.parallel, "parallel")
        limits.need(LEAST_BYTES * n, f"{n:,} environments side by side")
        checks.positive(self.memory, "memory")
        if self.when_full not in ("thin", "error"):
            raise ValueError(f"when_full must be 'thin' or 'error'; got {self.when_full!r}")
        for name, other in (("low", "high"), ("high", "low")):
            if getattr(self, name) is not None and getattr(self, other) is None:
                raise ValueError(f"{name} is given and {other} is not: give both or neither")
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise ValueError(f"low must be less than high; got {self.low:g} and {self.high:g}")
        if self.low is not None and self.reward_map is not None:
            raise TypeError("give low and high or reward_map, not both")
        if isinstance(self.id, gymnasium.Env | VectorEnv):
            if self.options or self.parallel > 1:
                raise TypeError("options and parallel apply to an environment that is given by id")
            if self.repeat > 1 and isinstance(self.id, VectorEnv):
                raise TypeError("repeat applies to single environments: wrap those of the vector")
        elif self._is_there:
            if self.maker is not None:
                object.__setattr__(self, "source", registry.source_digest(self.maker))
            self.check()

    @property
    def _is_there(self) -> bool:
        """Whether all code that makes the environment is imported."""
        if not isinstance(self.id, str) or module_of(self.id) == "":
            return True
        if module_of(self.id) == "__main__":
            return registry.is_there(self.id)
        return module_of(self.id) in sys.modules

    @property
    def maker(self) -> Callable[..., AnyEnv] | None:
        """The function that makes the environment, if Gymnasium's registry does not."""
        if isinstance(self.id, str):
            return registry.locate(self.id) if registry.is_reference(self.id) else None
        return self.id if callable(self.id) else None

    @property
    def name(self) -> str:
        """Its name in messages."""
        if isinstance(self.id, str):
            return self.id
        if not isinstance(self.id, gymnasium.Env | VectorEnv):
            return registry.origin(self.id)
        return type(self.id.unwrapped).__name__ if self.id.spec is None else self.id.spec.id

    def check(self) -> None:
        """Refuse an environment that cannot be made, or does not have such features."""
        observations, n_actions = self._spaces
        try:
            features_named(self.features or default_name(observations), observations, n_actions)
        except (ValueError, TypeError) as error:
            said = f"features = {self.features!r}" if self.features else f"id = {self.id!r}"
            raise ValueError(f"{said}: {error}") from error

    def make(self) -> AnyEnv:
        """The environment, or ``parallel`` copies of it side by side."""
        if self.parallel == 1:
            return self._one()
        side_by_side: Any = [self._one] * self.parallel
        return SyncVectorEnv(side_by_side, autoreset_mode=AutoresetMode.DISABLED)

    @property
    def observation_space(self) -> spaces.Space[Any]:
        """The space of observations."""
        return self._spaces[0]

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return self._spaces[1]

    @cached_property
    def _spaces(self) -> tuple[spaces.Space[Any], int]:
        env = self._one()
        if not isinstance(self.id, gymnasium.Env | VectorEnv):
            env.close()
        try:
            return env.observation_space, count_actions(env.action_space)
        except TypeError as error:
            raise ValueError(f"id = {self.name!r}: {error}") from error

    def _one(self) -> AnyEnv:
        if isinstance(self.id, VectorEnv):
            return self.id
        env = self.id if isinstance(self.id, gymnasium.Env) else self._made()
        return env if self.repeat == 1 else ActionRepeat(env, self.repeat)

    def _made(self) -> gymnasium.Env[Any, Any]:
        make = self.maker or partial(gymnasium.make, check_id(self.id))
        options = read_options(self.options)
        try:
            env = make(**options)
        except Exception as error:  # any error of the environment's code
            given = f" with options = {self.options!r}" if options else ""
            said = f"{type(error).__name__}: {error}"
            raise ValueError(f"id = {self.name!r} cannot be made{given}: {said}") from error
        if not isinstance(env, gymnasium.Env):
            raise ValueError(f"id = {self.name!r} must make a gymnasium.Env; got {env!r}")
        return env


def check_id(name: Any, called: str = "id") -> str:
    """The id of an environment, if Gymnasium knows it.

    Examples
    --------
    >>> check_id("MountanCar-v0")
    Traceback (most recent call last):
    ...
    ValueError: id = 'MountanCar-v0' is unknown to Gymnasium: Environment `MountanCar` doesn't
    exist. Did you mean: `MountainCar`?
    """
    if not isinstance(name, str):
        raise TypeError(f"{called} must be text or an environment; got {name!r}")
    module = module_of(name)
    if module and module not in sys.modules:
        raise StudyError(
            f"{called} = {name!r} needs the module {module}, which is not imported: if you trust "
            f"it, give --import {module} on the command line, or trust=[{module!r}] in Python"
        )
    if module:
        return name
    try:
        return gymnasium.spec(name).id
    except gymnasium.error.Error as error:
        raise ValueError(f"{called} = {name!r} is unknown to Gymnasium: {error}") from None


def module_of(name: Any) -> str:
    """The module that knows an environment, or nothing if Gymnasium itself does.

    Examples
    --------
    >>> module_of("my_rivers:River-v0"), module_of("MountainCar-v0")
    ('my_rivers', '')
    """
    module, colon, _ = name.partition(":") if isinstance(name, str) else ("", "", "")
    return module if colon else ""


def read_options(text: str) -> dict[str, Any]:
    """The keyword arguments that a text holds.

    Examples
    --------
    >>> read_options("map_name=8x8,is_slippery=false,desc=[1,2]")
    {'map_name': '8x8', 'is_slippery': False, 'desc': [1, 2]}
    """
    options: dict[str, Any] = {}
    for part in re.split(r",(?=\w+=)", text) if text else []:
        name, equals, value = part.partition("=")
        if not equals or not name.isidentifier() or name in options:
            raise ValueError(
                f"options = {text!r} must be NAME=VALUE, each name once, as in "
                f"map_name=8x8,is_slippery=false; got {part!r}"
            )
        if value in PYTHON_WORDS:
            raise ValueError(f"options = {text!r}: write {name}={PYTHON_WORDS[value]}, as in JSON")
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    return options
