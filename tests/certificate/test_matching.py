"""The certificate of the matching error: it holds at all times at once; what it refuses."""

import numpy as np
import pytest

from optimist.imitation import FeatureDataset, certify_matching

DELTA = 0.2


def rows(means, n, rng):
    """One-hot rows, [n, d], whose expectation is given."""
    return np.eye(len(means))[rng.choice(len(means), size=n, p=means)]


def test_the_deviation_is_bounded_for_all_numbers_of_rows_at_once():
    """Against the exact expectation; and it is no wider than 5 over the root of n."""
    rng, n, failed = np.random.default_rng(0), 400, 0
    means = rng.dirichlet(np.ones(20))
    expert = FeatureDataset(means[None], bound=1.0, exact=True)
    looked = [1, 2, 5, 10, 20, 50, 100, 200, 400]
    for _ in range(300):
        drawn = rows(means, n, rng)
        found = [
            certify_matching(FeatureDataset(drawn[:m], bound=1.0), expert, DELTA) for m in looked
        ]
        failed += any(c.error - c.estimate < c.estimate for c in found)  # the error is 0
    assert failed <= DELTA * 300
    assert n**0.5 * (found[-1].error - found[-1].estimate) < 5


def test_two_samples_share_delta():
    rng, means = np.random.default_rng(1), np.full(4, 0.25)
    one, other = (FeatureDataset(rows(means, 500, rng), bound=1.0, gamma=0.9) for _ in range(2))
    exact = FeatureDataset(means[None], bound=1.0, exact=True)
    both, half = certify_matching(one, other, DELTA), certify_matching(one, exact, DELTA / 2)
    far = half.error - half.estimate
    assert both.error - both.estimate == pytest.approx(2 * far)
    assert both.gap(W_max=2.0) == pytest.approx(20 * both.error)
    assert certify_matching(exact, exact, DELTA).error == 0


def test_what_does_not_fit_together_is_refused():
    one = FeatureDataset(np.eye(3), gamma=0.9)
    with pytest.raises(ValueError, match="features of one dimension; got 3 and 2"):
        certify_matching(one, FeatureDataset(np.eye(2)))
    with pytest.raises(ValueError, match=r"one gamma; got 0.9 and 0.5"):
        certify_matching(one, FeatureDataset(np.eye(3), gamma=0.5))
    with pytest.raises(ValueError, match=r"delta must be in \(0, 1\)"):
        certify_matching(one, one, delta=0)
    without = FeatureDataset(np.eye(3))
    with pytest.raises(ValueError, match="gamma must be known"):
        certify_matching(without, without).gap()
