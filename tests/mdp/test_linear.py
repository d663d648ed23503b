"""Linear MDPs: P = Phi M and r = Phi w."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference.refusals import assert_refuses

from optimist.mdp import FiniteMDP, LinearMDP

PHI = np.array([[[1, 0], [0, 1]], [[0.5, 0.5], [0.2, 0.8]], [[0, 1], [1, 0]]])
M = np.array([[0.5, 0.5, 0], [0, 0.25, 0.75]])
W = np.array([3.0, -4.0])
NU0 = [0.5, 0.5, 0]
SIZES = {"d": 2, "n_states": 2, "n_actions": 2}

GENERATORS = [LinearMDP.random_simplex, LinearMDP.random_low_rank]
generators = pytest.mark.parametrize("generate", GENERATORS, ids=lambda g: g.__name__)


def test_kernel_rewards_and_bounds_are_those_of_the_factors():
    mdp = LinearMDP(PHI, M, W, NU0, 0.9)
    assert_allclose(mdp.P, np.einsum("xad,dy->xay", PHI, M), rtol=0, atol=1e-16)
    assert_allclose(mdp.r, [[3, -4], [-0.5, -2.6], [-4, 3]], rtol=0, atol=1e-15)
    assert_array_equal(mdp.Phi, PHI)
    assert_array_equal(mdp.M, M)
    assert_array_equal(mdp.w, W)
    assert (mdp.d, mdp.B, mdp.W_max, mdp.rounding, mdp.gamma) == (2, 1, 5, 0, 0.9)
    assert LinearMDP(2 * PHI, M / 2, W, NU0, 0.9).B == 2
    assert repr(mdp) == "LinearMDP(states=3, actions=2, gamma=0.9)"


def test_it_is_solved_like_the_finite_mdp_it_is():
    mdp = LinearMDP(PHI, M, W, NU0, 0.9)
    finite = FiniteMDP(mdp.P, mdp.r, NU0, 0.9)
    assert_array_equal(mdp.optimal().V, finite.optimal().V)
    Q = mdp.Q(mdp.uniform_policy)  # linear in the features, as the paper has it
    theta = W + 0.9 * M @ mdp.V(mdp.uniform_policy)
    assert_allclose(Q, PHI @ theta, rtol=0, atol=1e-12)


def test_factors_are_copied_and_read_only():
    Phi, measures, w = PHI.copy(), M.copy(), W.copy()
    mdp = LinearMDP(Phi, measures, w, NU0, 0.9)
    for given_array in (Phi, measures, w):
        given_array[...] = 99
    for mine, array in ((mdp.Phi, PHI), (mdp.M, M), (mdp.w, W)):
        assert_array_equal(mine, array)
        with pytest.raises(ValueError, match="read-only"):
            mine[...] = 0
    with pytest.raises(AttributeError, match=r"^LinearMDP is immutable"):
        mdp.w = W


def test_a_negative_entry_within_rounding_is_zero_and_recorded():
    negative = M.copy()
    negative[0] = [0.5 + 5e-13, 0.5, -5e-13]
    mdp = LinearMDP(PHI, negative, W, NU0, 0.9)
    assert mdp.P[0, 0, 2] == 0
    assert mdp.P.min() == 0
    assert mdp.rounding == 5e-13
    assert_array_equal(mdp.M, negative)


def test_bad_factors_are_refused():
    short = np.where(PHI == 0.5, [0.5, 0.45], PHI)
    negative = np.array([[0.5 + 1e-11, 0.5, -1e-11], M[1]])
    assert_refuses(
        lambda parts: LinearMDP(*parts, NU0, 0.9),
        ((PHI, negative, W), ValueError, r"^Phi M\[0, 0, 2\] must not be negative; got -1e-11$"),
        ((short, M, W), ValueError, r"^Phi M\[1, 0\] must sum to 1 within 1e-08; got 0.95$"),
        ((PHI[..., 0], M, W), ValueError, r"^Phi must have shape \(any, any, any\); got \(3, 2\)$"),
        ((PHI, M.T, W), ValueError, r"^M must have shape \(2, 3\); got \(3, 2\)$"),
        ((PHI, M, [1, 2, 3]), ValueError, r"^w must have shape \(2,\); got \(3,\)$"),
        (
            (np.where(PHI, PHI, np.nan), M, W),
            ValueError,
            r"^Phi\[0, 0, 1\] must be a finite number; got nan",
        ),
    )
    Phi_r, w = np.ones((3, 2, 4)), np.ones(4)
    assert_refuses(
        lambda parts: LinearMDP.from_parts(*parts, NU0, 0.9),
        ((np.ones((3, 3, 4)), w, PHI, M), ValueError, r"^Phi_P must have shape \(3, 3, any\)"),
        ((Phi_r, w, PHI, M[:, :2]), ValueError, r"^M must have shape \(2, 3\); got \(2, 2\)$"),
        ((Phi_r, w[:3], PHI, M), ValueError, r"^w must have shape \(4,\); got \(3,\)$"),
    )


def test_parts_given_apart_are_concatenated():
    rng = np.random.default_rng(0)
    Phi_r, w = rng.normal(size=(3, 2, 4)), rng.normal(size=4)
    mdp = LinearMDP.from_parts(Phi_r, w, PHI, M, NU0, 0.9)
    assert_array_equal(mdp.Phi, np.concatenate([Phi_r, PHI], axis=2))
    assert_array_equal(mdp.w, [*w, 0, 0])
    assert_array_equal(mdp.M, np.concatenate([np.zeros((4, 3)), M]))
    assert_allclose(mdp.r, Phi_r @ w, rtol=0, atol=1e-15)
    assert_allclose(mdp.P, PHI @ M, rtol=0, atol=1e-16)
    assert mdp.W_max == pytest.approx(np.linalg.norm(w), rel=1e-15)


def test_other_rewards_leave_the_linear_class():
    mdp = LinearMDP(PHI, M, W, NU0, 0.9)
    for other in (mdp.affine(), mdp.with_rewards(np.ones((3, 2)))):
        assert type(other) is FiniteMDP
        assert other.kernel is mdp.kernel
        assert not hasattr(other, "w")
    assert mdp.affine().reward_range == (0, 1)


@generators
@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(1, 6),
    n_states=st.integers(1, 8),
    n_actions=st.integers(1, 4),
    gamma=st.sampled_from([0.0, 0.9, 0.999]),
)
def test_generated_mdps_are_linear_and_reproducible(generate, seed, d, n_states, n_actions, gamma):
    one, same = (generate(np.random.default_rng(seed), d, n_states, n_actions, gamma) for _ in "ab")
    assert (one.n_states, one.n_actions, one.d) == (n_states, n_actions, d)
    assert one.gamma == gamma
    assert_allclose(one.P, one.Phi @ one.M, rtol=0, atol=1e-12)
    assert_allclose(one.r, one.Phi @ one.w, rtol=0, atol=1e-15)
    assert one.B <= 1 + 1e-12
    assert one.rounding <= 1e-12
    low, high = one.reward_range
    assert -1e-12 <= low <= high <= 1 + 1e-12
    for name in ("Phi", "M", "w", "P", "r", "nu0"):
        assert_array_equal(getattr(one, name), getattr(same, name))


@generators
def test_generated_mdps_have_the_rank_asked_for(generate):
    mdp = generate(np.random.default_rng(0), 5, 30, 3, 0.9)
    assert np.linalg.matrix_rank(mdp.kernel) == 5
    assert np.linalg.matrix_rank(mdp.Phi.reshape(-1, 5)) == 5


def test_only_the_simplex_shows_a_simplex():
    plain = LinearMDP.random_simplex(np.random.default_rng(0), 5, 30, 3, 0.9)
    turned = LinearMDP.random_low_rank(np.random.default_rng(0), 5, 30, 3, 0.9)
    assert plain.Phi.min() >= 0
    assert_allclose(plain.Phi.sum(axis=-1), 1, rtol=0, atol=1e-14)
    assert plain.M.min() >= 0
    for factor in (turned.Phi, turned.M, turned.w):
        assert factor.min() < -0.01
        assert np.count_nonzero(factor) == factor.size
    # A rotation changes coordinates and nothing else.
    assert_allclose(turned.P, plain.P, rtol=0, atol=1e-14)
    assert_allclose(turned.r, plain.r, rtol=0, atol=1e-14)
    assert pytest.approx(plain.B, rel=1e-14) == turned.B
    assert turned.W_max == pytest.approx(plain.W_max, rel=1e-14)


@generators
def test_sizes_are_whole_and_positive(generate):
    for name in ("d", "n_states", "n_actions"):
        assert_refuses(
            lambda sizes: generate(np.random.default_rng(0), **sizes, gamma=0.9),
            ({**SIZES, name: 0}, ValueError, rf"^{name} must be at least 1; got 0$"),
            ({**SIZES, name: 2.0}, TypeError, rf"^{name} must be a whole number; got 2.0$"),
        )
