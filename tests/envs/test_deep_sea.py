import numpy as np
import pytest

from optimist.envs import DeepSea

LEFT, RIGHT = 0, 1


def always(action, mdp):
    return np.tile(np.eye(2)[action], (mdp.n_states, 1))


@pytest.mark.parametrize("n", [2, 3, 10, 40])
def test_the_states_are_the_reachable_cells_and_the_ground(n):
    world = DeepSea(n)
    assert world.mdp.n_states == n * (n + 1) // 2 + 1
    cells = [(row, column) for row in range(n) for column in range(row + 1)]
    assert [world.position(x) for x in range(len(cells))] == cells
    assert world.position(len(cells)) == (n, 0)
    np.testing.assert_array_equal(np.flatnonzero(world.mdp.nu0), [0])


@pytest.mark.parametrize("slip", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(("n", "sparse"), [(2, False), (3, False), (10, False), (40, True)])
def test_a_move_sinks_one_row_and_a_slip_goes_left(n, sparse, slip):
    world = DeepSea(n, slip)
    mdp = world.mdp
    assert isinstance(mdp.kernel, np.ndarray) != sparse
    end = mdp.n_states - 1
    number = {world.position(x): x for x in range(end)}
    expected = np.zeros((mdp.n_states, 2, mdp.n_states))
    expected[end, :, end] = 1
    for (row, column), x in number.items():
        left = number.get((row + 1, max(column - 1, 0)), end)
        right = number.get((row + 1, column + 1), end)
        expected[x, LEFT, left] = 1
        expected[x, RIGHT, left] += slip
        expected[x, RIGHT, right] += 1 - slip
    kernel = mdp.kernel if isinstance(mdp.kernel, np.ndarray) else mdp.kernel.toarray()
    np.testing.assert_allclose(kernel.reshape(expected.shape), expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("n", [2, 5, 40])
def test_left_pays_a_little_and_the_treasure_one(n):
    expected = np.zeros((n * (n + 1) // 2 + 1, 2))
    expected[:-1, LEFT] = 0.01 / n
    expected[-2, RIGHT] = 1
    np.testing.assert_array_equal(DeepSea(n).mdp.r, expected)


@pytest.mark.parametrize("gamma", [0.9, 0.99, 0.999])
@pytest.mark.parametrize("n", [2, 7, 10, 60])
def test_the_best_is_to_dive_right_for_the_treasure(n, gamma):
    """n right moves, the last of which pays 1."""
    mdp = DeepSea(n, gamma=gamma).mdp
    best = mdp.optimal()
    np.testing.assert_allclose(best.value, gamma ** (n - 1), rtol=1e-10)
    np.testing.assert_allclose(mdp.value(always(RIGHT, mdp)), gamma ** (n - 1), rtol=1e-10)
    diagonal = [(row + 1) * (row + 2) // 2 - 1 for row in range(n)]
    np.testing.assert_array_equal(best.policy[diagonal, RIGHT], np.ones(n))


@pytest.mark.parametrize("gamma", [0.5, 0.99])
@pytest.mark.parametrize("n", [2, 10, 60])
def test_always_left_earns_its_small_reward_n_times(n, gamma):
    mdp = DeepSea(n, gamma=gamma).mdp
    expected = 0.01 / n * (1 - gamma**n) / (1 - gamma)
    np.testing.assert_allclose(mdp.value(always(LEFT, mdp)), expected, rtol=1e-10)


def test_who_discounts_too_much_goes_left():
    """For n = 10 and gamma = 1/2 the treasure is worth 2^-9 < 0.001 (2 - 2^-9)."""
    assert DeepSea(10, gamma=0.5).mdp.optimal().policy[0, LEFT] == 1


@pytest.mark.parametrize("n", [3, 60])
def test_the_treasure_takes_n_minus_one_moves_without_a_slip(n):
    """A slip in the last move loses nothing: the treasure is paid for the action."""
    mdp = DeepSea(n, slip=0.2, gamma=0.99).mdp
    expected = (0.8 * 0.99) ** (n - 1)
    np.testing.assert_allclose(mdp.value(always(RIGHT, mdp)), expected, rtol=1e-10)


@pytest.mark.parametrize("n", [2, 6])
def test_uniform_play_finds_the_treasure_once_in_two_to_the_n(n):
    mdp = DeepSea(n, gamma=0.9).mdp
    small = 0.005 / n * (1 - 0.9**n) / 0.1  # half of the moves go left
    np.testing.assert_allclose(
        mdp.value(mdp.uniform_policy), small + 0.9 ** (n - 1) / 2**n, rtol=1e-10
    )


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="n = 1 must be at least 2"):
        DeepSea(1)
    with pytest.raises(ValueError, match=r"slip = 1\.5 is not a probability"):
        DeepSea(4, slip=1.5)
    with pytest.raises(ValueError, match=r"slip = -0\.1 is not a probability"):
        DeepSea(4, slip=-0.1)


def test_the_board_is_a_triangle_on_the_ground():
    assert DeepSea(3).board == ("s  ", ".. ", "..$", "===")
