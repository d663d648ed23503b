"""Algorithm 1, line by line: recompute each printed line from the recorded run."""

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, logsumexp

from optimist.checks import FloatArray
from optimist.verification.run import RecordedRun
from optimist.verification.statement import Claim, Needs, Statements, at_most, equal, join

STATEMENTS: Statements[RecordedRun] = Statements("Algorithm 1, line by line")
add = STATEMENTS.add
WHERE = "Algorithm 1"


@add("alg:play", WHERE)
def play(run: RecordedRun) -> Claim:
    """actions are drawn by pi_k and states by P; all that was played is counted

    The learner draws exactly the random numbers that the recorded pairs need.
    """
    t = run.trace
    kernel = sp.csr_array(t.mdp.kernel, copy=True)
    kernel.eliminate_zeros()
    return join(
        equal(t.cumulative, np.cumsum(t.played, axis=2)),
        equal(t.probabilities, kernel.data),
        equal(t.steps, run.lengths),
        equal(t.paid, run.in_episodes(t.r)),
        equal(t.apart, 0, unit=1.0),
    )


@add("alg:draws", WHERE, needs=Needs.CHANCE)
def draws(run: RecordedRun) -> Claim:
    """starts, actions and states are as frequent as nu_0, pi_k and P say, up to chance

    Azuma-Hoeffding for each count, with a union bound over all counts.
    """
    t = run.trace
    X, A = t.mdp.r.shape
    states, T = t.pairs // A, len(t.pairs)
    starts = np.bincount(t.begins, minlength=X)
    taken = np.bincount(t.pairs, minlength=X * A)
    meant = np.zeros((X, A))
    np.add.at(meant, states, t.played[t.at, states])
    after, pair = t.seen[run.recorded], t.pairs[run.recorded]
    reached = np.bincount(after, minlength=X)
    due = np.asarray(t.mdp.kernel.T @ np.bincount(pair, minlength=X * A))
    chances = np.log(2 * (X + X * A + X) / run.delta)
    return join(
        at_most(np.abs(starts - run.K * t.mdp.nu0), np.sqrt(2 * run.K * chances)),
        at_most(np.abs(taken - meant.ravel()), np.sqrt(2 * T * chances)),
        at_most(np.abs(reached - due), np.sqrt(2 * T * chances)),
    )


@add("alg:covariance", WHERE)
def covariance(run: RecordedRun) -> Claim:
    """Lambda_{T_k} = lambda I + sum of phi phi' over the pairs seen"""
    t = run.trace
    pairs, at = t.pairs[run.recorded], t.at[run.recorded]
    begins = np.searchsorted(at, np.arange(run.K + 1))
    Lambda = np.empty_like(t.Lambda)
    total = np.broadcast_to(run.ridge * np.eye(t.phi.shape[1]), t.Lambda.shape[1:]).copy()
    for k in range(run.K):
        new = pairs[begins[k] : begins[k + 1]]
        np.add.at(total, t.block[new], t.phi[new][:, :, None] * t.phi[new][:, None, :])
        Lambda[k] = total
    return equal(t.Lambda, Lambda)


@add("line-alg:epoch", WHERE)
def epochs(run: RecordedRun) -> Claim:
    """an epoch begins after episode 1, and where the determinant doubles"""
    t = run.trace
    starts: list[int] = []
    expected = np.empty(run.K)
    for k in range(run.K):
        # Counts may make both sides equal, and rounding must not decide then.
        grown = run.log_det_end[k] - run.log_det_end[starts[-1]] if starts else np.inf
        if grown >= np.log(2) - 1e-9:
            starts.append(k)
        expected[k] = len(starts)
    if len(t.frozen) != len(starts):
        return equal(t.epoch, expected)
    return join(equal(t.epoch, expected), equal(t.frozen, t.Lambda[starts]))


@add("line-alg:bonuses", WHERE)
def bonuses(run: RecordedRun) -> Claim:
    """CB_k = beta ||phi|| in the norm of Lambda_{t_e}^{-1}"""
    t = run.trace
    return equal(t.CB, run.beta * run.norms_in(t.frozen)[t.epoch - 1])


@add("line-alg:pplus", WHERE)
def ascension(run: RecordedRun) -> Claim:
    """p_k+ = sigma(alpha CB_k - omega)"""
    return equal(run.trace.p, expit(run.sigmoid.alpha * run.trace.CB - run.sigmoid.omega))


@add("line-alg:transf", WHERE)
def targets(run: RecordedRun) -> Claim:
    """Q_{k+1} = r_k+ + (1 - p_k+) CB_k + gamma P^_k+ V_k"""
    heaven = run.R_max * run.H
    PV_hat_plus = (1 - run.p) * run.PV_hat + run.p * heaven
    return equal(run.trace.Q, run.r_plus + (1 - run.p) * run.CB + run.gamma * PV_hat_plus)


@add("alg:values", WHERE)
def values(run: RecordedRun) -> Claim:
    """V_{k+1} = 1/eta log sum_a pi_k(a|x) exp(eta Q_{k+1}(x, a))"""
    return equal(run.trace.V_next, soft_maximum(run))


@add("alg:policy", WHERE)
def policies(run: RecordedRun) -> Claim:
    """pi_{k+1} = pi_k exp(eta (Q_{k+1} - E V_{k+1}))"""
    t = run.trace
    wanted = np.exp(t.log_before + run.eta * (t.Q - soft_maximum(run)[..., None]))
    return equal(np.exp(t.log_after), wanted)


@add("alg:order", WHERE)
def order(run: RecordedRun) -> Claim:
    """V_1 = 0 and pi_1 is uniform; V is carried over, and an epoch resets pi"""
    t = run.trace
    uniform = np.full(t.log_after.shape[1:], 1 / run.n_actions)
    V = np.concatenate([np.zeros_like(t.V[:1]), t.V_next[:-1]])
    after = np.concatenate([uniform[None], np.exp(t.log_after[:-1])])
    first = np.concatenate([[True], t.episode[1:] != t.episode[:-1]])
    begins = np.concatenate([[True], t.epoch[1:] != t.epoch[:-1]])[t.episode] & first
    before = np.where(begins[:, None, None], uniform, after)
    return join(equal(t.V, V), equal(np.exp(t.log_before), before), equal(t.played, after[first]))


@add("MN23 Lemma C.1", "Appendix B.3")
def telescoping(run: RecordedRun) -> Claim:
    """sum of V_{k+1} over an epoch = 1/eta LSE(eta sum of Q_{k+1})"""
    t = run.trace
    epoch = t.epoch[t.episode]
    S, sums = t.Q.copy(), t.V_next.copy()
    for u in range(1, len(S)):
        if epoch[u] == epoch[u - 1]:
            S[u] += S[u - 1]
            sums[u] += sums[u - 1]
    return equal(sums, (logsumexp(run.eta * S, axis=2) - np.log(run.n_actions)) / run.eta)


def soft_maximum(run: RecordedRun) -> FloatArray:
    """1/eta log sum_a pi_k(a|x) exp(eta Q_{k+1}(x, a)), [U, X]."""
    return np.asarray(logsumexp(run.trace.log_before + run.eta * run.trace.Q, axis=2) / run.eta)
