"""Algorithm 1 with heaven for what is new and bonuses by variances, in plain NumPy.

Nothing is saved: the data are a list, and everything is computed anew from all of it. What is not
in the pseudocode of the paper is written after the formulas of `optimist.core.prior`, of `Novelty`
and of `VarianceBonus`; sums stay sums. `Adaptive` plays a finite world whose rewards are known;
`AdaptiveInEnvironment` is told of episodes that pay, terminate and are cut off.
"""

from collections import Counter
from types import SimpleNamespace

import numpy as np
from scipy.special import logsumexp

from reference.algorithm_1 import Interaction

LEAST, MOST, SHARED = 1e-4, 10.0, 1e-3


def links(D):
    """How often each (x, a, x') was seen; the visits of pairs; the next states of each pair."""
    seen = Counter(D)
    visits = Counter((x, a) for x, a, _ in D)
    after = {pair: sorted({y for *other, y in seen if tuple(other) == pair}) for pair in visits}
    return seen, visits, after


def likeliest_theta(D, theta):
    """Theta = (news + 1/2) / (1 + sum of 1 / (i + theta)): 20 times, or to a thousandth."""
    _, visits, after = links(D)
    news = sum(len(states) - 1 for states in after.values())
    for _ in range(20):
        chances = sum(np.sum(1 / (np.arange(1, n) + theta)) for n in visits.values())
        last, theta = theta, np.clip((news + 0.5) / (1 + chances), LEAST, MOST)
        if abs(theta - last) < 1e-3 * last:
            break
    return float(theta)


def chance_of_the_new(D):
    """S, after Good and Turing: what leads where nothing else does, among the rare links."""
    seen, _, after = links(D)
    leads = Counter(y for x, _, y in seen if y != x)  # how many links lead to a state
    alone = sum(number == 1 for number in leads.values())
    rare = news = 0.0
    for (x, a), states in after.items():
        often = [seen[x, a, y] for y in states]
        for y in states:
            if y != x:  # a link is rare but for its part in the usual one
                part = 1.0
                if seen[x, a, y] == max(often):
                    part -= 1 / often.count(max(often))
                rare += part
                news += part * (leads[y] == 1)
    among_all = (alone + 1) / (leads.total() + 1)
    return min((news + among_all) / (rare + 1), 1.0)


def mean_value(D, V):
    """The mean of V over the states that were left, or come to from elsewhere."""
    states = {x for x, _, _ in D} | {y for x, _, y in D if y != x}
    return float(np.mean([V[x] for x in states])) if states else 0.0


class Adaptive:
    """The learner; ``Phi`` are the features [X, A, d], ``unit`` the ridge that theta multiplies.

    ``theta_of`` may put another theta in the place of the one that was found: two ways to compute
    it differ in the digits to which it is iterated.
    """

    columns = ("reward", "optimistic_value", "bonus", "ascension", "sup_q")

    def __init__(
        self, interaction, mdp, Phi, *, eta, c, level, heaven, unit, updates, tolerance, shared,
        theta_of=None,
    ):  # fmt: skip
        self.world, self.Phi, self.r, self.nu0, self.gamma = (
            interaction, Phi, mdp.r, mdp.nu0, mdp.gamma,
        )  # fmt: skip
        self.eta, self.c, self.heaven, self.unit = eta, c, heaven, unit
        self.updates, self.tolerance, self.shared = updates, tolerance, shared
        self.level, self.w = level, heaven
        self.theta_of = theta_of or (lambda theta: theta)
        X, self.A, self.d = Phi.shape
        self.V, self.log_pi = np.zeros(X), np.full((X, self.A), -np.log(self.A))
        self.CB, self.p = np.zeros((X, self.A)), np.zeros((X, self.A))
        self.D, self.k, self.e, self.theta = [], 0, 0, 1.0
        self.swept = []  # how many updates followed each episode

    @property
    def pi(self):
        return np.exp(self.log_pi)

    @property
    def state(self):
        """What is believed of states and pairs, and the numbers of the prior."""
        names = ("V", "pi", "CB", "p", "s", "v")
        return {"heaven": self.w, **{name: getattr(self, name) for name in names}}

    @property
    def values(self):
        """V of all that transitions lead to."""
        return self.V

    @property
    def Lambda(self):
        """Theta B^2 I + sum_D phi phi', with the theta of the epoch."""
        return self.theta * self.unit * np.eye(self.d) + self.rows.T @ self.rows

    def episode(self):
        self.optimistic_value = self.nu0 @ self.V
        pairs, transitions = self.world.episode(self.pi)
        x, a = np.array(pairs).T
        self.reward = self.r[x, a].sum()
        self._learn_from(pairs, transitions)

    def _learn_from(self, pairs, transitions, whole=True):
        self.k += whole
        x, a = np.array(pairs).T
        self.steps, self.bonus, self.ascension = len(x), self.CB[x, a].mean(), self.p[x, a].mean()
        self.D += transitions
        x, a, self.after = np.array(self.D, dtype=int).reshape(-1, 3).T
        self.rows = self.Phi[x, a]
        if self.e == 0 or self._log_det() >= self.log_det_at_epoch + np.log(2) - 1e-9:
            self._begin_epoch()
        self.swept.append(0)
        while self.swept[-1] < self.updates:
            self.swept[-1] += 1
            if self._update() < self.tolerance * self.heaven:
                break

    def _begin_epoch(self):
        self.e += 1
        self.log_pi[:] = -np.log(self.A)
        self.theta = self.theta_of(SHARED if self.shared else likeliest_theta(self.D, self.theta))
        self.s, self.v = chance_of_the_new(self.D), mean_value(self.D, self.values)
        self.log_det_at_epoch = self._log_det()
        square = np.einsum("xai,ij,xaj->xa", self.Phi, np.linalg.inv(self.Lambda), self.Phi)
        norms = (self.Phi**2).sum(axis=2)
        # theta u^2, in units of ||phi||^2; what has no features is never new.
        share = np.where(norms > 0, self.theta * self.unit * square / np.where(norms, norms, 1), 0)
        share = np.minimum(share, 1.0)
        new = share > self.level * (1 + 1e-9)  # [equality up to rounding]
        self.s *= 1 + 2 * np.log(max(self.k, 1))
        self.p = np.where(new, 1.0, np.minimum(self.s * share, 1.0))
        # Var of V(x'), from the moments of the data without the prior's share in them.
        data = np.maximum(1 - share, 1e-300)
        first = self.Phi @ self._regress(self.values - self.v) / data
        second = self.Phi @ self._regress((self.values - self.v) ** 2) / data
        # [Where they are equal but for rounding there is none.]
        variance = np.maximum(second - first**2, 0.0)
        variance[variance <= 1e-12 * second] = 0.0
        # u^2 is (1 - share) / n, for n visits: the bonus is gamma c sqrt(Var / n). Where heaven is
        # certain nothing is added to anything.
        self.CB = np.where(new, 0.0, self.gamma * self.c * np.sqrt(variance * square / data))
        self._expect_of_the_untried()

    def _expect_of_the_untried(self):
        known = self.r + self.gamma * (self.v + self.Phi @ self._regress(self.V - self.v))
        known = np.max(known, axis=1, where=self.p < 1, initial=0.0, keepdims=True)
        self.alike = (self.p == 1) & (self.r + self.gamma * self.w > known * (1 + 1e-9))

    def _update(self):
        PV = self.v + self.Phi @ self._regress(self.V - self.v)
        # Heaven pays what the pair does, or the best of its state where new pairs are alike, and
        # then what the best pair is worth, as far as is known.
        pays = np.where(self.alike, self.r.max(axis=1, keepdims=True), self.r)
        beyond = pays + self.gamma * self.w
        Q = (1 - self.p) * (self.r + self.CB + self.gamma * PV) + self.p * beyond
        self.w = np.clip(Q.max(), 0.0, self.heaven)
        return self._improve(Q)

    def _improve(self, Q, among=slice(None)):
        """V and pi from Q; the largest change of a value among some states."""
        self.sup_q = np.abs(Q[among]).max()
        V = logsumexp(self.log_pi + self.eta * Q, axis=1) / self.eta
        self.log_pi = self.log_pi + self.eta * (Q - V[:, None])
        change = np.abs(V - self.V)[among].max()
        self.V = np.clip(V, 0.0, self.heaven)
        return change

    def _regress(self, V):
        """M V = Lambda^{-1} sum_D phi(x, a) V(x')."""
        return np.linalg.solve(self.Lambda, self.rows.T @ V[self.after])

    def _log_det(self):
        return np.linalg.slogdet(self.Lambda)[1]


class AdaptiveInEnvironment(Adaptive):
    """The learner where rewards are estimated, and episodes terminate or are cut off.

    Termination is one more state, the last, worth ``terminal``. All states are carried along from
    the start, but until one is met nothing depends on it: the regression has seen no transition to
    it, and neither the tolerance nor sup |Q| looks at it.
    """

    def __init__(self, Phi, gamma, *, terminal, **parameters):
        world = SimpleNamespace(r=None, nu0=None, gamma=gamma)
        super().__init__(None, world, Phi, **parameters)
        self.terminal, self.paid, self.met = terminal, [], np.zeros(len(Phi), dtype=bool)

    columns = Adaptive.columns[1:]  # rewards are paid in other units

    @property
    def values(self):
        return np.append(self.V, self.terminal)

    def episode(self, start, steps, whole=True):
        """Learn from (x, a, reward in [0, R_max], x', whether it terminated), step by step.

        They may be those of a part of an episode, which goes on.
        """
        self.met[start] = True
        self.optimistic_value = self.V[start]
        transitions = []
        for x, a, reward, after, terminated in steps:
            transitions.append((x, a, len(self.V) if terminated else after))
            self.paid.append(reward)
            if not terminated:
                self.met[after] = True
        self._learn_from([step[:2] for step in steps], transitions, whole)

    def _expect_of_the_untried(self):
        """The mean reward, and then the mean value."""
        self.base = np.mean(self.paid) + self.gamma * self.v

    def _update(self):
        """Q = (1 - p) (CB + base + phi . theta) + p R_max H.

        theta = Lambda^{-1} sum_D phi(x, a) (r + gamma V(x') - base).
        """
        aim = np.array(self.paid) + self.gamma * self.values[self.after] - self.base
        theta = np.linalg.solve(self.Lambda, self.rows.T @ aim)
        Q = (1 - self.p) * (self.CB + self.base + self.Phi @ theta) + self.p * self.heaven
        return self._improve(Q, self.met)


def parameters_of(agent, gamma):
    """The parameters of a transcription of an agent, in whose theta it may trust."""
    c, phi = agent.config, agent.features
    unit = c.ridge_for(phi.bound)

    def same_theta(own):
        theta = agent.diagnostics.ridge / unit
        np.testing.assert_allclose(theta, own, rtol=1e-5)
        return theta

    return {
        "eta": c.eta,
        "c": c.bonus.c,
        "level": c.ascension.level,
        "heaven": c.heaven(gamma),
        "unit": unit,
        "updates": c.updates,
        "tolerance": c.tolerance,
        "shared": phi.structure != "diagonal",
        "theta_of": same_theta,
    }


def units_of(agent, gamma):
    """The scale of all that is a value."""
    names = ("optimistic_value", "bonus", "sup_q", "v", "heaven", "V", "CB")
    return dict.fromkeys(names, agent.config.heaven(gamma))


def transcribe(agent):
    """The transcription of an agent that has not played yet in a finite world."""
    mdp = agent.mdp
    world = Interaction(mdp, agent.seed, agent.config.observe_last)
    Phi = agent.features.all_actions(np.arange(mdp.n_states))
    return Adaptive(world, mdp, Phi, **parameters_of(agent, mdp.gamma))
