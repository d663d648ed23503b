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

from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core.ascension import EDGE, NOVELTY, TRUNCATION
from optimist.core.bonus import VARIANCE
from optimist.core.engine import (
    LOG_TWO,
    REFRESH,
    add_to,
    ascend,
    bound_values,
    change_ridge,
    deviation,
    dot,
    improve,
    invert,
    more_in_time,
    of_prior,
    rank_one,
    target,
)
from optimist.core.memory import Epoch, Links, Moments, States
from optimist.core.prior import fit_prior
from optimist.core.state import (
    BASE,
    EPISODES,
    EPOCHS,
    MEAN,
    NOVEL,
    RIDGE,
    STAGE,
    UPDATES,
    Rule,
)
from optimist.mdp.dynamics import one_thread

CHUNK_BYTES = 1 << 17
"""The features of so many bytes are read, used for Q and for the next sum, before the next."""

ROWS_AT_ONCE = 4096
"""How many rows of features are multiplied by the inverse covariance at once."""


@njit(cache=True, nogil=True)
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
        add_to(moments.features[part], 1.0, phi)
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


@njit(cache=True, nogil=True)
def end_episode(
    rule: Rule,
    states: States,
    links: Links,
    moments: Moments,
    epoch: Epoch,
    terminal: float,
    n: int,
    n_links: int,
) -> bool:
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
        if rule.ascension == NOVELTY:
            learn_prior(rule, states, links, moments, epoch, terminal, n, n_links)
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
        if rule.bonus == VARIANCE:
            learn_moments(states, links, moments, epoch, terminal, n_links)
    return bool(begins)


@njit(cache=True)
def learn_prior(
    rule: Rule,
    states: States,
    links: Links,
    moments: Moments,
    epoch: Epoch,
    terminal: float,
    n: int,
    n_links: int,
) -> None:
    """The prior as the data are now (`core.prior`), and its ridge in the place of the last.

    Termination is one more state. Of an untried pair the mean reward is expected, and gamma v.
    """
    n_actions, prior = states.block.shape[1], epoch.prior
    pair, after = np.empty(n_links, dtype=np.int64), np.empty(n_links, dtype=np.int64)
    paid, steps = 0.0, 0.0
    for i in range(n_links):
        pair[i] = links.source[i] * n_actions + links.action[i]
        after[i] = links.after[i] if links.after[i] >= 0 else n
        paid += links.paid[i]
        steps += links.weight[i]
    V = np.empty(n + 1)
    V[:n] = states.V[:n]
    V[n] = terminal
    last = rule.ridge if epoch.clock[EPOCHS] == 1 else prior[RIDGE]
    theta, prior[NOVEL], prior[MEAN] = fit_prior(
        pair, after, links.weight[:n_links], V, n_actions, last / rule.ridge,
        moments.Lambda.shape[1] > 1,
    )  # fmt: skip
    prior[NOVEL] *= more_in_time(epoch.clock[EPISODES])
    prior[RIDGE] = theta * rule.ridge
    prior[BASE] = (paid / steps if steps > 0 else 0.0) + rule.gamma * prior[MEAN]
    change_ridge(moments.Lambda, prior[RIDGE] - last)


@njit(cache=True)
def learn_moments(
    states: States,
    links: Links,
    moments: Moments,
    epoch: Epoch,
    terminal: float,
    n_links: int,
) -> None:
    """The regressions of V - v and of its square, for the variances of the epoch."""
    rows, block, first, second = states.rows, states.block, epoch.first, epoch.second
    n_actions, s = block.shape[1], rows.shape[1]
    shared = rows.shape[0] == block.shape[0]
    first[:] = 0.0
    second[:] = 0.0
    for i in range(n_links):
        x, a, y = links.source[i], links.action[i], links.after[i]
        W = (states.V[y] if y >= 0 else terminal) - epoch.prior[MEAN]
        phi = rows[x if shared else x * n_actions + a]
        part = slice(block[x, a] * s, (block[x, a] + 1) * s)
        add_to(first[part], links.weight[i] * W, phi)
        add_to(second[part], links.weight[i] * W * W, phi)
    for b in range(moments.Lambda.shape[0]):
        if s == 1:
            first[b] /= moments.Lambda[b, 0, 0]
            second[b] /= moments.Lambda[b, 0, 0]
            continue
        part = slice(b * s, (b + 1) * s)
        one, two = first[part].copy(), second[part].copy()
        for i in range(s):
            first[b * s + i] = dot(moments.inverse[b, i], one)
            second[b * s + i] = dot(moments.inverse[b, i], two)


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
    judge(rule, states, epoch, u, 0, n)


@njit(cache=True)
def be_unsure(rule: Rule, states: States, epoch: Epoch, first: int, last: int) -> None:
    """CB and p+ of some of the states, in the norm of the epoch's covariance."""
    u = np.empty((last - first, states.block.shape[1]))
    uncertainties(states, epoch.Lambda, epoch.inverse, first, u)
    judge(rule, states, epoch, u, first, last)


@njit(cache=True)
def uncertainties(
    states: States, Lambda: FloatArray, inverses: FloatArray, first: int, u: FloatArray
) -> None:
    """||phi|| in the norm of the inverse covariance, of the states from the first on."""
    rows, block = states.rows, states.block
    n_actions, s = block.shape[1], rows.shape[1]
    shared = rows.shape[0] == block.shape[0]
    for x in range(first, first + len(u)):
        for a in range(n_actions):
            b = block[x, a]
            row = rows[x if shared else x * n_actions + a]
            if s == 1:
                u[x - first, a] = abs(row[0]) / math.sqrt(Lambda[b, 0, 0])
                continue
            square = 0.0
            inverse = inverses[b]
            for i in range(s):  # the matrix is symmetric: its lower half is enough
                half = dot(inverse[i, :i], row[:i])
                square += row[i] * (2 * half + inverse[i, i] * row[i])
            u[x - first, a] = math.sqrt(max(square, 0.0))


@njit(cache=True)
def judge(rule: Rule, states: States, epoch: Epoch, u: FloatArray, first: int, last: int) -> None:
    """CB and p+ of some of the states, from their uncertainties."""
    rows, block, s = states.rows, states.block, states.rows.shape[1]
    n_actions = block.shape[1]
    shared = rows.shape[0] == block.shape[0]
    ridge, novel = epoch.prior[RIDGE], epoch.prior[NOVEL]
    for x in range(first, last):
        for a in range(n_actions):
            v = u[x - first, a]
            CB, share = rule.beta * v, 0.0
            row = rows[x if shared else x * n_actions + a]
            if ridge > 0:
                share = of_prior(ridge, v, dot(row, row))
            if rule.bonus == VARIANCE:
                part = slice(block[x, a] * s, (block[x, a] + 1) * s)
                one, two = dot(row, epoch.first[part]), dot(row, epoch.second[part])
                CB *= rule.gamma * deviation(one, two, share)
            if rule.ascension == NOVELTY:
                new = share > rule.a * EDGE
                p = 1.0 if new else min(novel * share, 1.0)
                if new and rule.bonus == VARIANCE:
                    CB = 0.0  # there are no data to vary
            else:
                p = ascend(rule.ascension, rule.a, rule.b, v, CB)
            states.CB[x, a], states.p[x, a] = CB, p


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
    n, base = epoch.clock[UPDATES], epoch.prior[BASE]
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
            predict(states, thetas[j], base, first, last, Q)
            target(r, CB, p, sums, Q, 1.0, rule.heaven, truncate)
            improve(rule.eta, Q, V, log_pi, cumulative)
    else:
        predict(states, epoch.Theta - epoch.theta, (n - 1) * base, first, last, Q)
        for i in range(last - first):
            for a in range(n_actions):  # S_{n-1}
                S = Q[i, a] + (n - 1) * (r[i, a] + CB[i, a])
                Q[i, a] = (1 - p[i, a]) * S + (n - 1) * p[i, a] * rule.heaven
        if n > 1:
            improve(rule.eta, Q, V, log_pi, cumulative)  # pi_{n-1}, from uniform in one leap
        predict(states, epoch.theta, base, first, last, Q)
        target(r, CB, p, sums, Q, 1.0, rule.heaven, truncate)
        improve(rule.eta, Q, V, log_pi, cumulative)
    if rule.ascension == NOVELTY:
        bound_values(V, rule.heaven)
    sums[:] = n * r


@njit(cache=True, nogil=True)
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
    stop: BoolArray,
) -> float:
    """Optimistic regularised value iteration on n states: V_{k+1}, pi_{k+1}; the largest |Q|.

    It is made as often as the rule says. ``weights`` are those of rewards known to be linear in
    phi; zero if rewards are estimated. ``thetas`` has room for each theta, if they are to be kept.
    Raised from outside, ``stop`` ends it soon; its work is then to be dropped.
    """
    n_blocks, s, _ = moments.Lambda.shape
    theta, Theta, largest = epoch.theta, epoch.Theta, 0.0
    for _ in range(rule.updates):
        if math.isinf(rule.eta):  # nothing is summed: the policy is greedy for this update alone
            epoch.clock[UPDATES] = 0
            Theta[:] = 0.0
            states.rewards[:n] = 0.0
        sums = moments.paid + gamma * moments.values - epoch.prior[BASE] * moments.features
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
        largest, change = sweep(rule, states, links, moments, theta, epoch.prior[BASE], n)
        if change < rule.tolerance or stop[0]:
            break
    return largest


@njit(cache=True)
def sweep(
    rule: Rule,
    states: States,
    links: Links,
    moments: Moments,
    theta: FloatArray,
    base: float,
    n: int,
) -> tuple[float, float]:
    """Q, V and pi of n states under theta, and the sum of phi V(x') for the next.

    Returns the largest |Q|, and by how much a value has changed at most. ``base`` is what the
    regression regresses to.

    States go by in chunks that stay in the cache: most links into a chunk come out of it too.
    """
    rows, block, V, values = states.rows, states.block, states.V, moments.values
    head, source, action = states.head, links.source, links.action
    n_actions, s = block.shape[1], rows.shape[1]
    shared = rows.shape[0] == block.shape[0]
    values[:] = 0.0
    largest, change, truncate = 0.0, 0.0, rule.ascension == TRUNCATION
    chunk = max(1, CHUNK_BYTES // (8 * s * (1 if shared else n_actions)))
    Q = np.empty((min(chunk, n), n_actions))
    for first in range(0, n, chunk):
        last = min(first + chunk, n)
        q = Q[: last - first]
        predict(states, theta, base, first, last, q)
        top = target(
            states.r[first:last], states.CB[first:last], states.p[first:last],
            states.rewards[first:last], q, 1.0, rule.heaven, truncate,
        )  # fmt: skip
        largest = max(largest, top)
        moved = improve(
            rule.eta, q, V[first:last], states.log_pi[first:last], states.cumulative[first:last]
        )
        change = max(change, moved)
        if rule.ascension == NOVELTY:
            bound_values(V[first:last], rule.heaven)
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
    return largest, change


@njit(cache=True)
def predict(
    states: States, theta: FloatArray, base: float, first: int, last: int, Q: FloatArray
) -> None:
    """base + phi(x, a) . theta of some of the states, in Q."""
    rows, block = states.rows, states.block
    n_actions, s = block.shape[1], rows.shape[1]
    shared = rows.shape[0] == block.shape[0]
    for x in range(first, last):
        for a in range(n_actions):
            begin = block[x, a] * s
            row = rows[x if shared else x * n_actions + a]
            if s == 1:
                Q[x - first, a] = base + row[0] * theta[begin]
            else:
                Q[x - first, a] = base + dot(row, theta[begin : begin + s])
