"""What the transcriptions share: episodes, counts, views of expert data, and plain solves.

Letters: H = 1 / (1 - gamma), n(x,a) and N(x,a,y) visit counts, P^ = N / n with uniform rows where
n = 0, nu^ the frequencies of first states. Expert data are ``states`` and ``actions`` [tau_E, T].
"""

import numpy as np
from reference.environments import draw


class Play:
    """Episodes that end after each step with probability 1 - gamma.

    One uniform number ``rng.random()`` for every draw, by cumulative sums, in the order of
    `optimist.core.finite.walk`: the first state of all when it is constructed; then in each step
    the action, the coin and, if the episode goes on, the next state; after the last step the first
    state of the next episode. So the transition of the last pair is not seen.
    """

    def __init__(self, P, nu0, gamma, rng):
        self.P, self.nu0 = np.cumsum(P, axis=2), np.cumsum(nu0)
        self.gamma, self.rng = gamma, rng
        self.x = draw(self.nu0, rng.random())
        self.steps = 0

    def episode(self, pi):
        """Its pairs (x, a) and transitions (x, a, y) under pi [X, A], or [T, X, A] by time."""
        tables = pi if pi.ndim == 3 else pi[None]  # after T, the last table
        pairs, transitions, going = [], [], True
        while going:
            x, table = self.x, tables[min(len(pairs), len(tables) - 1)]
            a = draw(np.cumsum(table[x]), self.rng.random())
            pairs.append((x, a))
            going = self.rng.random() < self.gamma
            if going:
                self.x = draw(self.P[x, a], self.rng.random())
                transitions.append((x, a, self.x))
        self.x = draw(self.nu0, self.rng.random())
        self.steps += len(pairs)
        return pairs, transitions


class Counts:
    """n, N, P^ and nu^."""

    def __init__(self, X, A):
        self.N, self.first = np.zeros((X, A, X)), np.zeros(X)

    def add(self, pairs, transitions):
        self.first[pairs[0][0]] += 1
        for transition in transitions:
            self.N[transition] += 1

    @property
    def n(self):
        return self.N.sum(axis=2)

    @property
    def P(self):
        n = self.n[:, :, None]
        return np.where(n > 0, self.N / np.maximum(n, 1), 1 / self.N.shape[2])

    @property
    def nu0(self):
        return self.first / self.first.sum()


# Expert data


def record(P, nu0, pi, n, T, rng):
    """n trajectories of fixed length T of a policy [X, A] or [T, X, A]: states, actions [n, T]."""
    P, nu0 = np.cumsum(P, axis=2), np.cumsum(nu0)
    tables = np.cumsum(pi if pi.ndim == 3 else pi[None], axis=2)
    states, actions = np.zeros((n, T), dtype=int), np.zeros((n, T), dtype=int)
    for i in range(n):
        x = draw(nu0, rng.random())
        for t in range(T):
            a = draw(tables[min(t, len(tables) - 1)][x], rng.random())
            states[i, t], actions[i, t] = x, a
            x = draw(P[x, a], rng.random())
    return states, actions


def whole(states, actions, X, A, gamma):
    """The view "whole": all pairs, of weight (1 - gamma) gamma^t / (1 - gamma^T), [X, A]."""
    n, T = states.shape
    mu = np.zeros((X, A))
    for t in range(T):
        np.add.at(mu, (states[:, t], actions[:, t]), gamma**t)
    return mu * (1 - gamma) / (1 - gamma**T) / n


def horizon(gamma, eps):
    """T = ceil(log(1/eps) / (1-gamma)): gamma^T <= eps."""
    return int(np.ceil(np.log(1 / eps) / (1 - gamma)))


# Plain solves


def occupancy(P, nu0, gamma, pi):
    """OCC: mu(pi) from (I - gamma P_pi)' m = (1-gamma) nu0, [X, A]."""
    P_pi = np.einsum("xa,xay->xy", pi, P)
    m = np.linalg.solve((np.eye(len(P)) - gamma * P_pi).T, (1 - gamma) * nu0)
    return m[:, None] * pi


def sweeps(update, V, tolerance, most=100_000):
    """EVAL: V = update(V) until no entry changes by more than the tolerance, or ``most`` times."""
    for _ in range(most):
        before, V = V, update(V)
        if np.abs(V - before).max() <= tolerance:
            break
    return V


def gap(P, nu0, gamma, r, mu_E, pi):
    """H <mu_E - mu(pi), r>."""
    return ((mu_E - occupancy(P, nu0, gamma, pi)) * r).sum() / (1 - gamma)


def weighted_sum(Phi, D, V):
    """sum over transitions (x, a, y) of phi(x, a) V(y), [d]."""
    if not D:
        return np.zeros(Phi.shape[2])
    x, a, y = np.array(D).T
    return (Phi[x, a] * V[y, None]).sum(axis=0)


def softmax(logits):
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def greedy(Q):
    """Uniform over the best actions."""
    top = Q.max(axis=-1, keepdims=True) == Q
    return top / top.sum(axis=-1, keepdims=True)


def uniform(X, A):
    return np.full((X, A), 1 / A)
