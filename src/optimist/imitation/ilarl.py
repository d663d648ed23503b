"""ILARL: imitation in linear MDPs by batches of fresh data (Viano, Skoulakis and Cevher, 2024)."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from optimist import checks
from optimist.agents.diagnostics import Diagnostics
from optimist.agents.driver import RunSettings
from optimist.checks import FloatArray, IntArray
from optimist.core import schema
from optimist.core.arrays import blank_regression, check_features, check_size
from optimist.core.tabular import KeptTables
from optimist.envs import World
from optimist.features import FeatureMap, OneHot
from optimist.imitation.dataset import FeatureDataset
from optimist.imitation.feature_imitator import (
    UNIT_BALL,
    CompiledWeights,
    FeatureDriver,
    FeatureImitator,
    check_weights,
)
from optimist.imitation.imitator import Place
from optimist.imitation.imitator_driver import Played
from optimist.imitation.tabular import check_seen
from optimist.imitation.trajectories import TrajectoryDataset
from optimist.mdp import FiniteMDP


@dataclass(frozen=True)
class IlarlConfig:
    """The parameters of ILARL, for rewards in [0, 1]; they are scaled to [0, R_max].

    Attributes
    ----------
    weights
        The class W of reward weights; the paper's is a ball.
    batch
        Number of episodes with one policy. Few data make poor values: with 20 it may never start.
    eta
        Step of the policies softmax(eta S); with rewards in [0, R_max] it is eta / R_max.
    beta
        Bonus multiplier of beta R_max H ||phi||_{Lambda^{-1}}.
    ridge
        Lambda is ridge times the identity plus the sum of phi phi' over the batch.
    """

    weights: CompiledWeights = UNIT_BALL
    batch: int = 100
    eta: float = 4.0
    beta: float = 0.04
    ridge: float = 0.01

    def __post_init__(self) -> None:
        check_weights(self.weights)
        object.__setattr__(self, "batch", checks.count(self.batch, "batch", below=checks.MOST))
        for name in ("eta", "beta", "ridge"):
            object.__setattr__(self, name, checks.positive(getattr(self, name), name))

    @classmethod
    def theory(
        cls,
        K: int,
        d: int,
        n_actions: int,
        gamma: float,
        weights: CompiledWeights = UNIT_BALL,
        delta: float = 0.1,
    ) -> "IlarlConfig":
        """The orders of the paper, from memory and with constants 1.

        A batch has ceil(sqrt K) episodes, eta = sqrt(2 log A / J) / H for J batches, the ridge is
        1, and beta = d sqrt(log(2 d K H / delta)), which is times R_max H here.

        Examples
        --------
        >>> config = IlarlConfig.theory(K=10_000, d=100, n_actions=4, gamma=0.9)
        >>> config.batch, round(config.eta, 4), round(config.beta)
        (100, 0.0167, 437)
        """
        K, d = checks.count(K, "K"), checks.count(d, "d")
        H = 1 / (1 - checks.discount(gamma))
        batch = math.ceil(math.sqrt(K))
        A = checks.count(n_actions, "n_actions", least=2)
        log = math.log(2 * d * K * H / checks.positive(delta, "delta"))
        eta = math.sqrt(2 * math.log(A) / (K // batch)) / H
        return cls(weights=weights, batch=batch, eta=eta, beta=d * math.sqrt(log), ridge=1.0)


class BatchRule(NamedTuple):
    """The parameters."""

    batch: int
    eta: float
    beta: float
    ridge: float
    top: float  # R_max H


class Batch(NamedTuple):
    """The data of the present batch, and sums over all batches before it."""

    counts: FloatArray  # of each entry of P, in this batch
    visits: IntArray  # of each pair whose next state was seen, in this batch, [X A]
    weights: FloatArray  # w after each episode of this batch, [batch, d_r]
    Lambda: FloatArray  # of the last complete batch, [blocks, s, s]
    inverse: FloatArray  # of that; not read where s = 1
    CB: FloatArray  # its bonuses, [X, A]
    S: FloatArray  # the sum of the mean Q of all batches, [X, A]
    V: FloatArray  # [X]


class IlarlDriver(FeatureDriver):
    """Batches of episodes: the compiled loop plays them and learns from them."""

    GROUPS = ("playing", "batch")

    def __init__(
        self,
        mdp: FiniteMDP,
        expert: FeatureDataset,
        phi_r: FeatureMap,
        phi: FeatureMap,
        K: int | None,
        run: RunSettings,
    ) -> None:
        super().__init__(mdp, expert, phi_r, K, run)
        check_size(mdp, phi)
        self.features, n_pairs, d_r = phi, mdp.r.size, self.player.w.size
        rows, block = phi.in_blocks(np.arange(mdp.n_states))
        s = rows.shape[-1]
        self.rows = np.array(np.broadcast_to(rows, (*block.shape, s)).reshape(n_pairs, s))
        self.block = np.array(block.ravel(), dtype=np.int64)
        before = blank_regression(phi, self.config.ridge)
        self.batch = Batch(
            counts=np.zeros(self.simulator.after.size),
            visits=np.zeros(n_pairs, dtype=np.int64),
            weights=np.zeros((self.config.batch, d_r)),
            Lambda=before.Lambda,
            inverse=before.inverse,
            CB=np.zeros(mdp.r.shape),
            S=np.zeros(mdp.r.shape),
            V=np.zeros(mdp.n_states),
        )

    def play_against(self, player: Any, record: Played, kept: KeptTables) -> None:
        c, R_max = self.config, self.player.R_max
        rule = BatchRule(c.batch, c.eta / R_max, c.beta * self.top, c.ridge, self.top)
        self.compiled(
            record.stop, "optimist.imitation.ilarl_loop:run_batches", self.simulator, rule,
            self.rows, self.block, self.batch, self.playing.pi, self.playing.clock, self.rng,
            record.steps, record.epoch, record.stop, kept, player,
        )  # fmt: skip

    @property
    def diagnostics(self) -> Diagnostics:
        b = self.batch
        more = {"ridge": self.config.ridge, "Lambda": b.Lambda, "inverse": b.inverse}
        return self.diagnose(b.V, b.CB, **more)

    @property
    def given(self) -> tuple[Any, ...]:
        return self.rows, self.block

    def layout(self, arrays: dict[str, Any]) -> schema.Layout:
        weights = schema.real(self.batch.weights.shape, -self.most, self.most)
        return {**super().layout(arrays), "batch.weights": weights}

    def restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        check_seen(self.simulator, arrays["batch.counts"], arrays["batch.visits"])
        super().restore(header, arrays)


class Ilarl(FeatureImitator):
    """ILARL: gradient descent on rewards against a policy player that learns from fresh batches.

    A batch of episodes is played with one policy. Then for each of its last pairs (X_i, A_i)

        w = Pi_W(w + alpha (lambda(pi_E) - phi_r(X_i, A_i))),   r = Phi_r w + shift,
        Q = clip(r + CB + gamma phi . Lambda^{-1} sum phi V(x'), 0, R_max H),
        V(x) = (1/eta) log sum_a pi(a|x) exp(eta Q(x,a)),

    where the sum, Lambda and CB = beta ||phi||_{Lambda^{-1}} are of the batch alone. The next
    policy is softmax(eta S), S the sum of the mean Q of all batches, and alpha = W_max / (B sqrt K)
    as in `FraIL`. Episodes after the last full batch change nothing.

    The algorithm is that of Viano, Skoulakis and Cevher (2024), whose pseudocode is from memory. It
    needs d^3 H^8 / eps^4 episodes, where FRA-IL needs 1 / eps^2.

    Parameters
    ----------
    world, expert, reward_features, K, seed, stride, config, parameters
        As of `FeatureImitator`.
    features
        The map phi in which transitions are linear; by default one-hot. Rewards need not be.

    Examples
    --------
    >>> from optimist import envs
    >>> world = envs.GridWorld()
    >>> best = world.mdp.optimal().policy
    >>> from optimist.features import OneHotState, StateOnly
    >>> states = StateOnly(OneHotState(25), n_actions=4)
    >>> il = Ilarl(world, FeatureDataset.from_policy(world, best, states), seed=0)
    >>> bool(il.learn(2000).gaps(best, world.mdp.r)[-1] < 0.5)
    True
    """

    Config = IlarlConfig
    _driver: IlarlDriver

    def __init__(
        self,
        world: World | FiniteMDP,
        expert: FeatureDataset | TrajectoryDataset,
        reward_features: FeatureMap | None = None,
        features: FeatureMap | None = None,
        *,
        K: int | None = None,
        seed: int = 0,
        stride: int = 10,
        config: IlarlConfig | None = None,
        **parameters: Any,
    ) -> None:
        mdp, made = self._read(world, expert, reward_features, config, parameters)
        phi = OneHot(mdp.n_states, mdp.n_actions) if features is None else features
        check_features(phi, mdp)
        given = (self.expert, self.reward_features, phi, self._read_K(K))
        self._start(IlarlDriver(mdp, *given, RunSettings(made, seed, stride)), Place.of(world))

    @property
    def features(self) -> FeatureMap:
        """The map phi."""
        return self._driver.features

    @property
    def value_sum(self) -> FloatArray:
        """S, the sum of the mean Q of all batches, [X, A]; the policy is softmax(eta S)."""
        return self._driver.batch.S.copy()
