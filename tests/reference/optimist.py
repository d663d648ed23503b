"""The rule of `Optimist` in plain NumPy: Algorithm 1 with a prior, variance bonuses and trials.

Nothing is saved: the data are a list, and everything is computed anew from all of it. It is written
from the specification of the rule, not from the engine, and has its own copies of the constants;
sums stay sums. `Adaptive` plays a finite world whose rewards are known; `AdaptiveInEnvironment` is
told of episodes that pay, terminate and are cut off.
"""

from collections import Counter
from types import SimpleNamespace

import numpy as np
from scipy.special import logsumexp

from reference.algorithm_1 import Interaction

LEAST, MOST = 1e-4, 10.0  # bounds on the global theta
SHARED = 1e-3  # theta where pairs share features
STRENGTH = 2.0  # how many pieces of news the global theta counts for in that of a block
RIDGE = 1e-3  # the ridge, in units of B^2
LEVEL = 0.5  # a pair is untried if the prior's share in its estimate is larger
TAU = 0.4  # an action is on trial below TAU theta sqrt(N) visits: at least TAU theta / sqrt(N) odds
ODDS = 10.0  # the most that an untried action is played, relative to the best tried one


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


def concentrations(D, theta, block, n_blocks):
    """Theta of each block: news over chances of the states that have a pair in it, and the prior.

    The global theta counts for STRENGTH pieces of news. ``block`` is that of each pair, [X, A].
    """
    _, visits, after = links(D)
    found = []
    for b in range(n_blocks):
        states = np.flatnonzero((block == b).any(axis=1))
        pairs = [pair for pair in visits if pair[0] in states]
        news = sum(len(after[pair]) - 1 for pair in pairs)
        chances = sum(np.sum(1 / (np.arange(1, visits[pair]) + theta)) for pair in pairs)
        found.append((news + STRENGTH) / (chances + STRENGTH / theta))
    return np.array(found)


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
    """The learner; ``Phi`` are the features [X, A, d], ``block_of`` the blocks of states, [X, A].

    ``theta_of`` may put other concentrations in the place of those that were found: two ways to
    compute them differ in the digits to which they are iterated.
    """

    columns = ("reward", "optimistic_value", "bonus", "ascension", "sup_q")

    def __init__(
        self, interaction, mdp, Phi, *, eta, c, heaven, ridge, bound, updates, tolerance, shared,
        block_of, n_blocks, theta_of=None,
    ):  # fmt: skip
        self.world, self.Phi, self.r, self.nu0, self.gamma = (
            interaction, Phi, mdp.r, mdp.nu0, mdp.gamma,
        )  # fmt: skip
        self.eta, self.c, self.heaven, self.ridge = eta, c, heaven, ridge
        self.bound, self.updates, self.tolerance, self.shared = bound, updates, tolerance, shared
        self.w = heaven
        self.theta_of = theta_of or (lambda theta: theta)
        X, self.A, self.d = Phi.shape
        self.block, self.n_blocks = block_of(np.arange(X)), n_blocks
        self.V, self.log_pi = np.zeros(X), np.full((X, self.A), -np.log(self.A))
        self.CB, self.p = np.zeros((X, self.A)), np.zeros((X, self.A))
        self.untried, self.trial = np.ones((X, self.A), bool), np.zeros((X, self.A))
        self.D, self.k, self.e, self.theta = [], 0, 0, 1.0
        self.swept = []  # how many updates followed each episode

    @property
    def pi(self):
        """What is played: actions on trial with their least odds, untried ones bounded.

        ``log_pi`` is the iterate of mirror descent, which is played where nothing was tried.
        """
        played = np.exp(self.log_pi)
        for x, (untried, trial) in enumerate(zip(self.untried, self.trial, strict=True)):
            if not untried.all():
                top = self.log_pi[x][~untried].max()
                # No tried action exceeds the odds of 1: the bound is that of untried ones.
                odds = np.exp(np.minimum(self.log_pi[x] - top, np.log(ODDS)))
                odds = np.maximum(odds, trial)
                played[x] = odds / odds.sum()
        return played

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
        """Ridge I + sum_D phi phi', with the same ridge for ever."""
        return self.ridge * np.eye(self.d) + self.rows.T @ self.rows

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
            if self._update() < self.tolerance * (1 - self.gamma) * self.heaven:
                break

    def _begin_epoch(self):
        self.e += 1
        self.log_pi[:] = -np.log(self.A)
        self._fit_prior()
        self.log_det_at_epoch = self._log_det()
        square = np.einsum("xai,ij,xaj->xa", self.Phi, np.linalg.inv(self.Lambda), self.Phi)
        norms = (self.Phi**2).sum(axis=2)
        something = norms > 0  # what has no features is never new, and never on trial
        norms[~something], square[~something] = 1.0, 1.0
        share = np.where(something, np.minimum(self.ridge * square / norms, 1.0), 0.0)
        self.untried = share > LEVEL * (1 + 1e-9)  # [equality up to rounding]
        tried = something & ~self.untried
        visits = np.where(tried, 1 / square - self.ridge / norms, 0.0)
        theta = self.concentration[self.block]
        L = 1 + 2 * np.log(max(self.k, 1))
        self.s *= L
        self.p = np.where(tried, np.minimum(self.s * theta / (visits + theta), 1.0), self.untried)
        N = np.maximum(visits.sum(axis=1, keepdims=True), 1.0)
        on_trial = tried & (visits < TAU * theta * np.sqrt(N))
        self.trial = np.where(on_trial, np.minimum(TAU * theta / np.sqrt(N), 1.0), 0.0)
        # Var of V(x'), from the moments of the data without the prior's share in them.
        data = np.maximum(1 - share, 1e-300)
        first = self.Phi @ self._regress(self.values - self.v) / data
        second = self.Phi @ self._regress((self.values - self.v) ** 2) / data
        # [Where they are equal but for rounding there is none.]
        variance = np.maximum(second - first**2, 0.0)
        variance[variance <= 1e-12 * second] = 0.0
        # u^2 is (1 - share) / n, for n visits: the bonus is gamma c (1 + log N)^2 sqrt(Var / n).
        deviations = self.c * (1 + np.log(N)) ** 2
        self.CB = self.gamma * deviations * np.sqrt(variance * square / data)
        self.CB[self.untried] = 0.0

    def _fit_prior(self):
        """The concentrations of blocks, s and v, from all data and the last global theta."""
        if self.shared:
            found = np.full(self.n_blocks, SHARED)
        else:
            self.theta = likeliest_theta(self.D, self.theta)
            found = concentrations(self.D, self.theta, self.block, self.n_blocks)
        self.concentration = self.theta_of(found)
        self.s, self.v = chance_of_the_new(self.D), mean_value(self.D, self.values)

    def _update(self):
        PV = self.v + self.Phi @ self._regress(self.V - self.v)
        # Heaven pays what the pair does, and then what the best pair is worth, as far as is known.
        beyond = self.r + self.gamma * self.w
        Q = (1 - self.p) * (self.r + self.CB + self.gamma * PV) + self.p * beyond
        w, self.w = self.w, np.clip(Q.max(), 0.0, self.heaven)
        most = np.append(Q.max(axis=1) - self.V, self.w - w)  # the largest changes of any policy
        self._improve(Q)
        changes = np.append(self.changes, self.w - w)
        # All go the same way: as far as the slowest would, if constants decay as g^n.
        g = self.gamma / (1 + self.ridge / self.bound**2)
        slowest = changes.min() if changes.min() > 0 else min(most.max(), 0)
        known = np.append(self.V, self.w)
        shift = np.clip(g / (1 - g) * slowest, -known.min(), self.heaven - known.max())
        self.V, self.w = self.V + shift, self.w + shift
        return np.abs(changes - shift * (1 - g) / g).max()

    def _improve(self, Q):
        """V and pi from Q; by how much values would have changed if they were not bounded."""
        self.sup_q = np.abs(Q).max()
        V = logsumexp(self.log_pi + self.eta * Q, axis=1) / self.eta
        self.log_pi = self.log_pi + self.eta * (Q - V[:, None])
        changes, before = V - self.V, self.V
        self.V = np.clip(V, 0.0, self.heaven)
        self.changes = self.V - before
        return changes

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

    def _fit_prior(self):
        """Also what is expected of a pair: the mean reward, and then the mean value."""
        super()._fit_prior()
        self.base = np.mean(self.paid) + self.gamma * self.v

    def _update(self):
        """Q = (1 - p) (CB + base + phi . theta) + p R_max H.

        theta = Lambda^{-1} sum_D phi(x, a) (r + gamma V(x') - base).
        """
        aim = np.array(self.paid) + self.gamma * self.values[self.after] - self.base
        theta = np.linalg.solve(self.Lambda, self.rows.T @ aim)
        Q = (1 - self.p) * (self.CB + self.base + self.Phi @ theta) + self.p * self.heaven
        changes = self._improve(Q)[self.met]
        self.sup_q = np.abs(Q[self.met]).max()
        return np.abs(changes).max()


def parameters_of(agent, gamma):
    """The parameters of a transcription of an agent, in whose concentrations it may trust."""
    c, phi = agent.config, agent.features

    def same_theta(own):
        theta = agent.diagnostics.theta
        np.testing.assert_allclose(theta, own, rtol=1e-5)
        return theta

    return {
        "eta": c.eta,
        "c": c.bonus.c,
        "heaven": c.heaven(gamma),
        "ridge": RIDGE * phi.bound**2 if c.ridge is None else c.ridge,
        "bound": phi.bound,
        "updates": c.updates,
        "tolerance": c.tolerance,
        "shared": phi.structure != "diagonal",
        "block_of": lambda states: phi.in_blocks(states)[1],
        "n_blocks": phi.blocks,
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
