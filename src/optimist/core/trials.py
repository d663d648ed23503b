"""The policy played where actions are untried or on trial (`Novelty`), from pi.

pi is the policy of Algorithm 1, the softmax of eta times the sum of the epoch's Q's. Two cases are
played otherwise, without any effect on Q and V:

untried    An untried action may be all that a state is visited for, and one policy is played for a
           whole episode: an action that leads nowhere would take all of it. It is played at most
           `ODDS` times as often as the best tried action.
on trial   A tried action whose estimate is bad luck would never be tried again. An action that was
           tried fewer than `TAU` theta sqrt(N) times in N visits of its state is played at least
           `TAU` theta / sqrt(N) times as often as the best tried action.
"""

import math

import numpy as np

from optimist.checks import FloatArray
from optimist.core.compiler import apart, compiled, inlined
from optimist.core.optimism import KNOWN, LOG_ODDS, UNTRIED
from optimist.core.state import States

NEGLIGIBLE = -40.0
"""Below this the exponential of a difference of logits is under rounding, and not computed."""


@apart
def give_trials(states: States, first: int, last: int) -> None:
    """The cumulative probabilities of the policy played, where it is not pi."""
    log_pi, standing, cumulative = states.log_pi, states.standing, states.cumulative
    n_actions = log_pi.shape[1]
    for x in range(first, last):
        if not plays_otherwise(standing[x]):
            continue
        top, total = best_tried(log_pi[x], standing[x]), 0.0
        for a in range(n_actions):
            weight = log_weight(log_pi[x, a] - top, standing[x, a])
            if weight > NEGLIGIBLE:
                total += math.exp(weight)
            cumulative[x, a] = total
        for a in range(n_actions):
            cumulative[x, a] /= total


@compiled()
def plays_otherwise(standing: FloatArray) -> bool:
    """Whether an action of a state is on trial or untried, and another tried."""
    tried, other = False, False
    for a in range(standing.size):
        tried = tried or standing[a] != UNTRIED
        other = other or standing[a] != KNOWN
    return tried and other


@compiled()
def best_tried(log_pi: FloatArray, standing: FloatArray) -> float:
    """The largest log pi of the tried actions of a state."""
    top = -np.inf
    for a in range(log_pi.size):
        if standing[a] != UNTRIED:
            top = max(top, log_pi[a])
    return top


@inlined
def log_weight(ahead: float, standing: float) -> float:
    """The log-odds at which an action is played, against the best tried one."""
    return min(ahead, LOG_ODDS) if standing == UNTRIED else max(ahead, standing)


@compiled()
def log_played(states: States, out: FloatArray) -> None:
    """The logarithm of the policy played."""
    log_pi, standing = states.log_pi, states.standing
    n_states, n_actions = log_pi.shape
    for x in range(n_states):
        if not plays_otherwise(standing[x]):
            for a in range(n_actions):
                out[x, a] = log_pi[x, a]
            continue
        top, total = best_tried(log_pi[x], standing[x]), 0.0
        for a in range(n_actions):
            out[x, a] = log_weight(log_pi[x, a] - top, standing[x, a])
            if out[x, a] > NEGLIGIBLE:
                total += math.exp(out[x, a])
        normaliser = math.log(total)
        for a in range(n_actions):
            out[x, a] -= normaliser
