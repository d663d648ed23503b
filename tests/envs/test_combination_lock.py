import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference.refusals import assert_refuses

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
def test_the_arrays_are_those_of_the_description(lock):
    """The right action leads on, and every other one back; only the last right one pays."""
    P, r = np.zeros((lock.n, lock.n_actions, lock.n)), np.zeros((lock.n, lock.n_actions))
    P[:, :, 0] = 1
    for x, right in enumerate(lock.combination):
        P[x, right] = np.eye(lock.n)[min(x + 1, lock.n - 1)]
    r[-1, lock.combination[-1]] = 1
    assert_array_equal(lock.mdp.P, P)
    assert_array_equal(lock.mdp.r, r)
    assert_array_equal(lock.mdp.nu0, np.eye(lock.n)[0])


@settings(max_examples=40)
@given(locks)
def test_values_by_hand(lock):
    """Best is to open it in n - 1 moves and be paid for ever.

    Under uniform play a step from the nth on is paid if and only if the last n actions were right.
    """
    gamma, n, best = lock.gamma, lock.n, lock.mdp.optimal()
    assert_allclose(best.V, gamma ** np.arange(n - 1, -1, -1) / (1 - gamma), rtol=1e-10)
    assert_array_equal(best.policy.argmax(axis=1), np.array(lock.combination))
    uniform = gamma ** (n - 1) / (1 - gamma) / lock.n_actions**n
    assert_allclose(lock.mdp.value(lock.mdp.uniform_policy), uniform, rtol=1e-10)


def test_the_combination_is_drawn_from_the_seed():
    assert CombinationLock(20).combination == CombinationLock(20).combination
    combinations = {CombinationLock(20, seed=seed).combination for seed in range(10)}
    assert len(combinations) == 10
    assert set(CombinationLock(200, 3).combination) == {0, 1, 2}
    assert all(type(a) is int for a in CombinationLock().combination)


def test_bad_parameters_are_refused():
    assert_refuses(
        lambda parameters: CombinationLock(**parameters),
        ({"n": 0}, ValueError, "n = 0 must be at least 1"),
        ({"n_actions": 1}, ValueError, "n_actions = 1 must be at least 2"),
        ({"seed": -1}, ValueError, "seed = -1 must be at least 0"),
        ({"seed": 0.5}, TypeError, r"seed = 0\.5 is not a whole number"),
    )


def test_the_board_has_a_cell_a_digit():
    for n, board in [(1, "$"), (2, "s$"), (6, "s....$")]:
        assert CombinationLock(n).board == (board,)
        assert [CombinationLock(n).position(x) for x in range(n)] == [(0, x) for x in range(n)]
