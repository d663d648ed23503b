"""Randomised least-squares value iteration (Osband, Van Roy and Wen, 2016)."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from optimist.agents import checkpoint
from optimist.agents.agent import Agent
from optimist.agents.configuration import Configuration
from optimist.agents.driver import Policy
from optimist.agents.finite import FiniteDriver
from optimist.checks import FloatArray, positive
from optimist.core import TablePolicy, Truncation, storage
from optimist.core.state import Iterate, Player, Record, Rule, Snapshots
from optimist.envs import World
from optimist.features import FeatureMap
from optimist.mdp import FiniteMDP


@dataclass(frozen=True)
class RlsviConfig:
    """The parameters of randomised least-squares value iteration.

    Attributes
    ----------
    sigma
        The noise: a pair's value is off by a normal of sigma times the uncertainty of the pair.
    ridge
        The initial covariance is ridge times the identity, so that the parameters' prior is normal
        with variance sigma^2 / ridge.
    lazy
        Whether noise is drawn when the determinant has doubled, instead of after every episode.
    updates
        Sweeps of value iteration with one draw of the noise, at most; they end when no value
        changes by more than one part in 100,000 of R_max H.
    """

    sigma: float = 0.1
    ridge: float = 0.01
    lazy: bool = False
    updates: int = 100

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive(self.sigma, "sigma"))
        self.rule()  # refuses bad parameters at once

    def rule(self) -> Configuration:
        """The engine's configuration."""
        return Configuration(
            eta=math.inf,
            beta=self.sigma,
            ascension=Truncation(),
            ridge=self.ridge,
            updates=self.updates,
            lazy=self.lazy,
        )


class RlsviDriver(FiniteDriver):
    """A finite MDP, played by the compiled loop with noise in the place of bonuses."""

    def _run(
        self,
        rule: Rule,
        r: FloatArray,
        record: Record,
        shots: Snapshots,
        player: Player,
        part: int,
    ) -> None:
        state = (self.simulator, rule, self.stats, self.iterate)
        given = (*state, r, self.mdp.nu0, self.rng, record, shots)

        def call() -> None:
            from optimist.core.peers_linear import run  # numba takes its time

            run(*given)

        self.compiled(call, record.stop)

    def _policy(self, it: Iterate) -> Policy:
        return TablePolicy(np.exp(it.log_pi))


class Rlsvi(Agent):
    """Randomised least-squares value iteration: greedy for values with noise as wide as ignorance.

    It is optimistic value iteration with draws in the place of bonuses: with the regression M V of
    the values on the features, one draw of xi from N(0, sigma^2 Lambda^{-1}), and rewards known,

        Q <- min(r + phi . (gamma M V + xi), R_max H),  V = max_a Q,

    over some sweeps. So Theta = gamma M V + xi is drawn from the posterior of Bayesian regression,
    as in Osband, Van Roy and Wen (2016), whose horizon is finite, and who draw anew at each of its
    stages; here one draw serves all sweeps, as values do not depend on time. The cut-off is ours.
    The first episode is played uniformly.

    Parameters
    ----------
    world
        A world, or any `FiniteMDP` or `LinearMDP` with rewards in [0, 1].
    features
        Features of its pairs; by default a linear MDP's own, otherwise one-hot.
    config
        The parameters.
    seed
        Seeds the run. The same seed gives the same bytes on one kind of processor.
    stride
        Every so many episodes the policy is kept, to be evaluated exactly; 0 for none.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = Rlsvi(envs.RandomLinear(5, 30, 3), config=RlsviConfig(sigma=0.1), seed=0)
    >>> agent.learn(500).suboptimality() < 0.1
    True
    """

    Config = RlsviConfig

    _driver: RlsviDriver

    def __init__(
        self,
        world: World | FiniteMDP,
        features: FeatureMap | None = None,
        config: RlsviConfig | None = None,
        seed: int = 0,
        stride: int = 10,
    ) -> None:
        if not isinstance(world, World | FiniteMDP):
            raise TypeError(f"world = {world!r} is no finite one: Rlsvi plays a World or FiniteMDP")
        config = RlsviConfig() if config is None else config
        if not isinstance(config, RlsviConfig):
            raise TypeError(f"config = {config!r} must be an RlsviConfig, as Rlsvi has")
        mdp = world.mdp if isinstance(world, World) else world
        self._start(RlsviDriver(mdp, features, config.rule(), None, seed, stride))

    @property
    def mdp(self) -> FiniteMDP:
        """The finite world that is played."""
        return self._driver.mdp

    @property
    def features(self) -> FeatureMap:
        """The map phi."""
        return self._driver.features

    @classmethod
    def load(
        cls, folder: str | Path, world: World | FiniteMDP, features: FeatureMap | None = None
    ) -> Self:
        """The learner in a folder, which goes on as if it had never stopped, bit for bit."""
        saved = checkpoint.read(folder, cls.__name__)
        c: Any = saved.config(Configuration)
        with storage.reading(saved.path):
            config = RlsviConfig(c.beta, c.ridge, c.lazy, c.updates)
        agent = cls(world, features, config, saved.header["seed"], saved.header["stride"])
        checkpoint.restore(agent, saved)
        return agent
