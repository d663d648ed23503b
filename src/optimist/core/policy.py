"""Policies as numbers: the d + d^2 of the paper (Section 3.3), or a table where none will do.

With Theta the sum of the epoch's n parameters theta, Lambda the covariance at its start,
u = ||phi||_{Lambda^{-1}}, CB the bonus and p the ascension function, the sum of the epoch's Q is

    S = (1 - p) (phi . Theta + n CB) + n p R_max H

(or, where heaven pays rewards that are known, p times their sum and that of gamma w, `Novelty`),
and the policy is softmax(eta S), but for actions that are untried or on trial
(`optimist.core.trials`). A variance bonus takes 2 d more numbers, a prior d and four, and a heaven
whose worth is learnt d, for the rewards that it pays.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from optimist import checks
from optimist.checks import FloatArray, IntArray
from optimist.core import storage
from optimist.core.acting import ActingPolicy
from optimist.core.ascension import Ascension, Confidence, Novelty, Truncation
from optimist.core.bonus import Bonus, VarianceBonus
from optimist.core.guarantee import Guarantee
from optimist.core.norms import norms
from optimist.core.optimism import (
    KNOWN,
    RANGE,
    best_tried,
    deviations,
    optimism,
    played,
    standing,
    visits,
)
from optimist.core.variant import optimism_with
from optimist.features import FeatureMap, describe
from optimist.parameters import plain_value


class PolicyPrior(NamedTuple):
    """The numbers of a learnt prior that a policy needs (`optimist.core.state.PRIOR`)."""

    novel: float = 0.0
    expected: float = 0.0


@dataclass(frozen=True, repr=False)
class SoftmaxPolicy(ActingPolicy):
    """The policy of RMAX-RAVI-UCB after n updates in an epoch.

    Attributes
    ----------
    Theta
        The sum of the epoch's parameters theta, [d]. Truncated values have no closed form: for them
        it is all the n parameters, [n, d].
    Lambda
        The covariance at the start of the epoch, as its diagonal blocks [blocks, s, s].
    updates
        n, how many updates the epoch has seen; with none the policy is uniform.
    eta, bonus, ascension, heaven, gamma
        The parameters of the algorithm; ``heaven`` is R_max / (1 - gamma), or v_max, unless
        ``heaven_pays``. At eta = infinity the policy is greedy for the last update alone, and
        ``updates`` is 1.
    features
        The map phi.
    rewards
        The sum of the epoch's rewards on pairs [X, A], if they are not linear in phi and so not in
        Theta; otherwise None.
    weights
        The weights of that sum if they are linear, [d], where heaven pays them; otherwise they are
        in Theta.
    reward
        Instead of those, the rewards of an update as a known function of states [n, ...], [n, A].
    shift
        A constant reward of every update.
    heaven_pays
        Whether heaven pays rewards that are known and do not change, beside ``heaven``, which is
        then the mean of gamma w over the epoch's updates (`Novelty`).
    prior
        The learnt prior (`optimist.core.prior`).
    ridge
        Lambda before the first transition is ridge times the identity.
    moments
        The regressions of the values and of their squares, [2, d]; or empty.
    concentration
        The concentration of the next states of each block (`Novelty`), or 5 L
        (`Confidence`), [blocks]; or empty.
    """

    Theta: FloatArray
    Lambda: FloatArray
    updates: int
    eta: float
    bonus: Bonus
    ascension: Ascension
    heaven: float
    features: FeatureMap
    rewards: FloatArray | None = None
    weights: FloatArray | None = None
    reward: Callable[[Any], FloatArray] | None = None
    shift: float = 0.0
    gamma: float = 0.0
    heaven_pays: bool = False
    prior: PolicyPrior = PolicyPrior()  # noqa: RUF009 - a tuple
    ridge: float = 1.0
    moments: FloatArray = field(default_factory=lambda: np.zeros((2, 0)))
    concentration: FloatArray = field(default_factory=lambda: np.zeros(0))

    @property
    def facts(self) -> dict[str, object]:
        sizes = {"d": self.features.dim, "actions": self.features.n_actions}
        return {**sizes, "updates": self.updates, "eta": self.eta}

    def probabilities(self, states: ArrayLike) -> FloatArray:
        """pi(. | x) for one state, [A], or a batch, [..., A]."""
        S, standings = self._sums_and_standings(states)
        if self.updates == 0:
            return np.full(S.shape, 1 / S.shape[-1])
        if np.isinf(self.eta):
            return np.asarray(np.eye(S.shape[-1])[np.argmax(S, axis=-1)])
        return played(self.eta * (S - S.max(axis=-1, keepdims=True)), standings)

    def likeliest(self, states: ArrayLike) -> IntArray:
        """The best action of each state, [...], among those that were tried if any was."""
        S, standings = self._sums_and_standings(states)
        return np.asarray(best_tried(S, standings).argmax(axis=-1))

    def _sums_and_standings(self, states: ArrayLike) -> tuple[FloatArray, Any]:
        """S and the standing of the actions of the states, [..., A]."""
        rows, block = self.features.in_blocks(states)
        d = self.Theta.shape[-1]
        if self.features.dim != d:
            raise ValueError(f"the policy has d = {d}, its features {self.features.dim}")
        none = np.zeros(block.shape)
        if self.updates == 0:
            return none, none + KNOWN
        theta = self.concentration[block] if self.concentration.size else none
        CB, p, standings = self._optimism(rows, block, theta)
        return self._sum_of_values(rows, block, states, CB, p), standings

    def _sum_of_values(
        self, rows: FloatArray, block: IntArray, states: ArrayLike, CB: FloatArray, p: FloatArray
    ) -> FloatArray:
        """S of the states, [..., A]."""
        each = CB + self.shift + self.prior.expected  # added by every update
        if self.reward is not None:
            batch = np.asarray(states)[None] if CB.ndim == 1 else np.asarray(states)
            each = each + self.reward(batch).reshape(CB.shape)
        rewards: FloatArray | float = 0.0  # added by all updates together
        if self.rewards is not None:
            rewards = self.rewards[checks.indices(states, "state", len(self.rewards))]
        elif self.weights is not None:
            rewards = self._predict(rows, block, self.weights)
        if isinstance(self.ascension, Truncation):
            parts = (self._predict(rows, block, theta) for theta in np.atleast_2d(self.Theta))
            return np.asarray(sum(np.minimum(x + each + rewards, self.heaven) for x in parts))
        target = self._predict(rows, block, self.Theta) + self.updates * each + rewards
        beyond: FloatArray | float = self.updates * self.heaven
        if self.heaven_pays:
            beyond += rewards
        return np.asarray((1 - p) * target + p * beyond)

    def _optimism(
        self, rows: FloatArray, block: IntArray, theta: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """CB, p+ and the standing of the pairs."""
        u = self._uncertainty(rows, block)
        first = second = np.zeros(u.shape)
        if isinstance(self.bonus, VarianceBonus):
            first, second = (self._predict(rows, block, m) for m in self.moments)
        norm = np.broadcast_to((rows**2).sum(axis=-1), u.shape)
        given = optimism_with(self.bonus, self.ascension, self.gamma, self.ridge)
        share, untried, n = visits(given, u, norm)
        N = n.sum(axis=-1, keepdims=True)
        confident = isinstance(self.ascension, Confidence)
        multiple = np.sqrt(2 * theta / RANGE) if confident else deviations(N)
        numbers = (u, share, untried, n, multiple, first, second, theta)
        with np.errstate(over="ignore"):  # a sigmoid far from 0 is 0 or 1
            CB, p = optimism(given, self.prior.novel, *numbers)
        learns = isinstance(self.ascension, Novelty)
        return CB, p, standing(untried, n, theta, N) if learns else np.full(u.shape, KNOWN)

    def _predict(self, rows: FloatArray, block: IntArray, theta: FloatArray) -> FloatArray:
        """phi . theta."""
        parts = theta.reshape(self.features.blocks, -1)[block]
        return np.asarray((rows * parts).sum(axis=-1))

    def _uncertainty(self, rows: FloatArray, block: IntArray) -> FloatArray:
        """||phi|| in the norm of Lambda^{-1}."""
        if self.Lambda.shape[1] == 1 < rows.shape[-1]:  # diagonal, whatever the features
            diagonal = self.Lambda.reshape(self.features.blocks, -1)[block]
            return np.asarray(np.sqrt((rows**2 / diagonal).sum(axis=-1)))
        return norms(self.Lambda, self._inverse, rows, block)

    @cached_property
    def _inverse(self) -> FloatArray:
        return np.asarray(np.linalg.inv(self.Lambda))

    def save(self, path: str | Path) -> None:
        """Write the policy's numbers: d + d^2 of them, or fewer where Lambda is block-diagonal."""
        header: dict[str, Any] = {
            "updates": int(self.updates),
            "eta": plain_value(self.eta, float),
            "bonus": plain_value(self.bonus, Bonus),
            "gamma": float(self.gamma),
            "heaven": float(self.heaven),
            "ascension": plain_value(self.ascension, Ascension),
            "n_actions": self.features.n_actions,
            "features": describe(self.features),
            "reward": self.reward is not None,
            "shift": float(self.shift),
            "ridge": float(self.ridge),
            "heaven_pays": bool(self.heaven_pays),
            "prior": {name: float(value) for name, value in self.prior._asdict().items()},
        }
        arrays = {"Theta": self.Theta, "Lambda": self.Lambda}
        if self.moments.size:
            arrays["moments"] = self.moments
        if self.concentration.size:
            arrays["concentration"] = self.concentration
        if self.rewards is not None:
            arrays["rewards"] = self.rewards
        if self.weights is not None:
            arrays["weights"] = self.weights
        storage.write(path, "softmax policy", header, arrays)


@dataclass(frozen=True, repr=False)
class TablePolicy(ActingPolicy):
    """A policy as its probabilities on a finite world, [X, A].

    Truncated values have no closed form, so what RAVI-UCB plays is kept as a table.

    Attributes
    ----------
    table
        The probabilities.
    certificate
        The certified bounds, if it comes from ``agent.certificate()``.
    """

    table: FloatArray
    certificate: Guarantee | None = None

    @property
    def facts(self) -> dict[str, object]:
        sizes: dict[str, object] = dict(zip(("states", "actions"), self.table.shape, strict=True))
        return sizes if self.certificate is None else {**sizes, "certified": self.certificate}

    def probabilities(self, states: ArrayLike) -> FloatArray:
        """pi(. | x) for one state, [A], or a batch, [..., A]."""
        return self.table[checks.indices(states, "state", len(self.table))]

    def save(self, path: str | Path) -> None:
        """Write the table."""
        held = {} if self.certificate is None else {"certificate": asdict(self.certificate)}
        storage.write(path, "table policy", held, {"table": self.table})
