"""Algorithm 1 on states that are met one by one, compiled.

Every next state that was met is kept once, as its features, with the transitions that led to it. So
the sum over all data in

    theta = Lambda^{-1} sum_D phi(x, a) (r + gamma V(x'))

is a pass over the states kept. A pass computes Q, V and pi of each state under theta, and at once
its contribution to the sum of the next update: one reading of the memory serves both.
"""

import math

import numpy as np

from optimist.checks import BoolArray, FloatArray
from optimist.core.compiler import compiled, entry_point, inlined
from optimist.core.elementary import flat
from optimist.core.epoch import (
    compute_optimism,
    count_episode,
    count_epoch,
    is_novelty,
    needs_moments,
    reset_policy,
    uncertainties,
)
from optimist.core.frame import frame
from optimist.core.iteration import (
    add_update,
    back_up,
    count_update,
    improve,
    predict,
    refuse_divergence,
)
from optimist.core.linalg import add_to, copy, fill
from optimist.core.links import sum_powers
from optimist.core.norms import norms
from optimist.core.optimism import KNOWN
from optimist.core.parts import on_threads, parts_of
from optimist.core.prior import learn_prior
from optimist.core.regression import freeze, solve
from optimist.core.state import Epoch, Regression, Rule, States, Stream

CHUNK_BYTES = 1 << 18
"""Size of a chunk of features in bytes: it serves Q and the next sum while it is in the cache."""


@entry_point
def end_episode(m: Stream, terminal: float, n: int, n_links: int, whole: bool) -> bool:
    """Count an episode, or a part of one. Begin an epoch if one is due; whether one begins.

    `refresh_optimism` then has to compute the optimism of all states.
    """
    rule, states, links, reg, epoch = m.rule, m.states, m.links, m.reg, m.epoch
    begins = count_episode(epoch.clock, reg.log_det, rule.stage, whole)
    if begins:
        count_epoch(rule, epoch)
        reset_policy(states, 0, n)
        fill(epoch.Theta, 0.0)
        fill(epoch.theta, 0.0)
        n_actions = states.block.shape[1]
        if is_novelty(rule):
            pair, after = np.empty(n_links, dtype=np.int64), np.empty(n_links, dtype=np.int64)
            paid, steps = 0.0, 0.0
            for i in range(n_links):
                pair[i] = links.source[i] * n_actions + links.action[i]
                after[i] = links.after[i] if links.after[i] >= 0 else n  # one more state
                paid += links.paid[i]
                steps += links.weight[i]
            V = np.empty(n + 1)
            copy(V[:n], states.V[:n])
            V[n] = terminal
            mean = paid / steps if steps > 0 else 0.0
            learn_prior(
                rule, epoch, pair, after, links.weight[:n_links], V, states.block[:n],
                states.rows.shape[1] > 1, epoch.concentration, mean,
            )  # fmt: skip
        freeze(reg, epoch)
        if needs_moments(rule):
            b = np.empty(epoch.first.size)
            v = epoch.prior[0]["v"]
            for power in (1, 2):
                sum_powers(states, links, n_links, terminal, v, power, b)
                moment = epoch.first if power == 1 else epoch.second
                solve(reg.Lambda, reg.inverse, b, 1.0, moment)
    return begins


def refresh_optimism(rule: Rule, states: States, epoch: Epoch, n: int) -> None:
    """CB and p+ of all states in a new epoch.

    The uncertainty takes d^2 operations a pair, so it is left to BLAS.
    """
    each = states.rows.shape[0] // states.block.shape[0]  # rows of a state
    rows = states.rows[: n * each].reshape(n, each, -1)
    u = norms(epoch.Lambda, epoch.inverse, rows, states.block[:n])
    set_optimism(rule, states, epoch, u)


@entry_point
def set_optimism(rule: Rule, states: States, epoch: Epoch, u: FloatArray) -> None:
    """CB and p+ of the first states, from their uncertainties."""
    compute_optimism(rule, states, epoch, 0, u.shape[0], u, 0)


@entry_point
def current_uncertainties(states: States, reg: Regression, u: FloatArray) -> None:
    """||phi|| in the norm of the covariance of all data so far, of the first states."""
    uncertainties(states, reg.Lambda, reg.inverse, 0, u.shape[0], u, 0)


@entry_point
def initialise(
    rule: Rule, states: States, epoch: Epoch, thetas: FloatArray, first: int, last: int
) -> None:
    """Values, optimism and policy of states that were just met, as if kept all along.

    A state met in the middle of an epoch has missed its updates. The sum of the epoch's first m Q's
    has the closed form S_m = (1 - p) (phi . Theta_m + m (r + CB)) + m p R_max H (Section 3.3), and
    pi_m is the softmax of eta S_m; so the last update is made up for from pi_{n-1}. Truncated
    values have no such form, and all ``thetas`` of the epoch are gone through.
    """
    n, base, heaven = epoch.clock[0]["updates"], epoch.prior[0]["expected"], rule.heaven
    rows, block, r, CB, p = states.rows, states.block, states.r, states.CB, states.p
    n_actions = block.shape[1]
    make_blank(states, first, last)
    Q = np.empty((last - first, n_actions))
    if epoch.clock[0]["epochs"] > 0:
        uncertainties(states, epoch.Lambda, epoch.inverse, first, last, Q, first)
        compute_optimism(rule, states, epoch, first, last, Q, first)
    missed = n - 1 if thetas.shape[0] > 0 else 0  # updates to go through one by one
    if n > 1 and missed == 0:
        Theta = np.empty(epoch.Theta.size)
        for i in range(Theta.size):
            Theta[i] = epoch.Theta[i] - epoch.theta[i]
        predict(rows, block, Theta, (n - 1) * base, first, last, Q)
        for x in range(first, last):
            for a in range(n_actions):  # S_{n-1}
                S = Q[x - first, a] + (n - 1) * (r[x, a] + CB[x, a])
                Q[x - first, a] = (1 - p[x, a]) * S + (n - 1) * p[x, a] * heaven
        leap(rule.eta, states, first, last, Q)
    for j in range(missed + (n > 0)):
        theta = thetas[j] if j < missed else epoch.theta
        predict(rows, block, theta, base, first, last, Q)
        back_up(rule, rule.eta, states, heaven, False, first, last, Q, first)
    for x in range(first, last):
        for a in range(n_actions):
            states.rewards[x, a] = n * r[x, a]


@inlined
def make_blank(states: States, first: int, last: int) -> None:
    """Before the first epoch: values of 0 and a uniform policy."""
    n_actions = states.block.shape[1]
    uniform = -math.log(n_actions)
    for x in range(first, last):
        states.V[x] = 0.0
        for a in range(n_actions):
            states.CB[x, a], states.p[x, a], states.standing[x, a] = 0.0, 0.0, KNOWN
            states.log_pi[x, a], states.cumulative[x, a] = uniform, (a + 1) / n_actions


@compiled()
def leap(eta: float, states: States, first: int, last: int, S: FloatArray) -> None:
    """pi_{n-1} from the uniform policy and the sum S_{n-1}, in one update."""
    improve(eta, False, states, first, last, S, first)


def update_all(
    m: Stream, weights: FloatArray, thetas: FloatArray, n: int, stop: BoolArray
) -> float:
    """Update values and policy of n states, as often as the rule says; the largest |Q|.

    ``weights`` are those of rewards known to be linear in phi, or 0. ``thetas`` has room for each
    theta, if they are to be kept. Set from outside, ``stop`` ends it soon; its work is then to be
    dropped. A large memory is gone through in parts, on several threads.
    """
    rows = m.states.rows
    parts = parts_of(n, rows[0].nbytes * (len(rows) // len(m.states.V)))
    if len(parts) < 2:
        return update_in_one(m, weights, thetas, n, stop)
    sums, largest, given = np.empty((len(parts), weights.size)), 0.0, frame(m)
    work = [(*part, sums[i]) for i, part in enumerate(parts)]
    left, going = m.rule.updates, True
    moves = left == 1 or not m.rule.evaluates
    while going:
        eta = m.rule.eta if moves else 0.0
        begin_update(given, eta, weights, thetas)
        found = on_threads(sweep_part, [(given, eta, *part) for part in work])
        sums.sum(axis=0, out=m.sums.values)
        largest, change = (max(each) for each in zip(*found, strict=True))
        refuse_divergence(change)
        left -= 1
        going = left > 0 and not stop[0] and not (moves and change < m.rule.tolerance)
        moves = moves or left == 1 or change < m.rule.tolerance
    return largest


@entry_point
def update_in_one(
    m: Stream, weights: FloatArray, thetas: FloatArray, n: int, stop: BoolArray
) -> float:
    """The same in one part."""
    largest, left, going = 0.0, m.rule.updates, True
    moves = left == 1 or not m.rule.evaluates
    while going:
        eta = m.rule.eta if moves else 0.0
        make_theta(m, eta, weights, thetas)
        largest, change = sweep(m, eta, 0, n, m.sums.values)
        refuse_divergence(change)
        left -= 1
        going = left > 0 and not stop[0] and not (moves and change < m.rule.tolerance)
        moves = moves or left == 1 or change < m.rule.tolerance
    return largest


@entry_point
def begin_update(m: Stream, eta: float, weights: FloatArray, thetas: FloatArray) -> None:
    """`make_theta`, called from Python."""
    make_theta(m, eta, weights, thetas)


@entry_point
def sweep_part(
    m: Stream, eta: float, first: int, last: int, values: FloatArray
) -> tuple[float, float]:
    """`sweep`, called from Python."""
    return sweep(m, eta, first, last, values)


@compiled()
def make_theta(m: Stream, eta: float, weights: FloatArray, thetas: FloatArray) -> None:
    """Count an update, and solve for its theta."""
    rule, reg, sums, epoch = m.rule, m.reg, m.sums, m.epoch
    theta, paid, values, features = epoch.theta, sums.paid, sums.values, sums.features
    base, gamma, d = epoch.prior[0]["expected"], rule.gamma, epoch.theta.size
    b = np.empty(d)
    count_update(eta, epoch.clock, epoch.prior)
    for i in range(d):
        b[i] = paid[i] + gamma * values[i] - base * features[i]
    solve(reg.Lambda, reg.inverse, b, 1.0, theta)
    for i in range(d):
        theta[i] += weights[i]
    add_update(eta, theta, epoch.Theta, 0, d)
    if thetas.shape[0] > 0:
        copy(thetas[epoch.clock[0]["updates"] - 1], theta)


@compiled()
def sweep(m: Stream, eta: float, begin: int, end: int, values: FloatArray) -> tuple[float, float]:
    """Q, V and pi of some states under theta, and their sum of phi V(x') for the next.

    Returns the largest |Q|, and by how much a value has changed at most. States go by in chunks
    that stay in the cache: most links into a chunk come out of it too.
    """
    rule, states, links, chains, epoch = m.rule, m.states, m.links, m.chains, m.epoch
    rows, block, V, head = states.rows, states.block, states.V, chains.head
    source, action, seen, following = links.source, links.action, links.weight, chains.following
    n_actions, s = block.shape[1], rows.shape[1]
    shared = rows.shape[0] == block.shape[0]
    theta, base = epoch.theta, epoch.prior[0]["expected"]
    fill(values, 0.0)
    largest, change = 0.0, 0.0
    chunk = max(1, CHUNK_BYTES // (8 * s * (1 if shared else n_actions)))
    Q = np.empty((min(chunk, end - begin), n_actions))
    for first in range(begin, end, chunk):
        last = min(first + chunk, end)
        predict(rows, block, theta, base, first, last, Q)
        top, moved, _, _ = back_up(rule, eta, states, rule.heaven, False, first, last, Q, first)
        largest, change = max(largest, top), max(change, moved)
        for y in range(first, last):
            link = head[y]
            while link >= 0:
                x, a = source[link], action[link]
                b, row = block[x, a] * s, x if shared else x * n_actions + a
                weight = seen[link] * V[y]
                if s == 1:
                    values[b] += weight * rows[row, 0]
                else:
                    add_to(flat(values, b, b + s), weight, flat(rows, row, row + 1))
                link = following[link]
    return largest, change
