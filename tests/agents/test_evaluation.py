"""Evaluation of policies by playing them."""

import math

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import TimeLimit
from reference.own import lake

import optimist as opt
from optimist import envs
from optimist.envs.players import ENDLESS
from optimist.errors import BadEnvironment


class Counter(gymnasium.Env):
    """Pays 1 for action 1 until n steps are taken; its tables have whole numbers as keys."""

    observation_space, action_space = spaces.Discrete(100), spaces.Discrete(2)

    def __init__(self, n=4, pays=(0.0, 1.0)):
        self.n, self.pays, self.closed = n, dict(enumerate(pays)), False

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = self.n
        return self.left, {}

    def step(self, action):
        self.left -= 1
        return self.left % 100, self.pays[action], self.left == 0, False, {}

    def close(self):
        self.closed = True


class Model:
    """Answers as the models of Stable-Baselines3 do."""

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        return np.array(1), None


class Words(gymnasium.Env):
    """Observations and actions of other kinds."""

    observation_space = spaces.Dict({"word": spaces.Text(5)})
    action_space = spaces.Tuple((spaces.Discrete(2), spaces.Box(0, 1, (1,))))

    def reset(self, *, seed=None, options=None):
        return {"word": "hello"}, {}

    def step(self, action):
        return {"word": "world"}, 2.0 * action[0], False, True, {}


@pytest.mark.parametrize(
    "policy", [Model(), Model().predict, lambda x: 1, lambda x: np.int64(1)], ids=range(4)
)
def test_policies_of_any_kind(policy):
    result = opt.evaluate(policy, Counter(), episodes=3)
    assert result.returns.tolist() == [4.0] * 3
    assert result.steps.tolist() == [4] * 3
    assert result.terminated.tolist() == [True] * 3
    assert (result.mean, result.standard_error) == (4.0, 0.0)
    assert repr(result) == "Evaluation(mean=4, standard_error=0, episodes=3, steps=12)"


def test_an_agent_and_its_policy():
    agent = opt.Optimist(lake(), gamma=0.95, seed=0)
    agent.learn(100)
    for policy in (agent, agent.policy):
        assert opt.evaluate(policy, lake(), episodes=5).mean == 1
    assert agent.episodes == 100  # nothing is learnt from it


def test_the_same_seed_gives_the_same_result():
    env = gymnasium.make("FrozenLake-v1")  # slippery

    def play(seed):
        return opt.evaluate(lambda x: 2, env, episodes=50, seed=seed)

    one, again, other = play(3), play(3), play(4)
    for name in ("returns", "steps", "terminated"):
        np.testing.assert_array_equal(getattr(one, name), getattr(again, name))
    assert one.steps.tolist() != other.steps.tolist()
    assert len(set(one.steps)) > 1  # episodes differ
    assert opt.evaluate(lambda x: 2, "FrozenLake-v1", 50, 3).steps.tolist() == one.steps.tolist()
    declared = envs.Gym("FrozenLake-v1")
    assert opt.evaluate(lambda x: 2, declared, 50, 3).steps.tolist() == one.steps.tolist()


def test_a_world_has_geometric_episodes_and_its_exact_value_in_the_mean():
    world = envs.RiverSwim(6, gamma=0.9)
    uniform, rng = world.mdp.uniform_policy, np.random.default_rng(0)
    result = opt.evaluate(lambda x: int(rng.integers(2)), world, episodes=4000)
    assert abs(result.mean - world.mdp.value(uniform)) < 4 * result.standard_error
    assert abs(result.steps.mean() - 10) < 4 * result.steps.std() / math.sqrt(4000)
    assert not result.terminated.any()


def test_geometric_episodes_of_an_environment_if_they_are_asked_for():
    declared = envs.Gym(Counter(90), gamma=0.5, geometric=True)
    assert opt.evaluate(lambda x: 0, declared, episodes=200).steps.mean() < 4
    plain = envs.Gym(Counter(9), repeat=3)
    assert opt.evaluate(lambda x: 0, plain, episodes=2).steps.tolist() == [3, 3]


def test_the_standard_error_of_the_mean():
    result = opt.agents.Evaluation(np.array([1.0, 2.0, 6.0]), np.ones(3, int), np.ones(3, bool))
    assert result.mean == 3
    assert result.standard_error == pytest.approx(math.sqrt(7 / 3), rel=1e-12)
    assert math.isnan(opt.evaluate(lambda x: 1, Counter(), episodes=1).standard_error)


def test_spaces_of_any_kind():
    result = opt.evaluate(lambda seen: (1, np.ones(1, np.float32)), Words(), episodes=2)
    assert result.returns.tolist() == [2.0, 2.0]
    assert not result.terminated.any()
    with pytest.raises(ValueError, match=r"policy must return an action in Tuple.*; got 1"):
        opt.evaluate(lambda seen: 1, Words())


def test_only_an_environment_that_was_made_for_it_is_closed():
    given = Counter()
    opt.evaluate(lambda x: 1, given, episodes=1)
    opt.evaluate(lambda x: 1, envs.Gym(given), episodes=1)
    assert not given.closed
    made = []

    def make():
        made.append(Counter())
        return made[-1]

    opt.evaluate(lambda x: 1, envs.Gym(make), episodes=1)
    assert made[-1].closed


@pytest.mark.parametrize("bad", [2, -1, 1.0, "left", None, [1], np.array([1])], ids=repr)
def test_bad_actions(bad):
    with pytest.raises(ValueError, match=r"policy must return an action in Discrete\(2\); got"):
        opt.evaluate(lambda x: bad, Counter())


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"policy": 3}, TypeError, r"policy must have predict\(observation\)"),
        ({"policy": opt.Optimist}, TypeError, r"policy must have predict\(observation\)"),
        ({"env": 3}, TypeError, "env must be a gymnasium.Env, an id, envs.Gym or a World; got int"),
        ({"env": "Nowhere-v0"}, ValueError, "env = 'Nowhere-v0' is unknown to Gymnasium"),
        ({"env": SyncVectorEnv([Counter])}, TypeError, "env must be a single environment"),
        ({"env": envs.Gym(Counter, parallel=2)}, TypeError, "env must be a single environment"),
        ({"episodes": 0}, ValueError, "episodes"),
        ({"seed": -1}, ValueError, "seed"),
        ({"env": Counter(pays=(0, math.nan))}, BadEnvironment, "must pay finite rewards; got nan"),
        ({"env": Counter(pays=(0,))}, BadEnvironment, r"failed in step\(\): KeyError"),
        ({"env": Counter(None)}, BadEnvironment, r"failed in step\(\): TypeError"),
        ({"env": Counter(ENDLESS + 1)}, BadEnvironment, "has not ended after 100,000 steps"),
    ],
)
def test_what_cannot_be_played_is_refused(given, error, said):
    with pytest.raises(error, match=said):
        opt.evaluate(**{"policy": lambda x: 1, "env": Counter(), **given})


def test_a_known_time_limit_may_be_longer():
    env = TimeLimit(Counter(10**9), ENDLESS + 5)
    result = opt.evaluate(lambda x: 1, env, episodes=1)
    assert result.steps.tolist() == [ENDLESS + 5]
    assert not result.terminated.any()


def test_errors_of_the_policy_are_its_own():
    with pytest.raises(ZeroDivisionError):
        opt.evaluate(lambda x: 1 // 0, Counter())
