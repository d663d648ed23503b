"""Softmax tables and soft maxima, at the limits of floats too."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp, softmax

from optimist.core.softmax import accumulate, soft_values, softmax_table


@pytest.fixture
def Q():
    return np.random.default_rng(0).uniform(-3, 3, size=(5, 4))


@pytest.mark.parametrize("eta", [1e-3, 0.3, 50.0])
def test_tables_and_soft_maxima_are_those_of_scipy(Q, eta):
    pi, V = np.zeros((5, 4)), np.zeros(5)
    softmax_table(eta, Q, pi)
    assert_allclose(pi, softmax(eta * Q, axis=1), rtol=1e-12)
    soft_values(pi, Q, eta, V)
    assert_allclose(V, logsumexp(eta * Q, axis=1, b=pi) / eta, rtol=1e-10)
    cumulative = np.zeros((5, 4))
    accumulate(pi, cumulative)
    assert_array_equal(cumulative, np.cumsum(pi, axis=1))


def test_logits_beyond_the_floats_are_greedy():
    S, pi = np.array([[0.0, 1e5, 1e5], [-1e5, 0.0, -2e5]]), np.zeros((2, 3))
    softmax_table(1e10, S, pi)
    assert_array_equal(pi, [[0, 0.5, 0.5], [0, 1, 0]])


def test_actions_that_are_never_played_do_not_count_however_good():
    pi, V = np.array([[0.0, 0.25, 0.75]]), np.zeros(1)
    soft_values(pi, np.array([[1e6, 2.0, 2.0]]), 5.0, V)
    assert_array_equal(V, 2.0)
    soft_values(pi, np.array([[1e6, -1e6, 2.0]]), 5.0, V)
    assert_allclose(V, 2.0 + np.log(0.75) / 5.0, rtol=1e-15)
