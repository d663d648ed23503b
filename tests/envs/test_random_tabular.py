import numpy as np
import pytest

from optimist.envs import RandomTabular
from optimist.features import OneHot


def test_the_same_seed_makes_the_same_arrays():
    first, second = RandomTabular(30, 3, seed=5).mdp, RandomTabular(30, 3, seed=5).mdp
    np.testing.assert_array_equal(first.P, second.P)
    np.testing.assert_array_equal(first.r, second.r)


def test_different_seeds_make_different_worlds():
    worlds = [RandomTabular(30, 3, seed=seed).mdp for seed in range(5)]
    for i, one in enumerate(worlds):
        for other in worlds[:i]:
            assert (one.P != other.P).any()
            assert (one.r != other.r).any()


@pytest.mark.parametrize(
    ("n_states", "n_actions", "successors"), [(1, 1, 1), (7, 3, 1), (20, 3, 10), (5, 2, 5)]
)
def test_each_pair_leads_to_so_many_states(n_states, n_actions, successors):
    world = RandomTabular(n_states, n_actions, successors)
    assert world.mdp.P.shape == (n_states, n_actions, n_states)
    assert ((world.mdp.P > 0).sum(axis=2) == successors).all()
    assert isinstance(world.features, OneHot)


def test_successors_and_probabilities_are_uniform(check_counts):
    """Every state follows as often as any other, and a part of a cut interval has mean 1 / 4."""
    P = RandomTabular(20, 1000, successors=4).mdp.P
    check_counts((P > 0).sum(axis=(0, 1)), np.full(20, 1 / 20))
    parts = P[P > 0]
    assert parts.mean() == pytest.approx(1 / 4)
    assert parts.var() == pytest.approx(3 / 80, rel=0.03)  # that of Dirichlet(1, 1, 1, 1)


@pytest.mark.parametrize(("paying", "states"), [(0, 1), (0.1, 2), (0.5, 10), (1, 20)])
def test_a_share_of_the_states_pays(paying, states):
    r = RandomTabular(20, 3, paying=paying).mdp.r
    assert (r.max(axis=1) > 0).sum() == states
    assert r.max() <= 1
    np.testing.assert_array_equal(r, np.repeat(r[:, :1], 3, axis=1))


def test_episodes_start_in_the_first_state():
    np.testing.assert_array_equal(RandomTabular(20).mdp.nu0, np.eye(20)[0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_states": 0}, "n_states = 0 must be at least 1"),
        ({"n_actions": 0}, "n_actions = 0 must be at least 1"),
        ({"successors": 0}, "successors = 0 must be at least 1"),
        ({"n_states": 3, "successors": 4}, "successors = 4 must be at most n_states = 3"),
        ({"paying": 1.5}, "paying = 1.5"),
        ({"seed": -3}, "seed = -3 must be at least 0"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        RandomTabular(**parameters)
