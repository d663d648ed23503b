"""RMAX-RAVI-UCB, Algorithm 1: in finite worlds, and in any Gymnasium environment."""

from pathlib import Path
from typing import Any, ClassVar, Self, Unpack

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import ArrayLike

from optimist import checks
from optimist.agents import checkpoint
from optimist.agents.configuration import Configuration
from optimist.agents.driver import Beliefs, Driver, Optimism, Policy
from optimist.agents.finite import FiniteDriver
from optimist.agents.progress import progress
from optimist.agents.streaming import StreamDriver
from optimist.agents.terms import AnyFeatures, Terms
from optimist.core import Rewards
from optimist.envs import Gym, World
from optimist.envs.players import AnyEnv
from optimist.features import FeatureMap
from optimist.mdp import FiniteMDP

AnyWorld = World | FiniteMDP | Gym | AnyEnv


class RmaxRaviUcb:
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
        The parameters; by default `Configuration.practical()`, and in a Gymnasium environment
        `Configuration.streaming()`.
    rewards
        Who picks r_k in a finite world, always in [0, r_max]; by default they are the world's, and
        fixed.
    seed
        Seeds the run. The same seed gives the same bytes.
    stride
        In a finite world, every so many episodes the policy is kept, to be evaluated exactly; 0 for
        none.
    terms
        What has to be said of a Gymnasium environment, ``gamma`` above all: see `Terms`.

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
        if isinstance(world, gymnasium.Env | VectorEnv):
            config = Configuration.streaming() if config is None else config
            if rewards is not None:
                raise TypeError("rewards are chosen in finite worlds; an environment pays its own")
            driver: Driver = StreamDriver(world, features, config, seed, stride, terms)
        else:
            if not isinstance(world, World | FiniteMDP):
                raise TypeError(
                    f"world = {world!r} is none: give a World, a FiniteMDP, an environment such as "
                    "gymnasium.make(id), or envs.Gym(id)"
                )
            refuse_terms(terms)
            config = Configuration.practical() if config is None else config
            mdp = world.mdp if isinstance(world, World) else world
            phi: Any = features  # refused if it is no FeatureMap
            driver = FiniteDriver(mdp, phi, config, rewards, seed, stride)
        self._start(driver)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(episodes={self.episodes:,}, steps={self.steps:,})"

    def _start(self, driver: Driver) -> None:
        """Before the first episode."""
        self._driver = driver
        self._chunks: list[dict[str, Any]] = []
        self._remembered = 0  # the first episode of the history

    @property
    def config(self) -> Configuration:
        """The parameters of the algorithm."""
        return self._driver.config

    @property
    def features(self) -> FeatureMap:
        """The map phi."""
        return self._driver.features

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self._driver.seed

    @property
    def stride(self) -> int:
        """Every how many episodes the policy is kept."""
        return self._driver.stride

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

    # Learning

    @property
    def episodes(self) -> int:
        """How many episodes have been played."""
        return self._driver.episodes

    @property
    def steps(self) -> int:
        """How many steps have been taken."""
        return self._driver.steps

    def learn(self, episodes: int, show_progress: bool = True) -> Any:
        """Play and learn; the history of these episodes. Calling it again goes on.

        It is a `History`, or a `StreamHistory` of a Gymnasium environment. An interruption (Ctrl-C)
        takes effect between two episodes, and all that was learnt stays; so it does if an
        environment fails, which raises `BadEnvironment` after the episodes before it are kept.
        Progress is shown in a terminal only.
        """
        end = self.episodes + checks.count(episodes, "episodes")
        first, before = self.episodes, len(self._chunks)
        self._driver.begin()
        with progress(episodes, show_progress) as bar:
            while self.episodes < end and not bar.interrupted:
                done = self.episodes
                self._chunks.append(self._driver.learn_some(end - done))
                bar.advance(self.episodes - done)
        return self._history(before, first)

    @property
    def history(self) -> Any:
        """The history of all episodes so far, or of those since it was last forgotten."""
        if not self._chunks:
            raise ValueError("nothing has been learnt yet, or all of it is forgotten")
        return self._history(0, self._remembered)

    def forget(self) -> None:
        """Drop the history so far, to bound the memory of a long run. What was learnt stays."""
        self._chunks.clear()
        self._driver.forget()
        self._remembered = self.episodes

    def _history(self, chunk: int, first: int) -> Any:
        parts = self._chunks[chunk:]
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return self._driver.history(columns, first)

    # Acting

    @property
    def optimism(self) -> Optimism:
        """The values, bonuses and probabilities of heaven of the last update.

        They are those of all states of a finite world, and of the states met so far elsewhere.
        """
        return self._driver.optimism

    def believe(self, observations: ArrayLike) -> Beliefs:
        """What is believed of observations [n, ...] of a Gymnasium environment, met or not."""
        if not isinstance(self._driver, StreamDriver):
            raise TypeError("optimism holds what is believed of all states of a finite world")
        return self._driver.believe(np.asarray(observations))

    @property
    def policy(self) -> Policy:
        """The policy that the next episode would play."""
        return self._driver.policy

    @property
    def output(self) -> Policy:
        """The algorithm's output pi_I, with I drawn uniformly from the episodes so far."""
        return self._driver.output

    def predict(self, state: ArrayLike, rng: np.random.Generator | None = None) -> int:
        """An action of the present policy: its most likely, or drawn if a generator is given."""
        return self.policy.predict(state, rng)

    # Stopping and going on

    def save(self, folder: str | Path) -> None:
        """Write the whole learner into a folder; the file there is replaced at once or not at all.

        Rewards that a chooser of one's own picks are not saved: give it again when loading. Nor is
        the state of a Gymnasium environment: what goes on begins with a new episode.
        """
        checkpoint.save(self, folder)

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
        agent = cls.__new__(cls)
        RmaxRaviUcb.__init__(agent, world, features, saved.config, rewards, seed, stride, **terms)
        checkpoint.restore(agent, saved)
        return agent

    def restore(self, folder: str | Path) -> None:
        """Bring this learner, newly made, to where the one in a folder was when it was saved."""
        checkpoint.restore(self, checkpoint.read(folder, type(self).__name__))


def refuse_terms(terms: Terms) -> None:
    """Refuse what a finite world says itself."""
    if terms:
        raise TypeError(
            f"{', '.join(terms)} can be said of a Gymnasium environment; a world says it itself"
        )
