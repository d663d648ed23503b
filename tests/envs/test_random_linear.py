import itertools

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from reference.refusals import assert_refuses

from optimist.envs import RandomLinear
from optimist.features import Table


def test_the_seed_determines_the_arrays():
    first, again = RandomLinear(4, 30, 3, seed=5), RandomLinear(4, 30, 3, seed=5)
    for name in ("P", "r", "nu0", "Phi"):
        assert_array_equal(getattr(first.mdp, name), getattr(again.mdp, name))
    assert_array_equal(first.features.array, again.features.array)
    worlds = [RandomLinear(4, 30, 3, seed=seed).mdp for seed in range(5)]
    for one, other in itertools.combinations(worlds, 2):
        assert (one.P != other.P).any()
        assert (one.r != other.r).all()


def test_sizes():
    for d, n_states, n_actions in [(1, 5, 2), (3, 40, 2), (20, 7, 4)]:
        world = RandomLinear(d, n_states, n_actions)
        assert world.mdp.P.shape == (n_states, n_actions, n_states)
        assert isinstance(world.features, Table)
        assert world.features.dim == world.mdp.d == d
        assert np.linalg.matrix_rank(np.asarray(world.mdp.kernel)) == min(d, n_states)


def test_the_features_lie_on_the_simplex():
    Phi = RandomLinear().features.array
    assert Phi.min() >= 0
    assert_allclose(Phi.sum(axis=-1), 1, rtol=0, atol=1e-12)
    assert RandomLinear().features.bound <= 1


def test_a_state_can_be_left_for_most_others_in_one_step():
    """With a probability of at least a tenth of 1 / n_states."""
    P = RandomLinear().mdp.P
    assert (P.max(axis=1) >= 0.1 / 200).mean() > 0.9


def test_bad_parameters_are_refused():
    assert_refuses(
        lambda parameters: RandomLinear(**parameters),
        ({"d": 0}, ValueError, "d = 0 must be at least 1"),
        ({"n_states": 0}, ValueError, "n_states = 0 must be at least 1"),
        ({"seed": -3}, ValueError, "seed = -3 must be at least 0"),
    )


def test_the_board_has_rows_of_twenty():
    world = RandomLinear(2, 45, 2)
    assert world.board == ("." * 20, "." * 20, "." * 5)
    assert [world.position(x) for x in (0, 19, 20, 44)] == [(0, 0), (0, 19), (1, 0), (2, 4)]
