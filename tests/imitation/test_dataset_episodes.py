"""Whole trajectories as rows: their weights, and that their mean is the one of the expert."""

import builtins
from types import SimpleNamespace

import gymnasium
import minari
import numpy as np
import pytest
from minari.data_collector.episode_buffer import EpisodeBuffer
from reference.refusals import assert_refuses

from optimist.features import RBF, OneHot, OneHotState, StateOnly, Table
from optimist.imitation.dataset import FeatureDataset
from optimist.mdp import FiniteMDP


def episode(observations, actions, terminated=False):
    """A trajectory as Minari tells it."""
    terminations = np.zeros(len(actions), dtype=bool)
    terminations[-1:] = terminated
    return SimpleNamespace(
        observations=np.array(observations), actions=np.array(actions), terminations=terminations
    )


STATES = StateOnly(OneHotState(3), n_actions=2)


def test_the_weights_of_a_trajectory_that_terminated_and_of_one_that_was_cut_off():
    """The last state takes what is left; or it has no part, and the others share its weight."""
    ended, cut = (episode([0, 1, 0, 2], [0, 1, 1], terminated) for terminated in (True, False))
    for gamma in (0.0, 0.5, 0.9):
        found = FeatureDataset.from_episodes([ended, cut], STATES, gamma)
        whole = [1 - gamma + (1 - gamma) * gamma**2, (1 - gamma) * gamma, gamma**3]
        shared = np.array([1 + gamma**2, gamma, 0]) * (1 - gamma) / (1 - gamma**3)
        np.testing.assert_allclose(found.features, [whole, shared], rtol=0, atol=1e-15)


def test_a_trajectory_that_terminated_may_stay_elsewhere_than_where_it_ended():
    """In the last state of three, in which all endings meet; one that was cut off has no end."""
    ended, cut = episode([0, 1, 1], [0, 1], True), episode([0, 1, 1], [0, 1])
    found = FeatureDataset.from_episodes([ended, cut], STATES, 0.5, absorbing=2)
    np.testing.assert_allclose(found.features, [[0.5, 0.25, 0.25], [2 / 3, 1 / 3, 0]], atol=1e-15)
    assert ended.observations.tolist() == [0, 1, 1]


def test_a_frozen_lake_is_matched_where_its_endings_meet():
    """Of the MDP that is made of the lake the last state is the end of all episodes."""
    env = gymnasium.make("FrozenLake-v1", max_episode_steps=-1)
    mdp = FiniteMDP.from_gymnasium(gymnasium.make("FrozenLake-v1"), gamma=0.9)
    phi, rng = StateOnly(OneHotState(17), n_actions=4), np.random.default_rng(0)
    best = mdp.optimal().policy
    exact = FeatureDataset.from_policy(mdp, best, phi).mean
    sampled = FeatureDataset.from_rollouts(env, best, phi, 3000, rng, gamma=0.9, absorbing=16)
    error = 4.5 * np.sqrt(exact * (1 - exact) / 3000) + 1e-12
    assert (np.abs(sampled.mean - exact) <= error).all()
    assert exact[16] > 0.05  # it is met

    def played():
        x, _ = env.reset()
        states, actions, ended = [x], [], False
        while not ended:
            actions.append(int(rng.choice(4, p=best[x])))
            x, _, ended, _, _ = env.step(actions[-1])
            states.append(x)
        return episode(states, actions, True)

    whole = FeatureDataset.from_episodes([played() for _ in range(1500)], phi, 0.9, absorbing=16)
    error = 4.5 * whole.features.std(axis=0) / np.sqrt(1500) + 1e-12
    assert (np.abs(whole.mean - exact) <= error).all()


def test_actions_are_those_of_their_states_and_the_last_is_repeated():
    found = FeatureDataset.from_episodes([episode([0, 1, 2], [1, 0], True)], OneHot(3, 2), 0.5)
    np.testing.assert_allclose(found.mean.reshape(3, 2), [[0, 0.5], [0.25, 0], [0.25, 0]])


def test_each_trajectory_is_one_sample_of_any_length():
    x = np.zeros(100_001, int)
    long = [episode(x, x[1:]), episode(x, x[1:], True)]  # of which no power overflows
    episodes = [episode([1, 2, 2], [0, 1], True), episode([2, 0], [1]), *long]
    found = FeatureDataset.from_episodes(iter(episodes), STATES, 0.5)
    assert (found.size, found.gamma, found.bound, found.exact) == (4, 0.5, 1.0, False)
    np.testing.assert_allclose(found.features[:2].sum(axis=1), 1, rtol=0, atol=1e-15)
    np.testing.assert_allclose(found.features[2:], [[1, 0, 0]] * 2, rtol=0, atol=1e-12)


def test_the_bias_of_a_cut_is_at_most_2_B_gamma_to_the_T_and_may_be_that():
    """Attained where the features turn round at the cut."""
    gamma, T = 0.8, 5
    phi = Table([[[3.0]], [[-3.0]]])  # B = 3
    x = np.r_[np.zeros(T, int), np.ones(400, int)]  # what is beyond has weight 0.8^400, about 1e-39
    whole = FeatureDataset.from_episodes([episode(np.r_[x, 1], 0 * x)], phi, gamma)
    cut = FeatureDataset.from_episodes([episode(x[: T + 1], 0 * x[:T])], phi, gamma)
    np.testing.assert_allclose(cut.mean - whole.mean, [2 * 3 * gamma**T], rtol=1e-12)


# What is refused


def test_invalid_trajectories_are_refused():
    good = episode([0, 1, 2], [0, 1], True)
    rows, composite = r"observations must have 3 rows, .*; got shape ", "observations must be one"
    table = [
        ({"observations": [0, 1]}, ValueError, rows + r"\(2,\)"),
        ({"observations": 0}, ValueError, rows + r"\(\)"),
        ({"observations": {"x": [0, 1, 2]}}, TypeError, f"{composite} array; got a dict.*Flatten"),
        ({"observations": ([0, 1, 2],)}, TypeError, f"{composite} array; got a tuple.*Flatten"),
        ({"observations": [0, 1, 7]}, ValueError, r"state\[2\] must be in .*; got 7"),
        ({"actions": []}, ValueError, "actions must have at least one entry"),
        ({"actions": 3}, ValueError, "actions must have at least one entry"),
        ({"actions": [0.5, 0.5]}, TypeError, "action must hold .* numbers; got float64"),
        ({"actions": [0, 2]}, ValueError, r"action\[1\] must be in .*; got 2"),
        ({"terminations": [True]}, ValueError, r"terminations must have shape .*; got \(1,\)"),
        ({"terminations": [True, True]}, ValueError, "false before step 2; got true at 1"),
    ]

    def second(wrong):
        FeatureDataset.from_episodes([good, SimpleNamespace(**vars(good) | wrong)], STATES, 0.5)

    assert_refuses(second, *((wrong, kind, f"episode 1: .*{said}") for wrong, kind, said in table))
    others = [
        (([[0, 1, 2]], STATES, 0.5), TypeError, "episode 0: it must have observations"),
        (([], STATES, 0.5), ValueError, "episodes must hold at least one trajectory"),
        (([good], OneHotState(3), 0.5), TypeError, "must be a FeatureMap"),
        (([good], STATES, 1.0), ValueError, r"gamma must be in \[0, 1\); got 1"),
    ]
    assert_refuses(lambda given: FeatureDataset.from_episodes(*given), *others)


# Minari


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    return tmp_path


def collect(env, policy, episodes, steps, name):
    """A Minari dataset on disk, of trajectories of at most so many steps, and the same as lists."""
    rng, played, buffers = np.random.default_rng(0), [], []
    for i in range(episodes):
        x, a, terminated = [env.reset(seed=i)[0]], [], False
        while len(a) < steps and not terminated:
            a.append(policy.predict(x[-1], rng))
            after, _, terminated, *_ = env.step(a[-1])
            x.append(after)
        played.append(episode(x, a, terminated))
        ends = played[-1].terminations
        buffers.append(
            EpisodeBuffer(
                id=i,
                observations=np.array(x),
                actions=np.array(a),
                rewards=np.zeros(len(a)),
                terminations=ends,
                truncations=np.append(ends[:-1], not terminated),
            )
        )
    about = dict.fromkeys(("author", "author_email", "code_permalink", "algorithm_name"), "none")
    minari.create_dataset_from_buffers(
        name, buffers, env, env, data_format="arrow", description="some trajectories", **about
    )
    return played


def uniform(n_actions):
    return SimpleNamespace(predict=lambda state, rng: int(rng.integers(n_actions)))


LAKE, CAR = gymnasium.make("FrozenLake-v1", max_episode_steps=-1), gymnasium.make("MountainCar-v0")


@pytest.mark.parametrize(
    ("env", "phi", "steps"),
    [
        (gymnasium.make("optimist/RiverSwim-v0", n=3), OneHot(3, 2), 30),
        (LAKE, StateOnly(OneHotState(16), 4), 10_000),
        (CAR, StateOnly(RBF(CAR.observation_space, 3), 3), 20),
    ],
    ids=["a world", "terminations", "arrays"],
)
def test_a_minari_dataset(folder, env, phi, steps):
    played = collect(env, uniform(env.action_space.n), 6, steps, "some/expert-v0")
    expected = FeatureDataset.from_episodes(played, phi, gamma=0.9)
    assert (expected.size, expected.dim) == (6, phi.dim)
    for given in ("some/expert-v0", minari.load_dataset("some/expert-v0")):
        assert FeatureDataset.from_episodes(given, phi, gamma=0.9) == expected
    if env is LAKE:  # an episode ends in a state that is new to it, which holds what is left
        last, left = zip(
            *((e.observations[-1], 0.9 ** len(e.actions)) for e in played), strict=True
        )
        np.testing.assert_allclose(expected.features[np.arange(6), last], left, rtol=1e-12)
    with pytest.raises(FileNotFoundError, match="nothing/here-v0"):
        FeatureDataset.from_episodes("nothing/here-v0", STATES, 0.5)


def test_without_minari_the_error_names_the_package(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name == "minari":
            raise ImportError("no such module")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError, match=r"pip install 'optimist\[minari\]'"):
        FeatureDataset.from_episodes("river/expert-v0", STATES, 0.5)
