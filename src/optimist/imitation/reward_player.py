"""The reward player of FRA-IL: online gradient descent on reward weights (Algorithm 2)."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from optimist import checks
from optimist.checks import FloatArray
from optimist.core import schema
from optimist.core.arrays import sparse_rows
from optimist.errors import BadEnvironment
from optimist.features import FeatureMap
from optimist.imitation.weights import WeightClass


class RewardPlayer:
    """Weights w_k of a class W, and the rewards r_k = Phi_r w_k + shift in [0, R_max].

    Attributes
    ----------
    Phi
        The reward features of all pairs, sparse, [X A, d_r].
    B, W_max
        Bounds on the norms of the features and of the weights.
    shift, R_max
        What keeps the rewards of the class in [0, R_max].
    w, total
        w_k, and the sum of w_1, ..., w_k, [d_r]. Both change in place.
    """

    def __init__(
        self, lambda_E: FloatArray, phi_r: FeatureMap, weights: WeightClass, n_states: int
    ) -> None:
        self.lambda_E, self.phi_r, self.weights = np.array(lambda_E), phi_r, weights
        self.Phi = _rows(phi_r, n_states)
        self.B = phi_r.bound
        self.W_max = checks.positive(weights.bound(phi_r.dim), "W_max")
        low, high = weights.span(self.Phi)
        self.shift = max(0.0, -low)
        self.R_max = checks.positive(high + self.shift, "R_max")
        self.w, self.total = np.zeros(phi_r.dim), np.zeros(phi_r.dim)
        self._shape = (n_states, phi_r.n_actions)
        self.w, self.first_rewards = self._moved_to(self.w)  # w_0 = Pi_W(0)
        self._first = self.Phi.indptr.astype(np.int64)
        self._column = self.Phi.indices.astype(np.int64)

    def state(self, step: float, fresh: bool, episodes: int, kept: int) -> Any:
        """The player as the compiled loop takes it, for so many episodes."""
        from optimist.imitation.loop import Player  # numba takes its time

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

    def move(self, pair: int, step: float) -> FloatArray:
        """The move of the compiled loop, in a class whose projection is not compiled; r_k."""
        phi = self.Phi[[pair]].toarray().ravel()
        self.w[:], r = self._moved_to(self.w + step * (self.lambda_E - phi))
        self.total += self.w
        return r

    def _moved_to(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The projection of weights onto their class, and its rewards, if they are as promised."""
        moved = self.weights.project(w)
        moved = np.array(checks.real_array(moved, "the projection", shape=self.w.shape))
        r = (self.Phi @ moved).reshape(self._shape) + self.shift
        checks.within(r, self.R_max, "r_k", "R_max")
        return moved, r

    # What a checkpoint holds of it

    @property
    def arrays(self) -> dict[str, FloatArray]:
        """What changes."""
        return {"player.w": self.w, "player.total": self.total}

    @property
    def given(self) -> tuple[Any, ...]:
        """The arrays that do not."""
        return self.lambda_E, self._first, self._column, self.Phi.data

    @property
    def settings(self) -> dict[str, Any]:
        """The numbers that do not."""
        name = type(self.weights).__qualname__
        return {
            "W": [name, *self.weights.numbers],
            "W_max": self.W_max,
            "R_max": self.R_max,
            "B": self.B,
        }


class StreamRewardPlayer:
    """Weights w_k of a class W, where the reward features are met one by one.

    Their rewards phi_r . w_k lie in [-B W_max, B W_max] by Cauchy and Schwarz, and are shifted by
    B W_max into [0, R_max], R_max = 2 B W_max.
    """

    def __init__(self, lambda_E: FloatArray, phi_r: FeatureMap, weights: WeightClass) -> None:
        self.lambda_E, self.phi_r, self.weights = np.array(lambda_E), phi_r, weights
        self.B = checks.positive(phi_r.bound, "the bound of reward_features")
        self.W_max = checks.positive(weights.bound(phi_r.dim), "W_max")
        self.shift = self.B * self.W_max
        self.R_max = 2 * self.shift
        self.total = np.zeros(phi_r.dim)
        self.w = self._projected(np.zeros(phi_r.dim))  # w_0 = Pi_W(0)

    def move(self, observation: Any, action: int, step: float) -> None:
        """w_k = Pi_W(w_{k-1} + eta_r (lambda(pi_E) - phi_r(X_k, A_k)))."""
        phi = self.phi_r(observation, action)
        if np.linalg.norm(phi) > self.B * (1 + checks.RANGE_TOLERANCE):
            raise BadEnvironment(
                f"reward_features have a row of norm {np.linalg.norm(phi):.6g}, above the bound "
                f"B = {self.B:.6g} that they declare"
            )
        self.w = self._projected(self.w + step * (self.lambda_E - phi))
        self.total += self.w

    def _projected(self, w: FloatArray) -> FloatArray:
        moved = self.weights.project(w)
        return np.array(checks.real_array(moved, "the projection", shape=self.total.shape))

    @property
    def settings(self) -> dict[str, Any]:
        """The numbers that do not change."""
        name = type(self.weights).__qualname__
        return {"W": [name, *self.weights.numbers], "W_max": self.W_max, "B": self.B}


def weights_layout(shape: tuple[int, ...], W_max: float) -> schema.Array:
    """What weights of a class with this bound on their norm must be."""
    most = W_max * (1 + checks.RANGE_TOLERANCE)
    return schema.real(shape, -most, most)


def _rows(phi_r: FeatureMap, n_states: int) -> Any:
    """The reward features of all pairs, if they are as phi_r declares them."""
    Phi = sparse_rows(phi_r, n_states)
    checks.real_array(Phi.data, "the entries of reward_features")
    longest = float(sp.linalg.norm(Phi, axis=1).max())
    if longest == 0:
        raise ValueError("reward_features are all zero: no reward can tell any two pairs apart")
    if longest > phi_r.bound * (1 + checks.RANGE_TOLERANCE):
        raise ValueError(
            f"reward_features have a row of norm {longest:.6g}, "
            f"above the bound B = {phi_r.bound:.6g} that they declare"
        )
    return Phi
