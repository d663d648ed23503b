"""The reward player of FRA-IL: online gradient descent on reward weights (Algorithm 2)."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from optimist import checks
from optimist.checks import FloatArray
from optimist.core.arrays import sparse_rows
from optimist.errors import BadEnvironment
from optimist.features import FeatureMap
from optimist.imitation.weights import WeightClass


class RewardPlayer:
    """Weights w_k of a class W, whose rewards phi_r . w_k + shift lie in [0, R_max].

    Attributes
    ----------
    B, W_max
        Bounds on the norms of the features and of the weights.
    shift, R_max
        The constant that keeps the rewards of the class in [0, R_max].
    w, total
        w_k, and the sum of w_1, ..., w_k, [d_r]. Both change in place.
    """

    def __init__(self, lambda_E: FloatArray, phi_r: FeatureMap, weights: WeightClass) -> None:
        self.lambda_E, self.phi_r, self.weights = np.array(lambda_E), phi_r, weights
        self.B = checks.positive(phi_r.bound, "the bound of reward_features")
        self.W_max = checks.positive(weights.bound(phi_r.dim), "W_max")
        low, high = self._span()
        self.shift = max(0.0, -low)
        self.R_max = checks.positive(high + self.shift, "R_max")
        self.w, self.total = np.zeros(phi_r.dim), np.zeros(phi_r.dim)
        self.w[:] = self._projected(self.w)  # w_0 = Pi_W(0)

    def _span(self) -> tuple[float, float]:
        """Bounds on phi_r . w, by Cauchy and Schwarz: features are met one by one."""
        return -self.B * self.W_max, self.B * self.W_max

    def move(self, state: Any, action: int, step: float) -> None:
        """w_k = Pi_W(w_{k-1} + eta_r (lambda(pi_E) - phi_r(X_k, A_k)))."""
        phi = self._features(state, action)
        self.w[:] = self._projected(self.w + step * (self.lambda_E - phi))
        self.total += self.w

    def _features(self, state: Any, action: int) -> FloatArray:
        phi = self.phi_r(state, action)
        if np.linalg.norm(phi) > self.B * (1 + checks.RANGE_TOLERANCE):
            raise BadEnvironment(
                f"reward_features have a row of norm {np.linalg.norm(phi):.6g}, above the bound "
                f"B = {self.B:.6g} that they declare"
            )
        return phi

    def _projected(self, w: FloatArray) -> FloatArray:
        """The projection of weights onto their class, checked."""
        return checks.real_array(self.weights.project(w), "the projection", shape=self.w.shape)

    @property
    def settings(self) -> dict[str, Any]:
        """The constants, as a checkpoint holds them."""
        name = type(self.weights).__qualname__
        return {"W": [name, *self.weights.numbers], "W_max": self.W_max, "B": self.B}


class FiniteRewardPlayer(RewardPlayer):
    """The player in a finite world, where all rewards r_k = Phi_r w_k + shift are known.

    Attributes
    ----------
    Phi
        The reward features of all pairs, sparse, [X A, d_r].
    """

    def __init__(
        self, lambda_E: FloatArray, phi_r: FeatureMap, weights: WeightClass, n_states: int
    ) -> None:
        self.Phi = _rows(phi_r, n_states)
        self._shape = (n_states, phi_r.n_actions)
        super().__init__(lambda_E, phi_r, weights)
        self._first = self.Phi.indptr.astype(np.int64)
        self._column = self.Phi.indices.astype(np.int64)

    def _span(self) -> tuple[float, float]:
        return self.weights.span(self.Phi)

    @property
    def rewards(self) -> FloatArray:
        """r_k, [X, A]."""
        return self._rewards_of(self.w)

    def _rewards_of(self, w: FloatArray) -> FloatArray:
        return np.asarray((self.Phi @ w).reshape(self._shape) + self.shift)

    def _features(self, state: Any, action: int) -> FloatArray:
        pair = state * self.phi_r.n_actions + action
        return np.asarray(self.Phi[[pair]].toarray().ravel())

    def _projected(self, w: FloatArray) -> FloatArray:
        moved = super()._projected(w)
        checks.within(self._rewards_of(moved), self.R_max, "r_k", "R_max")
        return moved

    def state(self, step: float, fresh: bool, episodes: int, kept: int) -> Any:
        """The player as the compiled loop takes it, with room for ``episodes`` episodes."""
        from optimist.imitation.loop import Player  # numba is slow to import

        return Player(
            kind=int(self.weights.kind),
            numbers=np.array(self.weights.numbers),
            step=step,
            shift=self.shift,
            fresh=fresh,
            expert=self.lambda_E,
            first=self._first,
            column=self._column,
            value=self.Phi.data,
            w=self.w,
            total=self.total,
            pairs=np.zeros(episodes, dtype=np.int64),
            rollouts=np.zeros(episodes, dtype=np.int64),
            kept=np.zeros((kept, self.w.size)),
        )

    @property
    def given(self) -> tuple[Any, ...]:
        """The constant arrays, which a checkpoint compares."""
        return self.lambda_E, self._first, self._column, self.Phi.data

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "R_max": self.R_max}


def _rows(phi_r: FeatureMap, n_states: int) -> Any:
    """The reward features of all pairs, checked against the declarations of phi_r."""
    Phi = sparse_rows(phi_r, n_states)
    checks.real_array(Phi.data, "the entries of reward_features")
    longest = float(sp.linalg.norm(Phi, axis=1).max())
    if longest == 0:
        raise ValueError("reward_features must not all be zero: every reward would be constant")
    if longest > phi_r.bound * (1 + checks.RANGE_TOLERANCE):
        raise ValueError(
            f"reward_features have a row of norm {longest:.6g}, "
            f"above the bound B = {phi_r.bound:.6g} that they declare"
        )
    return Phi
