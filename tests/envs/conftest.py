"""Every shipped world, and how observed counts are held against probabilities."""

from collections.abc import Callable

import numpy as np
import pytest

from optimist.envs import WORLDS, World

CheckCounts = Callable[[np.ndarray, np.ndarray], None]


@pytest.fixture(scope="session", params=WORLDS.values(), ids=WORLDS.keys())
def world(request: pytest.FixtureRequest) -> World:
    return request.param()


@pytest.fixture(scope="session")
def check_counts() -> CheckCounts:
    return _check_counts


def _check_counts(counts: np.ndarray, probabilities: np.ndarray) -> None:
    """Pearson's test that rows of counts were drawn from rows of probabilities.

    The statistic of a row of n draws has about the chi-square distribution while every n p is at
    least 5; rows with a smaller one are left out. With k degrees of freedom that distribution is
    above k + 2 sqrt(k t) + 2 t, or below k - 2 sqrt(k t), with probability e^-t each (Laurent and
    Massart, 2000); at t = 14 less than once in a million.
    """
    counts, probabilities = np.atleast_2d(counts), np.atleast_2d(probabilities)
    assert not counts[probabilities == 0].any(), "something impossible was drawn"
    statistic, freedom = 0.0, 0
    for observed, p in zip(counts, probabilities, strict=True):
        expected = observed.sum() * p
        possible = p > 0
        if expected[possible].min() >= 5:
            statistic += ((observed - expected)[possible] ** 2 / expected[possible]).sum()
            freedom += possible.sum() - 1
    assert freedom > 0, "too few draws to say anything"
    spread = 2 * np.sqrt(14 * freedom)
    assert freedom - spread <= statistic <= freedom + spread + 2 * 14
