"""OGAIL: imitation in linear mixture MDPs (Liu, Zhang, Fu, Yang and Wang, 2022)."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from optimist import checks, limits
from optimist.agents.diagnostics import Diagnostics
from optimist.agents.driver import RunSettings
from optimist.checks import FloatArray, IntArray
from optimist.core.kernels import read_kernels, unit_kernels
from optimist.core.norms import norms
from optimist.core.tabular import KeptTables
from optimist.envs import World
from optimist.features import FeatureMap
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
from optimist.imitation.trajectories import TrajectoryDataset
from optimist.mdp import FiniteMDP

NO_KERNELS = (
    "OgaIL needs known kernels P_i: world.kernels or kernels=; table=True, --table on the command "
    "line, takes a table as the mixture of its unit kernels"
)


@dataclass(frozen=True)
class OgaILConfig:
    """The parameters of OGAIL.

    Attributes
    ----------
    table
        Whether P is learnt as a table: as the mixture of the d = X^2 A unit kernels, one for each
        (x, a, y), so that theta is P itself. It applies to any finite world, and takes no kernels.
    weights
        The class W of reward weights.
    policy_step
        Step of the policies, as a multiple of the theory's sqrt(2 log A / K) / (R_max H).
    kappa
        Bonus multiplier of kappa R_max H ||f||_{Lambda^{-1}}.
    ridge
        Lambda is ridge times the identity plus the sum of f f' over the data.
    tolerance
        Values are evaluated until none changes by more than tolerance R_max H.
    sweeps
        Largest number of sweeps of one evaluation. Bonuses grow with the values, so that few data
        can make an evaluation expand until it is cut off at R_max H.
    """

    table: bool = False
    weights: CompiledWeights = UNIT_BALL
    policy_step: float = 30.0
    kappa: float = 0.03
    ridge: float = 1.0
    tolerance: float = 1e-4
    sweeps: int = 100

    def __post_init__(self) -> None:
        if not isinstance(self.table, bool):
            raise TypeError(f"table must be True or False; got {self.table!r}")
        check_weights(self.weights)
        for name in ("policy_step", "kappa", "ridge", "tolerance"):
            object.__setattr__(self, name, checks.positive(getattr(self, name), name))
        object.__setattr__(self, "sweeps", checks.count(self.sweeps, "sweeps", below=checks.MOST))

    @classmethod
    def theory(
        cls,
        K: int,
        d: int,
        gamma: float,
        weights: CompiledWeights = UNIT_BALL,
        delta: float = 0.1,
    ) -> "OgaILConfig":
        """The orders of the theory, from memory: kappa = sqrt(d log((1 + K H^3 / d) / delta)).

        It is times R_max H here; K episodes have about K H transitions, whose targets are at most
        R_max H. Policies have the theory's step, and the ridge is 1.

        Examples
        --------
        >>> round(OgaILConfig.theory(K=1000, d=4, gamma=0.9).kappa, 2)
        7.68
        """
        K, d = checks.count(K, "K"), checks.count(d, "d")
        H = 1 / (1 - checks.discount(gamma))
        log = math.log((1 + K * H**3 / d) / checks.positive(delta, "delta"))
        return cls(weights=weights, policy_step=1.0, kappa=math.sqrt(d * log), ridge=1.0)


class MixtureRule(NamedTuple):
    """The parameters."""

    t_pi: float
    kappa: float
    top: float  # R_max H
    tolerance: float
    sweeps: int


class Mixture(NamedTuple):
    """The state of the learner."""

    Lambda: FloatArray  # [blocks, s, s]
    inverse: FloatArray  # of that; not read where s = 1
    stale: IntArray  # rank-one updates of each block since it was factorised
    z: FloatArray  # the sum of f V(x') over all data, each with the V of its time, [d]
    theta: FloatArray  # Lambda^{-1} z, [d]
    V: FloatArray  # [X]
    S: FloatArray  # the sum of all Q, [X, A]


class OgaILDriver(FeatureDriver):
    """The compiled loop plays episodes and learns from them."""

    GROUPS = ("playing", "mixture")

    def __init__(
        self,
        mdp: FiniteMDP,
        expert: FeatureDataset,
        phi_r: FeatureMap,
        kernels: FloatArray | None,
        K: int | None,
        run: RunSettings,
    ) -> None:
        super().__init__(mdp, expert, phi_r, K, run)
        X, A = mdp.r.shape
        n_blocks, s = (X * A, X) if kernels is None else (1, len(kernels))
        limits.need(24 * n_blocks * s * s, f"covariances of {n_blocks * s:,} kernels")
        self.kernels = unit_kernels(X, A) if kernels is None else read_kernels(kernels)
        identity = np.tile(np.eye(s), (n_blocks, 1, 1))
        z, theta = np.zeros((2, n_blocks * s))
        self.mixture = Mixture(
            Lambda=self.config.ridge * identity,
            inverse=identity / self.config.ridge,
            stale=np.zeros(n_blocks, dtype=np.int64),
            z=z,
            theta=theta,
            V=np.zeros(X),
            S=np.zeros((X, A)),
        )

    @property
    def t_pi(self) -> float:
        """The step of the policies."""
        if self.K is None:
            raise ValueError("the step depends on K, which the first call of learn sets")
        step = math.sqrt(2 * math.log(self.mdp.n_actions) / self.K) / self.top
        return float(self.config.policy_step * step)

    @property
    def kappa(self) -> float:
        """The multiplier of the bonuses."""
        return float(self.config.kappa * self.top)

    def play_against(self, player: Any, record: Played, kept: KeptTables) -> None:
        c, top = self.config, self.top
        rule = MixtureRule(self.t_pi, self.kappa, top, c.tolerance * top, c.sweeps)
        self.compiled(
            record.stop, "optimist.imitation.oga_il_loop:run_mixture", self.simulator, rule,
            self.kernels, self.mixture, self.playing.pi, self.playing.clock, self.rng,
            record.steps, record.epoch, record.stop, kept, player,
        )  # fmt: skip

    @property
    def diagnostics(self) -> Diagnostics:
        k, m = self.kernels, self.mixture
        matrix = sp.csr_array((k.value, k.after, k.first), shape=(k.first.size - 1, m.V.size))
        rows = np.asarray(matrix @ m.V).reshape(k.block.size, -1)  # f, [X A, s]
        CB = self.kappa * norms(m.Lambda, m.inverse, rows, k.block).reshape(self.mdp.r.shape)
        return self.diagnose(m.V, CB, ridge=self.config.ridge, Lambda=m.Lambda, inverse=m.inverse)

    @property
    def given(self) -> tuple[Any, ...]:
        return tuple(self.kernels)


class OgaIL(FeatureImitator):
    """OGAIL: imitation where P is a mixture of known kernels, P = sum_i theta_i P_i.

    After each episode theta is regressed: with f(x, a) = (P_i V(x, a))_i, the targets are V(x') and
    f . theta is the expectation of V(x'). Each transition counts with the V of its own time. Then

        w_k = Pi_W(w_{k-1} + eta_r (lambda(pi_E) - phi_r(X_k, A_k))),   r_k = Phi_r w_k + shift,
        Q = clip(r_k + gamma f . theta + kappa ||f||_{Lambda^{-1}}, 0, R_max H),   V = <pi_k, Q>,

    to a fixed point, and pi_{k+1} ~ pi_k exp(t_pi Q). Values are 0 at first, so the first episode
    teaches nothing of theta.

    The algorithm is that of Liu, Zhang, Fu, Yang and Wang (2022), of which only abstracts could be
    read; the pseudocode is from memory.

    Parameters
    ----------
    world, expert, reward_features, K, seed, stride, config, parameters
        As of `FeatureImitator`.
    kernels
        The kernels P_i, [d, X, A, X]; by default ``world.kernels``. With ``table=True`` there are
        none.

    Examples
    --------
    >>> from optimist import envs
    >>> from optimist.features import OneHot
    >>> world = envs.RandomMixture(d=3, n_states=10, n_actions=3, gamma=0.9)
    >>> best = world.mdp.optimal().policy
    >>> expert = FeatureDataset.from_policy(world, best, OneHot(10, 3))
    >>> il = OgaIL(world, expert, OneHot(10, 3), seed=0)
    >>> history = il.learn(1000)
    >>> bool(np.abs(il.theta - world.theta).max() < 0.1)
    True
    """

    Config = OgaILConfig
    of_K = "the steps of both players"
    _driver: OgaILDriver

    def __init__(
        self,
        world: World | FiniteMDP,
        expert: FeatureDataset | TrajectoryDataset,
        reward_features: FeatureMap | None = None,
        kernels: ArrayLike | None = None,
        *,
        K: int | None = None,
        seed: int = 0,
        stride: int = 10,
        config: OgaILConfig | None = None,
        **parameters: Any,
    ) -> None:
        mdp, made = self._read(world, expert, reward_features, config, parameters)
        known = None if made.table else _known_kernels(world, kernels, mdp)
        if made.table and kernels is not None:
            raise TypeError("kernels must be None with table=True: a table has its unit kernels")
        given = (self.expert, self.reward_features, known, self._read_K(K))
        self._start(OgaILDriver(mdp, *given, RunSettings(made, seed, stride)), Place.of(world))

    @property
    def theta(self) -> FloatArray:
        """The estimated weights of the kernels, [d]; of a table the estimate of P, [X, A, X]."""
        theta, (X, A) = self._driver.mixture.theta.copy(), self.mdp.r.shape
        return theta.reshape(X, A, X) if self.config.table else theta

    @property
    def value_sum(self) -> FloatArray:
        """The sum of all Q, [X, A]; the policy is softmax(t_pi value_sum)."""
        return self._driver.mixture.S.copy()


def _known_kernels(world: Any, kernels: ArrayLike | None, mdp: FiniteMDP) -> FloatArray:
    """The kernels that were given or that the world knows, [d, X, A, X]."""
    known = getattr(world, "kernels", None) if kernels is None else kernels
    if known is None:
        raise ValueError(NO_KERNELS)
    X, A = mdp.r.shape
    return checks.real_array(known, "kernels", shape=(None, X, A, X))
