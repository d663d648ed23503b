"""FRA-IL on finite worlds, compiled: the loop of Algorithm 1 with a reward player in it."""

import math
from typing import NamedTuple

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.core.compiler import compiled, entry_point, inlined
from optimist.core.finite import draw_first, keep_policy, play
from optimist.core.learning import learn
from optimist.core.linalg import add_to, copy, dot, draw, draw_between
from optimist.core.state import Kept, Learner, Record
from optimist.imitation.weights import WeightKind


class Player(NamedTuple):
    """The reward player (Algorithm 2), which moves its weights w after every episode.

    The reward features are stored by pairs: those of pair ``x * A + a`` are the entries from
    ``first[pair]`` to ``first[pair + 1]``.
    """

    kind: int  # the class of weights, a `WeightKind`
    numbers: FloatArray  # [2]: the radius of a ball, the ends of a box, the sum of a simplex
    step: float  # eta_r
    shift: float  # r_k = Phi_r w_k + shift
    fresh: bool  # whether (X_k, A_k) comes from a rollout of its own
    expert: FloatArray  # the estimate of lambda(pi_E), [d_r]
    first: IntArray  # [X A + 1]
    column: IntArray
    value: FloatArray
    w: FloatArray  # w_k, [d_r]
    total: FloatArray  # the sum of w_1, ..., w_k, [d_r]
    pairs: IntArray  # the pair (X_k, A_k) of each episode of a call
    rollouts: IntArray  # the steps of its rollout, if it had one of its own
    kept: FloatArray  # w_k of the episodes whose policies are kept, [n, d_r]


@entry_point
def run_imitation(
    me: Learner, rng: np.random.Generator, record: Record, kept: Kept, player: Player
) -> None:
    """Play and learn one episode after the other; the learner's rewards are the player's."""
    taken = 0
    for i in range(record.steps.size):
        if record.stop[0]:
            break
        if player.fresh:
            roll_out(me, player, rng, i)
        keep = keep_policy(me, kept, i, taken)
        play(me, rng, record, i)
        if not player.fresh:
            player.pairs[i] = record.last[i]
        move(player, me.states.r, player.pairs[i])
        if keep:
            copy(player.kept[taken], player.w)
        learn(me, rng, record, i)
        taken += keep


@entry_point
def play_one_and_draw(
    me: Learner, rng: np.random.Generator, record: Record, kept: Kept, player: Player
) -> None:
    """Play one episode, before the player moves and `optimist.core.finite.learn_one`."""
    if player.fresh:
        roll_out(me, player, rng, 0)
    keep_policy(me, kept, 0, 0)
    play(me, rng, record, 0)
    if not player.fresh:
        player.pairs[0] = record.last[0]


@inlined
def roll_out(me: Learner, player: Player, rng: np.random.Generator, i: int) -> None:
    """Draw (X_k, A_k) from mu(pi) by a rollout whose transitions are not used."""
    clock = me.epoch.clock
    draw_first(me.world.start, clock, rng)
    player.pairs[i], player.rollouts[i] = last_pair(me, rng)
    clock[0]["steps"] += player.rollouts[i]


@compiled()
def last_pair(me: Learner, rng: np.random.Generator) -> tuple[int, int]:
    """The last pair of a rollout, and its steps."""
    world, pi = me.world, me.states.cumulative
    first, after, cumulative = world.first, world.after, world.cumulative
    start, gamma = world.start, world.gamma
    n_actions, steps = pi.shape[1], 0
    x = draw(start, rng.random())
    while True:
        pair = x * n_actions + draw(pi[x], rng.random())
        steps += 1
        if not rng.random() < gamma:
            return pair, steps
        x = after[draw_between(cumulative, first[pair], first[pair + 1], rng.random())]


@inlined
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


@compiled()
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


@compiled()
def project(kind: int, numbers: FloatArray, w: FloatArray) -> None:
    """The point of a class of weights that is nearest to w, in its place."""
    if kind == WeightKind.BALL:
        norm = math.sqrt(dot(w, w))
        if norm > numbers[0]:
            for i in range(w.size):
                w[i] *= numbers[0] / norm
    elif kind == WeightKind.BOX:
        for i in range(w.size):
            w[i] = min(max(w[i], numbers[0]), numbers[1])
    elif kind == WeightKind.SIMPLEX:
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
