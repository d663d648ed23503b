import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference.refusals import assert_refuses
from reference.solves import as_table

from optimist.envs import DeepSea

LEFT, RIGHT = 0, 1


def always(action, mdp):
    return np.tile(np.eye(2)[action], (mdp.n_states, 1))


@pytest.mark.parametrize(("n", "sparse"), [(2, False), (3, False), (10, False), (40, True)])
def test_the_arrays_are_those_of_the_description(n, sparse):
    """A move sinks one row, a slip goes left; left pays a little and the treasure one."""
    cells = [(row, column) for row in range(n) for column in range(row + 1)]
    number, end = {cell: x for x, cell in enumerate(cells)}, len(cells)
    r = np.zeros((end + 1, 2))
    r[:-1, LEFT] = 0.01 / n
    r[-2, RIGHT] = 1
    for slip in (0.0, 0.3, 1.0):
        world = DeepSea(n, slip)
        mdp = world.mdp
        assert isinstance(mdp.kernel, np.ndarray) != sparse
        assert [world.position(x) for x in range(mdp.n_states)] == [*cells, (n, 0)]
        P = np.zeros((end + 1, 2, end + 1))
        P[end, :, end] = 1
        for (row, column), x in number.items():
            left = number.get((row + 1, max(column - 1, 0)), end)
            right = number.get((row + 1, column + 1), end)
            P[x, LEFT, left] = 1
            P[x, RIGHT, left] += slip
            P[x, RIGHT, right] += 1 - slip
        assert_allclose(as_table(mdp.kernel, mdp), P, rtol=0, atol=1e-15)
        assert_array_equal(mdp.r, r)
        assert_array_equal(mdp.nu0, np.eye(end + 1)[0])


@pytest.mark.parametrize("n", [2, 7, 60])
def test_values_by_hand(n):
    for gamma in (0.9, 0.99, 0.999):
        mdp = DeepSea(n, gamma=gamma).mdp
        best = mdp.optimal()
        # Best are n right moves, the last of which pays 1.
        assert_allclose(best.value, gamma ** (n - 1), rtol=1e-10)
        assert_allclose(mdp.value(always(RIGHT, mdp)), gamma ** (n - 1), rtol=1e-10)
        diagonal = [(row + 1) * (row + 2) // 2 - 1 for row in range(n)]
        assert_array_equal(best.policy[diagonal, RIGHT], np.ones(n))
        # Left earns its small reward n times; uniform play half of that, and the treasure once in
        # 2^n episodes.
        small = 0.01 / n * (1 - gamma**n) / (1 - gamma)
        assert_allclose(mdp.value(always(LEFT, mdp)), small, rtol=1e-10)
        treasure = gamma ** (n - 1) / 2**n
        assert_allclose(mdp.value(mdp.uniform_policy), small / 2 + treasure, rtol=1e-10)
        # A slip in the last move loses nothing: the treasure is paid for the action.
        mdp = DeepSea(n, slip=0.2, gamma=gamma).mdp
        assert_allclose(mdp.value(always(RIGHT, mdp)), (0.8 * gamma) ** (n - 1), rtol=1e-10)


def test_who_discounts_too_much_goes_left():
    """For n = 10 and gamma = 1/2 the treasure is worth 2^-9 < 0.001 (2 - 2^-9)."""
    assert DeepSea(10, gamma=0.5).mdp.optimal().policy[0, LEFT] == 1


def test_bad_parameters_are_refused():
    assert_refuses(
        lambda parameters: DeepSea(*parameters),
        ((1,), ValueError, "n = 1 must be at least 2"),
        ((4, 1.5), ValueError, r"slip = 1\.5 is not a probability"),
        ((4, -0.1), ValueError, r"slip = -0\.1 is not a probability"),
    )


def test_the_board_is_a_triangle_on_the_ground():
    assert DeepSea(3).board == ("s  ", ".. ", "..$", "===")
