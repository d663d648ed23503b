"""Sections 4.3 to 4.5: valid bonuses, optimistic values, and the ascension function."""

import numpy as np

from optimist.checks import FloatArray
from optimist.theory import ascension, parameters
from optimist.verification.run import RecordedRun
from optimist.verification.statement import Claim, Needs, Statements, at_most, join

STATEMENTS: Statements[RecordedRun] = Statements("Bonuses, values, ascension")
add = STATEMENTS.add


@add("eq:validity-bonuses", "Section 4", needs=Needs.COVERED)
def validity(run: RecordedRun) -> Claim:
    """|(P - P^_k) V_k| <= CB_k"""
    anyway = largest_errors(run)[run.trace.episode]
    return at_most(np.abs(run.PV - run.PV_hat), run.CB, trivial=anyway)


@add("E_V,alg", "Appendix B.6", needs=Needs.COVERED)
def regression(run: RecordedRun) -> Claim:
    """||M V_k - M^V_k|| in Lambda_{T_k} <= beta"""
    anyway = largest_regression_errors(run)[run.trace.episode]
    return at_most(run.regression_errors, run.beta, trivial=anyway)


@add("Cauchy and Schwarz", "Appendix B.6")
def by_norms(run: RecordedRun) -> Claim:
    """|(P - P^_k) V_k| <= ||M V_k - M^V_k|| ||phi||,
    and beta ||phi|| <= CB_k, in Lambda_{T_k}^{-1}
    """
    norms, error = run.norms_in(run.trace.Lambda)[run.trace.episode], np.abs(run.PV - run.PV_hat)
    most = run.regression_errors[:, None, None] * norms
    return join(at_most(error, most, unit=run.R_max * run.H), at_most(run.beta * norms, run.CB))


@add("lem:iterates-in-class", "Appendix B.6", needs=Needs.VALID_BONUSES)
def in_the_class(run: RecordedRun) -> Claim | None:
    """||theta_{k+1}|| <= W_max + Q_max L_max K B,
    ||V_{k+1}|| <= Q_max, eigenvalues of Lambda^{-1}
    """
    if run.ridge != 1 or not run.event_L:
        return None
    L_max = parameters.longest_episode(run.K, run.gamma, run.delta)
    eigenvalues = 1 / np.linalg.eigvalsh(run.trace.frozen)
    theta = run.weights_of(run.trace.r[run.trace.episode] + run.gamma * run.PV_hat)
    return join(
        at_most(np.linalg.norm(theta, axis=1), run.W_max + run.Q_max * L_max * run.K * run.B),
        at_most(np.abs(run.trace.V_next), run.Q_max),
        at_most(eigenvalues, 1),
        at_most(1 / (1 + run.K * L_max * run.B**2), eigenvalues),
    )


@add("eq:validity-plus", "Section 4.3", needs=Needs.VALID_BONUSES)
def validity_plus(run: RecordedRun) -> Claim:
    """|(P_k+ - P^_k+) V_k| <= (1 - p_k+) CB_k"""
    estimate = (1 - run.p) * run.PV_hat + run.p * run.R_max * run.H
    most = (1 - run.p) * run.CB
    return at_most(np.abs(run.PV_plus - estimate), most, unit=run.R_max * run.H)


@add("lem:bound-q, lower", "Appendix B.3", needs=Needs.VALID_BONUSES)
def optimistic(run: RecordedRun) -> Claim:
    """r_k+ + gamma P_k+ V_k <= Q_{k+1}"""
    return at_most(run.r_plus + run.gamma * run.PV_plus, run.trace.Q)


@add("lem:bound-q, upper", "Appendix B.3", needs=Needs.VALID_BONUSES)
def not_too_optimistic(run: RecordedRun) -> Claim:
    """Q_{k+1} <= r_k+ + 2 (1 - p_k+) CB_k + gamma P_k+ V_k"""
    most = run.r_plus + 2 * (1 - run.p) * run.CB + run.gamma * run.PV_plus
    return at_most(run.trace.Q, most)


@add("lem:qmax", "Section 4.4", needs=Needs.VALID_BONUSES)
def bounded(run: RecordedRun) -> Claim:
    """||Q_k|| <= Q_max = H (R_max + 2 omega / alpha)"""
    return at_most(np.abs(run.trace.Q), run.Q_max)


@add("lem:lse-lipschitz", "Appendix F.2")
def soft_maximum_is_lipschitz(run: RecordedRun) -> Claim:
    """|LSE(x) - LSE(y)| <= ||x - y||

    Check the lemma on the learner's V_{k+1}.

    The first V_{k+1} of an epoch is the soft maximum of Q_{k+1}; every V_{k+1} is the difference of
    two soft maxima whose arguments differ by Q_{k+1}.
    """
    t = run.trace
    epoch = t.epoch[t.episode]
    first = np.flatnonzero(np.concatenate([[True], epoch[1:] != epoch[:-1]]))
    V, Q = t.V_next[first], t.Q[first]
    return join(
        at_most(np.abs(V[1:] - V[:-1]), np.abs(Q[1:] - Q[:-1]).max(axis=2)),
        at_most(np.abs(t.V_next), np.abs(t.Q).max(axis=2)),
    )


@add("lem:sigmoid-bound", "Appendix F.2")
def ascension_is_small(run: RecordedRun) -> Claim:
    """p_k+ <= 2 alpha^2 CB_k^2 + 2 exp(-omega)"""
    s = run.sigmoid
    return at_most(run.trace.p / ascension.ascension_bound(run.trace.CB, s.alpha, s.omega), 1)


@add("lem:sigmoid-bound2", "Appendix F.2")
def effective_bonus(run: RecordedRun) -> Claim | None:
    """(1 - p_k+) CB_k <= omega / alpha, for omega >= 2"""
    s = run.sigmoid
    if s.omega < 2:
        return None
    most = ascension.largest_kept_bonus(s.alpha, s.omega)
    return at_most((1 - run.trace.p) * run.trace.CB, most)


def largest_errors(run: RecordedRun) -> FloatArray:
    """The largest |(P - P^_k) V| over |V| <= Q_max and all next states, [K, X, A].

    P^_k V is the sum of phi' Lambda_{T_k}^{-1} phi_t V(x'_t) over the pairs seen.
    """
    t = run.trace
    counts = np.zeros((run.K, len(t.phi)))
    np.add.at(counts, (t.at[run.recorded], t.pairs[run.recorded]), 1.0)
    counts = counts.cumsum(axis=0)
    weights = np.empty_like(counts)
    for b, inverse in enumerate(np.linalg.inv(t.Lambda).swapaxes(0, 1)):  # [K, s, s]
        here = t.block == b
        products = np.abs(t.phi[here] @ inverse @ t.phi[here].T)
        weights[:, here] = np.einsum("kpq,kq->kp", products, counts[:, here])
    return np.asarray(run.Q_max * (1 + weights)).reshape(t.CB.shape)


def largest_regression_errors(run: RecordedRun) -> FloatArray:
    """An upper bound on ||M V - M^V|| in Lambda_{T_k} over |V| <= Q_max, [K].

    The squared norm of M V is lambda ||M V||^2 + sum (P V)^2 over the T_k pairs seen, and that of
    M^V at most sum V(x'_t)^2, as a projection shortens.
    """
    pairs = run.recorded_so_far(1)
    roots = np.sqrt(run.ridge * run.m_norm**2 + pairs) + np.sqrt(pairs)
    return np.asarray(run.Q_max * roots)
