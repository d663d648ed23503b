"""What is not an MDP is refused, and the error names the offending entry."""

import numpy as np
import pytest
import scipy.sparse as sp

from optimist.mdp import FiniteMDP

P = np.array([[[0.5, 0.5, 0], [0, 1, 0]], [[0, 0, 1], [0.25, 0.25, 0.5]], [[1, 0, 0], [0, 0, 1]]])
R = np.array([[0.0, 1.0], [0.5, 0.25], [0.75, 0.0]])
NU0 = np.array([0.5, 0.5, 0.0])


def dense(P):
    return P


def sparse(P):
    return sp.csr_array(P.reshape(-1, P.shape[-1]))


def changed(array, index, value):
    copy = array.copy()
    copy[index] = value
    return copy


both = pytest.mark.parametrize("store", [dense, sparse])


@both
def test_negative_probabilities(store):
    bad = changed(P, (1, 1), [0.75, -0.25, 0.5])
    with pytest.raises(ValueError, match=r"^P\[1, 1, 1\] = -0.25 is negative$"):
        FiniteMDP(store(bad), R, NU0, 0.9)


@both
@pytest.mark.parametrize("excess", [2e-8, -2e-8])
def test_rows_that_do_not_sum_to_one(store, excess):
    bad = changed(P, (2, 1, 2), 1 + excess)
    with pytest.raises(ValueError, match=r"^P\[2, 1\] sums to .*, not to 1 within 1e-08; .*normal"):
        FiniteMDP(store(bad), R, NU0, 0.9)


@both
@pytest.mark.parametrize("excess", [5e-9, -5e-9])
def test_rows_that_sum_to_one_up_to_rounding(store, excess):
    mdp = FiniteMDP(store(changed(P, (2, 1, 2), 1 + excess)), R, NU0, 0.9)
    assert mdp.kernel[5, 2] == 1 + excess


@both
def test_a_random_kernel_over_a_thousand_states_is_one(store):
    rng = np.random.default_rng(0)
    kernel = rng.random((1000, 2, 1000))
    kernel /= kernel.sum(axis=-1, keepdims=True)
    mdp = FiniteMDP(store(kernel), rng.random((1000, 2)), np.full(1000, 1e-3), 0.9)
    assert (mdp.n_states, mdp.n_actions) == (1000, 2)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_entries_that_are_not_finite(bad):
    with pytest.raises(ValueError, match=rf"^P\[1, 1, 0\] is {bad}; it must be a finite number$"):
        FiniteMDP(changed(P, (1, 1, 0), bad), R, NU0, 0.9)
    with pytest.raises(ValueError, match=rf"^P\[1, 1, 0\] is {bad}; it must be a finite number$"):
        FiniteMDP(sparse(changed(P, (1, 1, 0), bad)), R, NU0, 0.9)
    with pytest.raises(ValueError, match=rf"^r\[2, 1\] is {bad}; it must be a finite number$"):
        FiniteMDP(P, changed(R, (2, 1), bad), NU0, 0.9)
    with pytest.raises(ValueError, match=rf"^nu0\[2\] is {bad}; it must be a finite number$"):
        FiniteMDP(P, R, changed(NU0, 2, bad), 0.9)
    with pytest.raises(ValueError, match=rf"^gamma is {bad}; it must be a finite number$"):
        FiniteMDP(P, R, NU0, bad)


@both
def test_transition_rewards_that_are_not_finite(store):
    rewards = changed(np.ones_like(P), (0, 1, 1), np.nan)
    with pytest.raises(ValueError, match=r"^r\[0, 1, 1\] is nan; it must be a finite number$"):
        FiniteMDP(store(P), rewards, NU0, 0.9)
    with pytest.raises(ValueError, match=r"^r\[0, 1, 1\] is nan; it must be a finite number$"):
        FiniteMDP(store(P), sparse(rewards), NU0, 0.9)


@pytest.mark.parametrize("shape", [(6,), (6, 3), (3, 2, 2), (2, 2, 3), (1, 3, 2, 3)])
def test_kernels_of_the_wrong_shape(shape):
    size = ", ".join(map(str, shape))
    with pytest.raises(ValueError, match=rf"^P has shape \({size},?\); it must be \[X, A, X\]"):
        FiniteMDP(np.full(shape, 1 / 3), R, NU0, 0.9)


def test_sparse_kernels_of_the_wrong_shape():
    with pytest.raises(ValueError, match=r"^P has shape \(5, 3\); a sparse kernel .* X\*A rows"):
        FiniteMDP(sp.csr_array(np.full((5, 3), 1 / 3)), R, NU0, 0.9)
    with pytest.raises(ValueError, match=r"^P has shape \(3,\); a sparse kernel .* X\*A rows"):
        FiniteMDP(sp.coo_array(np.ones(3)), R, NU0, 0.9)


@both
@pytest.mark.parametrize("shape", [(3,), (2, 3), (3, 2, 2), (3, 3, 2), (6, 3)])
def test_rewards_of_the_wrong_shape(store, shape):
    size = ", ".join(map(str, shape))
    right = r"it must have shape \(3, 2\) or \(3, 2, 3\)$"
    with pytest.raises(ValueError, match=rf"^r has shape \({size},?\); {right}"):
        FiniteMDP(store(P), np.zeros(shape), NU0, 0.9)


@both
def test_sparse_rewards_of_the_wrong_shape(store):
    with pytest.raises(ValueError, match=r"^r has shape \(3, 2\); it must have shape \(6, 3\)$"):
        FiniteMDP(store(P), sp.csr_array(R), NU0, 0.9)


def test_initial_distributions_that_are_not():
    with pytest.raises(ValueError, match=r"^nu0 has shape \(2,\); it must have shape \(3,\)$"):
        FiniteMDP(P, R, [0.5, 0.5], 0.9)
    with pytest.raises(ValueError, match=r"^nu0\[1\] = -0.5 is negative$"):
        FiniteMDP(P, R, [1.5, -0.5, 0], 0.9)
    with pytest.raises(ValueError, match=r"^nu0 sums to 0.9, not to 1 within 1e-08; divide"):
        FiniteMDP(P, R, [0.5, 0.4, 0], 0.9)


@pytest.mark.parametrize(
    "convert",
    [lambda a: a + 0j, lambda a: a.astype(str), lambda a: np.where(a == 1, None, a)],
    ids=["complex", "strings", "objects"],
)
def test_tables_that_hold_no_real_numbers(convert):
    def holds(name):
        return pytest.raises(TypeError, match=rf"^{name} holds .*, not real numbers$")

    with holds("P"):
        FiniteMDP(convert(P), R, NU0, 0.9)
    with holds("r"):
        FiniteMDP(P, convert(R), NU0, 0.9)
    with holds("nu0"):
        FiniteMDP(P, R, convert(np.array([1.0, 0, 0])), 0.9)


def test_complex_sparse_tables():
    with pytest.raises(TypeError, match=r"^P holds complex128, not real numbers$"):
        FiniteMDP(sparse(P + 0j), R, NU0, 0.9)
    with pytest.raises(TypeError, match=r"^r .*holds complex128, not real numbers$"):
        FiniteMDP(P, sparse(P + 0j), NU0, 0.9)


def test_ragged_tables():
    with pytest.raises(ValueError, match=r"^P is not an array"):
        FiniteMDP([[[1, 0], [1]]], R, NU0, 0.9)
    with pytest.raises(ValueError, match=r"^r is not an array"):
        FiniteMDP(P, [[1, 0], [1]], NU0, 0.9)


@pytest.mark.parametrize("gamma", [1.0, -0.1, 1.5])
def test_discount_factors_outside_the_unit_interval(gamma):
    with pytest.raises(ValueError, match=rf"^gamma = {gamma:g} is outside \[0, 1\)$"):
        FiniteMDP(P, R, NU0, gamma)


@pytest.mark.parametrize("gamma", ["0.9", None, 0.5j])
def test_discount_factors_that_are_no_numbers(gamma):
    with pytest.raises(TypeError, match=r"^gamma holds .*, not real numbers$"):
        FiniteMDP(P, R, NU0, gamma)


def test_an_empty_action_set():
    with pytest.raises(ValueError, match=r"^P has no actions: the action set must not be empty$"):
        FiniteMDP(np.zeros((3, 0, 3)), np.zeros((3, 0)), NU0, 0.9)
    with pytest.raises(ValueError, match=r"^P has shape \(0, 3\); a sparse kernel .* one action"):
        FiniteMDP(sp.csr_array((0, 3)), np.zeros((3, 0)), NU0, 0.9)


def test_no_states():
    with pytest.raises(ValueError, match=r"^P has no states$"):
        FiniteMDP(np.zeros((0, 2, 0)), np.zeros((0, 2)), np.zeros(0), 0.9)
    with pytest.raises(ValueError, match=r"^P has shape \(0, 0\); .* at least one state"):
        FiniteMDP(sp.csr_array((0, 0)), np.zeros((0, 2)), np.zeros(0), 0.9)


@pytest.mark.parametrize("method", ["V", "Q", "value", "state_occupancy", "occupancy"])
def test_policies_of_the_wrong_kind(method):
    solve = getattr(FiniteMDP(P, R, NU0, 0.9), method)
    with pytest.raises(ValueError, match=r"^policy has shape \(2, 3\); one policy is \(3, 2\)"):
        solve(np.full((2, 3), 1 / 3))
    with pytest.raises(ValueError, match=r"^policy\[1\] sums to 0.9"):
        solve([[1, 0], [0.5, 0.4], [0, 1]])
    with pytest.raises(ValueError, match=r"^policy\[0, 2, 0\] = -1 is negative$"):
        solve([[[1, 0], [1, 0], [-1, 2]]])


def test_features_of_the_wrong_shape():
    mdp = FiniteMDP(P, R, NU0, 0.9)
    with pytest.raises(ValueError, match=r"^Phi has shape \(2, 3, 4\); .* \(3, 2, any\)$"):
        mdp.feature_expectations(mdp.uniform_policy, np.zeros((2, 3, 4)))
