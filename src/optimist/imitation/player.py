"""The reward player of FRA-IL: online gradient descent on reward weights (Algorithm 2)."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from optimist import checks
from optimist.checks import FloatArray
from optimist.core import schema
from optimist.core.finite import sparse_rows
from optimist.core.state import Player
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
        w_k, and the sum of w_1, ..., w_k, [d_r]. Both change in place, and so does r.
    r
        r_k, [X, A].
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
        self.r = np.zeros((n_states, phi_r.n_actions))
        self.w, self.total = np.zeros(phi_r.dim), np.zeros(phi_r.dim)
        self.w, self.r = self._moved_to(self.w)  # w_0 = Pi_W(0)
        self._first = self.Phi.indptr.astype(np.int64)
        self._column = self.Phi.indices.astype(np.int64)

    def state(self, step: float, fresh: bool, episodes: int, kept: int) -> Player:
        """The player as the compiled loop takes it, for so many episodes."""
        return Player(
            kind=self.weights.code,
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

    def move(self, pair: int, step: float) -> None:
        """The move that the compiled loop makes, in a class whose projection it does not know."""
        phi = self.Phi[[pair]].toarray().ravel()
        w, r = self._moved_to(self.w + step * (self.lambda_E - phi))
        self.w[:], self.r[:] = w, r
        self.total += w

    def _moved_to(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The projection of weights onto their class, and its rewards, if they are as promised."""
        moved = self.weights.project(w)
        moved = np.array(checks.real_array(moved, "the projection", shape=self.w.shape))
        r = (self.Phi @ moved).reshape(self.r.shape) + self.shift
        checks.within(r, self.R_max, "r_k", "R_max")
        return moved, r

    # What a checkpoint holds of it

    @property
    def arrays(self) -> dict[str, FloatArray]:
        """What changes."""
        return {"w": self.w, "total": self.total, "r": self.r}

    @property
    def layout(self) -> dict[str, schema.Array]:
        """What it must be."""
        slack = checks.RANGE_TOLERANCE * self.R_max
        return {
            "player.w": weights_layout(self.w.shape, self.W_max),
            "player.r": schema.real(self.r.shape, -slack, self.R_max + slack),
        }

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
