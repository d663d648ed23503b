"""A test of observed counts against probabilities."""

import numpy as np


def check_counts(counts: np.ndarray, probabilities: np.ndarray) -> None:
    """Pearson's test that rows of counts were drawn from rows of probabilities.

    The statistic of a row of n draws has about the chi-square distribution if every n p is at least
    5. The rarest outcomes of a row are therefore taken together until theirs is. With k degrees of
    freedom that distribution is above k + 2 sqrt(k t) + 2 t, or below k - 2 sqrt(k t), with
    probability e^-t each (Laurent and Massart, 2000); at t = 14 less than once in a million.
    """
    counts, probabilities = np.atleast_2d(counts), np.atleast_2d(probabilities)
    assert not counts[probabilities == 0].any(), "something impossible was drawn"
    statistic, freedom = 0.0, 0
    for observed, p in zip(counts, probabilities, strict=True):
        order = np.argsort(p)
        found, expected = observed[order], observed.sum() * p[order]
        rare = max(np.sum(expected < 5), np.searchsorted(np.cumsum(expected), 5) + 1)
        found = np.append(found[:rare].sum(), found[rare:])
        expected = np.append(expected[:rare].sum(), expected[rare:])
        if len(expected) > 1:
            statistic += ((found - expected) ** 2 / expected).sum()
            freedom += len(expected) - 1
    assert freedom > 0, "too few draws to say anything"
    spread = 2 * np.sqrt(14 * freedom)
    assert freedom - spread <= statistic <= freedom + spread + 2 * 14
