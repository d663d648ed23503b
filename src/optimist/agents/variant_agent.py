"""Agents of one family: regularised value iteration on features, with optimism."""

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import ArrayLike

from optimist.agents import checkpoint
from optimist.agents.agent import Agent
from optimist.agents.arguments import refuse_environment, resolve, split
from optimist.agents.diagnostics import Beliefs, Transitions
from optimist.agents.driver import VariantDriver
from optimist.agents.finite_driver import FiniteDriver
from optimist.agents.stream_driver import AnyFeatures, StreamDriver
from optimist.core import Rewards, Variant
from optimist.envs import Gym, World
from optimist.envs.players import AnyEnv
from optimist.features import FeatureMap
from optimist.mdp import FiniteMDP

FiniteWorld = World | FiniteMDP
Environment = Gym | AnyEnv


class VariantAgent(Agent):
    """An agent that is one `Variant`: which bonus and which ascension function are parameters.

    Agents that are named after an algorithm are such agents with fewer parameters.

    Parameters
    ----------
    world
        A world, or any `FiniteMDP` or `LinearMDP`: the agent sees drawn states and the rewards,
        which the paper gives as functions. Or any Gymnasium environment with a finite number of
        actions, a vector of them, or `envs.Gym`: states are met one by one, and rewards are
        estimated from those that are paid.
    features
        Features of its pairs. By default a linear MDP's own, otherwise one-hot; in a Gymnasium
        environment `features.default_name` says which.
    seed
        Seeds the run. The same seed gives the same bytes on one kind of processor.
    stride
        In a finite world, every so many episodes the policy is kept, to be evaluated exactly; 0 for
        none.
    config
        The parameters as an instance of ``Config``; by default all have their default values.
    rewards
        Chooses r_k in a finite world, always in [0, r_max]; by default they are the world's.
    parameters
        Fields of ``Config`` by name; of a Gymnasium environment also the fields of `envs.Gym`,
        ``gamma`` above all; of any world ``value_bound``, an upper bound on its optimal values.
    """

    Config: ClassVar[type[Any]] = Variant

    _driver: VariantDriver

    def __init__(
        self,
        world: FiniteWorld | Environment,
        features: AnyFeatures | None = None,
        *,
        seed: int = 0,
        stride: int = 10,
        config: Any = None,
        rewards: Rewards | None = None,
        **parameters: Any,
    ) -> None:
        name = type(self).__name__
        own, told = split(name, self.Config, parameters)
        config = resolve(name, self.Config, config, own)
        variant: Variant = config.variant()
        if isinstance(world, World | FiniteMDP):
            refuse_environment(world, told, but="value_bound")
            variant = variant.known(told.get("value_bound"))
            mdp = world.mdp if isinstance(world, World) else world
            phi: Any = features  # refused if it is no FeatureMap
            self._start(FiniteDriver(mdp, phi, config, variant, rewards, seed, stride))
            return
        if rewards is not None:
            raise TypeError("rewards= applies to finite worlds; an environment pays its own")
        gym = as_gym(world, told)
        self._start(StreamDriver(gym, features, config, variant, seed, stride))

    @property
    def features(self) -> FeatureMap:
        """The map phi."""
        return self._driver.features

    @property
    def mdp(self) -> FiniteMDP:
        """The finite world that is played."""
        return self._finite.mdp

    @property
    def rewards(self) -> Rewards:
        """Chooses r_k in a finite world; it may be replaced between two calls of `learn`."""
        return self._finite.rewards

    @rewards.setter
    def rewards(self, chooser: Rewards) -> None:
        self._finite.rewards = chooser

    @property
    def _finite(self) -> FiniteDriver:
        if not isinstance(self._driver, FiniteDriver):
            raise AttributeError("only a finite world has it; a Gymnasium environment is played")
        return self._driver

    def believe(self, observations: ArrayLike) -> Beliefs:
        """Values, optimism and policy of observations [n, ...] of an environment, met or not."""
        return self._stream.believe(np.asarray(observations))

    @property
    def transitions(self) -> Transitions:
        """The states and transitions that are kept of a Gymnasium environment."""
        return self._stream.transitions

    @property
    def environment(self) -> Gym:
        """A Gymnasium environment as it is played: its end of episodes, its range of rewards."""
        return self._stream.environment

    @property
    def _stream(self) -> StreamDriver:
        if not isinstance(self._driver, StreamDriver):
            raise AttributeError(
                "only a Gymnasium environment has it; diagnostics covers all states of a finite "
                "world"
            )
        return self._driver

    @classmethod
    def load(
        cls,
        folder: str | Path,
        world: FiniteWorld | Environment,
        features: Any = None,
        *,
        rewards: Rewards | None = None,
        **told: Any,
    ) -> Self:
        """The learner in a folder, which continues as if it had never stopped.

        In a finite world that is exact, bit for bit; a Gymnasium environment begins a new episode.
        """
        saved = checkpoint.read(folder, cls.__name__)
        given: dict[str, Any] = {} if rewards is None else {"rewards": rewards}
        given.update(seed=saved.header["seed"], stride=saved.header["stride"], **told)
        agent = cls(world, features, config=saved.config(cls.Config), **given)
        checkpoint.restore(agent, saved)
        return agent


def as_gym(world: Any, told: dict[str, Any]) -> Gym:
    """An environment in whichever way it is given, with what is said of it."""
    if isinstance(world, Gym):
        return replace(world, **told) if told else world
    if isinstance(world, gymnasium.Env | VectorEnv):
        return Gym(world, **told)
    kind = type(world).__name__
    raise TypeError(f"world must be a World, FiniteMDP, Gym or gymnasium.Env; got {kind}")
