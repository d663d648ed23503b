"""The optimum is that of three solvers we did not write."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from numpy.testing import assert_allclose
from reference.mdps import as_sparse, draw_mdp

GAMMAS = [0.0, 0.5, 0.9, 0.99, 0.999]
SIZES = [(1, 1), (2, 3), (6, 2), (15, 4), (40, 3)]


def random_mdps(n_states, n_actions, gamma, kind):
    """A random MDP, and one with deterministic moves and rewards 0 and 1, in which values tie."""
    rng = np.random.default_rng([n_states, n_actions])
    yield draw_mdp(rng, n_states, n_actions, gamma, kind)
    mdp = draw_mdp(rng, n_states, n_actions, gamma, "deterministic")
    yield mdp.with_rewards(rng.integers(2, size=mdp.r.shape))


def assert_same_values(found, V):
    assert np.abs(found - V).max() <= 1e-10 * max(1, np.abs(V).max())


@pytest.mark.filterwarnings("ignore::Warning:(numba|quantecon)")
@pytest.mark.parametrize(("n_states", "n_actions"), SIZES)
def test_quantecon(n_states, n_actions):
    from quantecon.markov import DiscreteDP

    for gamma in GAMMAS:
        for mdp in random_mdps(n_states, n_actions, gamma, "mixed"):
            peer = DiscreteDP(mdp.r, mdp.P, gamma).solve(method="policy_iteration")
            for one in (mdp, as_sparse(mdp)):
                assert_same_values(one.optimal().V, peer.v)
                assert one.optimal().value == pytest.approx(mdp.nu0 @ peer.v, rel=1e-10, abs=1e-10)


@pytest.mark.filterwarnings("ignore::Warning:mdptoolbox")
@pytest.mark.parametrize(("n_states", "n_actions"), SIZES[1:])  # it takes no single state
def test_mdptoolbox(n_states, n_actions):
    from mdptoolbox.mdp import PolicyIteration

    for gamma in GAMMAS[1:]:  # it takes no gamma of 0
        for mdp in random_mdps(n_states, n_actions, gamma, "few successors"):
            peer = PolicyIteration(np.array(mdp.P.transpose(1, 0, 2)), np.array(mdp.r), gamma)
            peer.run()
            for one in (mdp, as_sparse(mdp)):
                assert_same_values(one.optimal().V, np.array(peer.V))


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
    from quantecon.markov import DiscreteDP

    dense = draw_mdp(np.random.default_rng(1), 500, 3, gamma, "few successors")
    mdp = as_sparse(dense)
    states, actions = np.divmod(np.arange(1500), 3)
    pairs = (dense.r.ravel(), sp.csr_matrix(dense.kernel), gamma, states, actions)
    assert_same_values(mdp.optimal().V, DiscreteDP(*pairs).solve(method="policy_iteration").v)
    assert_same_values(mdp.optimal().V, dense.optimal().V)
