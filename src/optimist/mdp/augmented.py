"""Optimistically augmented MDPs (Section 2.2): an MDP with an added state, heaven."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from optimist import checks
from optimist.checks import FloatArray
from optimist.mdp.finite import FiniteMDP
from optimist.mdp.kernel import SparseKernel


def augment(mdp: FiniteMDP, ascension: ArrayLike, r_max: float = 1.0) -> FiniteMDP:
    """The optimistically augmented MDP M+(r, p+) on X + 1 states; heaven is the last.

    With probability p+(x, a) the process ascends instead of moving, P+ = (1 - p+) P + p+ 1{heaven},
    and is paid r_max from then on: r(x, a, heaven) = r_max, so that r+ = (1 - p+) r + p+ r_max.
    Heaven is absorbing, nu0 never starts there, and p+(heaven, a) = 0. With p+ = 0 this is the
    original MDP on the augmented state space.

    Parameters
    ----------
    mdp
        The original MDP; its rewards must lie in [0, r_max].
    ascension
        The ascension function p+ on the original pairs, [X, A], with entries in [0, 1].
    r_max
        The reward in heaven, R_max.

    Examples
    --------
    >>> m = FiniteMDP([[[1.0]]], [[0]], [1], gamma=0.5)      # one state that pays nothing
    >>> up = augment(m, [[0.25]], r_max=1)
    >>> up.P[0, 0], up.r[0, 0], up.optimal().V.round(12)     # V+ solves v = 1/4 + (3/4 v + 1/4 2)/2
    (array([0.75, 0.25]), np.float64(0.25), array([0.8, 2. ]))
    """
    p = ascension_function(ascension, mdp)
    checks.match_shape(p.shape, "ascension", mdp.r.shape)
    check_reward_bound(mdp, r_max)
    tables = _dense_tables if isinstance(mdp.kernel, np.ndarray) else _sparse_tables
    P_plus, r_plus = tables(mdp, p, r_max)
    up = FiniteMDP(P_plus, r_plus, np.append(mdp.nu0, 0.0), mdp.gamma)
    return up.with_reward_map(mdp.reward_map)


def with_heaven(policy: ArrayLike) -> FloatArray:
    """A policy, or a batch of them, extended to heaven, where it plays uniformly."""
    pi = checks.real_array(policy, "policy")
    if pi.ndim < 2 or 0 in pi.shape[-2:]:
        raise ValueError(f"policy must be [X, A], or a batch [n, X, A]; got shape {pi.shape}")
    pi = checks.policies(pi, *pi.shape[-2:])
    heaven = np.full((*pi.shape[:-2], 1, pi.shape[-1]), 1 / pi.shape[-1])
    return np.concatenate([pi, heaven], axis=-2)


def ascension_function(ascension: ArrayLike, mdp: FiniteMDP) -> FloatArray:
    """p+ as floats in [0, 1] of shape [X, A], or [n, X, A] for a sequence of them."""
    p = checks.real_array(ascension, "ascension")
    if p.shape[-2:] != mdp.r.shape or p.ndim not in (2, 3):
        raise ValueError(f"ascension must have shape {mdp.r.shape}, or n of them; got {p.shape}")
    checks.non_negative(p, "ascension")
    if p.max(initial=0) > 1:
        where = checks.first(p > 1)
        raise ValueError(
            f"{checks.entry('ascension', where)} must be at most 1; got {p[where]:.6g}"
        )
    return p


def check_reward_bound(mdp: FiniteMDP, r_max: float) -> None:
    """Refuse rewards outside [0, r_max]; every statement about M+ assumes that range."""
    least, most = mdp.reward_range
    slack = checks.RANGE_TOLERANCE * checks.positive(r_max, "r_max")
    if least < -slack or most > r_max + slack:
        raise ValueError(
            f"rewards must lie in [0, r_max] = [0, {r_max:g}]; got [{least:.6g}, {most:.6g}]; "
            "FiniteMDP.affine(r_max) maps them there"
        )


def _dense_tables(mdp: FiniteMDP, p: FloatArray, r_max: float) -> tuple[FloatArray, FloatArray]:
    n_states, n_actions = mdp.r.shape
    P_plus = np.zeros((n_states + 1, n_actions, n_states + 1))
    P_plus[:-1, :, :-1] = (1 - p)[..., None] * mdp.P
    P_plus[:-1, :, -1] = p
    P_plus[-1, :, -1] = 1
    whole = mdp.transition_rewards
    r_plus = np.full(P_plus.shape, float(r_max))
    r_plus[:-1, :, :-1] = mdp.r[..., None] if whole is None else whole
    return P_plus, r_plus


def _sparse_tables(
    mdp: FiniteMDP, p: FloatArray, r_max: float
) -> tuple[SparseKernel, SparseKernel]:
    kernel = sp.csr_array(mdp.kernel)
    paid = mdp.transition_rewards
    if paid is None:
        data = np.repeat(mdp.r.ravel(), np.diff(kernel.indptr))
        paid = sp.csr_array((data, kernel.indices, kernel.indptr), shape=kernel.shape)

    def with_heaven_last(off_heaven: Any, into_heaven: FloatArray, in_heaven: float) -> Any:
        """Rows of the original pairs, then rows of heaven, whose column is the last."""
        absorbed = sp.csr_array(np.full((mdp.n_actions, 1), in_heaven))
        column = sp.csr_array(into_heaven.reshape(-1, 1))
        return sp.csr_array(sp.block_array([[off_heaven, column], [None, absorbed]]))

    stay = sp.diags_array(1 - p.ravel()) @ kernel
    P_plus = with_heaven_last(stay, p, 1.0)
    r_plus = with_heaven_last(paid, np.full(p.shape, r_max), r_max)
    return P_plus, r_plus
