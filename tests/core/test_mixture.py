"""Values of linear mixture MDPs: where their sweeps end, and what they are without data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from optimist.core.kernels import read_kernels, unit_kernels
from optimist.core.mixture import evaluate, expect
from optimist.envs import RandomMixture

WORLD = RandomMixture(d=3, n_states=7, n_actions=2, gamma=0.9)


def evaluated(
    kappa=0.0, top=10.0, tolerance=1e-12, sweeps=10_000, r=None, V=None, stop=False, Lambda=None
):
    """V, Q and the number of sweeps with the true theta, for the uniform policy."""
    mdp, (X, A) = WORLD.mdp, WORLD.mdp.r.shape
    V, Q = np.zeros(X) if V is None else V, np.zeros((X, A))
    Lambda = np.eye(3) if Lambda is None else Lambda
    n = evaluate(
        *read_kernels(WORLD.kernels), Lambda[None], np.linalg.inv(Lambda)[None], WORLD.theta.copy(),
        np.array(mdp.r if r is None else r), mdp.uniform_policy.copy(), 0.9, kappa, top, tolerance,
        sweeps, V, Q, np.zeros((3, 3)), np.array([stop]),
    )  # fmt: skip
    return V, Q, n


def test_with_the_true_theta_and_no_bonus_values_are_those_of_the_policy():
    V, Q, n = evaluated()
    assert_allclose(V, WORLD.mdp.V(WORLD.mdp.uniform_policy), rtol=1e-9)
    assert_allclose(Q, WORLD.mdp.r + 0.9 * np.array(WORLD.mdp.P) @ V, rtol=1e-12)
    assert 100 < n < 10_000


def test_sweeps_end_at_the_tolerance_or_at_their_number_and_start_from_the_values_so_far():
    V, _, n = evaluated(tolerance=1e-3)
    assert evaluated(tolerance=1e-3, V=V.copy())[2] == 1
    assert evaluated(tolerance=1e-9)[2] > n
    few, Q, number = evaluated(sweeps=2)
    assert number == 2
    assert_allclose(Q, WORLD.mdp.r + 0.9 * np.array(WORLD.mdp.P) @ few, rtol=1e-12)
    assert evaluated(stop=True)[2] == 0


def test_values_that_alternate_end_as_after_all_sweeps():
    """Of constant values everything is known, and of others so little that they are cut off."""
    given = {"tolerance": 0.0, "r": np.linspace(0, 0.5, 14).reshape(7, 2)}
    given["Lambda"] = np.eye(3) + 1e7
    ends, V = {}, np.full(7, 10.0)
    for done in range(1, 8):
        Q = evaluated(60.0, sweeps=1, V=V, **given)[1]
        ends[done] = V.copy(), Q
    assert_array_equal(ends[7][0], ends[1][0])
    assert np.abs(ends[7][0] - ends[6][0]).min() > 0.1
    for sweeps in (2, 6, 7):
        V, Q, n = evaluated(60.0, sweeps=sweeps, V=np.full(7, 10.0), **given)
        assert n == sweeps
        assert_array_equal(V, ends[sweeps][0])
        assert_array_equal(Q, ends[sweeps][1])


def test_values_are_cut_off_on_both_sides():
    assert_array_equal(evaluated(top=0.05, r=np.ones((7, 2)))[0], 0.05)
    assert_array_equal(evaluated(r=-np.ones((7, 2)))[0], 0.0)
    assert_array_equal(evaluated(kappa=10.0, r=np.ones((7, 2)))[1], 10.0)


def test_bonuses_are_norms_of_the_expected_values():
    V = np.random.default_rng(0).random(7)
    Q = evaluated(kappa=0.5, sweeps=0, V=V)[1]
    f = np.einsum("ixay,y->xai", WORLD.kernels, V)
    expected = WORLD.mdp.r + 0.9 * f @ WORLD.theta + 0.5 * np.linalg.norm(f, axis=2)
    assert_allclose(Q, expected, rtol=1e-12)


def test_the_expected_values_of_a_table_are_the_values_themselves():
    kernels, V, f = unit_kernels(4, 3), np.random.default_rng(1).random(4), np.zeros(4)
    assert_array_equal(kernels.block, np.arange(12))
    for pair in range(12):
        expect(*kernels[:3], pair, V, f)
        assert_array_equal(f, V)


def test_invalid_kernels_are_refused():
    with pytest.raises(ValueError, match=r"kernels\[0, 0, 1\] must sum to at most 1; got 1.5"):
        read_kernels([[[[0.5, 0.5], [1.0, 0.5]]] * 2])
    with pytest.raises(ValueError, match=r"kernels must be \[d, X, A, X\] with d >= 1"):
        read_kernels(np.ones((2, 3, 1, 2)) / 2)
