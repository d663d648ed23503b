"""Regret of sequences of policies under rewards that may change."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference.mdps import deterministic_policies, draw_mdp, draw_policies
from reference.refusals import assert_refuses

from optimist.mdp import best_in_hindsight, regret


@pytest.fixture
def played():
    """An MDP, four policies and four reward functions."""
    rng = np.random.default_rng(0)
    mdp = draw_mdp(rng, 4, 3, 0.9)
    return mdp, draw_policies(rng, 4, 4, 3), rng.random((4, 4, 3))


def gap(mdp, r, comparator, pi):
    """<nu0, V^{pi*}_r - V^pi_r> by the definition."""
    one = mdp.with_rewards(r)
    return mdp.nu0 @ (one.V(comparator) - one.V(pi))


def test_it_is_the_sum_of_gaps_to_the_comparator(played):
    """The comparator is the best in hindsight unless given."""
    mdp, pi, r = played
    best = best_in_hindsight(mdp, r).policy
    for given, comparator in ((mdp.uniform_policy, mdp.uniform_policy), (None, best)):
        expected = [gap(mdp, r[k], comparator, pi[k]) for k in range(4)]
        assert_allclose(regret(mdp, pi, r, given), expected, rtol=0, atol=1e-12)


def test_the_rewards_are_the_mdps_own_unless_given(played):
    mdp, pi, r = played
    own = regret(mdp, pi)
    assert_allclose(own, mdp.suboptimality(pi), rtol=0, atol=1e-12)
    assert_allclose(regret(mdp, pi, mdp.r), own, rtol=0, atol=1e-12)
    other = mdp.with_rewards(r[0]).suboptimality(pi)
    assert_allclose(regret(mdp, pi, r[0]), other, rtol=0, atol=1e-12)
    assert_allclose(regret(mdp, pi[0]), own[:1], rtol=0, atol=1e-14)  # one policy is a sequence
    assert regret(mdp, pi[0], r[0]).shape == (1,)


def test_the_best_in_hindsight_beats_every_deterministic_policy():
    every = deterministic_policies(3, 2)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        mdp = draw_mdp(rng, 3, 2, [0.5, 0.9, 0.999][seed % 3])
        r = rng.normal(size=(5, 3, 2))
        totals = sum(mdp.with_rewards(r_k).value(every) for r_k in r)
        best = best_in_hindsight(mdp, r)
        of_best = sum(mdp.with_rewards(r_k).value(best.policy) for r_k in r)
        close = 1e-10 * max(1, np.abs(totals).max())
        assert of_best == pytest.approx(totals.max(), rel=0, abs=close)
        assert best.value * 5 == pytest.approx(totals.max(), rel=0, abs=close)
        for k in range(0, len(every), 3):
            total = regret(mdp, np.repeat(every[k : k + 1], 5, axis=0), r).sum()
            assert total == pytest.approx(totals.max() - totals[k], rel=0, abs=close)


def test_sequences_that_do_not_fit_are_refused(played):
    mdp, pi, r = played
    number = np.arange(48).reshape(pi.shape)
    twice = pi * np.where(number // 3 == 9, 2, 1)
    missing = np.where(number == 14, np.nan, r)
    assert_refuses(
        lambda sequences: regret(mdp, *sequences),
        ((pi, r[:3]), ValueError, r"^rewards must be one, .* per policy; got 3 for 4$"),
        ((pi, r.mT), ValueError, r"^rewards must have shape \(4, 3\), or n.* got \(4, 3, 4\)"),
        ((pi.mT, r), ValueError, r"^policies has shape \(4, 3, 4\)"),
        ((twice, r), ValueError, r"^policies\[2, 1\] sums to 2"),
        ((pi, r, pi), ValueError, r"^comparator has shape \(4, 4, 3\); .* \(4, 3\)$"),
        ((pi, missing), ValueError, r"^rewards\[1, 0, 2\] is nan"),
    )
