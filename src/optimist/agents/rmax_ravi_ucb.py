"""RMAX-RAVI-UCB, Algorithm 1: in finite worlds, and in any Gymnasium environment."""

from pathlib import Path
from typing import Any, ClassVar, Self, Unpack

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import ArrayLike

from optimist.agents import checkpoint
from optimist.agents.agent import Agent
from optimist.agents.configuration import Configuration
from optimist.agents.diagnostics import Beliefs, Transitions
from optimist.agents.driver import AlgorithmOne
from optimist.agents.finite import FiniteDriver
from optimist.agents.streaming import StreamDriver
from optimist.agents.terms import AnyFeatures, Terms, refuse_terms
from optimist.core import Rewards
from optimist.envs import Gym, World
from optimist.envs.players import AnyEnv
from optimist.features import FeatureMap
from optimist.mdp import FiniteMDP
from optimist.theory import PRACTICE

AnyWorld = World | FiniteMDP | Gym | AnyEnv


class RmaxRaviUcb(Agent):
    """Optimistic twice over: additive bonuses, and transitions to heaven where little is known.

    Parameters
    ----------
    world
        A world, or any `FiniteMDP` or `LinearMDP`: it is played, never looked into; only drawn
        states and the rewards are used, which the paper gives as functions. Or any Gymnasium
        environment with a finite number of actions, or a vector of them: states are met one by
        one, and rewards are estimated from those that are paid.
    features
        Features of its pairs. By default a linear MDP's own, otherwise one-hot; in a Gymnasium
        environment `features.default_name` says which.
    config
        The parameters; by default `Configuration.adaptive()`, which has none to be tuned.
    rewards
        Who picks r_k in a finite world, always in [0, r_max]; by default they are the world's, and
        fixed.
    seed
        Seeds the run. The same seed gives the same bytes on one kind of processor.
    stride
        In a finite world, every so many episodes the policy is kept, to be evaluated exactly; 0 for
        none.
    terms
        What has to be said of a Gymnasium environment, ``gamma`` above all: see `Terms`. Of any
        world one can say ``value_bound``, an upper bound on its optimal values.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = RmaxRaviUcb(envs.RiverSwim(6, gamma=0.99), seed=0)
    >>> history = agent.learn(episodes=2000)
    >>> history.steps.size, history.suboptimality() < 0.05
    (2000, True)
    >>> agent.predict(3)          # swim right
    1
    >>> agent = RmaxRaviUcb(gymnasium.make("FrozenLake-v1", is_slippery=False), gamma=0.95)
    >>> agent.learn(episodes=100).reward[-20:].mean()       # 1 for reaching the goal
    np.float64(1.0)
    """

    Config: ClassVar[type[Any]] = Configuration

    _driver: AlgorithmOne

    def __init__(
        self,
        world: AnyWorld,
        features: AnyFeatures | None = None,
        config: Configuration | None = None,
        rewards: Rewards | None = None,
        seed: int = 0,
        stride: int = 10,
        **terms: Unpack[Terms],
    ) -> None:
        if isinstance(world, Gym):
            told: Any = {**world.terms, **terms}
            features, terms, world = features or world.features or None, told, world.make()
        config = Configuration.adaptive() if config is None else config
        if isinstance(world, gymnasium.Env | VectorEnv):
            if rewards is not None:
                raise TypeError("rewards are chosen in finite worlds; an environment pays its own")
            driver: AlgorithmOne = StreamDriver(world, features, config, seed, stride, terms)
        else:
            if not isinstance(world, World | FiniteMDP):
                raise TypeError(
                    f"world = {world!r} is none: give a World, a FiniteMDP, an environment such as "
                    "gymnasium.make(id), or envs.Gym(id)"
                )
            refuse_terms(terms, but="value_bound")
            config = config.known(terms.get("value_bound"))
            mdp = world.mdp if isinstance(world, World) else world
            phi: Any = features  # refused if it is no FeatureMap
            driver = FiniteDriver(mdp, phi, config, rewards, seed, stride)
        self._start(driver)

    @classmethod
    def paper(
        cls, world: AnyWorld, beta: float = PRACTICE.beta, seed: int = 0, **others: Any
    ) -> "RmaxRaviUcb":
        """Algorithm 1 as the paper has it: bonuses beta u, and a sigmoid of them for heaven.

        Only its parameters are not the theorem's, with which nothing is learnt at any number of
        episodes one can play: those are `Configuration.theory`.

        Examples
        --------
        >>> from optimist import envs
        >>> RmaxRaviUcb.paper(envs.RiverSwim(6), beta=1.0).config.ascension
        Sigmoid(alpha=18.420680743952367, omega=9.210340371976184)
        """
        return RmaxRaviUcb(world, config=Configuration.practical(beta), seed=seed, **others)

    @property
    def config(self) -> Configuration:
        """The parameters of the algorithm."""
        return self._driver.config

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
        """Who picks r_k in a finite world; another may take over between two calls of `learn`."""
        return self._finite.rewards

    @rewards.setter
    def rewards(self, chooser: Rewards) -> None:
        self._finite.rewards = chooser

    @property
    def _finite(self) -> FiniteDriver:
        if not isinstance(self._driver, FiniteDriver):
            raise AttributeError("that is of finite worlds; a Gymnasium environment is played here")
        return self._driver

    def believe(self, observations: ArrayLike) -> Beliefs:
        """What is believed of observations [n, ...] of a Gymnasium environment, met or not."""
        return self._stream.believe(np.asarray(observations))

    @property
    def transitions(self) -> Transitions:
        """The states and transitions that are kept of a Gymnasium environment."""
        return self._stream.transitions

    @property
    def terms(self) -> Terms:
        """The terms on which a Gymnasium environment is played: gamma, geometric, reward_range."""
        return self._stream.terms

    @property
    def _stream(self) -> StreamDriver:
        if not isinstance(self._driver, StreamDriver):
            raise AttributeError(
                "that is of Gymnasium environments; diagnostics has what is believed of all states "
                "of a finite world"
            )
        return self._driver

    @classmethod
    def load(
        cls,
        folder: str | Path,
        world: AnyWorld,
        features: AnyFeatures | None = None,
        rewards: Rewards | None = None,
        **terms: Unpack[Terms],
    ) -> Self:
        """The learner in a folder, which goes on as if it had never stopped.

        In a finite world that is bit for bit so; a Gymnasium environment begins a new episode.
        """
        saved = checkpoint.read(folder, cls.__name__)
        seed, stride = saved.header["seed"], saved.header["stride"]
        config = saved.config(Configuration)
        agent = cls.__new__(cls)
        RmaxRaviUcb.__init__(agent, world, features, config, rewards, seed, stride, **terms)
        checkpoint.restore(agent, saved)
        return agent
