"""The optimum is that of three solvers we did not write."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

GAMMAS = [0.0, 0.5, 0.9, 0.99, 0.999]
SIZES = [(1, 1), (2, 3), (6, 2), (15, 4), (40, 3)]


@pytest.fixture(params=["plain", "tied"])
def random_world(world, request):
    """A random world; a tied one has rewards 0 and 1 and deterministic moves."""

    def build(n_states, n_actions, gamma, kind):
        rng = np.random.default_rng([n_states, n_actions])
        if request.param == "plain":
            return world(rng, n_states, n_actions, gamma, kind)
        mdp = world(rng, n_states, n_actions, gamma, "deterministic")
        return mdp.with_rewards(rng.integers(2, size=mdp.r.shape))

    return build


def same_values(found, V):
    assert np.abs(found - V).max() <= 1e-10 * max(1, np.abs(V).max())


@pytest.mark.filterwarnings("ignore::Warning:(numba|quantecon)")
@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize(("n_states", "n_actions"), SIZES)
def test_quantecon(random_world, as_sparse, n_states, n_actions, gamma):
    from quantecon.markov import DiscreteDP

    mdp = random_world(n_states, n_actions, gamma, "mixed")
    peer = DiscreteDP(mdp.r, mdp.P, gamma).solve(method="policy_iteration")
    for one in (mdp, as_sparse(mdp)):
        same_values(one.optimal().V, peer.v)
        assert one.optimal().value == pytest.approx(mdp.nu0 @ peer.v, rel=1e-10, abs=1e-10)


@pytest.mark.filterwarnings("ignore::Warning:mdptoolbox")
@pytest.mark.parametrize("gamma", GAMMAS[1:])  # it takes no gamma of 0
@pytest.mark.parametrize(("n_states", "n_actions"), SIZES[1:])
def test_mdptoolbox(random_world, as_sparse, n_states, n_actions, gamma):
    from mdptoolbox.mdp import PolicyIteration

    mdp = random_world(n_states, n_actions, gamma, "few successors")
    peer = PolicyIteration(np.array(mdp.P.transpose(1, 0, 2)), np.array(mdp.r), gamma)
    peer.run()
    for one in (mdp, as_sparse(mdp)):
        same_values(one.optimal().V, np.array(peer.V))


@pytest.mark.parametrize("gamma", [0.0, 0.5, 0.9, 0.99])
def test_the_linear_programme_over_occupancies(world, kind, gamma):
    mdp = world(np.random.default_rng(0), 6, 3, gamma, kind)
    flow = np.kron(np.eye(6), np.ones(3)) - gamma * mdp.kernel.T  # E' - gamma P'
    start = (1 - gamma) * mdp.nu0
    best = mdp.optimal()
    lp = scipy.optimize.linprog(-mdp.r.ravel(), A_eq=flow, b_eq=start, method="highs")
    assert lp.success
    assert best.value == pytest.approx(-lp.fun * mdp.horizon, rel=1e-8)
    mu = mdp.occupancy(best.policy)
    np.testing.assert_allclose(flow @ mu.ravel(), start, rtol=0, atol=1e-14)
    assert (mu * mdp.r).sum() == pytest.approx(-lp.fun, rel=1e-8)


@pytest.mark.filterwarnings("ignore::Warning:(numba|quantecon)")
@pytest.mark.parametrize("gamma", [0.9, 0.999])
def test_a_large_sparse_world(world, as_sparse, gamma):
    from quantecon.markov import DiscreteDP

    dense = world(np.random.default_rng(1), 500, 3, gamma, "few successors")
    mdp = as_sparse(dense)
    states, actions = np.divmod(np.arange(1500), 3)
    pairs = (dense.r.ravel(), sp.csr_matrix(dense.kernel), gamma, states, actions)
    same_values(mdp.optimal().V, DiscreteDP(*pairs).solve(method="policy_iteration").v)
    same_values(mdp.optimal().V, dense.optimal().V)
