"""RandomLinear and RandomTabular: what the seed determines, and what is drawn."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference.statistics import check_counts

from optimist.envs import RandomLinear, RandomTabular
from optimist.features import OneHot, Table


@pytest.mark.parametrize(
    "make",
    [lambda seed: RandomLinear(4, 30, 3, seed), lambda seed: RandomTabular(30, 3, seed=seed)],
    ids=["linear", "tabular"],
)
def test_the_seed_determines_the_arrays(make):
    first, again = make(5), make(5)
    for name in ("P", "r", "nu0"):
        assert_array_equal(getattr(first.mdp, name), getattr(again.mdp, name))
    states = np.arange(30)
    assert_array_equal(first.features.all_actions(states), again.features.all_actions(states))
    for one, other in itertools.combinations([make(seed).mdp for seed in range(5)], 2):
        assert (one.P != other.P).any()
        pays = (one.r > 0) | (other.r > 0)
        assert (one.r[pays] != other.r[pays]).all()


@pytest.mark.parametrize(("d", "n_states", "n_actions"), [(1, 5, 2), (3, 40, 2), (20, 7, 4)])
def test_a_linear_world_has_the_sizes_and_the_rank_asked_for(d, n_states, n_actions):
    world = RandomLinear(d, n_states, n_actions)
    assert world.mdp.P.shape == (n_states, n_actions, n_states)
    assert isinstance(world.features, Table)
    assert world.features.dim == world.mdp.d == d
    assert np.linalg.matrix_rank(np.asarray(world.mdp.kernel)) == min(d, n_states)


def test_the_features_of_a_linear_world_lie_on_the_simplex():
    Phi = RandomLinear().features.array
    assert Phi.min() >= 0
    assert_allclose(Phi.sum(axis=-1), 1, rtol=0, atol=1e-12)


def test_a_state_of_a_linear_world_can_be_left_for_most_others_in_one_step():
    """With a probability of at least a tenth of 1 / n_states."""
    P = RandomLinear().mdp.P
    assert (P.max(axis=1) >= 0.1 / 200).mean() > 0.9


def test_each_pair_of_a_tabular_world_leads_to_so_many_states():
    for n_states, n_actions, successors in [(1, 1, 1), (7, 3, 1), (20, 3, 10), (5, 2, 5)]:
        world = RandomTabular(n_states, n_actions, successors)
        assert world.mdp.P.shape == (n_states, n_actions, n_states)
        assert ((world.mdp.P > 0).sum(axis=2) == successors).all()
        assert isinstance(world.features, OneHot)
        assert_array_equal(world.mdp.nu0, np.eye(n_states)[0])


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
