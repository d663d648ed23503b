"""Why beta is large enough for valid bonuses: the proof of Lemma uniform-event-holds, step by step.

The steps are a covering of the class of values, the concentration of the regression over it, and
the beta that satisfies the resulting inequality, in which beta occurs on both sides.
"""

import numpy as np

from optimist.theory.numbers import Real, formula
from optimist.theory.parameters import log_determinant


@formula("d >= 2", "B >= 1", "beta >= 1")
def log_covering_number(
    K: Real, d: Real, L_max: Real, B: Real, W_max: Real, Q_max: Real, alpha: Real, beta: Real
) -> Real:
    """The bound on log N of Lemma covering-number-v, at the scale epsilon = 1 / (K L_max B).

    4 d^2 log(4 (W_max B + Q_max L_max K B^2 + 3 sqrt d + beta B + Q_max) sqrt(K^5 L_max^3)
    alpha beta B^{5/2}), for d >= 2.

    The lemma prints Q_max as the last summand, as here; Lemma uniform-event-holds uses R_max. The
    step to `proof_logarithm` covers both. The proof bounds the eigenvalues of the inverse
    covariance from below by 1 / (2 K B L_max), which is right for B = 1. In general it is
    1 / (1 + K L_max B^2), which changes powers of B inside the logarithm.

    Examples
    --------
    >>> round(log_covering_number(1000, d=12, L_max=92.1, B=1, W_max=1, Q_max=20, alpha=13.8,
    ...                           beta=126_644))
    31281
    """
    radius = W_max * B + Q_max * L_max * K * B**2 + 3 * np.sqrt(d) + beta * B + Q_max
    grid = np.sqrt(K**5 * L_max**3) * alpha * beta * B**2.5
    return 4 * d**2 * np.log(4 * radius * grid)


@formula("d >= 2", "B >= 1", "W_max >= 1", "R_max >= 1", "beta >= 1")
def proof_logarithm(
    K: Real,
    d: Real,
    L_max: Real,
    B: Real,
    W_max: Real,
    R_max: Real,
    Q_max: Real,
    alpha: Real,
    beta: Real,
) -> Real:
    """log(60 W_max R_max beta^2 alpha B^{9/2} Q_max^2 L_max^{5/2} K^{7/2} sqrt d).

    4 d^2 times it bounds `log_covering_number`: each of five summands is at most three times the
    product of all. That needs W_max >= 1 besides B, R_max >= 1, which Assumption 1 omits.

    Examples
    --------
    >>> round(proof_logarithm(1000, d=12, L_max=92.1, B=1, W_max=1, R_max=1, Q_max=20, alpha=13.8,
    ...                       beta=126_644), 2)
    72.94
    """
    of_class = np.log(60 * W_max * R_max) + 2 * np.log(beta) + np.log(alpha) + 4.5 * np.log(B)
    of_values = of_class + 2 * np.log(Q_max)
    return of_values + 2.5 * np.log(L_max) + 3.5 * np.log(K) + 0.5 * np.log(d)


@formula()
def concentration(
    K: Real, d: Real, L_max: Real, B: Real, Q_max: Real, log_covering: Real, delta: Real
) -> Real:
    """The bound on ||M V - M^V||_Lambda for all V of the class (Lemma uniform-event-holds).

    Q_max sqrt(2 d log((1 + K L_max B) / delta) + 4 log N + 8), at epsilon = 1 / (K L_max B), with
    probability 1 - delta on E_L. The paper leaves three things unsaid.

    - The bias of the ridge, `ridge_bias`, is missing: Assumption 1 has no bound on m.
    - 1 + K L_max B bounds (det Lambda)^{1/d} <= 1 + K L_max B^2 / d only for B <= d.
    - Q_max^2 multiplies the 8 too, which needs Q_max >= 1.

    Examples
    --------
    >>> round(concentration(1000, d=12, L_max=92.1, B=1, Q_max=20, log_covering=31_281, delta=0.1))
    7084
    """
    inside = (1 + K * L_max * B) / delta
    return Q_max * np.sqrt(2 * d * np.log(inside) + 4 * log_covering + 8)


@formula()
def ridge_bias(d: Real, Q_max: Real, m_norm: Real = None, ridge: Real = 1.0) -> Real:
    """sqrt(ridge) ||m|| Q_max, the bias of the ridge, to be added to `concentration`.

    ``m_norm`` bounds || |m|(X) ||; None means sqrt d, as assumed by Jin et al., which holds for
    features in the simplex. The lemma's beta is then large enough: it has Q_max d times 8 log where
    the proof needs sqrt(52 log), and 8 l >= sqrt(52 l) + 1 for every l >= 1.1.

    Examples
    --------
    >>> ridge_bias(d=9, Q_max=20.0)
    60.0
    """
    return np.sqrt(ridge) * (np.sqrt(d) if m_norm is None else m_norm) * Q_max


@formula()
def beta_for_all_values(
    T: Real, d: Real, n_states: Real, B: Real, Q_max: Real, delta: Real
) -> Real:
    """A beta for valid bonuses in a finite world, derived without a covering.

    Q_max ( sqrt d + sqrt( d log(1 + B^2 T / d) + 2 X log 2 + 2 log(1 / delta) ) / 2 ).

    ||M V - M^V|| in Lambda_{T_k} is convex in V, so its maximum over [0, Q_max]^X is attained in
    one of the 2^X corners. In a corner V(x') - P V(x, a) lies in an interval of length Q_max, and
    the inequality for self-normalised martingales (Abbasi-Yadkori et al., 2011) holds with
    probability 1 - delta / 2^X for all steps up to T at once; sqrt d is the bias of the ridge
    (`ridge_bias`). V_k stays in [0, Q_max] as long as bonuses are valid (Lemmas qmax and bound-q).
    The argument is that of Lemma uniform-event-holds, with 2^X functions for its class.

    Examples
    --------
    >>> round(beta_for_all_values(T=92_103, d=12, n_states=6, B=1, Q_max=20.0, delta=0.1))
    179
    """
    square = log_determinant(T, d, B) + 2 * (n_states * np.log(2)) - 2 * np.log(delta)
    return ridge_bias(d, Q_max) + Q_max * np.sqrt(square) / 2


@formula("z >= 1", "R >= 1")
def fixed_point(z: Real, R: Real) -> Real:
    """2 z log(R z); every b >= 2 z log(R z) satisfies b >= z log(R b) (Lemma beta_bound).

    For z, R >= 1. Lemma uniform-event-holds takes b = beta^2.

    Examples
    --------
    >>> b = fixed_point(z=3.0, R=5.0)
    >>> bool(b >= 3 * np.log(5 * b))
    True
    """
    return 2 * z * np.log(R * z)
