"""Any Gymnasium environment as data: what a study, a command line and a run folder say of it."""

import json
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import gymnasium
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from optimist import checks, limits
from optimist.envs.players import AnyEnv
from optimist.envs.repeat import ActionRepeat
from optimist.errors import StudyError
from optimist.features import count_actions, default_name, features_named

LEAST_BYTES = 10_000
"""An environment with its wrappers takes at least as much."""

PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}
"""What JSON calls them: as text, "False" would be true."""


@dataclass(frozen=True)
class Gym:
    """A Gymnasium environment by its id, and what a learner has to be told of it.

    It is no `World`: nothing is known of it but its spaces, so nothing is solved exactly.

    Attributes
    ----------
    id
        The name of the environment, such as "MountainCar-v0"; "module:Name-v0" if a module
        registers it. That is never imported by itself, but has to be before the environment is
        made: a study may come from somebody else.
    features
        The name of its features (`features.features_named`); by default `features.default_name`.
    gamma
        The discount factor.
    repeat
        How often each action is taken (`ActionRepeat`).
    geometric
        Whether episodes are broken off after each step with probability 1 - gamma; by default they
        are if the environment has no time limit.
    low, high
        The least and the largest reward of a step, and 0 if episodes terminate; by default what is
        known (`envs.reward_scale.known_range`).
    options
        Keyword arguments for `gymnasium.make`, such as "map_name=8x8,is_slippery=false": the values
        are JSON, or else text.
    parallel
        How many of them are played side by side.
    value_bound
        An upper bound on the optimal values, in the units of the rewards, if one is known.

    Examples
    --------
    >>> lake = Gym("FrozenLake-v1", gamma=0.95, options="map_name=8x8,is_slippery=false")
    >>> lake.make().observation_space, lake.n_actions
    (Discrete(64), 4)
    >>> lake.terms
    {'gamma': 0.95, 'geometric': None}
    >>> Gym("FrozenLake-v1", features="rbf:12")
    Traceback (most recent call last):
    ...
    ValueError: features = 'rbf:12': 'rbf:12' are features of a Box; those of Discrete(16) are
    'onehot'
    """

    id: str
    features: str = ""
    gamma: float = 0.99
    repeat: int = 1
    geometric: bool | None = None
    low: float | None = None
    high: float | None = None
    options: str = ""
    parallel: int = 1
    value_bound: float | None = None

    def __post_init__(self) -> None:
        checks.discount(self.gamma)
        checks.count(self.repeat, "repeat")
        n = checks.count(self.parallel, "parallel")
        limits.need(LEAST_BYTES * n, f"{n:,} environments side by side")
        for name, other in (("low", "high"), ("high", "low")):
            if getattr(self, name) is not None and getattr(self, other) is None:
                raise ValueError(f"{name} is given and {other} is not: give both or neither")
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise ValueError(f"low = {self.low:g} must be less than high = {self.high:g}")
        if not isinstance(self.id, str) or module_of(self.id) in ("", *sys.modules):
            self.check()

    def check(self) -> None:
        """Refuse an environment that cannot be made, or does not have such features."""
        observations, n_actions = self._spaces
        try:
            features_named(self.features or default_name(observations), observations, n_actions)
        except (ValueError, TypeError) as error:
            said = f"features = {self.features!r}" if self.features else f"id = {self.id!r}"
            raise ValueError(f"{said}: {error}") from error

    def make(self) -> AnyEnv:
        """The environment, or so many side by side as ``parallel`` says."""
        if self.parallel == 1:
            return self._one()
        side_by_side = [self._one] * self.parallel
        return SyncVectorEnv(side_by_side, autoreset_mode=AutoresetMode.DISABLED)

    @property
    def terms(self) -> dict[str, Any]:
        """What an agent is told of it, as its keyword arguments."""
        terms: dict[str, Any] = {"gamma": self.gamma, "geometric": self.geometric}
        if self.low is not None:
            terms["reward_range"] = (self.low, self.high)
        if self.value_bound is not None:
            terms["value_bound"] = self.value_bound
        return terms

    @property
    def observation_space(self) -> spaces.Space[Any]:
        """What is seen of a state."""
        return self._spaces[0]

    @property
    def n_actions(self) -> int:
        """How many actions there are."""
        return self._spaces[1]

    @cached_property
    def _spaces(self) -> tuple[spaces.Space[Any], int]:
        env = self._one()
        env.close()
        try:
            return env.observation_space, count_actions(env.action_space)
        except TypeError as error:
            raise ValueError(f"id = {self.id!r}: {error}") from error

    def _one(self) -> gymnasium.Env[Any, Any]:
        known = check_id(self.id)
        options = read_options(self.options)
        try:
            env = gymnasium.make(known, **options)
        except Exception as error:  # of whoever wrote the environment
            given = f" with options = {self.options!r}" if options else ""
            said = f"{type(error).__name__}: {error}"
            raise ValueError(f"id = {self.id!r} cannot be made{given}: {said}") from error
        return env if self.repeat == 1 else ActionRepeat(env, self.repeat)


def check_id(name: str, called: str = "id") -> str:
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
        raise TypeError(f"{called} = {name!r} is not text")
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


def module_of(name: str) -> str:
    """The module that knows an environment, or nothing if Gymnasium itself does.

    Examples
    --------
    >>> module_of("my_rivers:River-v0"), module_of("MountainCar-v0")
    ('my_rivers', '')
    """
    module, colon, _ = name.partition(":")
    return module if colon else ""


def import_trusted(modules: str | Iterable[str]) -> None:
    """Import modules whose code is trusted, for the environments that they register."""
    for name in [modules] if isinstance(modules, str) else modules:
        try:
            import_module(name)
        except Exception as error:  # of whoever wrote the module
            said = f"{type(error).__name__}: {error}"
            raise StudyError(f"the module {name!r} cannot be imported: {said}") from error


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
                f"options = {text!r}: {part!r} is not one more NAME=VALUE, as in "
                "map_name=8x8,is_slippery=false"
            )
        if value in PYTHON_WORDS:
            raise ValueError(f"options = {text!r}: write {name}={PYTHON_WORDS[value]}, as in JSON")
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    return options
