"""FAIL (Sun, Vemula, Boots and Bagnell, 2019): states only, P unknown, time-indexed.

Confirmed in the authors' code: the utility is the importance-weighted mean of f at the learner's
next states minus the mean at the expert's; f is a best response each round, the policy a gradient
step on f / pi_ref, and the iterate of least utility is returned. Theirs is a kernel class of f and
a network; here |f| <= 1, whose best response is the sign.
"""

import numpy as np

from optimist.mdp import match_next_state
from transcriptions.common import Play, softmax, uniform


def schedule(K, T, gamma):
    """K_t ~ gamma^(t/3), whole numbers that sum to K: differences of the rounded sums."""
    weights = gamma ** (np.arange(T) / 3)
    return np.diff(np.rint(K * np.cumsum(weights) / weights.sum()), prepend=0).astype(int)


def game(C, literal=False):
    """The weights M(x,a,y) of a game, and the allowed actions, from the counts C.

    Literal: the importance weights A C / n_t. Otherwise self-normalised, nu(x) C(x,a,y) / C(x,a)
    with nu(x) = C(x) / n_t, and actions that were not tried in a visited state are forbidden.
    """
    n = C.sum()
    if literal:
        return C.shape[1] * C / n, np.ones(C.shape[:2], dtype=bool)
    pairs = C.sum(axis=2)
    visits = pairs.sum(axis=1, keepdims=True)
    M = (visits / n)[:, :, None] * C / np.maximum(pairs, 1)[:, :, None]
    return M, (pairs > 0) | (visits == 0)


def play_game(M, m, eta, rounds):
    """The paper's solver: f_i the best response to pi_i, then multiplicative weights.

    Returns the least u and its policy.
    """
    gains = np.zeros(M.shape[:2])
    best, best_pi = np.inf, None
    for _ in range(rounds):
        pi = softmax(-eta * gains)
        difference = np.einsum("xa,xay->y", pi, M) - m
        f = np.sign(difference)
        if difference @ f < best:
            best, best_pi = difference @ f, pi
        gains = gains + M @ f
    return best, best_pi


def fail(P, nu0, gamma, states, K, rng, *, literal=False):
    """The tables pi_0, .., pi_{T-1} from the expert's states [tau_E, T + 1].

    The episodes of game t play pi_0, .., pi_{t-1} and then uniformly, until they end.
    """
    X, A, _ = P.shape
    play, tables = Play(P, nu0, gamma, rng), []
    for t, K_t in enumerate(schedule(K, states.shape[1] - 1, gamma)):
        C = np.zeros((X, A, X))
        roll_in = np.array([*tables, uniform(X, A)])
        for _ in range(K_t):
            transitions = play.episode(roll_in)[1]
            if len(transitions) > t:  # it lives to t + 1
                C[transitions[t]] += 1
        m = np.bincount(states[:, t + 1], minlength=X) / len(states)
        if C.sum() == 0:  # n_t = 0: pi_t = pi_{t-1}
            tables.append(roll_in[-2] if t else roll_in[-1])
            continue
        M, allowed = game(C, literal)
        tables.append(match_next_state(M, m, allowed=allowed).policy)
    return np.array(tables)


def fail_told(P, nu0, laws):
    """The games with true nu and P for m_1, .., m_T [T, X]: tables, and the learner's laws."""
    tables, law = [], [nu0]
    for m in laws:
        tables.append(match_next_state(law[-1][:, None, None] * P, m).policy)
        law.append(np.einsum("x,xa,xay->y", law[-1], tables[-1], P))
    return np.array(tables), np.array(law)
