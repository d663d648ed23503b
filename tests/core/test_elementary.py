"""exp and log in plain arithmetic, against long double; maxima that notice what is not a number."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from optimist.core.compiler import entry_point
from optimist.core.elementary import exp, flat, largest_magnitude, log
from optimist.core.iteration import improve


@entry_point
def run(x, exps, logs, table, rows):
    for i in range(x.size):
        exps[i] = exp(x[i])
        logs[i] = log(exps[i])
    part = flat(table, 1, 3)
    for i in range(part.size):
        rows[i] = part[i]
        part[i] = -1.0
    return largest_magnitude(x)


def outcome(x):
    exps, logs, rows = np.zeros(x.size), np.zeros(x.size), np.zeros(6)
    table = np.arange(12.0).reshape(4, 3)
    largest = run(x, exps, logs, table, rows)
    return exps, logs, rows, table, largest


def units(found, exact):
    """By how many units in the last place numbers are off."""
    return (np.abs(found - exact) / np.spacing(np.abs(exact).astype(float))).max()


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="long double is double here")
def test_exp_and_log_are_correct_to_one_unit_in_the_last_place():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-40, 0, 20_000), rng.uniform(-700, 700, 2_000),
                        rng.uniform(-1e-3, 1e-3, 2_000), np.arange(-9, 9) * np.log(2)])  # fmt: skip
    exps, logs, *_ = outcome(x)
    assert units(exps, np.exp(x.astype(np.longdouble))) < 1
    assert units(logs, np.log(exps.astype(np.longdouble))) < 1


def test_exp_and_log_are_exact_where_they_are_whole():
    exps, logs, *_ = outcome(np.array([0.0, -0.0]))
    assert exps.tolist() == [1, 1]
    assert logs.tolist() == [0, 0]


def test_rows_are_one_after_the_other_in_place():
    *_, rows, table, _ = outcome(np.zeros(1))
    assert rows.tolist() == [3, 4, 5, 6, 7, 8]
    assert table.ravel().tolist() == [0, 1, 2, *[-1] * 6, 9, 10, 11]


@pytest.mark.parametrize(
    ("x", "largest"), [([], 0), ([1, -3, 2], 3), ([-0.0], 0), ([1, -np.inf], np.inf)]
)
def test_the_largest_magnitude(x, largest):
    assert outcome(np.array(x, dtype=float))[-1] == largest


def test_no_number_is_larger_than_any():
    assert np.isnan(outcome(np.array([np.inf, np.nan, 1.0]))[-1])


class Values(NamedTuple):
    V: Any
    log_pi: Any
    cumulative: Any


@entry_point
def improve_by(states, eta, Q, at_once):
    change = 0.0
    for x in range(0, Q.shape[0], at_once):
        change = max(change, improve(eta, False, states, x, x + at_once, Q, 0))
    return change


def test_few_and_many_pairs_get_the_same_numbers():
    rng, found = np.random.default_rng(1), []
    Q, V, pi = rng.normal(size=(40, 3)), rng.normal(size=40), rng.dirichlet(np.ones(3), size=40)
    Q[5], Q[6, 1] = 0.0, 1e4
    for at_once in (1, 40):
        states = Values(V.copy(), np.log(pi), np.zeros((40, 3)))
        change = improve_by(states, 10.0, Q.copy(), at_once)
        found.append((change, *(array.tobytes() for array in states)))
    assert found[0] == found[1]
    exact = np.log((pi * np.exp(10.0 * (Q - Q.max(axis=1, keepdims=True)))).sum(axis=1)) / 10.0
    np.testing.assert_allclose(states.V, exact + Q.max(axis=1), rtol=1e-12, atol=1e-14)
