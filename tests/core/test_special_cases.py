"""The algorithms that Section 3.3 calls special cases, each written from its own description."""

import numpy as np
import pytest

from optimist.agents import VariantAgent
from optimist.core import FixedBonus, Never, Threshold, Truncation, Variant

INFINITY = float("inf")


class BonusLearner:
    """Least squares with bonuses; what is done with the targets is left to the special case."""

    def __init__(self, plain, agent, seed):
        c, self.mdp = agent.config, agent.mdp
        self.c, self.world = c, plain.Interaction(agent.mdp, seed, observe_last=False)
        self.phi = agent.features.all_actions(np.arange(self.mdp.n_states))
        self.limit = c.r_max * self.mdp.horizon
        self.values = np.zeros(self.mdp.n_states)
        self.log_weights = np.zeros(self.mdp.r.shape)
        self.policy = self.mdp.uniform_policy
        self.rows, self.after, self.epochs, self.cut = [], [], 0, 0

    def episode(self):
        pairs, transitions = self.world.episode(self.policy)
        self.steps = len(pairs)
        self.rows += [self.phi[x, a] for x, a, _ in transitions]
        self.after += [y for _, _, y in transitions]
        # Ridge regression is least squares with rows sqrt(ridge) e_i and targets 0 added.
        d = self.phi.shape[-1]
        design = np.vstack([np.sqrt(self.c.ridge) * np.eye(d), *self.rows])
        singular = np.linalg.svd(design, compute_uv=False)
        volume = 2 * np.log(singular).sum()
        if not self.epochs or volume >= self.volume + np.log(2) - 1e-9:
            self.epochs, self.volume = self.epochs + 1, volume
            covariance = design.T @ design
            leverage = np.einsum(
                "xai,xai->xa", self.phi, np.linalg.solve(covariance, self.phi[..., None])[..., 0]
            )
            self.bonus = self.c.bonus.beta * np.sqrt(leverage)
            self.log_weights = np.zeros(self.mdp.r.shape)
        for _ in range(self.c.updates):
            targets = np.concatenate([np.zeros(d), self.values[self.after]])
            theta = np.linalg.lstsq(design, targets, rcond=None)[0]
            self.q = self.bounded(self.mdp.r + self.bonus + self.mdp.gamma * self.phi @ theta)
            self.improve()
        self.cut += (self.q == self.limit).mean()

    def bounded(self, targets):
        return targets

    def improve(self):
        """Mirror descent: V is a soft maximum under the last policy, which then is reweighted."""
        old = self.log_weights
        self.log_weights = old + self.c.eta * self.q
        self.values = (log_sum(self.log_weights) - log_sum(old)) / self.c.eta
        self.policy = np.exp(self.log_weights - log_sum(self.log_weights)[:, None])


class RaviUcb(BonusLearner):
    """Moulin and Neu (2023): targets are cut off at the largest value there can be."""

    def bounded(self, targets):
        return np.minimum(targets, self.limit)


class OptimisticValueIteration(RaviUcb):
    """UCBVI and LSVI-UCB: greedy for truncated optimistic values."""

    def improve(self):
        self.values = self.q.max(axis=1)
        rounded = self.q.round(10)  # so that ties are ties
        self.policy = np.eye(self.q.shape[1])[rounded.argmax(axis=1)]


def log_sum(weights):
    top = weights.max(axis=1)
    return top + np.log(np.exp(weights - top[:, None]).sum(axis=1))


def assert_same_run(agent, other, episodes, tolerance=1e-9):
    states = np.arange(agent.mdp.n_states)
    for k in range(episodes):
        history = agent.learn(1)
        other.episode()
        assert (history.steps[0], history.epoch[0]) == (other.steps, other.epochs), k
        for actual, expected in [
            (agent.diagnostics.V, other.values),
            (agent.policy.probabilities(states), other.policy),
            (history.sup_q[0], np.abs(other.q).max()),
        ]:
            np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance, err_msg=str(k))


@pytest.mark.parametrize("updates", [1, 3])
def test_truncation_is_ravi_ucb(setting, updates, plain):
    config = Variant(
        eta=0.5,
        bonus=FixedBonus(4.0),
        ascension=Truncation(),
        r_max=0.5,
        ridge=0.5,
        updates=updates,
    )
    agent = within(config, setting)
    other = RaviUcb(plain, agent, seed=3)
    assert_same_run(agent, other, 100)
    assert other.cut > 0.1  # of 100: values were cut off


def test_truncation_with_an_infinite_learning_rate_is_optimistic_value_iteration(setting, plain):
    config = Variant(
        eta=INFINITY, bonus=FixedBonus(6.0), ascension=Truncation(), r_max=0.5, updates=2
    )
    agent = within(config, setting)
    other = OptimisticValueIteration(plain, agent, seed=3)
    assert_same_run(agent, other, 100)
    assert other.cut > 0.1  # of 100: values were cut off


def test_the_ascension_of_a_truncated_value_is_one(setting):
    agent = within(
        Variant(eta=0.5, bonus=FixedBonus(1.0), ascension=Truncation(), r_max=0.5), setting
    )
    for _ in range(20):
        agent.learn(1)
        now = agent.diagnostics
        assert set(np.unique(now.p)) <= {0.0, 1.0}
        certain = (now.p == 1).all(axis=1)
        assert now.V[certain] == pytest.approx(0.5 * agent.mdp.horizon, rel=1e-12)


def test_without_ascension_there_are_bonuses_alone(setting, plain):
    agent = within(
        Variant(eta=0.5, bonus=FixedBonus(0.3), ascension=Never(), r_max=0.5, updates=2), setting
    )
    assert_same_run(agent, BonusLearner(plain, agent, seed=3), 100)
    assert (agent.diagnostics.p == 0).all()


def test_without_ascension_values_exceed_every_bound(make_random):
    """The reason for the second degree of optimism."""
    config = Variant(eta=0.5, bonus=FixedBonus(30.0), ascension=Never(), updates=10)
    agent = VariantAgent(make_random(), config=config)
    assert agent.learn(300).sup_q.max() > 2 * agent.mdp.horizon


def within(config, setting):
    """An agent for the same MDP with rewards of at most r_max."""
    mdp, features = setting
    scaled = mdp.with_rewards(mdp.r * config.r_max)
    return VariantAgent(scaled, features, config=config, seed=3)


@pytest.mark.parametrize("visits", [1, 3])
def test_threshold_is_r_max(visits, plain, make_random):
    """Brafman and Tennenholtz (2002), re-planning when the determinant of the counts doubles.

    A pair with too few visits leads to heaven. Another has its observed frequencies, of which the
    ridge takes a part that leads nowhere. Values are those of an optimal policy in this model.
    """
    mdp, ridge = make_random(n_states=4, n_actions=2, gamma=0.8), 1.0
    config = Variant(
        eta=INFINITY, bonus=FixedBonus(0.0), ascension=Threshold.after(visits), updates=200
    )
    agent = VariantAgent(mdp, config=config, seed=5)
    world = plain.Interaction(mdp, 5, observe_last=False)
    counts, policy, epochs = np.zeros((4, 2, 4)), mdp.uniform_policy, 0
    known_of_epoch, volume_of_epoch = [], -INFINITY
    for k in range(150):
        history = agent.learn(1)
        pairs, transitions = world.episode(policy)
        for transition in transitions:
            counts[transition] += 1
        total = counts.sum(axis=2)
        volume = np.log(total + ridge).sum()
        if volume >= volume_of_epoch + np.log(2) - 1e-9:
            epochs, volume_of_epoch, known = epochs + 1, volume, total >= visits
            known_of_epoch.append(known.sum())
        model = counts / (total + ridge)[..., None]
        V, change = np.zeros(4), 1.0
        while change > 1e-13:
            Q = np.where(known, mdp.r + mdp.gamma * model @ V, mdp.horizon)
            change, V = np.abs(Q.max(axis=1) - V).max(), Q.max(axis=1)
        policy = np.eye(2)[Q.argmax(axis=1)]
        assert (history.steps[0], history.epoch[0]) == (len(pairs), epochs), k
        np.testing.assert_allclose(agent.diagnostics.V, V, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(agent.policy.probabilities(np.arange(4)), policy)
    assert known_of_epoch[0] < known_of_epoch[-1]
