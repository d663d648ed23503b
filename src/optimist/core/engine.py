"""Algorithm 1 on finite worlds, compiled: whole episodes, on statistics of a fixed size.

The cost of an episode does not depend on how many came before it. Everything the loop touches is
handed in as arrays (`optimist.core.state`) and changed in place, so that a run can be stopped after
any episode, saved, and gone on with. From top to bottom: `run`, an episode (`play`), what is learnt
from it (`observe_block`), the move of a reward player, a new epoch, an update of values and policy,
and the linear algebra.

All compiled functions but those of `optimist.core.prior` live in this one file, because the
compiler's cache notices a changed caller but not a changed callee elsewhere: `make clean` after
editing those. Functions that take the tuples are inlined: passing them costs more than most of what
they do.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core.ascension import EDGE, NOVELTY, SIGMOID, THRESHOLD, TRUNCATION
from optimist.core.bonus import ROUNDING, VARIANCE
from optimist.core.prior import fit_prior
from optimist.core.state import (
    BALL,
    BASE,
    BOX,
    EPISODES,
    EPOCHS,
    HOPE,
    MEAN,
    NOBODY,
    NOVEL,
    OTHER,
    PAYS,
    PLAY,
    RIDGE,
    SIMPLEX,
    STAGE,
    STATE,
    STEPS,
    UPDATE,
    UPDATES,
    WORTH,
    WORTHS,
    Iterate,
    Player,
    Record,
    Rule,
    Simulator,
    Snapshots,
    Statistics,
)

LOG_TWO = math.log(2) - 1e-9
"""det >= 2 det, in logarithms. With counts the two are often equal; rounding must not decide."""

NEGLIGIBLE = -40.0
"""Below this the exponential of a difference of logits is under rounding, and not computed."""

REFRESH = 4096
"""After this many rank-one updates of a block its inverse is factorised anew."""


@njit(cache=True, nogil=True)
def run(
    world: Simulator,
    rule: Rule,
    stats: Statistics,
    it: Iterate,
    r: FloatArray,
    nu0: FloatArray,
    rng: np.random.Generator,
    record: Record,
    shots: Snapshots,
    player: Player,
    part: int,
) -> None:
    """Play and learn one episode after the other, as many as the record has room for.

    All of them pay the rewards ``r``, unless a reward player changes these in place. ``part`` may
    ask for the first or the second half of the episodes alone.
    """
    if it.clock[STATE] < 0:
        it.clock[STATE] = start(world.start, rng.random())
    taken = 0
    for i in range(record.steps.size):
        keep = part != UPDATE and shots.stride > 0 and it.clock[EPISODES] % shots.stride == 0
        if part != UPDATE:
            if keep:
                shots.log_policies[taken] = it.log_pi
            if shots.draw[i]:
                shots.Theta[:] = it.Theta
                shots.rewards[:] = it.rewards
                shots.Lambda[:] = it.Lambda
                shots.prior[:] = it.prior
                shots.first[:] = it.first
                shots.second[:] = it.second
                shots.log_pi[:] = it.log_pi
                shots.clock[:] = it.clock
            value = 0.0
            for x in range(nu0.size):
                value += nu0[x] * it.V[x]
            record.value[i] = value
            if player.fresh:
                player.pairs[i], player.rollouts[i] = roll_out(
                    world.first, world.after, world.cumulative, world.start, world.gamma,
                    it.cumulative, rng,
                )  # fmt: skip
                it.clock[STEPS] += player.rollouts[i]
            last = play(world, rule, stats, it, r, rng, record, i)
            if player.kind != NOBODY and not player.fresh:
                player.pairs[i] = last
            doubled = stats.log_det[0] >= stats.log_det[1] + LOG_TWO
            if it.clock[EPISODES] == 0 or doubled or it.clock[STAGE] != rule.stage:
                begin_epoch(world, rule, stats, it, r)
            it.clock[EPISODES] += 1
            record.epoch[i] = it.clock[EPOCHS]
        if part != PLAY:
            if player.kind != NOBODY and player.kind != OTHER:
                move(player, r, player.pairs[i])
                if keep:
                    player.kept[taken] = player.w
            if not rule.lazy or it.clock[UPDATES] == 0:  # an epoch without updates has just begun
                for _ in range(rule.updates):
                    if record.stop[0]:
                        return
                    record.sup_q[i], change = update(world, rule, stats, it, r)
                    if change < rule.tolerance:
                        break
        taken += keep


@njit(inline="always")
def play(
    world: Simulator,
    rule: Rule,
    stats: Statistics,
    it: Iterate,
    r: FloatArray,
    rng: np.random.Generator,
    record: Record,
    i: int,
) -> int:
    """One episode under pi_k, which ends after each step with probability 1 - gamma; its last pair.

    The pseudocode tosses the coin before the next state is seen, so the last pair of an episode is
    not learnt from; with ``observe_last`` it is. Blocks of the covariance are updated at the end,
    once for all visits of a pair.
    """
    n_actions, s = r.shape[1], stats.phi.shape[1]
    first, after, cumulative, gamma = world.first, world.after, world.cumulative, world.gamma
    pi, CB, p = it.cumulative, it.CB, it.p
    diagonal, phi, block, Lambda = stats.diagonal, stats.phi, stats.block, stats.Lambda
    counts, sums, visits, met = stats.counts, stats.sums, stats.visits, stats.met
    observe_last = rule.observe_last
    x = it.clock[STATE]
    steps, reward, bonus, ascension, growth, pairs = 0, 0.0, 0.0, 0.0, 1.0, 0
    pair = 0
    going = True
    while going:
        u = rng.random()
        a = 0
        while a < n_actions - 1 and u >= pi[x, a]:
            a += 1
        pair = x * n_actions + a
        steps += 1
        reward += r[x, a]
        bonus += CB[x, a]
        ascension += p[x, a]
        going = rng.random() < gamma
        if not (going or observe_last):
            break
        b = block[pair]
        u = rng.random()
        entry = first[pair]
        while entry < first[pair + 1] - 1 and u >= cumulative[entry]:
            entry += 1
        x = after[entry]
        if diagonal:
            counts[entry] += 1
            before = Lambda[b, 0, 0]
            Lambda[b, 0, 0] = before + phi[pair, 0] * phi[pair, 0]
            growth *= Lambda[b, 0, 0] / before
            if growth > 1e200:
                stats.log_det[0] += math.log(growth)
                growth = 1.0
        else:
            if counts.size > 0:
                counts[entry] += 1
            for j in range(s):
                sums[x, b * s + j] += phi[pair, j]
            if visits[pair] == 0:
                met[pairs] = pair
                pairs += 1
            visits[pair] += 1
    stats.log_det[0] += math.log(growth)
    for m in range(pairs):
        observe_block(stats, met[m])
    it.clock[STATE] = start(world.start, rng.random())
    it.clock[STEPS] += steps
    record.steps[i] = steps
    record.reward[i] = reward
    record.bonus[i] = bonus / steps
    record.ascension[i] = ascension / steps
    return pair


@njit(cache=True)
def roll_out(
    first: IntArray,
    after: IntArray,
    cumulative: FloatArray,
    begin: FloatArray,
    gamma: float,
    pi: FloatArray,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """A draw from mu(pi) by a rollout that nothing is learnt from: its last pair, and its steps."""
    n_actions, steps = pi.shape[1], 0
    x = start(begin, rng.random())
    while True:
        u, a = rng.random(), 0
        while a < n_actions - 1 and u >= pi[x, a]:
            a += 1
        pair = x * n_actions + a
        steps += 1
        if not rng.random() < gamma:
            return pair, steps
        u, entry = rng.random(), first[pair]
        while entry < first[pair + 1] - 1 and u >= cumulative[entry]:
            entry += 1
        x = after[entry]


@njit(cache=True)
def start(cumulative: FloatArray, u: float) -> int:
    """A state drawn from nu0."""
    x = 0
    while x < cumulative.size - 1 and u >= cumulative[x]:
        x += 1
    return x


@njit(inline="always")
def observe_block(stats: Statistics, pair: int) -> None:
    """Lambda += n phi phi' for the n visits of a pair in this episode, with its inverse."""
    b, n = stats.block[pair], float(stats.visits[pair])
    Lambda, inverse = stats.Lambda[b], stats.inverse[b]
    growth = rank_one(stats.phi[pair], n, Lambda, inverse, stats.work)
    stats.log_det[0] += math.log(growth)
    stats.visits[pair] = 0
    stats.stale[b] += 1
    if stats.stale[b] >= REFRESH:
        invert(Lambda, inverse)
        stats.stale[b] = 0


@njit(cache=True)
def rank_one(
    phi: FloatArray, n: float, Lambda: FloatArray, inverse: FloatArray, y: FloatArray
) -> float:
    """Lambda += n phi phi', its inverse by Sherman and Morrison; the growth of the determinant."""
    s = phi.size
    y = y[:s]
    for i in range(s):
        y[i] = dot(inverse[i], phi)
    growth = 1.0 + n * dot(phi, y)
    for i in range(s):
        add_to(inverse[i], -n / growth * y[i], y)
        add_to(Lambda[i], n * phi[i], phi)
    return growth


@njit(cache=True)
def invert(Lambda: FloatArray, inverse: FloatArray) -> float:
    """The inverse by a Cholesky factorisation; returns the logarithm of the determinant."""
    s = Lambda.shape[0]
    L: Any = np.linalg.cholesky(Lambda)
    log_det = 0.0
    for i in range(s):
        log_det += 2 * math.log(L[i, i])
    inverse[:] = 0.0
    for c in range(s):  # row c of the inverse of L', by forward substitution
        row = inverse[c]
        row[c] = 1 / L[c, c]
        for i in range(c + 1, s):
            row[i] = -dot(L[i, c:i], row[c:i]) / L[i, i]
    for i in range(s):  # (L L')^{-1} is the product of those rows with each other
        for j in range(i, s):
            inverse[i, j] = dot(inverse[i, j:], inverse[j, j:])
    for i in range(s):
        for j in range(i):
            inverse[i, j] = inverse[j, i]
    return log_det


@njit(inline="always")
def move(player: Player, r: FloatArray, pair: int) -> None:
    """Online gradient descent (Algorithm 2): w_k and r_k, from a draw of mu(pi_k).

    w_k = Pi_W(w_{k-1} + eta_r (lambda(pi_E) - phi_r(X_k, A_k))) and r_k = Phi_r w_k + shift.
    """
    w, first, column, value = player.w, player.first, player.column, player.value
    add_to(w, player.step, player.expert)
    for entry in range(first[pair], first[pair + 1]):
        w[column[entry]] -= player.step * value[entry]
    project(player.kind, player.numbers, w)
    add_to(player.total, 1.0, w)
    rewards_of(first, column, value, w, player.shift, r)


@njit(cache=True)
def rewards_of(
    first: IntArray,
    column: IntArray,
    value: FloatArray,
    w: FloatArray,
    shift: float,
    r: FloatArray,
) -> None:
    """Phi_r w + shift in the place of r."""
    n_states, n_actions = r.shape
    for x in range(n_states):
        for a in range(n_actions):
            pair = x * n_actions + a
            begin, end = first[pair], first[pair + 1]
            if end - begin == w.size:  # a row without zeros: its columns are all, in order
                r[x, a] = shift + dot(value[begin:end], w)
                continue
            total = shift
            for entry in range(begin, end):
                total += value[entry] * w[column[entry]]
            r[x, a] = total


@njit(cache=True)
def project(kind: int, numbers: FloatArray, w: FloatArray) -> None:
    """The point of a class of weights that is nearest to w, in its place."""
    if kind == BALL:
        norm = math.sqrt(dot(w, w))
        if norm > numbers[0]:
            for i in range(w.size):
                w[i] *= numbers[0] / norm
    elif kind == BOX:
        for i in range(w.size):
            w[i] = min(max(w[i], numbers[0]), numbers[1])
    elif kind == SIMPLEX:
        # max(w - t, 0) with the t for which it sums to numbers[0]: coordinates that it sends to
        # zero are left out of the sum until no more of them are (Michelot, 1986). Seen from the
        # largest coordinate, which always stays, large numbers keep their digits.
        w -= w.max()
        total, count, t = w.sum() - numbers[0], w.size, -np.inf
        while t < total / count:
            t = total / count
            total, count = -numbers[0], 0
            for i in range(w.size):
                if w[i] > t:
                    total += w[i]
                    count += 1
        for i in range(w.size):
            w[i] = max(w[i] - t, 0.0)


@njit(inline="always")
def begin_epoch(
    world: Simulator, rule: Rule, stats: Statistics, it: Iterate, r: FloatArray
) -> None:
    """A new epoch: Lambda is frozen for the bonuses, and the policy starts again from uniform."""
    n_states, n_actions = it.CB.shape
    CB, p, Lambda, stale = it.CB, it.p, stats.Lambda, stats.stale
    it.clock[EPOCHS] += 1
    it.clock[UPDATES] = 0
    it.clock[STAGE] = rule.stage
    it.Theta[:] = 0.0
    it.rewards[:] = 0.0
    it.prior[WORTHS] = 0.0
    it.log_pi[:] = -math.log(n_actions)
    if rule.learns_heaven and it.prior[PAYS] == 0:  # nothing is known of it but the bound
        it.prior[WORTH] = rule.heaven
    it.prior[PAYS] = 1.0 if rule.learns_heaven else 0.0
    it.prior[HOPE] = it.prior[WORTH]
    if rule.ascension == NOVELTY:
        learn_prior(
            stats.pair, world.after, stats.counts, it.V, it.prior, Lambda, rule.ridge, n_actions,
            it.clock[EPOCHS] == 1, world.gamma,
        )  # fmt: skip
        it.prior[NOVEL] *= more_in_time(it.clock[EPISODES] + 1)
    it.Lambda[:] = Lambda
    log_det = 0.0
    for b in range(Lambda.shape[0]):
        if stats.diagonal:
            log_det += math.log(Lambda[b, 0, 0])
        else:
            log_det += invert(Lambda[b], stats.inverse[b])
            stale[b] = 0
    stats.log_det[:] = log_det
    if stats.diagonal:
        uncertainty_diagonal(stats.phi, stats.block, Lambda, CB)
    else:
        uncertainty_blocks(stats.phi, stats.block, stats.inverse, CB)
    if rule.bonus == VARIANCE:
        it.W[:] = (it.V - it.prior[MEAN]) ** 2
        predict(world, stats, it.W, it.second, it.PV)
        p[:] = it.PV  # room for the second moment
    if rule.bonus == VARIANCE or rule.learns_heaven:
        it.W[:] = it.V - it.prior[MEAN]
        predict(world, stats, it.W, it.first, it.PV)
    kind, first, second = rule.ascension, rule.a, rule.b
    ridge, novel, phi = it.prior[RIDGE], it.prior[NOVEL], stats.phi
    for x in range(n_states):
        for a in range(n_actions):
            u = CB[x, a]
            row = phi[x * n_actions + a]
            share = of_prior(ridge, u, dot(row, row))
            CB[x, a] = rule.beta * u
            new = kind == NOVELTY and share > first * EDGE
            if rule.bonus == VARIANCE:  # what is new has no variance worth the name, nor needs it
                seen = 0.0 if new else deviation(it.PV[x, a], p[x, a], share)
                CB[x, a] *= world.gamma * seen
            if kind == NOVELTY:
                p[x, a] = 1.0 if new else min(novel * share, 1.0)
            else:
                p[x, a] = ascend(kind, first, second, u, CB[x, a])
    if rule.learns_heaven:
        find_alike(r, it.PV, p, world.gamma, it.prior, it.alike)


@njit(cache=True)
def find_alike(
    r: FloatArray,
    PV: FloatArray,
    p: FloatArray,
    gamma: float,
    prior: FloatArray,
    alike: BoolArray,
) -> None:
    """The pairs that are new, and that may be better than all that is known of their state.

    An episode has one policy. What is left for later, for a lesser reward, costs a later episode.
    """
    n_states, n_actions = r.shape
    for x in range(n_states):
        known = 0.0
        for a in range(n_actions):
            if p[x, a] < 1:
                known = max(known, r[x, a] + gamma * (prior[MEAN] + PV[x, a]))
        for a in range(n_actions):
            alike[x, a] = p[x, a] == 1 and r[x, a] + gamma * prior[HOPE] > known * EDGE


@njit(cache=True)
def learn_prior(
    pair: IntArray,
    after: IntArray,
    counts: FloatArray,
    V: FloatArray,
    prior: FloatArray,
    Lambda: FloatArray,
    unit: float,
    n_actions: int,
    initial: bool,
    gamma: float,
) -> None:
    """The prior as the data are now (`core.prior`), and its ridge in the place of the last."""
    last = unit if initial else prior[RIDGE]
    theta, prior[NOVEL], prior[MEAN] = fit_prior(
        pair, after, counts, V, n_actions, last / unit, Lambda.shape[1] > 1
    )
    prior[RIDGE] = theta * unit
    prior[BASE] = gamma * prior[MEAN]
    change_ridge(Lambda, prior[RIDGE] - last)


@njit(cache=True)
def more_in_time(k: int) -> float:
    """1 + 2 log k: by how much more after k episodes what is new is hoped for.

    Chosen by measurement (docs/defaults.md). UCB1 (Auer et al., 2002) has 2 log k under a root.
    """
    return 1 + 2 * math.log(k)


@njit(cache=True)
def change_ridge(Lambda: FloatArray, change: float) -> None:
    """Add to the diagonal of the covariance."""
    for b in range(Lambda.shape[0]):
        for i in range(Lambda.shape[1]):
            Lambda[b, i, i] += change


@njit(cache=True)
def of_prior(ridge: float, u: float, norm: float) -> float:
    """The share of the prior in the estimate of a pair, whose features have this squared norm."""
    return min(ridge * u * u / norm, 1.0) if norm > 0 else 0.0


@njit(cache=True)
def deviation(first: float, second: float, share: float) -> float:
    """The deviation of V - v from its moments, times sqrt(n) u, without the prior's share in them.

    The moments are regressions to 0, so they are 1 - share of those of the data, and the n visits
    behind them (1 - share) / u^2. With one-hot features the deviation is the data's own.
    """
    if not share < 1:
        return 0.0
    data = 1 - share
    first, second = first / data, second / data
    variance = second - first * first
    return math.sqrt(variance / data) if variance > ROUNDING * second else 0.0


@njit(cache=True)
def uncertainty_diagonal(
    phi: FloatArray, block: IntArray, Lambda: FloatArray, u: FloatArray
) -> None:
    """||phi(x, a)|| in the norm of Lambda^{-1}, for every pair."""
    n_states, n_actions = u.shape
    for x in range(n_states):
        for a in range(n_actions):
            pair = x * n_actions + a
            u[x, a] = abs(phi[pair, 0]) / math.sqrt(Lambda[block[pair], 0, 0])


@njit(cache=True)
def uncertainty_blocks(
    phi: FloatArray, block: IntArray, inverse: FloatArray, u: FloatArray
) -> None:
    """The same with blocks of any size."""
    n_states, n_actions = u.shape
    s = phi.shape[1]
    for x in range(n_states):
        for a in range(n_actions):
            pair = x * n_actions + a
            row, b = phi[pair], block[pair]
            square = 0.0
            for i in range(s):  # the matrix is symmetric: its lower half is enough
                half = dot(inverse[b, i, :i], row[:i])
                square += row[i] * (2 * half + inverse[b, i, i] * row[i])
            u[x, a] = math.sqrt(max(square, 0.0))


@njit(cache=True)
def ascend(kind: int, first: float, second: float, u: float, CB: float) -> float:
    """The ascension function, but for truncation, which depends on the target of each update."""
    if kind == SIGMOID:
        z = (first * CB if CB > 0 else 0.0) - second
        return 1 / (1 + math.exp(-z)) if z > -700 else 0.0
    if kind == THRESHOLD:
        return 1.0 if u > first else 0.0
    return 0.0


@njit(inline="always")
def update(
    world: Simulator, rule: Rule, stats: Statistics, it: Iterate, r: FloatArray
) -> tuple[float, float]:
    """Optimistic regularised value iteration, once: Q_{k+1}, V_{k+1}, pi_{k+1}.

    Returns the largest |Q|, and by how much a value has changed at most.
    """
    V, MV, PV, Theta, rewards = it.V, it.MV, it.PV, it.Theta, it.rewards
    if math.isinf(rule.eta):  # nothing is summed: the policy is greedy for this update alone
        it.clock[UPDATES] = 0
        Theta[:] = 0.0
        rewards[:] = 0.0
        it.prior[WORTHS] = 0.0
    it.clock[UPDATES] += 1
    mean = it.prior[MEAN]
    if mean == 0:
        predict(world, stats, V, MV, PV)
    else:  # P V = v + Phi M (V - v)
        it.W[:] = V - mean
        predict(world, stats, it.W, MV, PV)
        PV += mean
    add_to(Theta, world.gamma, MV)
    if it.prior[PAYS] > 0:
        w = it.prior[WORTH]
        largest, best = target_where_rewards_are_known(
            r, it.CB, it.p, it.alike, rewards, PV, world.gamma, w
        )
        it.prior[WORTHS] += world.gamma * w
        it.prior[WORTH] = min(max(best, 0.0), rule.heaven)
    else:
        truncate = rule.ascension == TRUNCATION
        largest = target(r, it.CB, it.p, rewards, PV, world.gamma, rule.heaven, truncate)
    change = improve(rule.eta, PV, V, it.log_pi, it.cumulative)
    if rule.ascension == NOVELTY:
        bound_values(V, rule.heaven)
    return largest, change


@njit(cache=True)
def bound_values(V: FloatArray, heaven: float) -> None:
    """Values that enter the next regression lie in [0, R_max H]; the policy stays as it is."""
    for x in range(V.size):
        V[x] = min(max(V[x], 0.0), heaven)


@njit(inline="always")
def predict(
    world: Simulator, stats: Statistics, V: FloatArray, MV: FloatArray, PV: FloatArray
) -> None:
    """M V = Lambda^{-1} sum_D phi(x, a) V(x') and P V = Phi M V."""
    if stats.own:
        predict_own(world.first, world.after, stats.phi, stats.Lambda, stats.counts, V, MV, PV)
    elif stats.diagonal:
        predict_diagonal(
            world.first, world.after, stats.phi, stats.block, stats.Lambda, stats.counts, V, MV, PV
        )
    else:
        predict_blocks(stats.phi, stats.block, stats.inverse, stats.sums, stats.work, V, MV, PV)


@njit(cache=True)
def target(
    r: FloatArray,
    CB: FloatArray,
    p: FloatArray,
    rewards: FloatArray,
    PV: FloatArray,
    gamma: float,
    heaven: float,
    truncate: bool,
) -> float:
    """Q = (1 - p) (r + CB + gamma P V) + p R_max H in the place of P V; the largest |Q|."""
    n_states, n_actions = r.shape
    largest = 0.0
    for x in range(n_states):
        for a in range(n_actions):
            Q = r[x, a] + CB[x, a] + gamma * PV[x, a]
            if truncate:
                p[x, a] = 1.0 if heaven <= Q else 0.0
            Q = (1 - p[x, a]) * Q + p[x, a] * heaven
            rewards[x, a] += r[x, a]
            PV[x, a] = Q
            largest = max(largest, abs(Q))
    return largest


@njit(cache=True)
def target_where_rewards_are_known(
    r: FloatArray,
    CB: FloatArray,
    p: FloatArray,
    alike: BoolArray,
    rewards: FloatArray,
    PV: FloatArray,
    gamma: float,
    w: float,
) -> tuple[float, float]:
    """Q with a heaven that pays, and is then worth w (`Novelty`); the largest |Q|, and Q.

    It pays what the pair does, and where pairs are ``alike`` what the best action of the state
    does, so that all of them are tried.
    """
    n_states, n_actions = r.shape
    largest, best = 0.0, -np.inf
    for x in range(n_states):
        most = r[x].max()
        for a in range(n_actions):
            Q = r[x, a] + CB[x, a] + gamma * PV[x, a]
            pays = most if alike[x, a] else r[x, a]
            Q = (1 - p[x, a]) * Q + p[x, a] * (pays + gamma * w)
            rewards[x, a] += r[x, a]
            PV[x, a] = Q
            largest, best = max(largest, abs(Q)), max(best, Q)
    return largest, best


@njit(cache=True)
def predict_own(
    first: IntArray,
    after: IntArray,
    phi: FloatArray,
    Lambda: FloatArray,
    counts: FloatArray,
    V: FloatArray,
    MV: FloatArray,
    PV: FloatArray,
) -> None:
    """M V and P V where every pair has a feature of its own, as one-hot features are."""
    n_states, n_actions = PV.shape
    entry = 0
    for x in range(n_states):
        for a in range(n_actions):
            pair = x * n_actions + a
            end = first[pair + 1]
            total = 0.0
            while entry < end:
                total += counts[entry] * V[after[entry]]
                entry += 1
            MV[pair] = phi[pair, 0] * total / Lambda[pair, 0, 0]
            PV[x, a] = phi[pair, 0] * MV[pair]


@njit(cache=True)
def predict_diagonal(
    first: IntArray,
    after: IntArray,
    phi: FloatArray,
    block: IntArray,
    Lambda: FloatArray,
    counts: FloatArray,
    V: FloatArray,
    MV: FloatArray,
    PV: FloatArray,
) -> None:
    """M V = Lambda^{-1} sum_D phi(x, a) V(x') and P V = Phi M V, from counts."""
    n_states, n_actions = PV.shape
    MV[:] = 0.0
    for pair in range(block.size):
        total = 0.0
        for entry in range(first[pair], first[pair + 1]):
            total += counts[entry] * V[after[entry]]
        MV[block[pair]] += phi[pair, 0] * total
    for b in range(MV.size):
        MV[b] /= Lambda[b, 0, 0]
    for x in range(n_states):
        for a in range(n_actions):
            pair = x * n_actions + a
            PV[x, a] = phi[pair, 0] * MV[block[pair]]


@njit(cache=True)
def predict_blocks(
    phi: FloatArray,
    block: IntArray,
    inverse: FloatArray,
    sums: FloatArray,
    total: FloatArray,
    V: FloatArray,
    MV: FloatArray,
    PV: FloatArray,
) -> None:
    """The same from sums of features, with the inverse that is kept up to date."""
    n_states, n_actions = PV.shape
    n_blocks, s, _ = inverse.shape
    total[:] = 0.0
    for x in range(n_states):
        add_to(total, V[x], sums[x])
    for b in range(n_blocks):
        part = total[b * s : (b + 1) * s]
        for i in range(s):
            MV[b * s + i] = dot(inverse[b, i], part)
    for x in range(n_states):
        for a in range(n_actions):
            pair = x * n_actions + a
            begin = block[pair] * s
            PV[x, a] = dot(phi[pair], MV[begin : begin + s])


@njit(cache=True, fastmath={"contract", "reassoc"})
def dot(x: FloatArray, y: FloatArray) -> float:
    """x . y, with sums in any order, so that it runs on vector registers."""
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total


@njit(cache=True, fastmath={"contract"})
def add_to(y: FloatArray, a: float, x: FloatArray) -> None:
    """y += a x."""
    for i in range(y.size):
        y[i] += a * x[i]


@njit(cache=True)
def improve(
    eta: float, Q: FloatArray, V: FloatArray, log_pi: FloatArray, cumulative: FloatArray
) -> float:
    """V = 1/eta log sum_a pi(a) e^{eta Q(a)} and pi <- pi e^{eta (Q - V)}, at every state.

    At eta = infinity V = max_a Q, and pi is greedy for this Q alone: the update of the paper with
    its regulariser taken away. Returns by how much a value has changed at most.
    """
    n_states, n_actions = Q.shape
    greedy, change = math.isinf(eta), 0.0
    for x in range(n_states):
        top = -np.inf
        for a in range(n_actions):
            log_pi[x, a] = Q[x, a] if greedy else log_pi[x, a] + eta * Q[x, a]
            top = max(top, log_pi[x, a])
        if greedy:
            best = 0
            while Q[x, best] < top:
                best += 1
            for a in range(n_actions):
                log_pi[x, a] = 0.0 if a == best else -np.inf
                cumulative[x, a] = 0.0 if a < best else 1.0
            change = max(change, abs(top - V[x]))
            V[x] = top
            continue
        total = 0.0
        for a in range(n_actions):
            log_pi[x, a] -= top
            if log_pi[x, a] > NEGLIGIBLE:
                total += math.exp(log_pi[x, a]) if log_pi[x, a] < 0 else 1.0
            cumulative[x, a] = total
        if total != 1.0:
            normaliser = math.log(total)
            top += normaliser
            for a in range(n_actions):
                log_pi[x, a] -= normaliser
                cumulative[x, a] /= total
        change = max(change, abs(top / eta - V[x]))
        V[x] = top / eta
    return change
