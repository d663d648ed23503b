"""The arrays of RiverSwim, SixArms, CombinationLock and DeepSea are those of their descriptions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference.solves import as_table

from optimist.envs import CombinationLock, DeepSea, RiverSwim, SixArms

LEFT, RIGHT = 0, 1


def assert_arrays(world, P, r):
    """The world has these arrays and starts in its first state."""
    mdp = world.mdp
    assert_array_equal(as_table(mdp.kernel, mdp), P)
    assert_array_equal(mdp.r, r)
    assert_array_equal(mdp.nu0, np.eye(mdp.n_states)[0])


@pytest.mark.parametrize("n", [2, 3, 6, 12])
def test_river_swim(n):
    P, r = np.zeros((n, 2, n)), np.zeros((n, 2))
    for x in range(n):
        P[x, LEFT, max(x - 1, 0)] = 1
        P[x, RIGHT, x - 1 : x + 2] = (0.05, 0.6, 0.35) if 0 < x < n - 1 else 0
    P[0, RIGHT, :2] = P[-1, RIGHT, -2:] = 0.4, 0.6
    r[0, LEFT], r[-1, RIGHT] = 0.005, 1
    assert_arrays(RiverSwim(n), P, r)
    assert RiverSwim() == RiverSwim(n=6, gamma=0.99)


def test_six_arms():
    """An action reaches its arm or stays; an arm is kept by its own action alone, and pays."""
    P, r = np.zeros((7, 6, 7)), np.zeros((7, 6))
    P[1:, :, 0] = 1
    for i, reach in enumerate([1, 0.15, 0.1, 0.05, 0.03, 0.01]):
        P[0, i, [0, i + 1]] = 1 - reach, reach
        P[i + 1, i] = np.eye(7)[i + 1]
    r[1:] = np.diag([50, 133, 300, 800, 1660, 6000]) / 6000
    assert_arrays(SixArms(), P, r)


@settings(max_examples=40)
@given(st.integers(1, 7), st.integers(2, 5), st.integers(0, 50))
def test_combination_lock(n, n_actions, seed):
    """The right action leads on, and every other one back; only the last right one pays."""
    lock = CombinationLock(n, n_actions, seed)
    P, r = np.zeros((n, n_actions, n)), np.zeros((n, n_actions))
    P[:, :, 0] = 1
    for x, right in enumerate(lock.combination):
        P[x, right] = np.eye(n)[min(x + 1, n - 1)]
    r[-1, lock.combination[-1]] = 1
    assert_arrays(lock, P, r)


def test_the_combination_is_drawn_from_the_seed():
    assert CombinationLock(20).combination == CombinationLock(20).combination
    combinations = {CombinationLock(20, seed=seed).combination for seed in range(10)}
    assert len(combinations) == 10
    assert set(CombinationLock(200, 3).combination) == {0, 1, 2}
    assert all(type(a) is int for a in CombinationLock().combination)


@pytest.mark.parametrize("slip", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(("n", "sparse"), [(2, False), (3, False), (10, False), (40, True)])
def test_deep_sea(n, sparse, slip):
    """A move sinks one row, a slip goes left; left pays a little and the treasure one."""
    cells = [(row, column) for row in range(n) for column in range(row + 1)]
    number, end = {cell: x for x, cell in enumerate(cells)}, len(cells)
    P, r = np.zeros((end + 1, 2, end + 1)), np.zeros((end + 1, 2))
    P[end, :, end] = 1
    for (row, column), x in number.items():
        left = number.get((row + 1, max(column - 1, 0)), end)
        right = number.get((row + 1, column + 1), end)
        P[x, LEFT, left] = 1
        P[x, RIGHT, left] += slip
        P[x, RIGHT, right] += 1 - slip
    r[:-1, LEFT] = 0.01 / n
    r[-2, RIGHT] = 1
    world = DeepSea(n, slip)
    assert_arrays(world, P, r)
    assert isinstance(world.mdp.kernel, np.ndarray) != sparse
    assert [world.position(x) for x in range(end + 1)] == [*cells, (n, 0)]


def test_optima_by_hand():
    """The patient swim and the impatient let go; a treasure is worth gamma^(n - 1) from the start.

    For n = 10 and gamma = 1/2 it is worth 2^-9 < 0.001 (2 - 2^-9). An open lock pays for ever after
    n - 1 moves. The last arm at gamma = 0.95: V(arm) = 20, V(0) = 0.95 (0.01 * 20 + 0.99 V(0)).
    """
    assert_array_equal(RiverSwim(6, 0.99).mdp.optimal().policy[:, RIGHT], np.ones(6))
    assert RiverSwim(6, 0.5).mdp.optimal().policy[0, LEFT] == 1
    assert_allclose(DeepSea(60, gamma=0.99).mdp.optimal().value, 0.99**59, rtol=1e-10)
    assert DeepSea(10, gamma=0.5).mdp.optimal().policy[0, LEFT] == 1
    assert_allclose(CombinationLock(6, gamma=0.9).mdp.optimal().value, 0.9**5 / 0.1, rtol=1e-10)
    assert_allclose(SixArms(gamma=0.95).mdp.optimal().value, 0.19 / 0.0595, rtol=1e-10)
