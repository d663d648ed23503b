"""Section 4.3 and Appendices B.3, B.7: the regret in M+, display by display, and the main theorem.

Statements about sums over k apply only to runs with one update per episode, as in the paper. pi_k
is the policy that was played, before the reset at the start of an epoch.
"""

from functools import partial

import numpy as np

from optimist.checks import FloatArray
from optimist.theory import regret as bounds
from optimist.verification.of_worlds import divergence, inner
from optimist.verification.run import RecordedRun
from optimist.verification.statement import Claim, Needs, Statements, at_most, equal

STATEMENTS: Statements[RecordedRun] = Statements("Regret")
add = STATEMENTS.add
add_sum = partial(add, applies=lambda run: run.one_update)
WHERE = "Appendix B.3"


@add("policies move slowly", WHERE)
def slow_policies(run: RecordedRun) -> Claim:
    """KL(pi_{k+1} || pi_k)(x) <= 2 eta^2 ||Q_{k+1}||^2"""
    t = run.trace
    sup = np.abs(t.Q).max(axis=(1, 2))[:, None]
    return at_most(divergence(t.log_after, t.log_before), 2 * (run.eta * sup) ** 2)


@add("regularised values", WHERE)
def regularised_values(run: RecordedRun) -> Claim:
    """<mu+(pi_{k+1}), Q_{k+1}> = <nu+(pi_{k+1}), V_{k+1} + KL(pi_{k+1} || pi_k) / eta>"""
    t = run.trace
    after = np.exp(t.log_after)
    nu = run.nu_plus(after, run.p)[:, :-1]
    worth = t.V_next + divergence(t.log_after, t.log_before) / run.eta
    return equal((nu * (after * t.Q).sum(axis=2)).sum(axis=1), (nu * worth).sum(axis=1))


@add("drift, by Pinsker", WHERE, needs=Needs.VALID_BONUSES)
def drift(run: RecordedRun) -> Claim:
    """<mu+(pi_{k+1}) - mu+(pi_k), Q_{k+1}>
    <= Q_max sqrt(2 H <nu+(pi_{k+1}), KL(pi_{k+1} || pi_k)>)
    """
    t = run.trace
    after, before = np.exp(t.log_after), np.exp(t.log_before)
    nu, other = run.nu_plus(after, run.p), run.nu_plus(before, run.p)
    moved = nu[:, :-1, None] * after - other[:, :-1, None] * before
    risen = (nu - other)[:, -1] * run.R_max * run.H
    return at_most(inner(moved, t.Q) + risen, by_pinsker(run), unit=run.Q_max)


@add("drift", WHERE, needs=Needs.VALID_BONUSES)
def slow_drift(run: RecordedRun) -> Claim:
    """Q_max sqrt(2 H <nu+(pi_{k+1}), KL(pi_{k+1} || pi_k)>) <= 2 eta Q_max^2 sqrt(H)

    The drift of values in [0, Q_max] is at most Q_max for any occupancies.
    """
    most = 2 * run.eta * run.Q_max**2 * np.sqrt(run.H)
    return at_most(by_pinsker(run), most, trivial=run.Q_max)


@add_sum("Delta*_k, flow", WHERE)
def comparator_flow(run: RecordedRun) -> Claim:
    """Delta*_k = <mu+(pi*), r+ + gamma P+ V_k - E V_{k+1}> + <mu+(pi*), E V_{k+1} - E V_k>"""
    mu = run.mu_plus_best[:, :-1]  # in heaven both terms vanish
    ideal = run.r_plus_played + run.gamma * run.PV_plus
    right = inner(mu, ideal - run.trace.V_next[..., None]) + grown(run, mu)
    return equal(Delta_star(run), right, unit=run.R_max * run.H)


@add_sum("Delta*_k", WHERE, needs=Needs.VALID_BONUSES)
def comparator_step(run: RecordedRun) -> Claim:
    """Delta*_k <= <mu+(pi*), Q_{k+1} - E V_{k+1}> + <mu+(pi*), E V_{k+1} - E V_k>"""
    mu = run.mu_plus_best[:, :-1]
    right = inner(mu, run.trace.Q - run.trace.V_next[..., None]) + grown(run, mu)
    return at_most(Delta_star(run), right, unit=run.R_max * run.H)


@add_sum("epoch of the comparator", WHERE)
def comparator_epoch(run: RecordedRun) -> Claim:
    """sum <mu+(pi*), Q_{k+1} - E V_{k+1}> <= log A / eta in each"""
    t = run.trace
    gains = inner(run.mu_plus_best[:, :-1], t.Q - t.V_next[..., None])
    return at_most(np.bincount(t.epoch - 1, weights=gains), np.log(run.n_actions) / run.eta)


@add_sum("Delta*", WHERE, needs=Needs.VALID_BONUSES)
def comparator(run: RecordedRun) -> Claim:
    """sum of Delta*_k <= E log A / eta + 2 E Q_max"""
    E = run.trace.epoch
    most = E * np.log(run.n_actions) / run.eta + 2 * E * run.Q_max
    return at_most(np.cumsum(Delta_star(run)), most, trivial=run.R_max * episodes(run))


@add_sum("Delta_k", WHERE, needs=Needs.VALID_BONUSES)
def learner_step(run: RecordedRun) -> Claim:
    """Delta_k <= <mu+(pi_k), E V_k - Q_{k+1}> + 2 <mu(pi_k), (1 - p_k+) CB_k>"""
    right = fallen(run) + 2 * run.bonus_sums
    return at_most(Delta(run), right, unit=run.R_max * run.H)


@add_sum("epochs of the learner", WHERE + ", mended", needs=Needs.VALID_BONUSES)
def learner_epochs(run: RecordedRun) -> Claim:
    """sum <mu+(pi_k), E V_k - Q_{k+1}> <= 2 Q_max E + 2 Q_max^2 eta (K - E) sqrt(H)

    The first episode of an epoch costs Q_max instead of a drift (erratum E12).
    """
    E = run.trace.epoch
    drifts = 2 * run.eta * run.Q_max**2 * np.sqrt(run.H) * (episodes(run) - E)
    most = 2 * run.Q_max * E + drifts
    return at_most(np.cumsum(fallen(run)), most, run.Q_max, trivial=run.Q_max * episodes(run))


@add_sum("Delta", WHERE, needs=Needs.VALID_BONUSES)
def learner(run: RecordedRun) -> Claim:
    """sum of Delta_k <= 2 Q_max E + 2 Q_max^2 eta K sqrt(H) + 2 sum <mu(pi_k), (1 - p_k+) CB_k>"""
    k = episodes(run)
    most = 2 * run.Q_max * run.trace.epoch + 2 * run.Q_max**2 * run.eta * k * np.sqrt(run.H)
    most = most + 2 * np.cumsum(run.bonus_sums)
    return at_most(np.cumsum(Delta(run)), most, trivial=(1 - run.gamma) * run.Q_max * k)


@add_sum("lem:bound-regret-plus", "Section 4.3", needs=Needs.VALID_BONUSES)
def regret_plus(run: RecordedRun) -> Claim:
    """regret+_K <= E log A / eta + 4 Q_max E + 2 Q_max^2 eta K sqrt(H) + 2 sum <mu, (1 - p+) CB>"""
    most = regret_plus_bound(run)
    return at_most(np.cumsum(run.parts.regret_plus), most, trivial=run.R_max * episodes(run))


@add_sum("thm:main-full, first display", "Appendix B.7", needs=Needs.VALID_BONUSES)
def first_display(run: RecordedRun) -> Claim:
    """regret_K / H <= 2 R_max H sum <mu(pi_k), p_k+> + the bound on regret+_K"""
    ascended = np.cumsum(inner(run.mu, run.trace.p))
    most = 2 * run.R_max * run.H * ascended + regret_plus_bound(run)
    regrets = (1 - run.gamma) * np.cumsum(run.regret)
    return at_most(regrets, most, trivial=run.R_max * episodes(run))


@add("thm:main-full", "Appendix B.7, mended", needs=Needs.THEOREM, applies=lambda run: run.theorem)
def main_theorem(run: RecordedRun) -> Claim:
    """regret_K <= the bound with all its constants"""
    bound = bounds.regret_bound(*run.sizes)
    return at_most(run.regret.sum(), bound.mended, trivial=bound.trivial)


def by_pinsker(run: RecordedRun) -> FloatArray:
    """Q_max sqrt(2 H <nu+(pi_{k+1}), KL(pi_{k+1} || pi_k)>), [U]."""
    t = run.trace
    nu = run.nu_plus(np.exp(t.log_after), run.p)[:, :-1]
    apart = (nu * divergence(t.log_after, t.log_before)).sum(axis=1)
    apart = np.maximum(apart, 0)  # rounding may make it negative
    return np.asarray(run.Q_max * np.sqrt(2 * run.H * apart))


def episodes(run: RecordedRun) -> FloatArray:
    """1, ..., K."""
    return np.arange(1.0, run.K + 1)


def expected(run: RecordedRun) -> FloatArray:
    """(1 - gamma) <nu_0, V_k>, the learner's estimate of its value, [K]."""
    return np.asarray((1 - run.gamma) * run.trace.V @ run.trace.mdp.nu0)


def Delta_star(run: RecordedRun) -> FloatArray:
    """<mu_k+(pi*), r_k+> - (1 - gamma) <nu_0, V_k>, [K]."""
    return run.earned_plus(run.mu_plus_best) - expected(run)


def Delta(run: RecordedRun) -> FloatArray:
    """(1 - gamma) <nu_0, V_k> - <mu_k+(pi_k), r_k+>, [K]."""
    return expected(run) - run.earned_plus(run.mu_plus_played)


def grown(run: RecordedRun, mu: FloatArray) -> FloatArray:
    """<mu, E V_{k+1} - E V_k>, [K]."""
    return inner(mu, (run.trace.V_next - run.trace.V)[..., None])


def fallen(run: RecordedRun) -> FloatArray:
    """<mu_k+(pi_k), E V_k - Q_{k+1}>, [K]; in heaven the two are equal."""
    return inner(run.mu_plus_played[:, :-1], run.trace.V[..., None] - run.trace.Q)


def regret_plus_bound(run: RecordedRun) -> FloatArray:
    """The bound of Lemma bound-regret-plus after each episode, [K]."""
    paid, sizes = np.cumsum(run.bonus_sums), (run.n_actions, run.gamma)
    given = (episodes(run), run.trace.epoch, run.eta, run.Q_max, paid, *sizes)
    return np.asarray(bounds.augmented_regret_bound(*given))
