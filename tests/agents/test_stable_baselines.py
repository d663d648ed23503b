"""Agents of Stable-Baselines3 beside ours; most tests need its package."""

import gc
import os
import signal
import sys
import threading
import time

import gymnasium
import numpy as np
import pytest
from reference.own import lake

import optimist as opt

RIVER = opt.envs.RiverSwim(4, gamma=0.9)
QUICK = {
    "DQN": {"learning_starts": 50, "buffer_size": 5000},
    "PPO": {"n_steps": 64, "batch_size": 32, "n_epochs": 2},
    "A2C": {},
}


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    with pytest.raises(ImportError, match=r"pip install 'optimist\[sb3\]'"):
        opt.StableBaselines(lake(), "DQN")


@pytest.fixture
def sb3():
    return pytest.importorskip("stable_baselines3")


def cart():
    return gymnasium.make("CartPole-v1")


def weights(agent):
    return [p.detach().numpy().copy() for p in agent.model.policy.parameters()]


def made(name, seed=3):
    return opt.StableBaselines(cart(), name, seed=seed, total_timesteps=2000, **QUICK[name])


@pytest.mark.parametrize("name", QUICK)
def test_a_seed_decides_the_run_however_it_is_cut_into_calls(sb3, name):
    """Even if others draw from the global generators meanwhile, or train a model themselves."""
    whole, pieces, other = made(name), made(name), made(name, seed=4)
    start = weights(whole)
    history = whole.learn(40)
    for n in (10, 17, 13):
        pieces.learn(n)
        np.random.rand()  # noqa: NPY002 - that of others
        other.learn(2)
    for column, numbers in history.columns.items():
        np.testing.assert_array_equal(numbers, pieces.history.columns[column], column)
    for one, same in zip(weights(whole), weights(pieces), strict=True):
        np.testing.assert_array_equal(one, same)
    assert any((one != before).any() for one, before in zip(weights(whole), start, strict=True))
    assert history.steps.tolist()[:4] != other.history.steps.tolist()[:4]


def test_the_global_generators_of_others_are_left_alone(sb3):
    import torch

    np.random.seed(5)  # noqa: NPY002
    torch.manual_seed(5)
    wanted = np.random.rand(), torch.rand(1).item()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    torch.manual_seed(5)
    made("DQN").learn(5)
    assert (np.random.rand(), torch.rand(1).item()) == wanted  # noqa: NPY002


class Steps(gymnasium.Env):
    """The n-th episode has n steps, each of which pays 0.1; the odd ones terminate."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))
    action_space = gymnasium.spaces.Discrete(2)
    spec = gymnasium.envs.registration.EnvSpec("Steps-v0", max_episode_steps=100)
    episode = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.episode, self.t = self.episode + 1, 0
        return np.zeros(1, dtype=np.float32), {}

    def step(self, action):
        self.t += 1
        over, odd = self.t == self.episode, self.episode % 2 == 1
        return np.zeros(1, dtype=np.float32), 0.1, over and odd, over and not odd, {}


@pytest.mark.parametrize("name", QUICK)
def test_the_history_is_of_the_episodes_that_were_played(sb3, name):
    agent = opt.StableBaselines(Steps(), name, gamma=0.9, total_timesteps=20, **QUICK[name])
    agent.learn(3)
    last = agent.learn(9)  # beyond total_timesteps, and in the middle of rollouts
    history = agent.history
    assert last.first == 3
    assert history.steps.tolist() == list(range(1, 13))
    np.testing.assert_allclose(history.reward, 0.1 * history.steps, rtol=1e-12)
    assert history.terminated.tolist() == [True, False] * 6
    assert (agent.episodes, agent.steps) == (12, 78)
    assert agent.model.num_timesteps == 78
    assert agent.model.gamma == 0.9


def test_dqn_learns_and_its_policy_is_a_photograph(sb3):
    agent = opt.StableBaselines(
        lake(), "DQN", gamma=0.9, seed=0, total_timesteps=6000, learning_starts=100,
        exploration_fraction=0.8, learning_rate=2e-3, target_update_interval=100, train_freq=1,
    )  # fmt: skip
    early = agent.policy
    before = early.probabilities(np.arange(16))
    agent.learn(500)
    np.testing.assert_array_equal(early.probabilities(np.arange(16)), before)
    policy = agent.policy
    assert policy.predict(14) == 2  # right, into the goal
    pi = policy.probabilities(np.arange(16))
    assert pi.shape == (16, 4)
    assert set(pi.ravel()) == {0.0, 1.0}
    played = opt.PythonAgent(lake(), opt.TrainedModel(agent.model), gamma=0.9).learn(5)
    assert played.mean_return() == 1


def test_the_policy_of_ppo_has_probabilities(sb3):
    agent = made("PPO")
    agent.learn(10)
    x = np.array([[0.0, 0.1, 0.2, 0.3], [0.1, 0.0, -0.1, 0.0], [0.0, 0.0, 0.1, 0.0]])
    pi = agent.policy.probabilities(x)
    assert pi.shape == (3, 2)
    np.testing.assert_allclose(pi.sum(axis=1), 1, rtol=1e-12)
    assert (pi > 0).all()
    np.testing.assert_allclose(agent.policy.probabilities(x[1]), pi[1], atol=1e-6)
    actions, _ = agent.model.predict(x, deterministic=True)
    assert agent.predict(x).tolist() == actions.tolist()
    drawn = agent.predict(np.repeat(x[:1], 4000, axis=0), np.random.default_rng(0))
    assert drawn.mean() == pytest.approx(pi[0, 1], abs=0.04)  # 5 deviations


def test_a_finite_world_ends_by_geometric_resets(sb3):
    for world in (RIVER, RIVER.mdp):
        agent = opt.StableBaselines(world, "DQN", seed=0, learning_starts=50)
        history = agent.learn(300)
        assert history.steps.mean() == pytest.approx(10, abs=2.9)  # 5 deviations
        assert not history.terminated.any()
        assert agent.model.gamma == 0.9
        assert agent.policy.probabilities(np.arange(4)).shape == (4, 2)


def test_evaluate_policy_runs_on_policies_of_ours(sb3):
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.evaluation import evaluate_policy

    ours = opt.Optimist(lake(), gamma=0.95, seed=0)
    ours.learn(100)
    mean, deviation = evaluate_policy(ours.policy.as_sb3(), lake(), 5, warn=False)
    assert (mean, deviation) == (1.0, 0.0)
    hashed = opt.PythonAgent(cart(), opt.HashedQLearning, gamma=0.99, seed=0)
    hashed.learn(20)
    carts = make_vec_env("CartPole-v1", n_envs=3, seed=0)
    model = hashed.policy.as_sb3()
    returns, lengths = evaluate_policy(
        model, carts, 6, deterministic=False, return_episode_rewards=True
    )
    assert returns == lengths
    assert len(returns) == 6
    theirs = opt.StableBaselines(cart(), "A2C").policy.as_sb3()
    assert evaluate_policy(theirs, carts, 3)[0] >= 1


def test_missing_features_raise_errors_with_the_alternative(sb3, tmp_path):
    agent = opt.StableBaselines(lake(), "DQN", gamma=0.9)
    for refuses in (
        lambda: agent.save(tmp_path),
        lambda: opt.StableBaselines.load(tmp_path, lake()),
        lambda: agent.restore(tmp_path),
        lambda: agent.policy.save(tmp_path / "policy"),
    ):
        with pytest.raises(ValueError, match=r"pickled data.*agent\.model\.save\(path\)"):
            refuses()
    with pytest.raises(AttributeError, match=r"no diagnostics .* look into agent\.model"):
        _ = agent.diagnostics
    with pytest.raises(AttributeError, match=r"use agent\.policy"):
        _ = agent.output
    with pytest.raises(ValueError, match="algorithm must be 'DQN', 'PPO' or 'A2C', or a class"):
        opt.StableBaselines(lake(), "QDN")
    with pytest.raises(ValueError, match="plays one environment; got 2"):
        opt.StableBaselines(opt.envs.Gym("CartPole-v1", parallel=2), "DQN")
    with pytest.raises(TypeError, match="gamma= applies to Gymnasium environments only"):
        opt.StableBaselines(RIVER, "DQN", gamma=0.5)
    with pytest.raises(TypeError, match="learning_rat"):
        opt.StableBaselines(lake(), "DQN", learning_rat=0.1)
    by_class = opt.StableBaselines(lake(), sb3.DQN, gamma=0.9, learning_rate=0.01)
    assert by_class.model.learning_rate == 0.01
    assert by_class.config.hyperparameters == {"learning_rate": 0.01}
    assert (by_class.seed, by_class.stride) == (0, 0)


class Breaks(Steps):
    """Fails in its third episode, once."""

    failed = False

    def step(self, action):
        if self.episode == 3 and not self.failed:
            self.failed = True
            raise RuntimeError("out of order")
        return super().step(action)


def test_after_a_failure_the_episodes_before_it_stay(sb3):
    agent = opt.StableBaselines(Breaks(), "DQN", gamma=0.9)
    with pytest.raises(RuntimeError, match="out of order"):
        agent.learn(5)
    assert agent.history.steps.tolist() == [1, 2]
    agent.learn(2)
    assert agent.history.steps.tolist() == [1, 2, 4, 5]


class Interrupted(Steps):
    """Ctrl-C is pressed some times in the second episode, which then takes very long."""

    def __init__(self, pressed, steps):
        self.pressed, self.steps = pressed, steps

    def step(self, action):
        if self.episode != 2:
            return super().step(action)
        for _ in range(self.pressed):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
        self.pressed, self.t = 0, self.t + 1
        return np.zeros(1, dtype=np.float32), 0.1, False, self.t == self.steps, {}


@pytest.mark.parametrize(("pressed", "steps", "played"), [(1, 3, [1, 3]), (2, 10**7, [1])])
def test_an_interruption_waits_for_the_end_of_an_episode_and_the_next_one_does_not(
    sb3, pressed, steps, played
):
    agent = opt.StableBaselines(Interrupted(pressed, steps), "DQN", gamma=0.9)
    with pytest.raises(KeyboardInterrupt):
        agent.learn(10)
    assert agent.history.steps.tolist() == played
    assert agent.learn(2).steps.tolist() == [3, 4]


def test_a_model_without_references_ends_its_thread(sb3):
    gc.collect()
    before = set(threading.enumerate())
    agent = made("A2C")
    agent.learn(3)
    (thread,) = set(threading.enumerate()) - before
    del agent
    gc.collect()
    thread.join(10)
    assert not thread.is_alive()
