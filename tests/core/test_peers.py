"""The compiled peers are what their papers print, number by number."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from optimist import FiniteMDP, LsviUcb, OptimisticQ, Psrl, QLearning, Rlsvi, Ucbvi, envs

EPISODES = 60


@pytest.fixture(scope="module")
def papers():
    """The module of the transcriptions."""
    path = Path(__file__).with_name("peers_transcription.py")
    spec = importlib.util.spec_from_file_location("peers_transcription", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def follow(agent, other):
    """Play an agent and its transcription side by side, comparing them after every episode."""
    states = np.arange(agent.mdp.n_states)
    for k in range(EPISODES):
        history = agent.learn(1)
        other.episode()
        assert history.steps[0] == other.steps
        assert history.epoch[0] == other.e
        found = {
            "reward": (history.reward[0], other.reward),
            "<nu0, V_k>": (history.optimistic_value[0], other.value),
            "mean bonus": (history.bonus[0], other.bonus),
            "V": (agent.optimism.value, other.V),
            "CB": (agent.optimism.bonus, other.CB),
            "pi": (agent.policy.probabilities(states), other.pi),
        }
        for name, (actual, expected) in found.items():
            message = f"{name}, episode {k}"
            np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-8, err_msg=message)
    assert agent.episodes == EPISODES


TABULAR = ("river", "grid", "deep sea", "random")

CONFIGS = {
    "psrl, epochs": Psrl.Config(alpha=2.0, lazy=True),
    "psrl": Psrl.Config(alpha=0.5),
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
def test_a_tabular_peer_is_its_transcription(name, world, settings_by_name, papers):
    config, (mdp, _) = CONFIGS[name], settings_by_name[world]()
    agents = (Psrl, Ucbvi, OptimisticQ, QLearning)
    kind = next(agent for agent in agents if agent.Config is type(config))
    plain = getattr(papers, f"Plain{kind.__name__}")
    follow(kind(mdp, config=config, seed=4), plain(mdp, config, seed=4))


@pytest.mark.parametrize("name", [n for n in CONFIGS if "svi" in n])
def test_a_linear_peer_is_its_transcription(name, setting, papers):
    config, (mdp, features) = CONFIGS[name], setting
    Phi = features.all_actions(np.arange(mdp.n_states))
    lsvi = isinstance(config, LsviUcb.Config)
    kind, plain = (LsviUcb, papers.PlainLeastSquares) if lsvi else (Rlsvi, papers.PlainRlsvi)
    follow(kind(mdp, features, config, seed=2), plain(mdp, config, 2, Phi))


def test_a_plan_is_optimal_in_the_sampled_world(make_random):
    """By an exact solution of the world that was sampled."""
    mdp = make_random(gamma=0.95)
    agent = Psrl(mdp, config=Psrl.Config(), seed=0)
    for _ in range(20):
        agent.learn(1)
        P = agent._driver.tables.work.reshape(6, 3, 6)
        sampled = FiniteMDP(P, mdp.r, mdp.nu0, mdp.gamma)
        played = agent.policy.probabilities(np.arange(6))
        assert sampled.optimal().value - sampled.value(played) <= 1e-4 / (1 - mdp.gamma)
        np.testing.assert_allclose(agent.optimism.value, sampled.optimal().V, atol=1e-3)


def test_samples_are_of_the_posterior():
    """Their means and variances are those of the Dirichlet distribution, for every next state."""
    from optimist.core.peers import sample

    counts = np.array([3.0, 0.0, 7.0])  # of next states 0, 1 and 3 of four
    first, after, rng = np.array([0, 3]), np.array([0, 1, 3]), np.random.default_rng(0)
    seen, distinct = np.array([2, 0, 0]), np.array([2])
    draws = np.empty((20_000, 4))
    for row in draws:
        sample(first, after, counts, seen, distinct, 2.0, rng, row[None])
    masses = 0.5 + np.array([3.0, 0.0, 0.0, 7.0])
    mean, total = masses / masses.sum(), masses.sum()
    np.testing.assert_allclose(draws.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=0.005)
    np.testing.assert_allclose(draws.var(axis=0), mean * (1 - mean) / (total + 1), rtol=0.06)


def test_a_prior_below_the_floats_is_one_state():
    from optimist.core.peers import sample

    row, rng = np.zeros((1, 5)), np.random.default_rng(0)
    none, zero = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    found = set()
    for _ in range(200):
        sample(np.array([0, 0]), none, np.zeros(0), none, zero, 1e-6, rng, row)
        assert row.sum() == 1.0
        found.add(int(row.argmax()))
    assert found == set(range(5))


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
    np.testing.assert_allclose(one.optimism.value, other.optimism.value, rtol=1e-12)
