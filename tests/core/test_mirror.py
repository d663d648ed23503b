"""The moves of OAL on counts against dense NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from optimist.core import mirror

GO_ON = np.zeros(1, dtype=np.bool_)
X, A, GAMMA = 7, 3, 0.9
H = 1 / (1 - GAMMA)


@pytest.fixture(params=range(3))
def case(request):
    """Counts of some transitions N [X, A, X], the rows of their model, and a generator."""
    rng = np.random.default_rng(request.param)
    possible = rng.random((X, A, X)) < 0.6
    possible[:, :, 0] = True
    N = np.where(possible, rng.integers(0, 4, size=(X, A, X)), 0)
    N[rng.random((X, A)) < 0.3] = 0
    entries = np.flatnonzero(possible)
    first = np.concatenate([[0], np.cumsum(possible.sum(axis=2).ravel())])
    counts, visits = N.ravel()[entries].astype(float), N.sum(axis=2).ravel()
    assert 0 < (visits == 0).sum() < visits.size
    begins, to = np.empty(X * A + 1, dtype=np.int64), np.empty(entries.size, dtype=np.int64)
    share = np.full(entries.size, np.nan)
    mirror.set_model(first, entries % X, counts, visits, begins, to, share)
    return N, (begins, to, share), rng


def model(N):
    n = N.sum(axis=2, keepdims=True)
    return np.where(n > 0, N / np.maximum(n, 1), 1 / X)


def test_rows_of_the_model_hold_what_was_seen(case):
    N, (begins, to, share), _ = case
    P = np.zeros((X * A, X))
    for pair in range(X * A):
        P[pair, to[begins[pair] : begins[pair + 1]]] = share[begins[pair] : begins[pair + 1]]
    assert_allclose(
        P.reshape(N.shape), np.where(N.any(axis=2, keepdims=True), model(N), 0), rtol=1e-15
    )
    assert begins[-1] == (N > 0).sum()


def test_bonuses_are_the_most_where_nothing_was_visited(case):
    n = case[0].sum(axis=2)
    b = np.empty((X, A))
    mirror.set_bonuses(n.ravel(), 0.5, H, b)
    assert_allclose(b, np.where(n > 0, 0.5 / np.sqrt(np.maximum(n, 1)), H), rtol=1e-15)


def test_costs_to_go_are_the_fixed_point(case):
    N, rows, rng = case
    P, pi = model(N), rng.dirichlet(np.ones(A), size=X)
    c, b = rng.random((X, A)), rng.random((X, A)) * rng.choice([0.5, 5], size=(X, A))
    V, W, Q = rng.random(X) * H, np.empty(X), np.empty((X, A))
    mirror.evaluate_costs(*rows, GAMMA, c, b, pi, 1e-13, V, W, Q, GO_ON)
    assert_allclose(Q, np.clip(c - b + GAMMA * P @ V, 0, H), rtol=0, atol=1e-12)
    assert_allclose(V, (pi * Q).sum(axis=1), rtol=0, atol=1e-12)
    assert (Q == 0).any()
    assert Q.max() > 0


def test_costs_to_go_are_cut_off_at_the_horizon(case):
    _, rows, rng = case
    pi, V, W, Q = rng.dirichlet(np.ones(A), size=X), np.zeros(X), np.empty(X), np.empty((X, A))
    ones = np.ones((X, A))
    mirror.evaluate_costs(*rows, GAMMA, 3 * ones, 0 * ones, pi, 1e-13, V, W, Q, GO_ON)
    assert_array_equal(Q, H)


def test_sweeps_end_with_the_tolerance_and_when_they_are_stopped(case):
    N, rows, _ = case
    P, pi, c = model(N), np.full((X, A), 1 / A), np.full((X, A), 0.5)
    V, W, Q = np.zeros(X), np.empty(X), np.empty((X, A))
    # With constant costs V = 0.5 (1 + ... + gamma^(i-1)) after i sweeps, which change it by
    # 0.5 gamma^(i-1): the first change of at most 0.4 is that of the fourth.
    mirror.evaluate_costs(*rows, GAMMA, c, 0 * c, pi, 0.4, V, W, Q, GO_ON)
    assert_allclose(V, 0.5 * (1 - GAMMA**4) / (1 - GAMMA), rtol=1e-12)
    assert_allclose(Q, c + GAMMA * P @ V, rtol=1e-12)
    V[:] = 0
    mirror.evaluate_costs(*rows, GAMMA, c, 0 * c, pi, 1e-9, V, W, Q, ~GO_ON)
    assert_array_equal(V, 0)


def test_occupancies_by_a_solve_and_by_sweeps_are_those_of_the_model(case):
    N, rows, rng = case
    pi, starts = rng.dirichlet(np.ones(A), size=X), rng.integers(0, 5, size=X)
    P_pi = np.einsum("xa,xay->xy", pi, model(N))
    nu = starts / starts.sum()
    wanted = np.linalg.solve((np.eye(X) - GAMMA * P_pi).T, (1 - GAMMA) * nu)
    m = np.zeros(X)
    mirror.solve_occupancy(*rows, GAMMA, starts, pi, m)
    assert_allclose(m, wanted, rtol=0, atol=1e-14)
    for start in (np.full(X, 1 / X), rng.dirichlet(np.ones(X)), wanted):
        m = start.copy()
        mirror.sweep_occupancy(*rows, GAMMA, starts, pi, m, np.empty(X), GO_ON)
        assert np.abs(m - wanted).sum() <= 1e-11 + 1e-14
    m = np.full(X, 1 / X)
    mirror.sweep_occupancy(*rows, GAMMA, starts, pi, m, np.empty(X), ~GO_ON)
    assert_array_equal(m, 1 / X)


def test_costs_rise_where_the_learner_is_more_often_than_the_expert():
    c = np.array([[0.5, 0.5], [0.1, 0.9]])
    m, pi = np.array([0.6, 0.4]), np.array([[0.5, 0.5], [0.0, 1.0]])
    mu_E = np.array([[0.1, 0.5], [0.4, 0.0]])
    mirror.step_costs(m, pi, mu_E, 0.5, c)
    assert_allclose(c, [[0.6, 0.4], [0.0, 1.0]], rtol=0, atol=1e-15)


def test_the_policy_is_a_softmax_of_the_sum_also_where_exponentials_underflow():
    rng = np.random.default_rng(0)
    S, pi, cumulative = np.zeros((X, A)), np.empty((X, A)), np.empty((X, A))
    total, plain = 0.0, np.full((X, A), 1 / A)
    for _ in range(20):
        Q = rng.random((X, A)) * H
        mirror.step_policy(Q, 0.1, S, pi, cumulative)
        plain *= np.exp(-0.1 * Q)
        plain /= plain.sum(axis=1, keepdims=True)
        total = total + Q
        assert_allclose(pi, plain, rtol=1e-12)
        assert_allclose(cumulative, np.cumsum(pi, axis=1), rtol=1e-15)
    assert_allclose(S, total, rtol=1e-14)
    S[:] = 1e6 * np.arange(A)[::-1]
    mirror.step_policy(np.zeros((X, A)), 1.0, S, pi, cumulative)
    assert_array_equal(pi, np.tile([0.0, 0.0, 1.0], (X, 1)))
