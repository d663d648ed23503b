"""The algorithms that Section 3.3 calls special cases, each written from its own description."""

import math

import numpy as np
import pytest
from reference.algorithm_1 import Interaction
from reference.comparison import follow
from reference.mdps import random_mdp
from reference.variants import variant
from scipy.special import logsumexp

from optimist.agents import VariantAgent
from optimist.core import Never, Threshold, Truncation


class BonusLearner:
    """Least squares with bonuses alone, or with targets cut off at the largest value there can be.

    Moulin and Neu (2023) cut them off; UCBVI and LSVI-UCB are greedy for such values.
    """

    columns = ("sup_q",)

    def __init__(self, agent, truncates):
        c, self.mdp = agent.config, agent.mdp
        self.c, self.world = c, Interaction(agent.mdp, agent.seed, observe_last=False)
        self.phi = agent.features.all_actions(np.arange(self.mdp.n_states))
        self.limit = c.r_max * self.mdp.horizon if truncates else math.inf
        self.state = {"V": np.zeros(self.mdp.n_states), "pi": self.mdp.uniform_policy}
        self.rows, self.after, self.k, self.e, self.cut = [], [], 0, 0, 0

    def episode(self):
        pairs, transitions = self.world.episode(self.state["pi"])
        self.k, self.steps = self.k + 1, len(pairs)
        self.rows += [self.phi[x, a] for x, a, _ in transitions]
        self.after += [y for _, _, y in transitions]
        # Ridge regression is least squares with rows sqrt(ridge) e_i and targets 0 added.
        d = self.phi.shape[-1]
        design = np.vstack([np.sqrt(self.c.ridge) * np.eye(d), *self.rows])
        singular = np.linalg.svd(design, compute_uv=False)
        volume = 2 * np.log(singular).sum()
        if not self.e or volume >= self.volume + np.log(2) - 1e-9:
            self.e, self.volume = self.e + 1, volume
            covariance = design.T @ design
            leverage = np.einsum(
                "xai,xai->xa", self.phi, np.linalg.solve(covariance, self.phi[..., None])[..., 0]
            )
            self.bonus = self.c.bonus.beta * np.sqrt(leverage)
            self.log_weights = np.zeros(self.mdp.r.shape)
        for _ in range(self.c.updates):
            targets = np.concatenate([np.zeros(d), self.state["V"][self.after]])
            theta = np.linalg.lstsq(design, targets, rcond=None)[0]
            q = np.minimum(self.mdp.r + self.bonus + self.mdp.gamma * self.phi @ theta, self.limit)
            self.state = self.greedy(q) if math.isinf(self.c.eta) else self.mirror_descent(q)
        self.sup_q = np.abs(q).max()
        self.cut += (q == self.limit).mean()

    def greedy(self, q):
        rounded = q.round(10)  # so that ties are ties
        return {"V": q.max(axis=1), "pi": np.eye(q.shape[1])[rounded.argmax(axis=1)]}

    def mirror_descent(self, q):
        """V is a soft maximum under the last policy, which then is reweighted."""
        old = self.log_weights
        self.log_weights = old + self.c.eta * q
        now, before = (logsumexp(weights, axis=1) for weights in (self.log_weights, old))
        return {"V": (now - before) / self.c.eta, "pi": np.exp(self.log_weights - now[:, None])}


def within(config, setting):
    """An agent for the same MDP with rewards of at most r_max."""
    mdp, features = setting
    scaled = mdp.with_rewards(mdp.r * config.r_max)
    return VariantAgent(scaled, features, config=config, seed=3)


@pytest.mark.parametrize(
    ("eta", "beta", "options"),
    [
        (0.5, 4.0, {"ridge": 0.5, "updates": 1}),
        (0.5, 4.0, {"ridge": 0.5, "updates": 3}),
        (math.inf, 6.0, {"updates": 2}),
    ],
)
def test_truncation_is_ravi_ucb_or_optimistic_value_iteration(setting, eta, beta, options):
    agent = within(variant(eta, beta, Truncation(), r_max=0.5, **options), setting)
    other = follow(agent, BonusLearner(agent, truncates=True), 100)
    assert other.cut > 0.1  # of 100: values were cut off


def test_the_ascension_of_a_truncated_value_is_one(setting):
    agent = within(variant(0.5, 1.0, Truncation(), r_max=0.5), setting)
    for _ in range(20):
        agent.learn(1)
        now = agent.diagnostics
        assert set(np.unique(now.p)) <= {0.0, 1.0}
        certain = (now.p == 1).all(axis=1)
        assert now.V[certain] == pytest.approx(0.5 * agent.mdp.horizon, rel=1e-12)


def test_without_ascension_there_are_bonuses_alone(setting):
    """And values exceed every bound, which is the reason for the second degree of optimism."""
    agent = within(variant(0.5, 0.3, Never(), r_max=0.5, updates=2), setting)
    follow(agent, BonusLearner(agent, truncates=False), 100)
    assert (agent.diagnostics.p == 0).all()
    agent = VariantAgent(random_mdp(), config=variant(0.5, 30.0, Never(), updates=10))
    assert agent.learn(300).sup_q.max() > 2 * agent.mdp.horizon


class PlainRmax:
    """Brafman and Tennenholtz (2002), re-planning when the determinant of the counts doubles.

    A pair with too few visits leads to heaven. Another has its observed frequencies, of which the
    ridge takes a part that leads nowhere. Values are those of an optimal policy in this model.
    """

    columns = ()

    def __init__(self, mdp, visits, seed, ridge=1.0):
        self.mdp, self.visits, self.ridge = mdp, visits, ridge
        self.world = Interaction(mdp, seed, observe_last=False)
        self.counts = np.zeros((*mdp.r.shape, mdp.n_states))
        self.state, self.k, self.e = {"pi": mdp.uniform_policy}, 0, 0
        self.known, self.volume = [], -math.inf

    def episode(self):
        pairs, transitions = self.world.episode(self.state["pi"])
        self.k, self.steps = self.k + 1, len(pairs)
        np.add.at(self.counts, tuple(np.array(transitions, dtype=int).reshape(-1, 3).T), 1)
        total = self.counts.sum(axis=2)
        volume = np.log(total + self.ridge).sum()
        if volume >= self.volume + np.log(2) - 1e-9:
            self.e, self.volume = self.e + 1, volume
            self.known.append(total >= self.visits)
        model = self.counts / (total + self.ridge)[..., None]
        V, change = np.zeros(self.mdp.n_states), 1.0
        while change > 1e-13:
            known = self.mdp.r + self.mdp.gamma * model @ V
            Q = np.where(self.known[-1], known, self.mdp.horizon)
            change, V = np.abs(Q.max(axis=1) - V).max(), Q.max(axis=1)
        self.state = {"V": V, "pi": np.eye(self.mdp.n_actions)[Q.argmax(axis=1)]}


@pytest.mark.parametrize("visits", [1, 3])
def test_threshold_is_r_max(visits):
    mdp = random_mdp(n_states=4, n_actions=2, gamma=0.8)
    config = variant(math.inf, 0.0, Threshold.after(visits), updates=200)
    agent = VariantAgent(mdp, config=config, seed=5)
    other = follow(agent, PlainRmax(mdp, visits, seed=5), 150)
    assert other.known[0].sum() < other.known[-1].sum()
