"""Linear MDPs (Assumption 1): P = Phi M and r = Phi w with known factors."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from optimist import checks
from optimist.checks import FloatArray
from optimist.mdp.finite import FiniteMDP

ROUNDING = 1e-12
"""Entries of Phi M between minus this and zero are rounding errors, and stored as zero."""

CONCENTRATION = 0.1
"""Concentration of the random Dirichlet features; at 1 all pairs would be nearly alike."""


class LinearMDP(FiniteMDP):
    """A finite MDP whose kernel and rewards are linear in known features.

    P(x' | x, a) = <phi(x, a), m(x')> and r(x, a) = <phi(x, a), w>. The product Phi M must be
    a kernel; an entry that is negative by less than 1e-12, the rounding of the product itself, is
    stored as 0, and `rounding` is the largest magnitude of such an entry.

    Parameters
    ----------
    Phi
        The features phi(x, a), [X, A, d].
    M
        The measures m_i(x'), [d, X].
    w
        The reward's weights, [d].
    nu0, gamma
        The initial distribution and the discount factor, as in `FiniteMDP`.

    Attributes
    ----------
    B, W_max
        The bounds of Assumption 1: the largest ||phi(x, a)||, and ||w||.
    rounding
        The largest magnitude of a negative entry of Phi M that was stored as 0.

    Examples
    --------
    Two ways to move, mixed by the features:

    >>> m = LinearMDP(Phi=[[[1, 0], [0, 1]], [[0.5, 0.5], [0, 1]]], M=[[1, 0], [0, 1]],
    ...               w=[0, 1], nu0=[1, 0], gamma=0.5)
    >>> m.P[1, 0], m.r[1, 0], m.B, m.W_max
    (array([0.5, 0.5]), np.float64(0.5), 1.0, 1.0)
    """

    Phi: FloatArray
    M: FloatArray
    w: FloatArray
    B: float
    W_max: float
    rounding: float

    def __init__(
        self, Phi: ArrayLike, M: ArrayLike, w: ArrayLike, nu0: ArrayLike, gamma: float
    ) -> None:
        features = checks.real_array(Phi, "Phi", shape=(None, None, None))
        n_states, _, d = features.shape
        measures = checks.real_array(M, "M", shape=(d, n_states))
        weights = checks.real_array(w, "w", shape=(d,))
        P = features @ measures
        checks.sums_to_one(P.sum(axis=2), "Phi M")
        below = (P < 0) & (P >= -ROUNDING)
        rounding = float(-P[below].min()) if below.any() else 0.0
        P[below] = 0
        checks.non_negative(P, "Phi M")
        super().__init__(P, features @ weights, nu0, gamma)
        self.__dict__.update(
            Phi=checks.frozen(features),
            M=checks.frozen(measures),
            w=checks.frozen(weights),
            B=float(np.linalg.norm(features, axis=-1).max()),
            W_max=float(np.linalg.norm(weights)),
            rounding=rounding,
        )

    @property
    def d(self) -> int:
        """The dimension of the features."""
        return int(self.Phi.shape[2])

    @classmethod
    def from_parts(
        cls,
        Phi_r: ArrayLike,
        w: ArrayLike,
        Phi_P: ArrayLike,
        M: ArrayLike,
        nu0: ArrayLike,
        gamma: float,
    ) -> Self:
        """The linear MDP of reward features and transition features given apart (Section 5).

        Its features are the concatenation phi = (phi_r, phi_P) of dimension d = d_r + d_P, with
        weights (w, 0) and measures (0, M).
        """
        reward = checks.real_array(Phi_r, "Phi_r", shape=(None, None, None))
        transition = checks.real_array(Phi_P, "Phi_P", shape=(*reward.shape[:2], None))
        d_r, d_P = reward.shape[2], transition.shape[2]
        measures = checks.real_array(M, "M", shape=(d_P, reward.shape[0]))
        weights = checks.real_array(w, "w", shape=(d_r,))
        return cls(
            np.concatenate([reward, transition], axis=2),
            np.concatenate([np.zeros((d_r, reward.shape[0])), measures]),
            np.concatenate([weights, np.zeros(d_P)]),
            nu0,
            gamma,
        )

    @classmethod
    def random_simplex(
        cls, rng: np.random.Generator, d: int, n_states: int, n_actions: int, gamma: float
    ) -> Self:
        """A random linear MDP whose features are points of the simplex in R^d, so that B <= 1.

        Each coordinate is a way to move, a random distribution over states, and a reward in [0, 1];
        phi(x, a) are the pair's mixing weights. Both are drawn from Dirichlet distributions of low
        concentration: a pair mixes a few ways, and each leads to a part of the states. nu0 is drawn
        from the whole simplex.

        Examples
        --------
        >>> m = LinearMDP.random_simplex(np.random.default_rng(0), 3, n_states=5, n_actions=2,
        ...                              gamma=0.9)
        >>> m.Phi.shape, bool(m.B <= 1)
        ((5, 2, 3), True)
        """
        checks.generator(rng)
        d, n_states, n_actions = _sizes(d, n_states, n_actions)
        return cls(
            Phi=rng.dirichlet(np.full(d, CONCENTRATION), size=(n_states, n_actions)),
            M=rng.dirichlet(np.full(n_states, CONCENTRATION), size=d),
            w=rng.random(d),
            nu0=rng.dirichlet(np.ones(n_states)),
            gamma=gamma,
        )

    @classmethod
    def random_low_rank(
        cls, rng: np.random.Generator, d: int, n_states: int, n_actions: int, gamma: float
    ) -> Self:
        """A random MDP of rank d in signed, dense coordinates.

        The features of `random_simplex` turned by a random rotation R: P = (Phi R)(R' M), the same
        kernel, rewards and norms, in coordinates as a factorisation would find them.
        """
        plain = cls.random_simplex(rng, d, n_states, n_actions, gamma)
        R, _ = np.linalg.qr(rng.standard_normal((d, d)))
        return cls(plain.Phi @ R, R.T @ plain.M, R.T @ plain.w, plain.nu0, gamma)


def _sizes(d: int, n_states: int, n_actions: int) -> tuple[int, int, int]:
    return (
        checks.count(d, "d"),
        checks.count(n_states, "n_states"),
        checks.count(n_actions, "n_actions"),
    )
