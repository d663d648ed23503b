"""A policy learnt in an environment is numbers: saved, loaded and played without its learner."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from reference.comparison import assert_close
from reference.environments import Episodic
from reference.features import CarFeatures
from reference.variants import variant

from optimist import OptimisticVI, RaviUcb, Rmax, RmaxRaviUcb, envs, load_policy
from optimist.agents import Optimist, VariantAgent
from optimist.core import Never
from optimist.features import RBF, FeatureMap, PerAction, StateFeatures

AGENTS = {
    "RmaxRaviUcb": (RmaxRaviUcb, {}),
    "RaviUcb": (RaviUcb, {}),
    "bold": (RaviUcb, {"beta": 6.0}),  # whose values are cut off more often
    "OptimisticVI": (OptimisticVI, {}),
    "Rmax": (Rmax, {}),
    "Optimist": (Optimist, {}),
}
TERMS = {"gamma": 0.9, "geometric": False}


class Crossed(FeatureMap):
    """Features of pairs that no two actions share."""

    def __init__(self):
        super().__init__(dim=3, bound=4.0, blocks=1, n_actions=3)

    def __call__(self, states, actions):
        every, a = self.all_actions(states), np.asarray(actions)
        return np.take_along_axis(every, a[..., None, None], axis=-2)[..., 0, :]

    def all_actions(self, states):
        x = np.asarray(states, dtype=np.float64)
        a = np.arange(3.0)
        parts = (a + 0 * x[..., :1], x[..., :1] * (a + 1), 10 * x[..., 1:] * (2 - a))
        return np.stack(parts, axis=-1)


def car():
    return gymnasium.make("MountainCar-v0", max_episode_steps=20)


def lake():
    return gymnasium.make("FrozenLake-v1", is_slippery=False)


FEATURES = {
    "one-hot": (lake, None),
    "tiles": (car, "tiles:6"),
    "tilings": (car, "tiles:3*2"),
    "rbf": (car, "rbf:4"),
    "fourier": (car, "fourier:7"),
    "own": (car, PerAction(CarFeatures(), 3)),
    "crossed": (car, Crossed()),
}


class Watched(gymnasium.ObservationWrapper):
    """Keeps what is seen."""

    def __init__(self, env):
        super().__init__(env)
        self.seen = []

    def observation(self, x):
        self.seen.append(np.array(x))
        return x


def learnt(agent, name, episodes=15):
    """An agent, and all that it has seen."""
    (make, features), (agent, parameters) = FEATURES[name], AGENTS[agent]
    env = Watched(make())
    agent = agent(env, features, seed=2, **TERMS, **parameters)
    agent.learn(episodes)
    return agent, np.array(env.seen)


def observations(name, n=40):
    space = FEATURES[name][0]().observation_space
    if isinstance(space, spaces.Discrete):
        return np.arange(space.n)
    return np.random.default_rng(0).uniform(space.low, space.high, size=(n, *space.shape))


@pytest.mark.parametrize("agent", AGENTS)
def test_a_policy_is_what_is_believed_and_played_and_comes_back(agent, numbers_of, tmp_path):
    """The closed form, the beliefs of any observation, what is kept of states met, and a file."""
    for name in FEATURES:
        learner, seen = learnt(agent, name)
        x = observations(name)
        assert_close(learner.believe(x).policy, learner.policy.probabilities(x))
        found = numbers_of(learner, seen)
        now, kept, believed = learner.diagnostics, found >= 0, learner.believe(seen[found >= 0])
        assert set(found[kept]) == set(range(len(now.V)))  # ends are not kept
        assert_close(now.pi[found[kept]], learner.policy.probabilities(seen[kept]))
        assert_close(now.pi[found[kept]], believed.policy)
        assert_close(now.V[found[kept]], believed.value)
        own = learner.features if name in ("own", "crossed") else None
        for i, policy in enumerate((learner.policy, learner.output)):
            policy.save(tmp_path / str(i))
            again = load_policy(tmp_path / str(i), own)
            pi = policy.probabilities(x)
            assert pi.tobytes() == again.probabilities(x).tobytes()
            np.testing.assert_allclose(pi.sum(axis=1), 1.0)
            assert [again.predict(y) for y in x] == policy.predict(x).tolist()
            if agent != "Optimist":  # which plays actions on trial as often as the best one
                assert policy.predict(x).tolist() == np.argmax(pi, axis=1).tolist()
            np.testing.assert_allclose(again.probabilities(x[3]), pi[3], rtol=0, atol=1e-12)


def test_truncated_values_are_kept_update_by_update():
    agent, _ = learnt("RaviUcb", "rbf")
    policy = agent.policy
    assert policy.Theta.shape == (policy.updates, agent.features.dim)
    assert policy.updates % 10 == 0
    agent, _ = learnt("OptimisticVI", "rbf")  # but for those of which only the last counts
    assert agent.policy.Theta.shape == (agent.features.dim,)
    assert agent.policy.updates == 1


def test_user_defined_features_must_be_given(tmp_path):
    for name in ("own", "crossed"):
        agent, _ = learnt("RmaxRaviUcb", name)
        agent.policy.save(tmp_path / name)
        with pytest.raises(ValueError, match=r"features of its own: give them as features="):
            load_policy(tmp_path / name)
        with pytest.raises(ValueError, match=r"has d = \d and 3 actions; the features have d = 8"):
            load_policy(tmp_path / name, PerAction(RBF(([0.0], [1.0]), 4), 2))


def test_known_rewards_have_to_be_given(tmp_path):
    def paid(x):
        return np.asarray(x)[..., :1] * np.array([1.0, 0.5, 0.0]) * 0.5

    def mapped(x):  # into [0, 1], as a policy takes it
        return (paid(x) + 1) / 2

    agent = RmaxRaviUcb(car(), "rbf:4", **TERMS, reward=paid, low=-1, high=1)
    agent.learn(10)
    agent.policy.save(tmp_path / "known")
    with pytest.raises(ValueError, match="was learnt with a known reward: give it as reward="):
        load_policy(tmp_path / "known")
    again = load_policy(tmp_path / "known", reward=mapped)
    x = observations("rbf")
    pi = again.probabilities(x)
    np.testing.assert_allclose(pi, agent.policy.probabilities(x), rtol=0, atol=1e-12)
    assert_close(agent.believe(x).policy, pi)
    assert again.predict(x[0]) == agent.predict(x[0])
    plain, _ = learnt("RmaxRaviUcb", "rbf")
    plain.policy.save(tmp_path / "plain")
    with pytest.raises(ValueError, match="was learnt with estimated rewards: give no reward="):
        load_policy(tmp_path / "plain", reward=mapped)


def test_before_the_first_episode_the_policy_is_uniform():
    for kind, parameters in AGENTS.values():
        agent = kind(car(), "tiles:4", **TERMS, **parameters)
        x = observations("tiles")
        for policy in (agent.policy, agent.output):
            np.testing.assert_array_equal(policy.probabilities(x), np.full((40, 3), 1 / 3))
        seen = agent.believe(x)
        np.testing.assert_allclose(seen.policy, 1 / 3)
        np.testing.assert_allclose(seen.visits, 0.0, atol=1e-9)


def test_a_policy_does_not_change_with_its_learner():
    agent, _ = learnt("RmaxRaviUcb", "tiles")
    policy, x = agent.policy, observations("tiles")
    before = policy.probabilities(x)
    agent.learn(20)
    np.testing.assert_array_equal(policy.probabilities(x), before)
    assert (agent.policy.probabilities(x) != before).any()


class Small(Episodic):
    """Two states and two actions, three steps; the next state is the action."""

    steps = 3

    def start(self):
        self.path = [0]
        return 0

    def move(self, action):
        self.x = action
        self.path.append(action)
        return 0.5 * action, False, self.t >= self.steps


def test_actions_are_drawn_from_the_policy():
    """One by one by `predict`, and all along one long episode of the learner's."""
    env = Small()
    agent = VariantAgent(env, config=variant(0.5, 0.3, Never()), seed=1, **TERMS)
    agent.learn(6)
    n, rng, pi = 3000, np.random.default_rng(0), agent.policy.probabilities([0, 1])[:, 1]
    assert 0.52 < pi[0] < 0.95
    chosen = np.array([agent.predict(0, rng) for _ in range(n)])
    env.steps = 2 * n
    agent.learn(1)
    x, a = np.array(env.path[:-1]), np.array(env.path[1:])
    for drawn, p in ((chosen, pi[0]), (a[x == 0], pi[0]), (a[x == 1], pi[1])):
        assert len(drawn) > 500
        assert abs(drawn.mean() - p) < 5 * np.sqrt(p * (1 - p) / len(drawn))


def policies_played(agent, episodes):
    found = []
    for _ in range(episodes):
        found.append(agent.policy)
        agent.learn(1)
    return found


def test_the_output_is_one_of_the_policies_played_each_alike():
    """pi_I with I uniform: of K = 5 episodes, over many seeds; truncated values are kept too."""
    K, runs = 5, 250
    counts = np.zeros(K)
    for seed in range(runs):
        agent = VariantAgent(Small(), config=variant(1.0), seed=seed, **TERMS)
        played = policies_played(agent, K)
        output = agent.output
        same = [
            p.updates == output.updates
            and p.Theta.tobytes() == output.Theta.tobytes()
            and p.Lambda.tobytes() == output.Lambda.tobytes()
            for p in played
        ]
        assert sum(same) == 1
        counts += same
    assert (np.abs(counts / runs - 1 / K) < 5 * np.sqrt((1 / K) * (1 - 1 / K) / runs)).all()
    for seed in range(8):
        agent = RaviUcb(Small(), seed=seed, **TERMS)
        played, output = policies_played(agent, 6), agent.output.probabilities([0, 1])
        assert any(np.array_equal(output, p.probabilities([0, 1])) for p in played)


class Missing(StateFeatures):
    """Of some states nothing is known: their features are zero."""

    def __init__(self):
        super().__init__(dim=2, bound=1.0, blocks=1)

    def __call__(self, observations):
        x = np.asarray(observations)
        return np.stack([1.0 * (x == 0), 0.0 * x], axis=-1)


def test_states_without_features_are_no_surprise():
    agent = RmaxRaviUcb(Small(), Missing(), **TERMS)
    agent.learn(5)
    seen = agent.believe([0, 1])
    assert seen.bonus[1].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(seen.policy[1], 0.5)
    np.testing.assert_allclose(agent.policy.probabilities([0, 1]), seen.policy, atol=1e-9)


def test_an_environment_as_data_is_learnt_like_the_environment():
    world = envs.Gym("FrozenLake-v1", gamma=0.9, options="is_slippery=false")
    one, other = Optimist(world, seed=1), Optimist(lake(), seed=1, gamma=0.9)
    one.learn(20)
    other.learn(20)
    assert repr(one) == repr(other)
    np.testing.assert_array_equal(one.policy.Theta, other.policy.Theta)
    assert one.predict([0, 1, 2]).tolist() == [one.predict(x) for x in range(3)]


def test_features_too_many_for_the_memory():
    with pytest.raises(ValueError, match=r"41,472 features in 2 blocks of 20,736 need 38\.4 GiB"):
        Optimist(gymnasium.make("CartPole-v1"), "rbf:12", gamma=0.9)
