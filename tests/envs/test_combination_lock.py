import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimist.envs import CombinationLock

locks = st.builds(
    CombinationLock,
    n=st.integers(1, 7),
    n_actions=st.integers(2, 5),
    seed=st.integers(0, 50),
    gamma=st.sampled_from([0.5, 0.9, 0.99]),
)


@settings(max_examples=40)
@given(locks)
def test_the_right_action_leads_on_and_every_other_back(lock):
    P = lock.mdp.P
    for x, right in enumerate(lock.combination):
        for a in range(lock.n_actions):
            after = min(x + 1, lock.n - 1) if a == right else 0
            np.testing.assert_array_equal(P[x, a], np.eye(lock.n)[after])
    np.testing.assert_array_equal(lock.mdp.nu0, np.eye(lock.n)[0])


@settings(max_examples=40)
@given(locks)
def test_only_the_last_digit_pays(lock):
    expected = np.zeros((lock.n, lock.n_actions))
    expected[-1, lock.combination[-1]] = 1
    np.testing.assert_array_equal(lock.mdp.r, expected)


@settings(max_examples=40)
@given(locks)
def test_the_best_opens_it_in_n_minus_one_moves_and_is_paid_for_ever(lock):
    gamma = lock.gamma
    expected = gamma ** np.arange(lock.n - 1, -1, -1) / (1 - gamma)
    np.testing.assert_allclose(lock.mdp.optimal().V, expected, rtol=1e-10)
    np.testing.assert_array_equal(
        lock.mdp.optimal().policy.argmax(axis=1), np.array(lock.combination)
    )


@settings(max_examples=40)
@given(locks)
def test_uniform_play_is_paid_once_in_A_to_the_n_steps(lock):
    """A step from the (n - 1)th on is paid if and only if the last n actions were right."""
    gamma, n = lock.gamma, lock.n
    expected = gamma ** (n - 1) / (1 - gamma) / lock.n_actions**n
    np.testing.assert_allclose(lock.mdp.value(lock.mdp.uniform_policy), expected, rtol=1e-10)


def test_the_combination_is_drawn_from_the_seed():
    assert CombinationLock(20).combination == CombinationLock(20).combination
    combinations = {CombinationLock(20, seed=seed).combination for seed in range(10)}
    assert len(combinations) == 10
    assert set(CombinationLock(200, 3).combination) == {0, 1, 2}
    assert all(type(a) is int for a in CombinationLock().combination)


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="n = 0 must be at least 1"):
        CombinationLock(0)
    with pytest.raises(ValueError, match="n_actions = 1 must be at least 2"):
        CombinationLock(3, 1)
    with pytest.raises(ValueError, match="seed = -1 must be at least 0"):
        CombinationLock(seed=-1)
    with pytest.raises(TypeError, match=r"seed = 0\.5 is not a whole number"):
        CombinationLock(seed=0.5)


@pytest.mark.parametrize(("n", "board"), [(1, "$"), (2, "s$"), (6, "s....$")])
def test_the_board_has_a_cell_a_digit(n, board):
    assert CombinationLock(n).board == (board,)
    assert [CombinationLock(n).position(x) for x in range(n)] == [(0, x) for x in range(n)]
