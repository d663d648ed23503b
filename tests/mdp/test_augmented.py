"""Optimistically augmented MDPs, with the conventions of Section 2.2."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from reference.mdps import as_sparse, draw_mdp, draw_policies
from reference.refusals import assert_refuses
from reference.solves import as_table

from optimist.mdp import FiniteMDP, augment, with_heaven

R_MAX = 2.0


@pytest.fixture
def mdp():
    return draw_mdp(np.random.default_rng(0), 5, 3, 0.9)


@pytest.fixture
def p():
    ascension = np.random.default_rng(1).random((5, 3))
    ascension[0] = 0, 1, 0.5
    return ascension


@pytest.fixture(params=["dense", "sparse"])
def store(request):
    return as_sparse if request.param == "sparse" else lambda mdp: mdp


def test_the_process_ascends_with_probability_p(mdp, p, store):
    for ascension in (p, np.zeros((5, 3))):
        up = augment(store(mdp), ascension, R_MAX)
        assert (up.n_states, up.n_actions, up.gamma) == (6, 3, 0.9)
        P_plus = as_table(up.kernel, up)
        expected = (1 - ascension)[..., None] * mdp.P
        assert_allclose(P_plus[:-1, :, :-1], expected, rtol=0, atol=1e-16)
        assert_array_equal(P_plus[:-1, :, -1], ascension)
        assert sp.issparse(up.kernel) == sp.issparse(store(mdp).kernel)


def test_heaven_is_absorbing_pays_r_max_and_is_no_beginning(mdp, p, store):
    up = augment(store(mdp), p, R_MAX)
    assert_array_equal(as_table(up.kernel, up)[-1], [[0, 0, 0, 0, 0, 1]] * 3)
    assert_array_equal(up.r[-1], R_MAX)
    assert_array_equal(up.nu0, [*mdp.nu0, 0])
    V = up.V(with_heaven(mdp.uniform_policy))
    assert V[-1] == pytest.approx(R_MAX / (1 - 0.9), rel=1e-14)
    assert up.optimal().V[-1] == pytest.approx(R_MAX / (1 - 0.9), rel=1e-14)


def test_rewards_mix_with_r_max(mdp, p, store):
    """And every transition is paid its own reward, or that of its pair."""
    by_transition = np.random.default_rng(2).random((5, 3, 5))
    for r in (by_transition, mdp.r):
        paying = mdp.with_rewards(r)
        up = augment(store(paying), p, R_MAX)
        assert_allclose(up.r[:-1], (1 - p) * paying.r + p * R_MAX, rtol=0, atol=1e-15)
        expected = np.full((6, 3, 6), R_MAX)
        expected[:-1, :, :-1] = r if r.ndim == 3 else r[..., None]
        happens = as_table(up.kernel, up) > 0
        kept = as_table(up.transition_rewards, up)
        assert_array_equal(kept[happens], expected[happens])


def test_policies_are_uniform_in_heaven_and_unchanged_elsewhere():
    batch = draw_policies(np.random.default_rng(6), 4, 5, 3)
    for pi in (batch, batch[0]):
        up = with_heaven(pi)
        assert up.shape == (*pi.shape[:-2], 6, 3)
        assert_array_equal(up[..., :-1, :], pi)
        assert_array_equal(up[..., -1, :], np.full_like(up[..., -1, :], 1 / 3))


def test_bad_ascension_functions_are_refused(mdp, p, store):
    def at_7(value):
        return np.where(np.arange(15).reshape(5, 3) == 7, value, p)

    shapes = [(3, 5), (6, 3), (15,), (), (2, 5, 3), (1, 5, 3)]
    wrong_shape = r"^ascension .* shape \(5, 3\)"
    assert_refuses(
        lambda ascension: augment(store(mdp), ascension, R_MAX),
        (at_7(-0.25), ValueError, r"^ascension\[2, 1\] must not be negative; got -0.25$"),
        (at_7(1.25), ValueError, r"^ascension\[2, 1\] must be at most 1; got 1.25$"),
        (at_7(np.nan), ValueError, r"^ascension\[2, 1\] must be a finite number; got nan"),
        *((np.zeros(shape), ValueError, wrong_shape) for shape in shapes),
    )


def test_rewards_outside_the_range_are_refused(mdp, p, store):
    r = mdp.affine(r_max=R_MAX).r
    message = r"^rewards must lie in .* \[0, 2\]; got \[.*\]; FiniteMDP.affine"
    assert_refuses(
        lambda excess: augment(store(mdp.with_rewards(r + excess)), p, R_MAX),
        *((excess, ValueError, message) for excess in (-1e-6, 1e-6)),
    )


def test_the_range_of_rewards_is_that_of_transitions(p, mdp):
    paid = np.where(mdp.P > 0, 1.0, -9.0)  # what cannot happen is not paid
    augment(mdp.with_rewards(paid), p, 1.0)
    spread = FiniteMDP([[[0.5, 0.5]]] * 2, [[[-1.0, 2.0]]] * 2, [1, 0], 0.9)
    with pytest.raises(ValueError, match=r"^rewards must lie in .*; got \[-1, 2\]"):
        augment(spread, [[0.0], [0.0]], 2.0)
    with pytest.raises(ValueError, match=r"^r_max must be a finite number; got nan"):
        augment(mdp, p, float("nan"))
