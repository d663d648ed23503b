"""The compiled peers are what their papers print, number by number."""

import numpy as np
import pytest
from reference import peers as papers
from reference.comparison import assert_same_episode
from reference.mdps import random_mdp
from reference.settings import SETTINGS

from optimist import FiniteMDP, LsviUcb, OptimisticQ, Psrl, QLearning, Rlsvi, Ucbvi, envs

EPISODES = 60


def follow(agent, other):
    """Play an agent and its transcription side by side, comparing them after every episode.

    Values are equal to rounding, and which of the best actions is best may hang on it: then the
    transcription plays on as the agent does.
    """
    for k in range(EPISODES):
        history = agent.learn(1)
        other.episode()
        assert_same_episode(history, agent.diagnostics, other, atol=1e-8)
        pi = agent.policy.probabilities(np.arange(agent.mdp.n_states))
        apart = ~np.isclose(pi, other.pi, rtol=1e-9, atol=1e-8)
        tied = other.Q.max(axis=1, keepdims=True) - other.Q <= 1e-9
        assert tied[apart].all(), f"pi, episode {k}"
        other.pi[apart] = pi[apart]


TABULAR = ("river", "grid", "deep sea", "random")

CONFIGS = {
    "psrl, epochs": Psrl.Config(alpha=2.0, lazy=True),
    "psrl": Psrl.Config(alpha=0.5),
    "psrl, little": Psrl.Config(alpha=0.05),
    "ucbvi": Ucbvi.Config(c=0.3),
    "ucbvi, bold": Ucbvi.Config(c=2.0, updates=3),
    "optimistic q": OptimisticQ.Config(c=0.2),
    "q-learning": QLearning.Config(epsilon=0.2, step=0.3),
    "q-learning, polynomial": QLearning.Config(epsilon=0.0, step=1.0, power=0.7),
    "lsvi-ucb": LsviUcb.Config(beta=0.5, updates=20),
    "rlsvi": Rlsvi.Config(sigma=0.5, updates=30),
    "rlsvi, epochs": Rlsvi.Config(sigma=0.2, ridge=0.3, lazy=True),
}


@pytest.mark.parametrize("world", TABULAR)
@pytest.mark.parametrize("name", [n for n in CONFIGS if "svi" not in n])
def test_a_tabular_peer_is_its_transcription(name, world):
    config, (mdp, _) = CONFIGS[name], SETTINGS[world]()
    kind = next(a for a in (Psrl, Ucbvi, OptimisticQ, QLearning) if a.Config is type(config))
    plain = getattr(papers, f"Plain{kind.__name__}")
    follow(kind(mdp, config=config, seed=4), plain(mdp, config, seed=4))


@pytest.mark.parametrize("name", [n for n in CONFIGS if "svi" in n])
def test_a_linear_peer_is_its_transcription(name, setting):
    config, (mdp, features) = CONFIGS[name], setting
    Phi = features.all_actions(np.arange(mdp.n_states))
    lsvi = isinstance(config, LsviUcb.Config)
    kind, plain = (LsviUcb, papers.PlainLeastSquares) if lsvi else (Rlsvi, papers.PlainRlsvi)
    follow(kind(mdp, features, config=config, seed=2), plain(mdp, config, 2, Phi))


def test_a_plan_is_optimal_in_the_sampled_world():
    """By an exact solution of the world that the transcription samples from the same numbers."""
    mdp = random_mdp(gamma=0.95)
    agent = Psrl(mdp, config=Psrl.Config(), seed=0)
    other = papers.PlainPsrl(mdp, agent.config, seed=0)
    for _ in range(20):
        agent.learn(1)
        other.episode()
        sampled = FiniteMDP(other.sampled, mdp.r, mdp.nu0, mdp.gamma)
        played = agent.policy.probabilities(np.arange(6))
        assert sampled.optimal().value - sampled.value(played) <= 1e-4 / (1 - mdp.gamma)
        np.testing.assert_allclose(agent.diagnostics.V, sampled.optimal().V, atol=1e-3)


@pytest.fixture
def samples():
    """Draws of the transitions of one pair whose next states 0 and 3 were seen so many times."""
    from optimist.core.peers import sample

    def drawn(n_states, zero, three, alpha, n):
        counts = np.array([zero, 0.0, three])
        first, after = np.array([0, 3]), np.array([0, 1, 3])
        seen = np.flatnonzero(counts)[::-1].copy()
        distinct, rng = np.array([len(seen)]), np.random.default_rng(0)
        weight, width = np.zeros((1, n_states)), np.zeros(1, dtype=np.int64)
        to, draws = np.zeros((1, n_states), dtype=np.int64), np.zeros((n, n_states))
        for row in draws:
            sample(first, after, counts, seen, distinct, alpha, rng, weight, to, width)
            row[to[0, : width[0]]] = weight[0, : width[0]]
        return draws

    return drawn


@pytest.mark.parametrize("alpha", [4.0, 0.5, 0.04])
@pytest.mark.parametrize("counts", [(3.0, 7.0), (1.0, 0.0), (0.0, 0.0)])
def test_samples_are_of_the_posterior(alpha, counts, samples):
    """Their means and covariances are those of the Dirichlet distribution, over all states."""
    X = 50 if alpha == 0.5 else 4
    masses = np.full(X, alpha / X) + np.eye(X)[0] * counts[0] + np.eye(X)[3] * counts[1]
    draws = samples(X, *counts, alpha, n=40_000)
    mean, total = masses / masses.sum(), masses.sum()
    covariance = (np.diag(mean) - np.outer(mean, mean)) / (total + 1)
    np.testing.assert_allclose(draws.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=0.01)
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.005)
    fourth = (masses + 3) * (masses + 2) / (total + 3) / (total + 2) * (masses + 1) / (total + 1)
    np.testing.assert_allclose((draws**4).mean(axis=0), fourth * mean, atol=0.01)


def test_a_prior_below_the_floats_is_one_state(samples):
    """One that is hardly above them gives probabilities, though gamma variables are denormal."""
    draws = samples(5, 0.0, 0.0, alpha=1e-6, n=200)
    assert (draws.max(axis=1) == 1.0).all()
    assert set(draws.argmax(axis=1)) == set(range(5))
    draws = samples(5, 0.0, 0.0, alpha=3e-3, n=50_000)
    np.testing.assert_allclose(draws.sum(axis=1), 1.0)


@pytest.mark.parametrize("kind", [Psrl, Ucbvi, Rlsvi, LsviUcb, OptimisticQ, QLearning])
def test_nobody_knows_which_states_can_follow(kind):
    """Transitions that exist and are never seen change nothing."""
    mdp = envs.RiverSwim(5, gamma=0.9).mdp
    P = np.array(mdp.P)
    P[P == 0] = 1e-200
    vague = FiniteMDP(P, mdp.r, mdp.nu0, mdp.gamma)
    one, other = kind(mdp, seed=1), kind(vague, seed=1)
    first, second = one.learn(200), other.learn(200)
    assert first.steps.tobytes() == second.steps.tobytes()
    np.testing.assert_array_equal(first.policies, second.policies)
    np.testing.assert_allclose(one.diagnostics.V, other.diagnostics.V, rtol=1e-12)
