"""Expert trajectories: their views against exact occupancies, and where they come from."""

import pickle
from dataclasses import replace
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference.mdps import random_mdp
from reference.refusals import assert_refuses
from reference.solves import as_table
from reference.statistics import check_counts

from optimist import envs
from optimist.features import OneHot, OneHotState, StateOnly, Table
from optimist.imitation import FeatureDataset, TrajectoryDataset

MDP = random_mdp()
X, A = MDP.n_states, MDP.n_actions
EXPERT = np.random.default_rng(3).dirichlet(np.ones(A), size=X)
STATES = StateOnly(OneHotState(X), A)


def laws(mdp, pi, T):
    """The law of (x_t, a_t) for t < T by the forward recursion, [T, X, A]."""
    P, nu, found = as_table(mdp.kernel, mdp), mdp.nu0, []
    for _ in range(T):
        found.append(nu[:, None] * pi)
        nu = np.einsum("xa,xay->y", found[-1], P)
    return np.array(found)


def cut_occupancy(mdp, pi, T):
    """The occupancy of the first T steps, which is mu(pi) up to gamma^T."""
    weights = mdp.gamma ** np.arange(T)
    return np.tensordot(weights / weights.sum(), laws(mdp, pi, T), axes=1)


def recorded(n, T=None, seed=0, **how):
    rng = np.random.default_rng(seed)
    return TrajectoryDataset.from_rollouts(MDP, EXPERT, n, rng, T, **how)


# Views


@pytest.mark.parametrize("T", [1, 3, 12])
def test_the_last_pairs_are_draws_of_the_occupancy(T):
    n = 20_000
    pairs = recorded(n, T).last(np.random.default_rng(1))
    assert_allclose(pairs.weights, 1 / n, rtol=1e-12)
    counts = np.bincount(pairs.states * A + pairs.actions, minlength=X * A)
    check_counts(counts, cut_occupancy(MDP, EXPERT, T).ravel())
    assert_allclose(pairs.occupancy(X, A).ravel(), counts / n, rtol=0, atol=1e-12)


@pytest.mark.parametrize("gamma", [0.0, 0.3, 0.99])
def test_the_time_of_the_last_pair_is_geometric_and_below_the_length(gamma):
    """States are times here, and trajectories have two lengths."""
    data = TrajectoryDataset([np.arange(T) for T in [2] * 4000 + [7] * 4000], gamma=gamma)
    found = data.last(np.random.default_rng(0)).states
    for T, part in ((2, found[:4000]), (7, found[4000:])):
        law = gamma ** np.arange(T) / (gamma ** np.arange(T)).sum()
        if gamma:
            check_counts(np.bincount(part, minlength=T), law)
        else:
            assert not part.any()


def test_the_whole_view_is_unbiased():
    n, T = 4000, 15
    data = recorded(n, T)
    exact = cut_occupancy(MDP, EXPERT, T)
    rows = data.features(OneHot(X, A)).features  # the occupancy of each trajectory
    error = 4.5 * rows.std(axis=0) / np.sqrt(n) + 1e-12
    assert (np.abs(rows.mean(axis=0) - exact.ravel()) <= error).all()
    assert_allclose(data.occupancy(X, A).ravel(), rows.mean(axis=0), rtol=0, atol=1e-12)
    assert_allclose(data.state_occupancy(X), data.occupancy(X, A).sum(axis=1), atol=1e-12)
    noise = recorded(n, T).last(np.random.default_rng(1)).occupancy(X, A)
    assert np.abs(data.occupancy(X, A) - exact).sum() < np.abs(noise - exact).sum()


def test_a_long_trajectory_has_the_occupancy_of_the_policy():
    """The cut at the default length leaves at most 0.02 of the weight, in L1 twice that."""
    T = int(recorded(1).lengths[0])
    assert np.ceil(np.log(50) / (1 - MDP.gamma)) == T
    assert MDP.gamma**T <= 0.02
    distance = np.abs(cut_occupancy(MDP, EXPERT, T) - MDP.occupancy(EXPERT)).sum()
    assert 0 < distance <= 2 * MDP.gamma**T


def test_the_weights_of_trajectories_of_different_lengths():
    data = TrajectoryDataset([[0, 1, 2], [1]], gamma=0.5)
    pairs = data.whole()
    assert_allclose(pairs.weights, [4 / 14, 2 / 14, 1 / 14, 1 / 2], rtol=1e-14)
    assert_array_equal(pairs.states, [0, 1, 2, 1])
    assert pairs.actions is None
    assert_allclose(data.state_occupancy(4), [4 / 14, 9 / 14, 1 / 14, 0], rtol=1e-14)
    long = TrajectoryDataset(np.zeros((2, 100_000), int), gamma=0.5).whole().weights
    assert long.sum() == pytest.approx(1, rel=1e-12)


def test_the_law_at_each_time_is_that_of_the_survivors():
    n, T = 5000, 6
    data = recorded(n, T)
    counts = data.by_time(X) * n
    check_counts(counts.round().astype(int), laws(MDP, EXPERT, T).sum(axis=2))
    some = TrajectoryDataset([[0, 1, 2], [1], [0, 2]])
    third = [2 / 3, 1 / 3, 0], [0, 1 / 2, 1 / 2], [0, 0, 1]
    assert_allclose(some.by_time(3), third, rtol=1e-15)


def test_the_last_view_as_features_is_that_of_the_same_draw():
    data = recorded(50)
    pairs = data.last(np.random.default_rng(4))
    found = data.features(OneHot(X, A), view="last", rng=np.random.default_rng(4))
    assert_array_equal(found.features, OneHot(X, A)(pairs.states, pairs.actions))
    assert (found.bound, found.gamma, found.size) == (1.0, MDP.gamma, 50)


def test_features_are_those_of_from_episodes(monkeypatch):
    """And the same when few fit into memory at a time."""
    data = TrajectoryDataset([[0, 1, 2], [1, 0], [2]], [[0, 1, 0], [1, 1], [0]], gamma=0.5)
    episodes = [
        SimpleNamespace(
            observations=[*path.states, 5], actions=path.actions, terminations=0 * path.actions
        )
        for path in data
    ]
    expected = FeatureDataset.from_episodes(episodes, OneHot(X, A), 0.5)
    assert_allclose(data.features(OneHot(X, A)).features, expected.features, atol=1e-15)
    monkeypatch.setattr("optimist.imitation.trajectory_views.NUMBERS_AT_ONCE", X * A * A * 3)
    assert_allclose(data.features(OneHot(X, A)).features, expected.features, atol=1e-15)


# Paths


def test_paths_are_the_trajectories_in_order():
    x, a = [[0, 1, 2], [1], [3, 3]], [[0, 1, 0], [1], [0, 0]]
    data = TrajectoryDataset(x, a)
    assert [path.states.tolist() for path in data] == x
    assert [path.actions.tolist() for path in data] == a
    assert data[-1].states.tolist() == [3, 3]
    assert (len(data), data.offsets.tolist()) == (3, [0, 3, 4, 6])
    assert data.times.tolist() == [0, 1, 2, 0, 0, 1]
    assert data.take([2, 0]) == TrajectoryDataset([x[2], x[0]], [a[2], a[0]])
    with pytest.raises(IndexError):
        data[3]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_split_is_a_permutation_and_the_second_half_may_be_empty(n):
    data = TrajectoryDataset([[i] * (i + 1) for i in range(n)], gamma=0.5)
    found = {data.split(np.random.default_rng(seed))[0].states[0] for seed in range(40)}
    assert found == set(range(n))
    first, second = data.split(np.random.default_rng(0))
    assert (len(first), len(second)) == ((n + 1) // 2, n // 2)
    paths = sorted(path.states.tolist() for half in (first, second) for path in half)
    assert paths == [path.states.tolist() for path in data]
    assert first.gamma == 0.5
    if n == 1:
        assert second.states.shape == (0,)
        assert list(second) == []
        for view in (second.whole, lambda: second.last(np.random.default_rng(0))):
            with pytest.raises(ValueError, match="at least one trajectory"):
                view()


# Where they come from


def test_rollouts_are_paths_of_the_world():
    data = recorded(300, 8)
    P = as_table(MDP.kernel, MDP)
    for path in data:
        assert (P[path.states[:-1], path.actions[:-1], path.states[1:]] > 0).all()
        assert MDP.nu0[path.states[0]] > 0
    again, other = recorded(300, 8), recorded(300, 8, seed=1)
    assert again == data != other
    assert recorded(300, 8, actions=False) == replace(data, actions=None)


def test_rollouts_of_an_environment_have_the_same_law():
    """Its geometric resets are turned off."""
    world = envs.GridWorld("S..\n.#.\n.OG", gamma=0.8)
    env = gymnasium.make("optimist/GridWorld-v0", layout="S..\n.#.\n.OG", gamma=0.8)
    pi, n, T = world.mdp.uniform_policy, 600, 6
    data = TrajectoryDataset.from_rollouts(
        env, pi, n, np.random.default_rng(0), length=T, gamma=0.8
    )
    assert data.finite
    assert_array_equal(data.lengths, T)
    counts = (data.by_time(8) * n).round().astype(int)
    check_counts(counts[1:], laws(world.mdp, pi, T).sum(axis=2)[1:])


def test_a_terminated_rollout_stays():
    env = gymnasium.make("FrozenLake-v1", is_slippery=False, max_episode_steps=-1)
    down = np.tile(np.eye(4)[1], (17, 1))  # 0, 4, 8, and 12 is a hole
    for absorbing, last in ((None, 12), (16, 16)):
        data = TrajectoryDataset.from_rollouts(
            env, down, 2, np.random.default_rng(0), 5, gamma=0.9, absorbing=absorbing
        )
        assert data.states.reshape(2, 5).tolist() == [[0, 4, 8, last, last]] * 2
    short = gymnasium.make("FrozenLake-v1", is_slippery=False, max_episode_steps=2)
    with pytest.raises(ValueError, match="truncated rollout 0 after 2 steps"):
        TrajectoryDataset.from_rollouts(short, down, 1, np.random.default_rng(0), 5, gamma=0.9)


def test_observations_of_an_environment_are_kept_and_have_no_tables():
    env = gymnasium.make("MountainCar-v0", max_episode_steps=-1)
    policy = SimpleNamespace(probabilities=lambda x: np.array([0, 0, 1.0]))
    rng = np.random.default_rng(0)
    data = TrajectoryDataset.from_rollouts(env, policy, 3, rng, length=4, gamma=0.9)
    assert data.states.shape == (12, 2)
    assert not data.finite
    assert data.last(rng).states.shape == (3, 2)
    for view in (data.state_occupancy, data.by_time):
        with pytest.raises(ValueError, match=r"0, \.\.\., 4 for a table; got observations of 2 n"):
            view(5)


def test_episodes_of_minari_with_actions_and_without():
    cut = SimpleNamespace(observations=[0, 1, 2], actions=[1, 0], terminations=[False, False])
    ended = SimpleNamespace(observations=[0, 3], actions=[1], terminations=[True])
    data = TrajectoryDataset.from_episodes([cut, ended], gamma=0.5, length=4)
    assert [path.states.tolist() for path in data] == [[0, 1], [0, 3, 3, 3]]
    assert [path.actions.tolist() for path in data] == [[1, 0], [1, 1, 1, 1]]
    seen = TrajectoryDataset.from_episodes([cut, ended], gamma=0.5, actions=False, absorbing=7)
    assert [path.states.tolist() for path in seen] == [[0, 1, 2], [0, 7, 7, 7, 7, 7, 7, 7]]
    bare = SimpleNamespace(observations=[0, 1, 2])
    assert TrajectoryDataset.from_episodes([bare]) == TrajectoryDataset([[0, 1, 2]])
    with pytest.raises(ValueError, match="all trajectories must have actions, or none; 1 of 2"):
        TrajectoryDataset.from_episodes([cut, bare])
    with pytest.raises(ValueError, match="episode 0: gamma or length must be given: it terminated"):
        TrajectoryDataset.from_episodes([ended])


def test_feature_datasets_take_episodes_without_actions():
    """All observations count, or the last has what is left after a termination."""
    bare = SimpleNamespace(observations=[0, 1, 2])
    for episode in (bare, SimpleNamespace(**vars(bare), actions=None, terminations=None)):
        found = FeatureDataset.from_episodes([episode], STATES, 0.5)
        assert_allclose(found.mean[:3], np.array([4, 2, 1]) / 7, rtol=1e-14)
    ended = SimpleNamespace(observations=[0, 1, 2], terminations=[False, True])
    found = FeatureDataset.from_episodes([ended], STATES, 0.5)
    assert_allclose(found.mean[:3], [0.5, 0.25, 0.25], rtol=1e-14)
    same = Table(np.repeat(np.eye(X)[:, None], A, axis=1))  # does not depend on actions either
    assert FeatureDataset.from_episodes([ended], same, 0.5) == found
    assert TrajectoryDataset([[0, 1, 2]], gamma=0.5).features(same).dim == X
    for phi in (OneHot(X, A), Table(np.random.default_rng(0).random((X, A, 2)))):
        with pytest.raises(ValueError, match="phi must not depend on actions"):
            FeatureDataset.from_episodes([bare], phi, 0.5)
        with pytest.raises(ValueError, match="phi must not depend on actions"):
            TrajectoryDataset([[0, 1, 2]], gamma=0.5).features(phi)


# In a world


def test_positions_are_the_states_of_a_map():
    world = envs.FourRooms()
    path = np.array([world.position(x) for x in range(world.mdp.n_states)])
    found = TrajectoryDataset([path, path[::-1].astype(float)]).in_world(world)
    assert found.states.tolist() == [*range(len(path)), *reversed(range(len(path)))]
    assert found.gamma == world.gamma
    states = TrajectoryDataset([[0, 1, 2]], [[0, 3, 0]], gamma=world.gamma)
    assert states.in_world(world) == states == states.in_world(world.mdp)


def test_trajectories_that_do_not_fit_a_world():
    world = envs.GridWorld("S.\n#G")
    position = "a position must be a state of GridWorld; got "
    table = [
        (TrajectoryDataset([[(0, 0)], [(0, 0), (1, 0)]]), rf"episode 1, t = 1: {position}\(1, 0\)"),
        (TrajectoryDataset([[(0, 2)]]), position),
        (TrajectoryDataset([[(-1, 0)]]), rf"{position}\(-1, 0\)"),
        (TrajectoryDataset([[(0, 0.5)]]), rf"{position}\(0, 0.5\)"),
        (TrajectoryDataset([[0, 3]]), r"states\[1\] must be in .*; got 3"),
        (TrajectoryDataset([[0]], [[4]]), r"actions\[0\] must be in .*; got 4"),
        (TrajectoryDataset([[0]], gamma=0.5), "gamma must be that of the world, 0.9; got 0.5"),
        (TrajectoryDataset([[(0, 0, 0)]]), "got observations of 3 numbers"),
    ]
    assert_refuses(
        lambda data: data.in_world(world), *((data, ValueError, said) for data, said in table)
    )


# Contents


def test_a_dataset_is_an_immutable_value():
    data = TrajectoryDataset(np.array([[0, 1], [2, 3]]), np.zeros((2, 2), int), gamma=0.9)
    same = TrajectoryDataset([0, 1, 2, 3], [0] * 4, lengths=[2, 2], gamma=0.9)
    assert data == same == pickle.loads(pickle.dumps(data))
    others = (replace(data, gamma=0.5), replace(data, actions=None), replace(data, lengths=[1, 3]))
    assert all(data != other for other in others)
    assert data != "data"
    for array in (data.states, data.actions, data.lengths, pickle.loads(pickle.dumps(data)).states):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert repr(data) == (
        "TrajectoryDataset(2 trajectories of 2 steps, states and actions, gamma=0.9)"
    )
    assert repr(TrajectoryDataset([[0.5]])) == (
        "TrajectoryDataset(1 trajectory of 1 step, observations of 1 number)"
    )


def test_invalid_datasets_are_refused():
    many = "states must hold at least one trajectory, and each at least one step"
    table = [
        ({"states": []}, ValueError, many),
        ({"states": [[0], []]}, ValueError, many),
        ({"states": np.zeros((3, 0), int)}, ValueError, many),
        ({"states": [0, 1]}, ValueError, "sequence of trajectories.*Give lengths="),
        ({"states": np.arange(3)}, ValueError, "sequence of trajectories.*Give lengths="),
        ({"states": [[0, -1]]}, ValueError, r"states\[1\] must be in .*; got -1"),
        ({"states": [[0.0, np.nan]]}, ValueError, r"states\[1\] must be a finite number; got nan"),
        ({"states": [["left"]]}, TypeError, "must hold real numbers"),
        ({"states": [[(0, 1)], [(0, 1, 2)]]}, ValueError, "one shape at every step"),
        ({"states": [[0, 1]], "actions": [[0]]}, ValueError, "as many entries as the states"),
        (
            {"states": [[0]], "actions": [[0.5]]},
            TypeError,
            "actions must hold .* numbers; got float64",
        ),
        ({"states": [[0]], "actions": [[-1]]}, ValueError, r"actions\[0\] must be in .*; got -1"),
        ({"states": [0], "lengths": [2]}, ValueError, "lengths must sum to the 1 states; got 2"),
        ({"states": [0], "lengths": [1, 0]}, ValueError, r"at least 1; got \[1, 0\]"),
        ({"states": [[0]], "gamma": 1.0}, ValueError, r"gamma must be in \[0, 1\); got 1"),
    ]
    assert_refuses(lambda given: TrajectoryDataset(**given), *table)
    data, rng = TrajectoryDataset([[0, 1]]), np.random.default_rng(0)
    for view in (data.whole, lambda: data.last(rng), lambda: data.features(STATES)):
        with pytest.raises(ValueError, match="gamma must be known to discount"):
            view()
    known = replace(data, gamma=0.5)
    with pytest.raises(ValueError, match="these data hold states alone"):
        known.occupancy(X, A)
    with pytest.raises(ValueError, match=r"states\[1\] must be in .*; got 1"):
        known.state_occupancy(1)
    with pytest.raises(ValueError, match="view must be 'whole' or 'last'; got 'first'"):
        known.features(STATES, view="first")
    with pytest.raises(TypeError, match=r"rng must be a Generator, .*; got None"):
        known.features(STATES, view="last")
    world = envs.RiverSwim(3)
    for given in ({"gamma": 0.5}, {"seed": 1}, {"absorbing": 2}):
        with pytest.raises(TypeError, match="apply to Gymnasium environments only"):
            TrajectoryDataset.from_rollouts(world, world.mdp.uniform_policy, 2, rng, **given)
    with pytest.raises(ValueError, match="trajectories must be at least 1; got 0"):
        TrajectoryDataset.from_rollouts(world, world.mdp.uniform_policy, 0, rng)
