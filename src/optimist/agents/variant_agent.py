"""Agents of one family: regularised value iteration on features, with optimism."""

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import ArrayLike

from optimist.agents.agent import NOT_FINITE
from optimist.agents.arguments import refuse_environment, resolve
from optimist.agents.certified_agent import CertifiedAgent
from optimist.agents.diagnostics import Beliefs, Transitions
from optimist.agents.driver import RunSettings, VariantDriver
from optimist.agents.finite_driver import FiniteDriver
from optimist.agents.stream_driver import AnyFeatures, StreamDriver
from optimist.core import Rewards, Variant
from optimist.core.variant import plain_numbers
from optimist.envs import Gym, World
from optimist.envs.players import AnyEnv
from optimist.features import FeatureMap
from optimist.mdp import FiniteMDP

FiniteWorld = World | FiniteMDP
Environment = Gym | AnyEnv


@dataclass(frozen=True)
class VariantConfig:
    """The parameters of an agent that is one `Variant`, checked at once and as plain numbers.

    This explains parameters that several of these agents have; each has some of them. A parameter
    with the name of a field of `Variant` is that field.

    Attributes
    ----------
    beta
        Exploration coefficient: bonuses are beta times the uncertainty of a pair.
    eta
        Learning rate of the policy; infinity makes it greedy for the last update.
    ridge
        The initial covariance is ridge times the identity: 1 in the paper. A small one makes pairs
        without data promising, and shrinks the values of others less.
    updates
        Sweeps of value iteration after an episode.
    """

    def __post_init__(self) -> None:
        plain_numbers(self)
        self.variant()  # refuses bad parameters

    def variant(self) -> Variant:
        """The algorithm."""
        return self.variant_with()

    def variant_with(self, **others: Any) -> Variant:
        """The algorithm with these parameters and with others, which the agent sets itself."""
        own = {f.name: getattr(self, f.name) for f in fields(Variant) if hasattr(self, f.name)}
        return Variant(**{**own, **others})


class VariantAgent(CertifiedAgent):
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
        In a finite world, keep the policy of every ``stride``-th episode for exact evaluation; 0
        keeps none.
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
        config, settings = resolve(type(self).__name__, self.Config, config, parameters)
        run, variant = RunSettings(config, seed, stride), config.variant()
        if isinstance(world, World | FiniteMDP):
            refuse_environment(world, settings, but="value_bound")
            variant = variant.known(settings.get("value_bound"))
            mdp = world.mdp if isinstance(world, World) else world
            phi: Any = features  # anything but a FeatureMap is refused
            self._start(FiniteDriver(mdp, phi, variant, run, rewards), world)
            return
        if rewards is not None:
            raise TypeError("rewards= applies to finite worlds; an environment pays its own")
        self._start(StreamDriver(as_gym(world, settings), features, variant, run), world)

    @property
    def features(self) -> FeatureMap:
        """The map phi."""
        return self._driver.features

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
            raise AttributeError(NOT_FINITE)
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
    def played(self) -> str:
        """How a Gymnasium environment is played, in words: features, rewards, ends of episodes."""
        return self._stream.played

    @property
    def _stream(self) -> StreamDriver:
        if not isinstance(self._driver, StreamDriver):
            raise AttributeError(
                "this applies to Gymnasium environments only; diagnostics covers all states of a "
                "finite world"
            )
        return self._driver


def as_gym(world: Any, settings: dict[str, Any]) -> Gym:
    """An environment from any form in which it may be given, with its settings."""
    if isinstance(world, Gym):
        return replace(world, **settings) if settings else world
    if isinstance(world, gymnasium.Env | VectorEnv):
        return Gym(world, **settings)
    kind = type(world).__name__
    raise TypeError(f"world must be a World, FiniteMDP, Gym or gymnasium.Env; got {kind}")
