"""Time-indexed policies: their laws and occupancies, and stationary policies of the same values."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference.mdps import as_sparse, draw_mdp, draw_policies

from optimist.mdp import FiniteMDP, policy_of, state_laws, timed_occupancy


def power_series(mdp, pi, steps=4000):
    """(1 - gamma) sum_t gamma^t law_t pi_t, term by term; the last table is played for ever."""
    law, mu = mdp.nu0, np.zeros(mdp.r.shape)
    for t in range(steps):
        table = pi[min(t, len(pi) - 1)]
        joint = law[:, None] * table
        mu += (1 - mdp.gamma) * mdp.gamma**t * joint
        law = np.einsum("xa,xay->y", joint, mdp.P)
    return mu


@pytest.mark.parametrize("gamma", [0.0, 0.5, 0.9, 0.99])
def test_the_occupancy_is_the_power_series_and_a_stationary_policy_has_it_too(gamma):
    rng = np.random.default_rng(0)
    mdp = draw_mdp(rng, 6, 3, gamma)
    pi = draw_policies(rng, 7, 6, 3)
    for kind in (mdp, as_sparse(mdp)):
        mu = timed_occupancy(kind.P, kind.nu0, pi, gamma)
        assert_allclose(mu, power_series(mdp, pi), rtol=0, atol=1e-14)
        assert_allclose(mdp.occupancy(policy_of(mu)), mu, rtol=0, atol=1e-14)


def test_one_table_is_a_stationary_policy():
    rng = np.random.default_rng(1)
    mdp = draw_mdp(rng, 6, 3)
    pi = draw_policies(rng, 1, 6, 3)
    for tables in (pi, pi.repeat(5, axis=0)):
        mu = timed_occupancy(mdp.P, mdp.nu0, tables, mdp.gamma)
        assert_allclose(mu, mdp.occupancy(pi[0]), rtol=0, atol=1e-14)


def test_laws_move_by_one_table_at_a_time():
    rng = np.random.default_rng(2)
    mdp = draw_mdp(rng, 5, 3)
    pi = draw_policies(rng, 4, 5, 3)
    laws = state_laws(mdp.P, mdp.nu0, pi)
    assert laws.shape == (5, 5)
    assert_array_equal(laws[0], mdp.nu0)
    for t in range(4):
        P_pi = np.einsum("xa,xay->xy", pi[t], mdp.P)
        assert_allclose(laws[t + 1], laws[t] @ P_pi, rtol=0, atol=1e-15)
    assert_allclose(state_laws(as_sparse(mdp).P, mdp.nu0, pi), laws, rtol=0, atol=1e-15)


def test_what_is_no_indexed_policy_is_refused():
    mdp = FiniteMDP([[[1.0], [1.0]]], [[0, 1]], [1], 0.9)
    for wrong in (mdp.uniform_policy, np.empty((0, 1, 2))):
        with pytest.raises(
            ValueError, match=r"policies must be one table for each time, \[T, 1, 2"
        ):
            state_laws(mdp.P, mdp.nu0, wrong)
    with pytest.raises(ValueError, match=r"policies\[0, 0\] must sum to 1 within 1e-08; got 2"):
        timed_occupancy(mdp.P, mdp.nu0, [[[1, 1]]], 0.9)
    with pytest.raises(ValueError, match=r"mu\[0, 1\] must not be negative; got -1"):
        policy_of([[1, -1]])
