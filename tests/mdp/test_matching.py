"""Occupancy matching: feasible, nowhere worse than other policies, and certified by duality."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference.mdps import as_sparse, deterministic_policies, draw_mdp, draw_policies

from optimist import envs, errors
from optimist.mdp import match_next_state, match_occupancy, match_timed, state_laws

CLOSE = 1e-9  # the sum of the tolerances of all constraints
GAMMAS = [0.0, 0.5, 0.9, 0.99]
seeds = st.integers(0, 2**32 - 1)


def draw_case(seed, n_states=5, n_actions=3):
    """An MDP, a target that need not be an occupancy, bonuses, and fixed actions of some states."""
    rng = np.random.default_rng(seed)
    mdp = draw_mdp(rng, n_states, n_actions, float(rng.choice(GAMMAS)))
    target = rng.dirichlet(np.full(n_states * n_actions, 0.3)).reshape(n_states, n_actions)
    bonus = rng.random((n_states, n_actions))
    fixed = np.where(rng.random(n_states) < 0.4, rng.integers(n_actions, size=n_states), -1)
    return rng, mdp, target, bonus, fixed


def objective(mu, target, states, bonus):
    """||F mu - target||_1 - <bonus, mu> for a batch mu [n, X, A]."""
    seen = mu.sum(axis=2) if states else mu
    return np.abs(seen - target).reshape(len(mu), -1).sum(axis=1) - (bonus * mu).sum(axis=(1, 2))


@settings(max_examples=60)
@given(seed=seeds, states=st.booleans(), paid=st.booleans(), fixing=st.booleans())
def test_it_is_feasible_certified_and_no_other_policy_is_nearer(seed, states, paid, fixing):
    rng, mdp, target, bonus, fixed = draw_case(seed)
    target = target.sum(axis=1) if states else target
    bonus = bonus * paid
    fixed = fixed if fixing else np.full(5, -1)
    found = match_occupancy(
        mdp.P, mdp.nu0, target, mdp.gamma, states=states, bonus=bonus, fixed=fixed
    )
    # feasible
    assert_allclose(found.policy.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert found.policy.min() >= 0
    assert_allclose(found.mu, mdp.occupancy(found.policy), rtol=0, atol=1e-13)
    known = fixed >= 0
    assert_array_equal(found.policy[known], np.eye(3)[fixed[known]])
    # certified: weak duality, which random multipliers obey too
    assert found.objective == pytest.approx(
        objective(found.mu[None], target, states, bonus)[0], abs=1e-13
    )
    assert -1e-12 <= found.objective - found.bound <= CLOSE
    # and no other policy that plays the fixed actions is nearer
    others = np.concatenate([draw_policies(rng, 200, 5, 3), deterministic_policies(5, 3)])
    others[:, known] = np.eye(3)[fixed[known]]
    assert objective(mdp.occupancy(others), target, states, bonus).min() >= found.bound - 1e-12


@settings(max_examples=40)
@given(seed=seeds, states=st.booleans())
def test_the_bound_is_that_of_the_best_discriminator(seed, states):
    """min_mu max_|w|<=1 <w, F mu - t> - <b, mu>: each w gives a bound, by an exact solve."""
    rng, mdp, target, bonus, _ = draw_case(seed)
    target = target.sum(axis=1) if states else target
    found = match_occupancy(mdp.P, mdp.nu0, target, mdp.gamma, states=states, bonus=bonus)
    seen = found.mu.sum(axis=1) if states else found.mu
    for w in (np.sign(seen - target), *rng.uniform(-1, 1, (5, *target.shape))):
        cost = (w[:, None] if states else w) - bonus
        best = -mdp.with_rewards(-cost).optimal().value * (1 - mdp.gamma)
        assert best - (w * target).sum() <= found.objective + 1e-12


@settings(max_examples=30)
@given(seed=seeds, states=st.booleans())
def test_an_occupancy_is_matched_exactly(seed, states):
    rng, mdp, _, _, _ = draw_case(seed)
    mu = mdp.occupancy(draw_policies(rng, 1, 5, 3)[0])
    target = mu.sum(axis=1) if states else mu
    found = match_occupancy(mdp.P, mdp.nu0, target, mdp.gamma, states=states)
    assert found.objective <= CLOSE
    seen = found.mu.sum(axis=1) if states else found.mu
    assert_allclose(seen, target, rtol=0, atol=CLOSE)


@pytest.mark.parametrize("kind", ["chain", "deterministic", "absorbing"])
def test_sparse_kernels_give_the_same_objective(kind):
    rng = np.random.default_rng(3)
    mdp = draw_mdp(rng, 40, 3, 0.95, kind)
    target = rng.dirichlet(np.ones(120)).reshape(40, 3)
    one, other = (match_occupancy(m.P, m.nu0, target, m.gamma) for m in (mdp, as_sparse(mdp)))
    assert one.objective == pytest.approx(other.objective, abs=CLOSE)


def test_a_grid_of_four_rooms_is_matched():
    world = envs.FourRooms()
    mdp = world.mdp
    rng = np.random.default_rng(0)
    target = mdp.occupancy(mdp.optimal().policy)
    noisy = rng.multinomial(300, target.ravel() / target.sum()).reshape(target.shape) / 300
    found = match_occupancy(mdp.P, mdp.nu0, noisy, mdp.gamma)
    assert found.objective - found.bound <= CLOSE
    assert found.objective <= np.abs(target - noisy).sum() + CLOSE


def test_in_ties_the_objective_is_that_of_every_minimiser():
    """Standard Imitation: all policies of a visited state below its target mass tie."""
    P = np.zeros((2, 2, 2))
    P[0, :, 0] = P[1, :, 1] = 1
    for target in ([[0.7, 0], [0.3, 0]], [[0, 0.7], [0, 0.3]]):
        found = match_occupancy(P, [0.5, 0.5], target, gamma=0.9)
        assert found.objective == pytest.approx(0.4, abs=CLOSE)


def test_states_that_are_not_visited_play_all_allowed_actions():
    P = np.zeros((3, 3, 3))
    P[:, :, 0] = 1
    found = match_occupancy(P, [1, 0, 0], np.zeros((3, 3)), 0.9, fixed=[-1, -1, 2])
    assert_array_equal(found.policy[1:], [[1 / 3] * 3, [0, 0, 1]])


# Time-indexed


@settings(max_examples=40)
@given(seed=seeds, fixing=st.booleans())
def test_the_indexed_form_is_feasible_certified_and_nearest(seed, fixing):
    rng, mdp, _, _, _ = draw_case(seed, 4, 2)
    T, weights = 6, mdp.gamma ** np.arange(6)
    targets = rng.dirichlet(np.full(8, 0.3), size=T).reshape(T, 4, 2)
    fixed = np.where(rng.random((T, 4)) < 0.4 * fixing, rng.integers(2, size=(T, 4)), -1)
    found = match_timed(mdp.P, mdp.nu0, targets, mdp.gamma, fixed=fixed)
    laws = state_laws(mdp.P, mdp.nu0, found.policy)[:-1]
    assert_allclose(found.mu, laws[:, :, None] * found.policy, rtol=0, atol=1e-14)
    distance = np.abs(found.mu - targets).sum(axis=(1, 2))
    assert found.objective == pytest.approx(weights @ distance, abs=1e-13)
    assert -1e-12 <= found.objective - found.bound <= CLOSE
    known = fixed >= 0
    assert_array_equal(found.policy[known], np.eye(2)[fixed[known]])
    for _ in range(100):
        pi = draw_policies(rng, T, 4, 2)
        pi[known] = np.eye(2)[fixed[known]]
        mu = state_laws(mdp.P, mdp.nu0, pi)[:-1, :, None] * pi
        assert weights @ np.abs(mu - targets).sum(axis=(1, 2)) >= found.bound - 1e-12


def test_the_laws_of_an_indexed_policy_are_matched_exactly():
    rng = np.random.default_rng(5)
    mdp = draw_mdp(rng, 5, 3)
    pi = draw_policies(rng, 8, 5, 3)
    laws = state_laws(mdp.P, mdp.nu0, pi)[:-1, :, None] * pi
    for kind in (mdp, as_sparse(mdp)):
        assert match_timed(kind.P, kind.nu0, laws, 0.9).objective <= CLOSE


# One step


@settings(max_examples=40)
@given(seed=seeds)
def test_one_step_is_certified_and_no_other_policy_is_nearer(seed):
    rng = np.random.default_rng(seed)
    M = rng.dirichlet(np.full(4, 0.3), size=(5, 3)) * rng.dirichlet(np.ones(5))[:, None, None]
    M[rng.integers(5)] = 0
    target = rng.dirichlet(np.full(4, 0.5))
    allowed = rng.random((5, 3)) < 0.6
    allowed[np.arange(5), rng.integers(3, size=5)] = True
    found = match_next_state(M, target, allowed=allowed)
    assert not found.policy[~allowed].any()
    assert_allclose(found.policy.sum(axis=1), 1, rtol=0, atol=1e-12)
    idle = ~M.any(axis=(1, 2))
    uniform = allowed / allowed.sum(axis=1, keepdims=True)
    assert_array_equal(found.policy[idle], uniform[idle])
    assert -1e-12 <= found.objective - found.bound <= CLOSE
    others = draw_policies(rng, 300, 5, 3) * allowed + 1e-9 * allowed
    others /= others.sum(axis=2, keepdims=True)
    laws = np.einsum("nxa,xay->ny", others, M)
    assert np.abs(laws - target).sum(axis=1).min() >= found.bound - 1e-12


# Refusals


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"P": np.ones((2, 2, 2))}, r"P\[0, 0\] must sum to 1 within 1e-08; got 2"),
        ({"nu0": [1, 1]}, "nu0 must sum to 1 within 1e-08; got 2"),
        ({"gamma": 1.0}, r"gamma must be in \[0, 1\); got 1"),
        ({"target": [1, 0]}, r"target must have shape \(2, 2\); got \(2,\)"),
        ({"states": True}, r"target must have shape \(2,\); got \(2, 2\)"),
        ({"bonus": [1, 0]}, "bonus must have shape"),
        ({"fixed": [0]}, r"fixed must have shape .*; got \(1,\)"),
        ({"fixed": [0, 2]}, r"fixed \+ 1\[1\] must be in .*; got 3"),
        ({"fixed": [0.5, 1]}, r"fixed \+ 1 must hold .* numbers; got float64"),
    ],
)
def test_wrong_arguments_are_refused(change, message):
    right = {"P": np.full((2, 2, 2), 0.5), "nu0": [1, 0], "target": np.zeros((2, 2)), "gamma": 0.9}
    with pytest.raises((ValueError, TypeError), match=message):
        match_occupancy(**(right | change))


def test_other_wrong_arguments():
    with pytest.raises(ValueError, match="targets must hold at least one time"):
        match_timed(np.full((2, 2, 2), 0.5), [1, 0], np.zeros((0, 2, 2)), 0.9)
    with pytest.raises(ValueError, match=r"M\[0, 0, 0\] must not be negative; got -1"):
        match_next_state([[[-1.0]]], [1.0])
    with pytest.raises(ValueError, match=r"allowed must be booleans of shape \(1, 1\)"):
        match_next_state([[[1.0]]], [1.0], allowed=[[False]])
    assert issubclass(errors.SolverError, RuntimeError)
