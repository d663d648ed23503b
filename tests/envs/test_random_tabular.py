import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from reference.refusals import assert_refuses
from reference.statistics import check_counts

from optimist.envs import RandomTabular
from optimist.features import OneHot


def test_the_seed_determines_the_arrays():
    first, again = RandomTabular(30, 3, seed=5).mdp, RandomTabular(30, 3, seed=5).mdp
    assert_array_equal(first.P, again.P)
    assert_array_equal(first.r, again.r)
    worlds = [RandomTabular(30, 3, seed=seed).mdp for seed in range(5)]
    for one, other in itertools.combinations(worlds, 2):
        assert (one.P != other.P).any()
        assert (one.r != other.r).any()


def test_each_pair_leads_to_so_many_states():
    for n_states, n_actions, successors in [(1, 1, 1), (7, 3, 1), (20, 3, 10), (5, 2, 5)]:
        world = RandomTabular(n_states, n_actions, successors)
        assert world.mdp.P.shape == (n_states, n_actions, n_states)
        assert ((world.mdp.P > 0).sum(axis=2) == successors).all()
        assert isinstance(world.features, OneHot)


def test_successors_and_probabilities_are_uniform():
    """Every state follows as often as any other, and a part of a cut interval has mean 1 / 4."""
    P = RandomTabular(20, 1000, successors=4).mdp.P
    check_counts((P > 0).sum(axis=(0, 1)), np.full(20, 1 / 20))
    parts = P[P > 0]
    assert parts.mean() == pytest.approx(1 / 4)
    assert parts.var() == pytest.approx(3 / 80, rel=0.03)  # that of Dirichlet(1, 1, 1, 1)


def test_a_share_of_the_states_pays():
    for paying, states in [(0, 1), (0.1, 2), (0.5, 10), (1, 20)]:
        r = RandomTabular(20, 3, paying=paying).mdp.r
        assert (r.max(axis=1) > 0).sum() == states
        assert r.max() <= 1
        assert_array_equal(r, np.repeat(r[:, :1], 3, axis=1))


def test_episodes_start_in_the_first_state():
    assert_array_equal(RandomTabular(20).mdp.nu0, np.eye(20)[0])


def test_bad_parameters_are_refused():
    assert_refuses(
        lambda parameters: RandomTabular(**parameters),
        ({"n_states": 0}, ValueError, "n_states = 0 must be at least 1"),
        ({"n_actions": 0}, ValueError, "n_actions = 0 must be at least 1"),
        ({"successors": 0}, ValueError, "successors = 0 must be at least 1"),
        ({"n_states": 3, "successors": 4}, ValueError, "successors = 4 must be at most n_stat"),
        ({"paying": 1.5}, ValueError, "paying = 1.5"),
        ({"seed": -3}, ValueError, "seed = -3 must be at least 0"),
    )
