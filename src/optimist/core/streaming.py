"""Algorithm 1 on states that are met one by one, compiled: the maths of the streaming learner.

A world nobody has tables of shows itself a state at a time. Every next state that was met is kept
once, as its features, with the transitions that led to it; so the sum over all data in

    theta = Lambda^{-1} sum_D phi(x, a) (r + gamma V(x'))

is a pass over the states kept. A pass computes Q, V and pi of each state under theta, and at once
what the state adds to the sum of the next update: one reading of the memory serves both.

The linear algebra and the update of values and policy are the engine's own. The compiler's cache
does not notice when they change: `make clean` after editing engine.py (the tests look after it).
"""

import math

import numpy as np
from numba import njit

from optimist.checks import FloatArray, IntArray
from optimist.core.ascension import TRUNCATION
from optimist.core.engine import (
    LOG_TWO,
    REFRESH,
    add_to,
    ascend,
    dot,
    improve,
    invert,
    rank_one,
    target,
)
from optimist.core.memory import Epoch, Links, Moments, States
from optimist.core.state import EPISODES, EPOCHS, STAGE, UPDATES, Rule
from optimist.mdp.dynamics import one_thread

CHUNK_BYTES = 1 << 17
"""The features of so many bytes are read, used for Q and for the next sum, before the next."""

ROWS_AT_ONCE = 4096
"""How many rows of features are multiplied by the inverse covariance at once."""


@njit(cache=True)
def learn(
    states: States,
    links: Links,
    moments: Moments,
    gamma: float,
    terminal: float,
    known: int,
    source: IntArray,
    action: IntArray,
    after: IntArray,
    paid: FloatArray,
) -> int:
    """Take in the transitions of an episode; how many links are kept then.

    ``known`` links are kept before it. A transition that repeats adds to its link. ``after`` is -1
    where the episode terminated: what comes then is worth ``terminal``.
    """
    rows, block, V = states.rows, states.block, states.V
    n_actions, s = block.shape[1], rows.shape[1]
    shared = rows.shape[0] == block.shape[0]
    for i in range(source.size):
        x, a, y = source[i], action[i], after[i]
        b = block[x, a]
        phi = rows[x if shared else x * n_actions + a]
        observe(moments.Lambda, moments.inverse, moments.stale, moments.log_det, b, phi, 1.0)
        part = slice(b * s, (b + 1) * s)
        if y >= 0:
            add_to(moments.values[part], V[y], phi)
        add_to(moments.paid[part], paid[i] if y >= 0 else paid[i] + gamma * terminal, phi)
        link = -1
        if states.left[x] > 0:  # a state that was never left before has no links to repeat
            link = states.head[y] if y >= 0 else links.ended[0]
            while link >= 0 and (links.source[link] != x or links.action[link] != a):
                link = links.following[link]
        if link < 0:
            link = known
            known += 1
            links.source[link], links.action[link], links.after[link] = x, a, y
            links.weight[link], links.paid[link] = 0.0, 0.0
            if y >= 0:
                links.following[link] = states.head[y]
                states.head[y] = link
            else:
                links.following[link] = links.ended[0]
                links.ended[0] = link
            states.left[x] += 1
        links.weight[link] += 1.0
        links.paid[link] += paid[i]
    return known


@njit(cache=True)
def observe(
    Lambda: FloatArray,
    inverse: FloatArray,
    stale: IntArray,
    log_det: FloatArray,
    b: int,
    phi: FloatArray,
    weight: float,
) -> None:
    """Lambda += weight phi phi' in its block, with the inverse and the determinant."""
    if phi.size == 1:
        before = Lambda[b, 0, 0]
        Lambda[b, 0, 0] = before + weight * phi[0] * phi[0]
        log_det[0] += math.log(Lambda[b, 0, 0] / before)
        return
    work = np.empty(phi.size)
    log_det[0] += math.log(rank_one(phi, weight, Lambda[b], inverse[b], work))
    stale[b] += 1
    if stale[b] >= REFRESH:
        invert(Lambda[b], inverse[b])
        stale[b] = 0


@njit(cache=True)
def end_episode(rule: Rule, states: States, moments: Moments, epoch: Epoch, n: int) -> bool:
    """Count an episode, and begin an epoch if it is time; whether one begins.

    What is unsure in a new epoch is said by `all_unsure`.
    """
    clock = epoch.clock
    doubled = moments.log_det[0] >= moments.log_det[1] + LOG_TWO
    begins = clock[EPISODES] == 0 or doubled or clock[STAGE] != rule.stage
    clock[EPISODES] += 1
    if begins:
        clock[EPOCHS] += 1
        clock[UPDATES] = 0
        clock[STAGE] = rule.stage
        epoch.Theta[:] = 0.0
        epoch.theta[:] = 0.0
        epoch.Lambda[:] = moments.Lambda
        log_det = 0.0
        for b in range(epoch.Lambda.shape[0]):
            if epoch.Lambda.shape[1] == 1:
                log_det += math.log(epoch.Lambda[b, 0, 0])
            else:
                log_det += invert(moments.Lambda[b], moments.inverse[b])
                moments.stale[b] = 0
        epoch.inverse[:] = moments.inverse
        moments.log_det[:] = log_det
        states.log_pi[:n] = -math.log(states.log_pi.shape[1])
        states.rewards[:n] = 0.0
    return bool(begins)


def all_unsure(rule: Rule, states: States, epoch: Epoch, n: int) -> None:
    """CB and p+ of all states in a new epoch; `be_unsure` with products of matrices where they pay.

    The one thing about a dense covariance that takes d^2 operations a state, so it is left to BLAS.
    """
    rows, block = states.rows, states.block[:n]
    n_blocks, s, _ = epoch.Lambda.shape
    if s == 1:
        be_unsure(rule, states, epoch, 0, n)
        return
    shared = rows.shape[0] == states.block.shape[0]
    u = np.empty(block.shape)
    with one_thread():
        for b in range(n_blocks):
            x, a = np.nonzero(block == b)
            at = x if shared else x * block.shape[1] + a
            for first in range(0, len(at), ROWS_AT_ONCE):
                part = slice(first, first + ROWS_AT_ONCE)
                phi = rows[at[part]]
                squares = np.einsum("ij,ij->i", phi @ epoch.inverse[b], phi)
                u[x[part], a[part]] = np.sqrt(np.maximum(squares, 0.0))
    states.CB[:n] = rule.beta * u
    ascend_all(rule.ascension, rule.a, rule.b, u, states.CB[:n], states.p[:n])


@njit(cache=True)
def ascend_all(
    kind: int, first: float, second: float, u: FloatArray, CB: FloatArray, p: FloatArray
) -> None:
    """p+ of many pairs."""
    for x in range(u.shape[0]):
        for a in range(u.shape[1]):
            p[x, a] = ascend(kind, first, second, u[x, a], CB[x, a])


@njit(cache=True)
def be_unsure(rule: Rule, states: States, epoch: Epoch, first: int, last: int) -> None:
    """CB = beta ||phi|| in the norm of the epoch's covariance, and p+, of some of the states."""
    rows, block = states.rows, states.block
    n_actions, s = block.shape[1], rows.shape[1]
    shared = rows.shape[0] == block.shape[0]
    for x in range(first, last):
        for a in range(n_actions):
            b = block[x, a]
            row = rows[x if shared else x * n_actions + a]
            if s == 1:
                u = abs(row[0]) / math.sqrt(epoch.Lambda[b, 0, 0])
            else:
                square = 0.0
                inverse = epoch.inverse[b]
                for i in range(s):  # the matrix is symmetric: its lower half is enough
                    half = dot(inverse[i, :i], row[:i])
                    square += row[i] * (2 * half + inverse[i, i] * row[i])
                u = math.sqrt(max(square, 0.0))
            CB = rule.beta * u
            states.CB[x, a] = CB
            states.p[x, a] = ascend(rule.ascension, rule.a, rule.b, u, CB)


@njit(cache=True)
def meet(
    rule: Rule, states: States, epoch: Epoch, thetas: FloatArray, first: int, last: int
) -> None:
    """What is believed of states that were just met: as if they had been kept all along.

    A state met in the middle of an epoch has missed its updates. The sum of the epoch's first m Q's
    has the closed form S_m = (1 - p) (phi . Theta_m + m (r + CB)) + m p R_max H (Section 3.3), and
    pi_m is the softmax of eta S_m; so the last update is made up for from pi_{n-1}. Truncated
    values have no such form, and all the epoch's ``thetas`` are gone through.
    """
    n = epoch.clock[UPDATES]
    n_actions = states.block.shape[1]
    V, cumulative = states.V[first:last], states.cumulative[first:last]
    CB, p, log_pi = states.CB[first:last], states.p[first:last], states.log_pi[first:last]
    r, sums = states.r[first:last], states.rewards[first:last]
    states.head[first:last] = -1
    states.left[first:last] = 0
    V[:] = 0.0
    CB[:] = 0.0
    p[:] = 0.0
    log_pi[:] = -math.log(n_actions)
    for a in range(n_actions):
        cumulative[:, a] = (a + 1) / n_actions
    if epoch.clock[EPOCHS] > 0:
        be_unsure(rule, states, epoch, first, last)
    if n == 0:
        sums[:] = 0.0
        return
    Q = np.empty((last - first, n_actions))
    truncate = rule.ascension == TRUNCATION
    if thetas.shape[0] > 0:
        for j in range(n):
            predict(states, thetas[j], first, last, Q)
            target(r, CB, p, sums, Q, 1.0, rule.heaven, truncate)
            improve(rule.eta, Q, V, log_pi, cumulative)
    else:
        predict(states, epoch.Theta - epoch.theta, first, last, Q)
        for i in range(last - first):
            for a in range(n_actions):  # S_{n-1}
                S = Q[i, a] + (n - 1) * (r[i, a] + CB[i, a])
                Q[i, a] = (1 - p[i, a]) * S + (n - 1) * p[i, a] * rule.heaven
        if n > 1:
            improve(rule.eta, Q, V, log_pi, cumulative)  # pi_{n-1}, from uniform in one leap
        predict(states, epoch.theta, first, last, Q)
        target(r, CB, p, sums, Q, 1.0, rule.heaven, truncate)
        improve(rule.eta, Q, V, log_pi, cumulative)
    sums[:] = n * r


@njit(cache=True)
def update_all(
    rule: Rule,
    states: States,
    links: Links,
    moments: Moments,
    epoch: Epoch,
    gamma: float,
    weights: FloatArray,
    thetas: FloatArray,
    n: int,
) -> float:
    """Optimistic regularised value iteration on n states: V_{k+1}, pi_{k+1}; the largest |Q|.

    It is made as often as the rule says. ``weights`` are those of rewards known to be linear in
    phi; zero if rewards are estimated. ``thetas`` has room for each theta, if they are to be kept.
    """
    n_blocks, s, _ = moments.Lambda.shape
    theta, Theta, largest = epoch.theta, epoch.Theta, 0.0
    for _ in range(rule.updates):
        if math.isinf(rule.eta):  # nothing is summed: the policy is greedy for this update alone
            epoch.clock[UPDATES] = 0
            Theta[:] = 0.0
            states.rewards[:n] = 0.0
        sums = moments.paid + gamma * moments.values
        for b in range(n_blocks):
            if s == 1:
                theta[b] = weights[b] + sums[b] / moments.Lambda[b, 0, 0]
                continue
            part = sums[b * s : (b + 1) * s]
            for i in range(s):
                theta[b * s + i] = weights[b * s + i] + dot(moments.inverse[b, i], part)
        add_to(Theta, 1.0, theta)
        if thetas.shape[0] > 0:
            thetas[epoch.clock[UPDATES]] = theta
        epoch.clock[UPDATES] += 1
        largest = sweep(rule, states, links, moments, theta, n)
    return largest


@njit(cache=True)
def sweep(
    rule: Rule, states: States, links: Links, moments: Moments, theta: FloatArray, n: int
) -> float:
    """Q, V and pi of n states under theta, and the sum of phi V(x') for the next; the largest |Q|.

    States go by in chunks that stay in the cache: most links into a chunk come out of it too.
    """
    rows, block, V, values = states.rows, states.block, states.V, moments.values
    head, source, action = states.head, links.source, links.action
    n_actions, s = block.shape[1], rows.shape[1]
    shared = rows.shape[0] == block.shape[0]
    values[:] = 0.0
    largest, truncate = 0.0, rule.ascension == TRUNCATION
    chunk = max(1, CHUNK_BYTES // (8 * s * (1 if shared else n_actions)))
    Q = np.empty((min(chunk, n), n_actions))
    for first in range(0, n, chunk):
        last = min(first + chunk, n)
        q = Q[: last - first]
        predict(states, theta, first, last, q)
        top = target(
            states.r[first:last], states.CB[first:last], states.p[first:last],
            states.rewards[first:last], q, 1.0, rule.heaven, truncate,
        )  # fmt: skip
        largest = max(largest, top)
        improve(
            rule.eta, q, V[first:last], states.log_pi[first:last], states.cumulative[first:last]
        )
        for y in range(first, last):
            link = head[y]
            while link >= 0:
                x, a = source[link], action[link]
                begin = block[x, a] * s
                weight = links.weight[link] * V[y]
                if s == 1:
                    values[begin] += weight * rows[x if shared else x * n_actions + a, 0]
                else:
                    phi = rows[x if shared else x * n_actions + a]
                    add_to(values[begin : begin + s], weight, phi)
                link = links.following[link]
    return largest


@njit(cache=True)
def predict(states: States, theta: FloatArray, first: int, last: int, Q: FloatArray) -> None:
    """phi(x, a) . theta of some of the states, in Q."""
    rows, block = states.rows, states.block
    n_actions, s = block.shape[1], rows.shape[1]
    shared = rows.shape[0] == block.shape[0]
    for x in range(first, last):
        for a in range(n_actions):
            begin = block[x, a] * s
            row = rows[x if shared else x * n_actions + a]
            if s == 1:
                Q[x - first, a] = row[0] * theta[begin]
            else:
                Q[x - first, a] = dot(row, theta[begin : begin + s])
