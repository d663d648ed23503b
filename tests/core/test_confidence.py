"""`Optimist.Config.proven`: its formulas, the steps of its proof, and what it is not for."""

import gymnasium
import numpy as np
import pytest
from reference.algorithm_1 import Interaction
from reference.comparison import assert_close
from reference.mdps import random_mdp

from optimist import envs
from optimist.agents import Optimist
from optimist.core import load_policy
from optimist.core.optimism import RANGE
from optimist.features import Table

DELTA, RIDGE = 0.1, 1e-3
WORLDS = {
    "random": random_mdp(),
    "river": envs.RiverSwim(4, gamma=0.8).mdp,
    "grid": envs.GridWorld("S..\n.#.\n..G", gamma=0.9).mdp,
}


def proven(mdp, seed=0, **others):
    return Optimist(mdp, config=Optimist.Config.proven(DELTA), seed=seed, **others)


class Proven:
    """The rule in plain NumPy, from docs/explanation/rule.md: counts, all anew every time."""

    def __init__(self, mdp, seed):
        self.mdp, self.world = mdp, Interaction(mdp, seed, False)
        X, A = mdp.r.shape
        self.counts, self.T = np.zeros((X, A, X)), 0
        self.V, self.pi, self.w = np.zeros(X), np.full((X, A), 1 / A), 2 * mdp.horizon

    def episode(self):
        pairs, transitions = self.world.episode(self.pi)
        self.T += len(pairs)
        for x, a, y in transitions:
            self.counts[x, a, y] += 1
        for _ in range(100):
            before = self.V
            self.update()
            if np.abs(self.V - before).max() < 1e-4 * (1 - self.mdp.gamma) * self.w:
                break

    def update(self):
        n, gamma = self.counts.sum(axis=2), self.mdp.gamma
        L = np.log(3 * n.size * self.T * (self.T + 1) / DELTA)
        mean = self.counts @ self.V / np.maximum(n, 1)
        square = self.counts @ self.V**2 / np.maximum(n, 1)
        variance = np.maximum(square - mean**2, 0) * (square - mean**2 > 1e-12 * square)
        self.CB = gamma * np.sqrt(2 * L * variance / np.maximum(n, 1))
        self.p = 5 * L / (n + 5 * L)
        target = self.mdp.r + self.CB + gamma * self.counts @ self.V / (n + RIDGE)
        self.Q = (1 - self.p) * target + self.p * self.w
        self.V = np.clip(self.Q.max(axis=1), 0, self.w)
        self.pi = np.eye(n.shape[1])[self.Q.argmax(axis=1)]


@pytest.mark.parametrize("name", WORLDS)
def test_the_engine_agrees_with_the_formulas(name, tmp_path):
    """And so does the stored policy. Updates end at the tolerance, at which both may differ."""
    mdp = WORLDS[name]
    agent, other, states = proven(mdp, seed=1), Proven(mdp, seed=1), np.arange(mdp.n_states)
    for k in range(150):
        steps = agent.learn(1).steps[0]
        before = other.T
        other.episode()
        assert steps == other.T - before
        it = agent.diagnostics
        for mine, wanted in ((it.V, other.V), (it.CB, other.CB), (it.p, other.p)):
            assert_close(mine, wanted, f"episode {k}", atol=1e-7)
        ordered = np.sort(other.Q, axis=1)
        sure = ordered[:, -1] - ordered[:, -2] > 1e-6
        np.testing.assert_array_equal(it.pi[sure], other.pi[sure])
    agent.policy.save(tmp_path / "policy.safetensors")
    again = load_policy(tmp_path / "policy.safetensors").probabilities(states)
    np.testing.assert_array_equal(again[sure], other.pi[sure])


def test_the_step_of_the_proof():
    """Where the estimate of P V* is within its bound, Q >= Q* - gamma e if V >= V* - e.

    Over distributions, values and visits of all kinds, P V* as low as the bound allows. With less
    than half of the range term it fails.
    """
    rng, failures = np.random.default_rng(0), 0
    for _ in range(20_000):
        n = int(np.exp(rng.uniform(0, 9)))
        L, gamma, S = rng.uniform(np.log(6), 30), rng.uniform(0.1, 0.99), rng.integers(1, 5)
        y = 1 / (1 - gamma)  # R_max H
        w = 2 * y
        estimate = rng.dirichlet(np.full(S, 0.5))
        best = y * rng.random(S) ** rng.choice([0.1, 1, 10])
        e = y * rng.random() ** 3
        above = rng.random(S) ** rng.choice([0.1, 1, 10])
        V = np.clip(best - e + above * (w + e - best), 0, w)
        V[rng.random(S) < 0.3] = np.clip(best - e, 0, w)[0]
        V = np.maximum(V, best - e)

        def deviation(f, estimate=estimate):
            return np.sqrt(max(estimate @ f**2 - (estimate @ f) ** 2, 0))

        most = estimate @ best + np.sqrt(2 * L / n) * deviation(best) + 3 * y * L / n
        PV = min(most, y)  # the largest that the event admits
        CB = gamma * np.sqrt(2 * L / n) * deviation(V)

        def backed_up(part, n=n, L=L, CB=CB, gamma=gamma, w=w, mean=estimate @ V):
            p = part * RANGE * L / (n + part * RANGE * L)
            return (1 - p) * (CB + gamma * n / (n + RIDGE) * mean) + p * gamma * w

        assert backed_up(1.0) >= gamma * (PV - e) - 1e-9 * w
        failures += backed_up(0.5) < gamma * (PV - e) - 1e-9 * w
    assert failures > 0


@pytest.mark.parametrize("name", WORLDS)
def test_values_are_optimistic_at_all_times(name):
    """V_k >= V* - gamma^m R_max H after m updates, of which each episode makes at least one."""
    mdp = WORLDS[name]
    best = mdp.optimal().V
    for seed in range(10):
        agent = proven(mdp, seed)
        for _ in range(100):
            agent.learn(3)
            left = mdp.gamma**agent.episodes * mdp.horizon
            assert (best - left - 1e-9 <= agent.diagnostics.V).all()


def test_it_learns():
    """In a world so small that its bounds say something soon."""
    mdp = envs.RandomTabular(5, 2, gamma=0.8).mdp
    agent = proven(mdp)
    lost = agent.learn(40_000).regrets() / mdp.optimal().value
    assert lost[:100].mean() > 3 * lost[-1000:].mean()
    assert lost[-1000:].mean() < 0.1


def test_unsupported_settings_are_refused():
    for delta in (0.0, 1.0, -0.1, float("nan")):
        with pytest.raises(ValueError, match=r"delta must be in \(0, 1\)|delta"):
            Optimist.Config.proven(delta)
    with pytest.raises(TypeError, match="delta applies to finite worlds"):
        Optimist(gymnasium.make("FrozenLake-v1"), gamma=0.9, delta=0.1)
    linear = envs.RandomLinear(4, 12, 3, gamma=0.9).mdp
    with pytest.raises(ValueError, match="delta needs one-hot features"):
        proven(linear, features=Table(linear.Phi))
