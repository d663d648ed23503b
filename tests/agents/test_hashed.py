"""Q-learning on tables that grow with the observations met."""

from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from reference.own import lake

from optimist import CountBonus, HashedQLearning, PythonAgent, Study, envs, run
from optimist.agents import ALGORITHMS, DecisionProblem
from optimist.errors import FileError
from optimist.experiments import Specification
from optimist.testing import check_agent

RIVER = envs.RiverSwim(4, gamma=0.9)
KINDS = list(ALGORITHMS.values())


class Corridor(gymnasium.Env):
    """Images of where one is in a corridor of five cells; the right end pays 1."""

    observation_space = spaces.Box(0, 255, (2, 5), np.uint8)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.t = 0, 0
        return self.image(), {}

    def step(self, action):
        self.x, self.t = max(self.x + 2 * action - 1, 0), self.t + 1
        return self.image(), float(self.x == 4), self.x == 4, self.t == 20, {}

    def image(self):
        seen = np.zeros((2, 5), dtype=np.uint8)
        seen[:, self.x] = 255
        return seen


@pytest.mark.parametrize("kind", KINDS)
def test_they_keep_the_contract_of_agents(kind):
    check_agent(kind, RIVER, rate=0.3)


def by_hand(algorithm, transitions):
    """Q of a plain table after transitions (x, a, r, y, terminated) between numbers."""
    gamma, visits = 0.9, np.zeros((3, 2))
    bonus = algorithm.c if isinstance(algorithm, CountBonus) else 0.0
    first = bonus / (1 - gamma) if bonus else algorithm.initial
    Q = np.full((3, 2), first)
    for x, a, r, y, terminated in transitions:
        visits[x, a] += 1
        target = r + bonus / visits[x, a] ** 0.5 + gamma * (not terminated) * Q[y].max()
        Q[x, a] += algorithm.rate * (target - Q[x, a])
    return Q, visits


@pytest.mark.parametrize("algorithm", [HashedQLearning(initial=2.0), CountBonus(c=0.3)])
def test_updates_are_those_of_a_plain_table(algorithm):
    names = [{"at": "left"}, (1, 2), np.arange(4)]  # observations of any kind
    algorithm.start(DecisionProblem(None, 2, 0.9, spaces.Space()))
    rng = np.random.default_rng(0)
    transitions = [
        (int(x), int(a), float(r), int(y), bool(x == 2))
        for x, a, r, y in zip(*(rng.integers(n, size=60) for n in (3, 2, 5, 3)), strict=True)
    ]
    for x in range(3):
        algorithm.act(names[x], rng)  # met in this order
    for x, a, r, y, terminated in transitions:
        algorithm.observe(names[x], a, r, names[y], terminated)
    Q, visits = by_hand(algorithm, transitions)
    np.testing.assert_allclose(algorithm.arrays["Q"], Q, rtol=1e-12)
    np.testing.assert_array_equal(algorithm.arrays["visits"], visits)
    assert algorithm.arrays["digests"].shape == (3, 16)
    assert algorithm.arrays["digests"].dtype == np.uint8
    greedy = np.eye(2)[Q.argmax(axis=1)]
    epsilon = getattr(algorithm, "epsilon", 0.0)
    for x in range(3):
        expected = epsilon / 2 + (1 - epsilon) * greedy[x]
        np.testing.assert_allclose(algorithm.probabilities(names[x]), expected)
    np.testing.assert_allclose(algorithm.probabilities("never met"), 0.5)


def test_a_last_state_that_terminated_gets_no_row():
    algorithm = HashedQLearning()
    algorithm.start(DecisionProblem(None, 2, 0.9, spaces.Space()))
    algorithm.observe("here", 1, 1.0, "the end", True)
    assert len(algorithm.arrays["Q"]) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_images_are_learnt_from_saved_and_evaluated(kind, tmp_path):
    agent = PythonAgent(Corridor(), kind, gamma=0.9, seed=0)
    agent.learn(300)
    images = np.zeros((4, 2, 5), dtype=np.uint8)
    images[np.arange(4), :, np.arange(4)] = 255
    policy = agent.policy
    assert policy.predict(images).tolist() == [1, 1, 1, 1]
    assert policy.predict(images[2]) == agent.predict(images[2]) == 1
    assert policy.probabilities(images[:0]).shape == (0, 2)
    actions, _ = policy.as_sb3().predict(images, deterministic=True)
    assert actions.tolist() == [1, 1, 1, 1]
    with pytest.raises(ValueError, match=r"observations must have the shape \(2, 5\); got \(5,\)"):
        policy.predict(images[0, 0])
    with pytest.raises(ValueError, match="is not a table: save the agent instead"):
        policy.save(tmp_path / "policy")
    before = policy.probabilities(images)
    agent.save(tmp_path)
    loaded = PythonAgent.load(tmp_path, Corridor(), kind, gamma=0.9)
    for name, array in agent.algorithm.arrays.items():
        np.testing.assert_array_equal(loaded.algorithm.arrays[name], array)
    assert loaded.learn(20).steps.tolist() == agent.learn(20).steps.tolist()
    np.testing.assert_array_equal(policy.probabilities(images), before)  # it did not change


def test_files_that_do_not_fit_together_are_refused_and_change_nothing():
    agent = PythonAgent(lake(), CountBonus(), gamma=0.9, seed=0)
    agent.learn(20)
    algorithm = agent.algorithm
    good = {name: array.copy() for name, array in algorithm.arrays.items()}
    twice = np.repeat(good["digests"][:1], len(good["digests"]), axis=0)
    for bad in (
        {"digests": twice},
        {"digests": good["digests"][:, :8]},
        {"Q": good["Q"][1:]},
        {"visits": good["visits"][:, :2]},
    ):
        with pytest.raises(ValueError, match=r"digests must be \[n, 16\] and all different"):
            algorithm.restore({**good, **bad})
    for name, array in good.items():
        np.testing.assert_array_equal(algorithm.arrays[name], array)


def test_another_algorithm_is_refused(tmp_path):
    PythonAgent(RIVER, CountBonus(), seed=0).save(tmp_path)
    with pytest.raises(FileError, match=r"c was 0\.03, is 0\.2"):
        PythonAgent.load(tmp_path, RIVER, CountBonus(c=0.2))


def test_floats_are_cells_of_a_tiling():
    car = gymnasium.make("MountainCar-v0")
    agent = PythonAgent(car, HashedQLearning(features="tiles:8x6"), gamma=0.99, seed=0)
    agent.learn(3)
    rows = agent.algorithm.arrays["Q"]
    assert 1 < len(rows) <= 48
    near = np.array([[-0.5, 0.001], [-0.51, 0.0012]])
    np.testing.assert_array_equal(*agent.policy.probabilities(near))
    fine = PythonAgent(car, HashedQLearning, gamma=0.99, seed=0)
    fine.learn(3)
    assert len(fine.algorithm.arrays["Q"]) > 48


@pytest.mark.parametrize(
    ("space", "features", "message"),
    [
        (spaces.Box(-1, 1, (8,)), "default", r"needs one tiling of Box.*got 'fourier:100'"),
        (spaces.Box(-1, 1, (2,)), "tiles:4*4", r"needs one tiling .*got 'tiles:4\*4'"),
        (spaces.Box(-1, 1, (2,)), "rbf:4", "needs one tiling .*got 'rbf:4'"),
        (spaces.Discrete(5), "tiles:4", "features is for observations of floats"),
    ],
)
def test_features_that_number_nothing_are_refused(space, features, message):
    with pytest.raises(ValueError, match=message):
        HashedQLearning(features=features).start(DecisionProblem(None, 2, 0.9, space))


def test_tiles_make_many_dimensions_possible():
    algorithm = CountBonus(features="tiles:3")
    algorithm.start(DecisionProblem(None, 2, 0.9, spaces.Box(-1, 1, (8,))))
    assert algorithm.act(np.zeros(8), np.random.default_rng(0)) in (0, 1)


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        (CountBonus, {"rate": 0.0}, r"rate must be in \(0, 1\]; got 0"),
        (CountBonus, {"c": -1.0}, "c must be at least 0; got -1"),
        (HashedQLearning, {"epsilon": 1.5}, r"epsilon must be in \[0, 1\]; got 1\.5"),
        (HashedQLearning, {"initial": np.inf}, "initial"),
    ],
)
def test_parameters_out_of_range(kind, parameters, message):
    with pytest.raises(ValueError, match=message):
        kind(**parameters)


def test_ties_are_broken_at_random_and_epsilon_explores():
    algorithm = HashedQLearning(epsilon=0.0)
    algorithm.start(DecisionProblem(4, 3, 0.9, spaces.Discrete(4)))
    rng = np.random.default_rng(0)
    assert {algorithm.act(0, rng) for _ in range(50)} == {0, 1, 2}
    algorithm.observe(0, 1, 1.0, 1, False)
    assert {algorithm.act(0, rng) for _ in range(50)} == {1}
    curious = replace(algorithm, epsilon=0.6)
    curious.start(DecisionProblem(4, 3, 0.9, spaces.Discrete(4)))
    curious.observe(0, 1, 1.0, 1, False)
    share = np.bincount([curious.act(0, rng) for _ in range(6000)]) / 6000
    np.testing.assert_allclose(share, curious.probabilities(0), atol=0.03)  # 5 deviations


def test_studies_name_them_plainly():
    """In Python, and in the plain data that TOML files and the command line are read into."""
    worlds = {"river": RIVER, "lake": envs.Gym("FrozenLake-v1", gamma=0.9)}
    agents = {"Q": HashedQLearning, "counts": CountBonus(c=0.2)}
    results = run(Study(worlds, agents, episodes=10, seeds=1), jobs=1)
    assert len(results.finished) == 4
    spec = Specification(RIVER, CountBonus(c=0.2), episodes=5, stride=1, seed=0)
    parameters = {"rate": 0.5, "features": "default", "c": 0.2}
    assert spec.plain["agent"] == {"agent": "CountBonus", **parameters}
    assert Specification.from_plain(spec.plain) == spec
