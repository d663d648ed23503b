"""The peers as their papers print them, in plain NumPy: data are a list, estimates are made anew.

Each plays its own copy of the world with the numbers that the compiled agent draws.
"""

import numpy as np

from reference.algorithm_1 import Interaction


def best(Q, epsilon=0.0):
    """The policy that is uniform over the best actions, and over all with probability epsilon."""
    top = Q.max(axis=-1, keepdims=True) == Q
    return epsilon / Q.shape[-1] + (1 - epsilon) * top / top.sum(axis=-1, keepdims=True)


class Plain:
    """Episodes; an algorithm says what it plays, and what it makes of what it sees."""

    columns = ("reward", "optimistic_value", "bonus")

    def __init__(self, mdp, config, seed):
        self.mdp, self.config, self.gamma, self.r = mdp, config, mdp.gamma, mdp.r
        self.X, self.A = mdp.r.shape
        self.world = Interaction(mdp, seed, observe_last=False)
        self.rng, self.H = self.world.rng, mdp.horizon
        self.pi = np.full((self.X, self.A), 1 / self.A)
        self.CB = np.zeros((self.X, self.A))
        self.D, self.k, self.e = [], 0, 0
        self.Q = np.full((self.X, self.A), self.first_value())
        self.V = self.Q.max(axis=1)

    @property
    def state(self):
        return {"V": self.V, "CB": self.CB}

    def first_value(self):
        return 0.0

    def observe(self, x, a, y):
        pass

    def end(self):
        pass

    def episode(self):
        self.k += 1
        self.optimistic_value = self.mdp.nu0 @ self.V
        pairs, bonuses = [], []
        for x, a, y in self.world.steps(self.pi):
            pairs.append((x, a))
            bonuses.append(self.CB[x, a])
            if y is not None:
                self.D.append((x, a, y))
                self.observe(x, a, y)
        self.steps, self.bonus = len(pairs), np.mean(bonuses)
        self.reward = sum(self.r[pair] for pair in pairs)
        self.end()

    @property
    def counts(self):
        """N(x, a, x')."""
        N = np.zeros((self.X, self.A, self.X))
        for transition in self.D:
            N[transition] += 1
        return N


class PlainUcbvi(Plain):
    """He, Zhou and Gu (2021), Algorithm 1, with the bonuses of our docstring."""

    def first_value(self):
        return self.H

    def end(self):
        self.e += 1
        c, N = self.config.c, self.counts
        n = N.sum(axis=2)
        known = n > 0
        P = N / np.maximum(n, 1)[:, :, None]
        for _ in range(self.config.updates):
            mean = P @ self.V
            variance = (P * (self.V - mean[:, :, None]) ** 2).sum(axis=2)
            with np.errstate(divide="ignore", invalid="ignore"):
                b = np.minimum(c * np.sqrt(variance / n) + c**2 * self.H / n, self.H)
            b = np.where(known, b, self.H)
            self.CB = self.gamma * b
            target = np.where(known, self.r + self.gamma * (mean + b), self.H)
            self.Q = np.minimum(self.Q, target)
            before, self.V = self.V, self.Q.max(axis=1)
            if (before - self.V).max() <= 1e-5 * self.H:
                break
        self.pi = best(self.Q)


class PlainPsrl(Plain):
    """Osband, Russo and Van Roy (2013), or with the epochs of Ouyang et al. (2017)."""

    length, last = 0, 0  # of this epoch and of the last, in episodes

    def end(self):
        N = self.counts
        n = N.sum(axis=2)
        self.length += 1
        if not (
            not self.config.lazy
            or self.length > self.last
            or (n >= np.maximum(2 * self.n_of_epoch, 1)).any()
        ):
            return
        self.e += 1
        self.n_of_epoch, self.last, self.length = n, self.length, 0
        P = np.array([[self.sample(N, x, a) for a in range(self.A)] for x in range(self.X)])
        self.sampled = P
        for _ in range(self.config.updates):
            self.Q = self.r + self.gamma * P @ self.V
            change = self.Q.max(axis=1) - self.V
            self.V = self.Q.max(axis=1)
            if np.ptp(change) <= 1e-4:
                break
        rest = self.gamma * self.H * (change.max() + change.min()) / 2
        self.Q, self.V = self.Q + rest, self.V + rest
        self.pi = best(self.Q)

    def sample(self, N, x, a):
        """A draw from the Dirichlet posterior: see the docstring of the compiled function."""
        N = N[x, a]
        seen = list(dict.fromkeys(y for x_, a_, y in self.D if (x_, a_) == (x, a)))
        alpha, X, rng = self.config.alpha, self.X, self.rng
        row = np.zeros(X)
        for y in seen:
            row[y] = rng.standard_gamma(alpha / X + N[y])
        rest = [y for y in range(X) if y not in seen]
        if rest and alpha >= 1 and 80 * alpha >= X:
            row[rest] = rng.standard_gamma(alpha / X, size=len(rest))
        elif rest:
            mass = rng.standard_gamma(len(rest) * alpha / X)
            total = row.sum() + mass
            while rest and mass > 1e-18 * total:
                y = int(rng.random() * X)
                if y in rest:
                    rest.remove(y)
                    mine, others = 1.0, 0.0
                    if rest:
                        mine = rng.standard_gamma(1 + alpha / X)
                        others = rng.standard_gamma(len(rest) * alpha / X)
                    row[y] = mass * mine / (mine + others)
                    mass = mass * others / (mine + others)
        return row / row.sum()


class PlainOptimisticQ(Plain):
    """Dong, Wang, Chen and Wang (2019), Algorithm 1."""

    def first_value(self):
        return self.H

    def observe(self, x, a, y):
        if not hasattr(self, "q"):
            self.q = self.Q.copy()
        k = sum(seen[:2] == (x, a) for seen in self.D)
        b = self.config.c * np.sqrt(self.H / k)
        rate = (self.H + 1) / (self.H + k)
        target = self.r[x, a] + b + self.gamma * self.Q[y].max()
        self.q[x, a] = (1 - rate) * self.q[x, a] + rate * target
        self.Q[x, a] = min(self.Q[x, a], self.q[x, a])
        self.CB[x, a] = b
        self.V = self.Q.max(axis=1)
        self.pi[x] = best(self.Q[x])


class PlainQLearning(Plain):
    """Watkins (1989)."""

    def observe(self, x, a, y):
        k = sum(seen[:2] == (x, a) for seen in self.D)
        rate = self.config.step / k**self.config.power
        self.Q[x, a] += rate * (self.r[x, a] + self.gamma * self.Q[y].max() - self.Q[x, a])
        self.V = self.Q.max(axis=1)
        self.pi[x] = best(self.Q[x], self.config.epsilon)


class PlainLeastSquares(Plain):
    """Least-squares value iteration: with bonuses (Jin et al., 2020), or without."""

    tolerance = -1.0

    def __init__(self, mdp, config, seed, Phi):
        super().__init__(mdp, config, seed)
        self.Phi = Phi

    def every_episode(self):
        return False

    def bonuses(self, Lambda):
        inverse = np.linalg.inv(Lambda)
        norms = np.einsum("xai,ij,xaj->xa", self.Phi, inverse, self.Phi)
        return self.config.beta * np.sqrt(norms)

    def end(self):
        Lambda = self.config.ridge * np.eye(self.Phi.shape[2])
        for x, a, _ in self.D:
            Lambda += np.outer(self.Phi[x, a], self.Phi[x, a])
        log_det = np.linalg.slogdet(Lambda)[1]
        begins = self.k == 1 or log_det >= self.log_det + np.log(2) - 1e-9
        if begins:
            self.e += 1
            self.log_det = log_det
        if not (begins or self.every_episode()):
            return
        self.CB = self.bonuses(Lambda)
        for _ in range(self.config.updates):
            total = sum((self.Phi[x, a] * self.V[y] for x, a, y in self.D), np.zeros(len(Lambda)))
            PV = self.Phi @ np.linalg.solve(Lambda, total)
            self.Q = np.minimum(self.r + self.CB + self.gamma * PV, self.H)
            before, self.V = self.V, self.Q.max(axis=1)
            if np.abs(before - self.V).max() <= self.tolerance:
                break
        self.pi = np.eye(self.A)[np.argmax(self.Q, axis=1)]


class PlainRlsvi(PlainLeastSquares):
    """Osband, Van Roy and Wen (2016): parameters drawn from the posterior of the regression."""

    tolerance = 1e-3

    def every_episode(self):
        return not self.config.lazy

    def bonuses(self, Lambda):
        z = self.rng.standard_normal(len(Lambda))
        xi = np.linalg.solve(np.linalg.cholesky(Lambda).T, self.config.sigma * z)
        return self.Phi @ xi
