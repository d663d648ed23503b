"""Sections 2 and 4.1 to 4.2, and Appendix F.1: occupancies, augmented worlds, biases."""

from collections.abc import Iterator

import numpy as np
from scipy.special import rel_entr

from optimist.checks import FloatArray
from optimist.mdp import augment
from optimist.mdp.augmented import with_heaven
from optimist.theory import ascension
from optimist.verification.run import RecordedRun
from optimist.verification.statement import Claim, Statements, at_most, equal, join

STATEMENTS: Statements[RecordedRun] = Statements("Occupancies, M+ and its biases")
add = STATEMENTS.add


@add("eq:flow", "Proposition flow")
def flow(run: RecordedRun) -> Iterator[Claim]:
    """E' mu(pi) = gamma P' mu(pi) + (1 - gamma) nu_0, in M and M+"""
    t = run.trace
    nu0 = np.append(t.mdp.nu0, 0.0)
    within = np.concatenate([run.mu, run.mu_best[None]])
    yield equal(within.sum(axis=2), (1 - run.gamma) * t.mdp.nu0 + run.gamma * into(run, within))
    for mu in (run.mu_plus_played, run.mu_plus_best):
        on_earth = mu[:, :-1]
        ascended = (on_earth * t.p).sum(axis=(1, 2)) + mu[:, -1].sum(axis=1)
        arrived = np.column_stack([into(run, on_earth * (1 - t.p)), ascended])
        yield equal(mu.sum(axis=2), (1 - run.gamma) * nu0 + run.gamma * arrived)


@add("lem:from-ev-to-q", "Appendix F.1")
def values_for_actions(run: RecordedRun) -> Claim:
    """<mu(pi), E V> = <mu(pi), Q> where V = E_pi Q"""
    Q = run.trace.Q[run.trace.episode.searchsorted(np.arange(run.K))]
    V = (run.trace.played * Q).sum(axis=2)
    return equal((run.mu.sum(axis=2) * V).sum(axis=1), inner(run.mu, Q))


@add("eq:regret", "Section 2.3")
def regret(run: RecordedRun) -> Claim:
    """<nu_0, V^{pi*} - V^{pi_k}> = H <mu(pi*) - mu(pi_k), r_k>"""
    earned = inner(run.mu_best - run.mu, run.trace.r)
    return equal(run.regret, run.H * earned, unit=run.R_max * run.H)


@add("sec:OAMDP", "Section 2.2")
def optimism(run: RecordedRun) -> Iterator[Claim]:
    """V^pi <= V+^pi and Q^pi <= Q+^pi, for pi_k and pi*"""
    t = run.trace
    for pi in (t.played, run.best):
        V, V_plus = run.values(pi), run.values_plus(pi)
        Q = t.r + run.gamma * run.after(V)
        onward = (1 - t.p) * run.after(V_plus) + t.p * run.R_max * run.H
        yield at_most(V, V_plus)
        yield at_most(Q, run.r_plus_played + run.gamma * onward)


@add("lem:mass-reduced", "Appendix F.1")
def mass_reduced(run: RecordedRun) -> Claim:
    """mu+(pi, x, a) <= mu(pi, x, a) off heaven"""
    return join(
        at_most(run.mu_plus_played[:, :-1], run.mu),
        at_most(run.mu_plus_best[:, :-1], run.mu_best),
    )


@add("lem:ineq-kl-entropy", "Appendix F.1")
def occupancies_are_near(run: RecordedRun) -> Iterator[Claim]:
    """KL(mu(pi_{k+1}) || mu(pi_k)) <= H <nu(pi_{k+1}), KL(pi_{k+1} || pi_k)>, in M and M+"""
    t = run.trace
    after, before = np.exp(t.log_after), np.exp(t.log_before)
    on_earth = t.mdp.state_occupancy(after), t.mdp.state_occupancy(before)
    ascending = run.nu_plus(after, run.p), run.nu_plus(before, run.p)
    for nu, other in (on_earth, ascending):
        moved = divergence(t.log_after, t.log_before)
        of_policies = (nu[:, : t.mdp.n_states] * moved).sum(axis=1)
        of_states = rel_entr(nu, other).sum(axis=1)  # their sum is that of mu, by the chain rule
        there = ~((nu > 0) & (other == 0)).any(axis=1)  # except where a probability underflows
        # Occupancies carry a rounding error of about 1e-16 H, however close the policies are.
        yield at_most((of_states + of_policies)[there], run.H * of_policies[there], 1e-5 * run.H)


@add("eq:decomposition", "Section 4")
def decomposition(run: RecordedRun) -> Claim:
    """(1 - gamma) regret_k = reward bias - model bias(pi*) + regret+ + model bias(pi_k)

    The left side by values; regret+ also by occupancies in M+, and once by values of M+.
    """
    t, parts, k = run.trace, run.parts, run.K // 2
    earned = run.earned_plus(run.mu_plus_best) - run.earned_plus(run.mu_plus_played)
    up = augment(t.mdp.with_rewards(t.r[k]), t.p[k], run.R_max)
    gap = up.value(with_heaven(run.best)) - up.value(with_heaven(t.played[k]))
    return join(
        equal(run.regret, parts.regret, unit=run.R_max * run.H),
        equal(parts.regret_plus, earned, unit=run.R_max),
        equal(parts.regret_plus[k], (1 - run.gamma) * gap, unit=run.R_max),
    )


@add("lem:reward-bias-bound", "Section 4.1")
def reward_bias(run: RecordedRun) -> Claim:
    """reward-bias_k <= R_max <mu(pi_k), p_k+>"""
    most = ascension.reward_bias_bound(run.R_max, inner(run.mu, run.trace.p))
    return at_most(run.parts.reward_bias, most)


@add("lem:model-bias-bounds", "Section 4.2")
def model_bias(run: RecordedRun) -> Iterator[Claim]:
    """0 <= model-bias_k(pi) <= gamma H R_max <mu(pi), p+>"""
    learner = run.parts.model_bias_learner, run.mu
    for bias, mu in (learner, (run.parts.model_bias_comparator, run.mu_best)):
        given = (run.gamma, run.R_max, inner(mu, run.trace.p))
        sharp = ascension.model_bias_bound_sharp(*given)
        yield at_most(0, bias, unit=run.R_max)
        yield at_most(bias, sharp)
        yield at_most(sharp, ascension.model_bias_bound(*given))


@add("eq:hope-decomp", "Appendix B.2, mended")
def simulation_lemma(run: RecordedRun) -> Iterator[Claim]:
    """model-bias_k(pi) = gamma <mu_k+(pi), p_k+ (R_max H - P V^pi)>, with V^pi under r_k+"""
    t, best = run.trace, np.broadcast_to(run.best, run.trace.r.shape)
    learner = t.played, run.mu_plus_played, run.parts.model_bias_learner
    for pi, mu, bias in (learner, (best, run.mu_plus_best, run.parts.model_bias_comparator)):
        V = t.mdp.dynamics.values(pi, (pi * run.r_plus_played).sum(axis=2))
        missed = run.R_max * run.H - run.after(V)
        yield equal(bias, run.gamma * inner(mu[:, :-1], t.p * missed), unit=run.R_max)


def inner(mu: FloatArray, f: FloatArray) -> FloatArray:
    """<mu_k, f_k> for each k."""
    return np.asarray((mu * f).sum(axis=(-2, -1)))


def divergence(log_p: FloatArray, log_q: FloatArray) -> FloatArray:
    """KL(p || q) over the last axis, from logarithms."""
    return np.asarray((np.exp(log_p) * (log_p - log_q)).sum(axis=-1))


def into(run: RecordedRun, mu: FloatArray) -> FloatArray:
    """P' mu, the distribution of next states under mu, [n, X]."""
    return np.asarray((run.trace.mdp.kernel.T @ mu.reshape(len(mu), -1).T).T)
