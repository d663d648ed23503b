"""Algorithms in plain Python, and the agent that plays them."""

from dataclasses import dataclass

import gymnasium
import numpy as np
import pytest
from reference.own import EpsilonGreedy, lake

from optimist import Algorithm, PythonAgent, QLearning, envs
from optimist.errors import FileError
from optimist.testing import check_agent

RIVER = envs.RiverSwim(5, gamma=0.9)


@dataclass
class Watkins(EpsilonGreedy):
    """Q-learning with the draws of the compiled one: a transcription of its loop."""

    epsilon: float = 0.2
    power: float = 0.6

    def start(self, problem):
        self.gamma = problem.gamma
        self.Q, self.n = (np.zeros((problem.n_states, problem.n_actions)) for _ in range(2))

    def act(self, state, rng):
        below = np.cumsum(self.policy()[state])[:-1]
        return int((rng.random() >= below).sum())

    def observe(self, state, action, reward, next_state, terminated):
        self.n[state, action] += 1
        self.rate = 1 / self.n[state, action] ** self.power
        super().observe(state, action, reward, next_state, terminated)

    def policy(self):
        best = self.Q.max(axis=1, keepdims=True) == self.Q
        share = best / best.sum(axis=1, keepdims=True)
        return self.epsilon / self.Q.shape[1] + (1 - self.epsilon) * share


def test_episodes_are_those_of_the_compiled_loop():
    """The same draws in the same order: compiled Q-learning comes out bit for bit."""
    for world in (RIVER, envs.GridWorld(), envs.RandomTabular(6, 3)):
        plain = PythonAgent(world, Watkins(), seed=3, stride=7)
        fast = QLearning(world, epsilon=0.2, power=0.6, seed=3, stride=7)
        one, other = plain.learn(150), fast.learn(150)
        for column in ("steps", "reward", "evaluated", "policies"):
            np.testing.assert_array_equal(getattr(one, column), getattr(other, column), column)
        assert one.regrets().tolist() == other.regrets().tolist()
        np.testing.assert_array_equal(plain.output.table, fast.output.table)
        assert (plain.episodes, plain.steps) == (fast.episodes, fast.steps)


def test_an_algorithm_keeps_the_contract_of_agents():
    check_agent(EpsilonGreedy, RIVER, epsilon=0.3)


def test_the_algorithm_that_was_given_is_not_changed():
    given = EpsilonGreedy()
    PythonAgent(RIVER, given).learn(5)
    assert vars(given) == {"epsilon": 0.1, "rate": 0.2}
    assert EpsilonGreedy.Config is EpsilonGreedy


def test_an_environment_with_numbered_observations():
    agent = PythonAgent(lake(), EpsilonGreedy(epsilon=0.2), gamma=0.95, seed=0)
    history = agent.learn(1500)
    assert history.reward[-100:].mean() > 0.5
    assert history.terminated.mean() > 0.9
    assert agent.policy.probabilities(0).argmax() in (1, 2)  # down or right
    with pytest.raises(AttributeError, match="available in finite worlds only"):
        _ = history.policies
    again = PythonAgent(lake(), EpsilonGreedy(epsilon=0.2), gamma=0.95, seed=0).learn(1500)
    np.testing.assert_array_equal(history.reward, again.reward)


@dataclass
class Upright(Algorithm):
    """Pushes a pole towards where it falls, and notes what it has seen."""

    def start(self, problem):
        assert (problem.n_states, problem.n_actions) == (None, 2)
        self.seen = np.zeros((0, *problem.observation_space.shape))
        self.ended = 0

    def act(self, state, rng):
        return int(state[2] > 0)

    def observe(self, state, action, reward, next_state, terminated):
        assert reward == 1
        self.seen = np.vstack([self.seen, state])
        self.ended += terminated

    def end_episode(self):
        self.seen = self.seen[-3:]

    def policy(self):
        return None


def test_observations_of_other_kinds_and_arrays_that_grow(tmp_path):
    cart = gymnasium.make("CartPole-v1")
    agent = PythonAgent(cart, Upright, gamma=0.99, seed=1)
    history = agent.learn(10)
    assert history.reward.tolist() == history.steps.tolist()
    assert agent.algorithm.ended == history.terminated.sum() == 10
    assert agent.algorithm.seen.shape == (3, 4)
    assert not agent.tabular
    with pytest.raises(ValueError, match="in a world whose states are numbered"):
        _ = agent.policy
    agent.save(tmp_path)
    loaded = PythonAgent.load(tmp_path, cart, Upright, gamma=0.99)
    np.testing.assert_array_equal(loaded.algorithm.seen, agent.algorithm.seen)
    assert loaded.algorithm.ended == 10
    assert loaded.learn(3).steps.tolist() == agent.learn(3).steps.tolist()


def test_a_geometric_reset_ends_an_episode_unobserved():
    endless = RIVER.make()
    history = PythonAgent(endless, EpsilonGreedy, gamma=0.5, seed=0).learn(4000)
    assert history.steps.mean() == pytest.approx(2, abs=0.1)
    agent = PythonAgent(RIVER, Counts, seed=0)
    agent.learn(30)
    assert agent.algorithm.n == agent.steps - agent.episodes
    assert agent.algorithm.episodes == 30


@dataclass
class Counts(EpsilonGreedy):
    def start(self, problem):
        super().start(problem)
        self.n = self.episodes = 0

    def observe(self, *transition):
        self.n += 1

    def end_episode(self):
        self.episodes += 1


def test_a_failure_takes_back_what_was_learnt_since_the_last_call():
    class Fails(Counts):
        def end_episode(self):
            super().end_episode()
            if self.episodes == 4:
                raise RuntimeError("no luck")

    agent, same = PythonAgent(RIVER, Fails, seed=0), PythonAgent(RIVER, Counts, seed=0)
    agent.learn(2)
    with pytest.raises(RuntimeError, match="no luck"):
        agent.learn(5)
    assert agent.episodes == agent.algorithm.episodes
    assert agent.episodes in (2, 3)  # calls are cut by time
    same.learn(agent.episodes)
    np.testing.assert_array_equal(agent.algorithm.Q, same.algorithm.Q)
    assert agent.rng.random() == same.rng.random()


def test_mistakes_of_an_algorithm_are_sentences(tmp_path):
    def changed(**members):
        return type("Mine", (EpsilonGreedy,), members)

    for members, message in (
        (
            {"act": lambda self, state, rng: 2},
            r"Mine.act must return an action in 0, ..., 1; got 2",
        ),
        ({"act": lambda self, state, rng: 0.0}, r"Mine.act must return an action .*; got 0.0"),
        (
            {"policy": lambda self: [[0.5, 0.6]] * 5},
            "Mine.policy: policy.* must sum to 1 .* got 1.1",
        ),
        ({"policy": lambda self: np.ones((2, 2))}, "Mine.policy: "),
        ({"policy": lambda self: None}, r"Mine.policy must return an array \[X, A\]"),
        ({"__init__": lambda self: None}, "Mine has an __init__ of its own: make it a dataclass"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            PythonAgent(RIVER, changed(**members)()).learn(3)

    def start(self, problem):
        EpsilonGreedy.start(self, problem)
        self.seen = []

    with pytest.raises(TypeError, match=r"Mine.seen must be an array or a number to be saved; got"):
        PythonAgent(RIVER, changed(start=start)()).learn(3)
    with pytest.raises(TypeError, match="algorithm must be an Algorithm; got 3"):
        PythonAgent(RIVER, 3)
    with pytest.raises(TypeError, match="gamma= applies to Gymnasium environments only"):
        PythonAgent(RIVER, EpsilonGreedy, gamma=0.5)
    PythonAgent(RIVER, EpsilonGreedy).save(tmp_path)
    with pytest.raises(FileError, match=r"algorithm was 'reference.own:Ep.*, is .*:Watkins'"):
        PythonAgent.load(tmp_path, RIVER, Watkins)
