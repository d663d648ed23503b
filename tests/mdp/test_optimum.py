"""The optimum, its certificate, and that it is found where values tie or nearly do.

It is also that of two solvers that are not ours: quantecon and a linear programme.
"""

import itertools

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference.mdps import as_sparse, deterministic_policies, draw_mdp, draw_policies
from reference.solves import plain_V

from optimist.mdp import FiniteMDP

EPS = np.finfo(np.float64).eps
GAMMAS = [0.0, 0.5, 0.9, 0.99, 0.999]


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_states=st.integers(1, 4),
    n_actions=st.integers(1, 3),
    gamma=st.sampled_from(GAMMAS),
    tied=st.booleans(),
)
def test_it_beats_every_deterministic_policy(seed, n_states, n_actions, gamma, tied):
    rng = np.random.default_rng(seed)
    mdp = draw_mdp(rng, n_states, n_actions, gamma)
    if tied:
        mdp = mdp.with_rewards(rng.integers(2, size=mdp.r.shape))
    V = mdp.V(deterministic_policies(n_states, n_actions))
    close = 1e-10 * max(1, V.max())
    best = mdp.optimal()
    assert_allclose(best.V, V.max(axis=0), rtol=0, atol=close)
    assert best.value == pytest.approx((V @ mdp.nu0).max(), rel=0, abs=close)


def test_its_parts_belong_together_and_no_random_policy_beats_it(kind):
    rng = np.random.default_rng(1)
    for gamma in GAMMAS:
        dense, others = draw_mdp(rng, 25, 3, gamma, kind), draw_policies(rng, 200, 25, 3)
        for mdp in (dense, as_sparse(dense)):
            best = mdp.optimal()
            scale = max(1, best.V.max())
            assert set(np.unique(best.policy)) <= {0, 1}
            assert_array_equal(best.policy.sum(axis=1), 1)
            V = plain_V(mdp, best.policy)
            assert_allclose(best.V, V, rtol=0, atol=1e-12 * scale)
            assert_allclose(best.Q, dense.r + gamma * dense.P @ V, atol=1e-12 * scale)
            assert best.value == pytest.approx(mdp.nu0 @ V, rel=1e-12)
            assert best.residual == np.abs(best.Q.max(axis=1) - best.V).max()
            assert best.residual <= 100 * EPS * scale
            assert best.evaluations >= 1
            assert mdp.optimal() is best
            assert (best.V + 1e-12 * scale >= mdp.V(others)).all()


def test_a_small_gain_that_pays_late_is_not_missed():
    """Stay for 1, or go round a loop of three states that pays more, but only at its end.

    In one sweep of value iteration from the values of staying, most of the loop's gain is gone.
    """
    P = np.zeros((3, 2, 3))
    P[0, 0, 0] = P[0, 1, 1] = 1
    P[1, :, 2] = P[2, :, 0] = 1
    for gamma, gap in itertools.product([0.99, 0.999, 0.9999], [1e-13, 1e-12, 1e-11]):
        paid = ((1 + gamma + gamma**2) + gap / (1 - gamma)) / gamma**2
        r = [[1, 0], [0, 0], [paid, paid]]
        for kernel in (P, sp.csr_array(P.reshape(6, 3))):
            mdp = FiniteMDP(kernel, r, [1, 0, 0], gamma)
            V = mdp.V(deterministic_policies(3, 2))
            assert np.abs(mdp.optimal().V - V.max(axis=0)).max() <= 1e-11 * V.max()


def grid(side, gamma):
    """A torus on which one cell pays: from almost everywhere several ways are as short."""
    cells = np.arange(side**2).reshape(side, side)
    after = np.stack([np.roll(cells, s, axis) for axis in (0, 1) for s in (1, -1)], axis=-1)
    n = side**2
    P = sp.csr_array((np.ones(4 * n), (np.arange(4 * n), after.ravel())), shape=(4 * n, n))
    r = np.zeros((n, 4))
    r[n // 3] = 1
    return FiniteMDP(P, r, np.full(n, 1 / n), gamma)


@pytest.mark.parametrize(("side", "gamma"), [(5, 0.9999), (21, 0.9), (30, 0.9), (30, 0.9999)])
def test_it_is_found_where_many_ways_are_equally_good(side, gamma):
    best = grid(side, gamma).optimal()
    cells = np.indices((side, side)).reshape(2, -1)
    goal = cells[:, [side**2 // 3]]
    apart = np.abs(cells - goal)
    distance = np.minimum(apart, side - apart).sum(axis=0)
    # To the goal, where 1 is paid; then it takes two steps to leave it and return.
    V = gamma**distance / (1 - gamma**2)
    assert_allclose(best.V, V, rtol=1e-10)
    assert best.residual <= 100 * EPS * V.max()


@pytest.mark.parametrize("n_states", [50, 450])
def test_it_is_found_where_all_actions_are_worth_the_same_up_to_rounding(n_states):
    rng = np.random.default_rng(3)
    n, gamma = 4 * n_states, 0.9999
    columns = np.array([rng.choice(n_states, size=3, replace=False) for _ in range(n)])
    shares = rng.dirichlet(np.ones(3), size=n)
    P = sp.csr_array((shares.ravel(), (np.repeat(np.arange(n), 3), columns.ravel())))
    V = rng.random(n_states)  # rewards for which every policy has these values
    r = np.repeat(V, 4).reshape(n_states, 4) - gamma * (P @ V).reshape(n_states, 4)
    best = FiniteMDP(P, r, np.full(n_states, 1 / n_states), gamma).optimal()
    assert_allclose(best.V, V, rtol=0, atol=1e-10)
    assert best.residual <= 1e-12


def test_a_long_corridor_takes_few_evaluations():
    """Down a corridor to the one state that pays: policy iteration alone takes a step a time."""
    n = 300
    after = np.stack([np.maximum(np.arange(n) - 1, 0), np.minimum(np.arange(n) + 1, n - 1)], axis=1)
    P = sp.csr_array((np.ones(2 * n), (np.arange(2 * n), after.ravel())), shape=(2 * n, n))
    r = np.zeros((n, 2))
    r[-1, 1] = 1
    best = FiniteMDP(P, r, np.full(n, 1 / n), 0.99).optimal()
    assert_allclose(best.V, 0.99 ** np.arange(n)[::-1] / 0.01, rtol=1e-12)
    assert best.evaluations <= 3


# Solvers that are not ours


def quantecon(mdp):
    from quantecon.markov import DiscreteDP

    return DiscreteDP(mdp.r, mdp.P, mdp.gamma).solve(method="policy_iteration").v


def assert_same_values(found, V):
    assert np.abs(found - V).max() <= 1e-10 * max(1, np.abs(V).max())


@pytest.mark.filterwarnings("ignore::Warning:(numba|quantecon)")
@pytest.mark.parametrize(("n_states", "n_actions"), [(1, 1), (2, 3), (6, 2), (15, 4), (40, 3)])
def test_policy_iteration_of_quantecon(n_states, n_actions):
    """Also with deterministic moves and rewards 0 and 1, where values tie."""
    rng = np.random.default_rng([n_states, n_actions])
    for gamma in GAMMAS:
        tied = draw_mdp(rng, n_states, n_actions, gamma, "deterministic")
        tied = tied.with_rewards(rng.integers(2, size=tied.r.shape))
        for mdp in (draw_mdp(rng, n_states, n_actions, gamma), tied):
            V = quantecon(mdp)
            for one in (mdp, as_sparse(mdp)):
                assert_same_values(one.optimal().V, V)
                assert one.optimal().value == pytest.approx(mdp.nu0 @ V, rel=1e-10, abs=1e-10)


def test_the_linear_programme_over_occupancies(kind):
    for gamma in GAMMAS[:-1]:
        mdp = draw_mdp(np.random.default_rng(0), 6, 3, gamma, kind)
        flow = np.kron(np.eye(6), np.ones(3)) - gamma * mdp.kernel.T  # E' - gamma P'
        start = (1 - gamma) * mdp.nu0
        best = mdp.optimal()
        lp = scipy.optimize.linprog(-mdp.r.ravel(), A_eq=flow, b_eq=start, method="highs")
        assert lp.success
        assert best.value == pytest.approx(-lp.fun * mdp.horizon, rel=1e-8)
        mu = mdp.occupancy(best.policy)
        assert_allclose(flow @ mu.ravel(), start, rtol=0, atol=1e-14)
        assert (mu * mdp.r).sum() == pytest.approx(-lp.fun, rel=1e-8)


@pytest.mark.filterwarnings("ignore::Warning:(numba|quantecon)")
@pytest.mark.parametrize("gamma", [0.9, 0.999])
def test_a_large_sparse_mdp(gamma):
    dense = draw_mdp(np.random.default_rng(1), 500, 3, gamma, "few successors")
    for mdp in (dense, as_sparse(dense)):
        assert_same_values(mdp.optimal().V, quantecon(dense))
