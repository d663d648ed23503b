"""Regret under rewards that may change, and its decomposition of Section 4, term by term."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference.mdps import as_sparse, deterministic_policies, draw_mdp, draw_policies
from reference.refusals import assert_refuses

from optimist.mdp import augment, best_in_hindsight, decompose_regret, regret, with_heaven

R_MAX = 1.5


@pytest.fixture(params=[0.0, 0.5, 0.9, 0.999])
def played(request):
    """An MDP, six policies, six ascension functions and six reward functions."""
    rng = np.random.default_rng(0)
    mdp = draw_mdp(rng, 5, 3, request.param)
    p = rng.random((6, 5, 3)) * (rng.random((6, 5, 3)) < 0.7)
    p[0], p[1] = 0, 1
    return mdp, draw_policies(rng, 6, 5, 3), p, R_MAX * rng.random((6, 5, 3))


def gap(mdp, r, comparator, pi):
    """<nu0, V^{pi*}_r - V^pi_r> by the definition."""
    one = mdp.with_rewards(r)
    return mdp.nu0 @ (one.V(comparator) - one.V(pi))


def test_it_is_the_sum_of_gaps_to_the_comparator(played):
    """The comparator is the best in hindsight unless given."""
    mdp, pi, _, r = played
    best = best_in_hindsight(mdp, r).policy
    for given, comparator in ((mdp.uniform_policy, mdp.uniform_policy), (None, best)):
        expected = [gap(mdp, r[k], comparator, pi[k]) for k in range(6)]
        assert_allclose(regret(mdp, pi, r, given), expected, rtol=0, atol=1e-13 * mdp.horizon)


def test_the_rewards_are_the_mdps_own_unless_given(played):
    mdp, pi, _, r = played
    own, close = regret(mdp, pi), 1e-13 * mdp.horizon
    assert_allclose(own, mdp.suboptimality(pi), rtol=0, atol=close)
    assert_allclose(regret(mdp, pi, mdp.r), own, rtol=0, atol=close)
    other = mdp.with_rewards(r[0]).suboptimality(pi)
    assert_allclose(regret(mdp, pi, r[0]), other, rtol=0, atol=close)
    assert_allclose(regret(mdp, pi[0]), own[:1], rtol=0, atol=close / 100)  # a sequence of one
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


def in_heaven_too(f, value):
    """A function of the pairs, extended to heaven."""
    return np.append(f, np.full((1, f.shape[1]), value), axis=0)


def by_definition(mdp, r, p, comparator, pi):
    """The terms of one episode from occupancies on the augmented state space."""
    up = augment(mdp.with_rewards(r), p, R_MAX)
    mu, mu_best = (in_heaven_too(mdp.occupancy(one), 0) for one in (pi, comparator))
    up_mu, up_best = (up.occupancy(with_heaven(one)) for one in (pi, comparator))
    r_here = in_heaven_too(r, R_MAX)
    return [
        ((mu_best - mu) * (r_here - up.r)).sum(),
        ((up_best - mu_best) * up.r).sum(),
        ((up_mu - mu) * up.r).sum(),
        ((up_best - up_mu) * up.r).sum(),
        (mu * in_heaven_too(p, 0)).sum(),
    ]


def terms(parts):
    """The terms of every episode, [term, episode]."""
    biases = parts.reward_bias, parts.model_bias_comparator, parts.model_bias_learner
    return np.array([*biases, parts.regret_plus, parts.mean_ascension])


def test_each_term_is_its_definition(played):
    mdp, pi, p, r = played
    for given in (mdp.uniform_policy, None):
        star = best_in_hindsight(mdp, r).policy if given is None else given
        expected = [by_definition(mdp, r[k], p[k], star, pi[k]) for k in range(6)]
        for one in (mdp, as_sparse(mdp)):
            parts = decompose_regret(one, pi, p, R_MAX, r, given)
            assert parts.gamma == mdp.gamma
            assert_allclose(terms(parts), np.transpose(expected), rtol=0, atol=1e-12)


def test_the_terms_sum_to_the_regret(played):
    mdp, pi, p, r = played
    parts = decompose_regret(mdp, pi, p, R_MAX, r)
    total = parts.reward_bias - parts.model_bias_comparator
    total += parts.regret_plus + parts.model_bias_learner
    gaps = regret(mdp, pi, r)
    assert_allclose(total, (1 - mdp.gamma) * gaps, rtol=0, atol=1e-13)
    assert_allclose(parts.regret, gaps, rtol=0, atol=1e-10)


def test_without_ascension_all_regret_is_that_in_the_augmented_mdp(played):
    mdp, pi, _, r = played
    parts = decompose_regret(mdp, pi, np.zeros((5, 3)), R_MAX, r)
    assert_array_equal([parts.reward_bias, parts.mean_ascension], 0)
    model_biases = [parts.model_bias_comparator, parts.model_bias_learner]
    assert_allclose(model_biases, 0, rtol=0, atol=1e-13)
    assert_allclose(parts.regret_plus, (1 - mdp.gamma) * regret(mdp, pi, r), atol=1e-13)


def test_one_ascension_function_and_one_reward_serve_all_episodes(played):
    mdp, pi, p, r = played
    one = decompose_regret(mdp, pi, p[2], R_MAX, r[2])
    each = decompose_regret(mdp, pi, [p[2]] * 6, R_MAX, [r[2]] * 6)
    assert_allclose(terms(one), terms(each), rtol=0, atol=1e-13)
    own = decompose_regret(mdp, pi, p[2], R_MAX)
    assert_allclose(own.regret, mdp.suboptimality(pi), rtol=0, atol=1e-10)


def test_many_episodes_are_decomposed_like_few():
    rng = np.random.default_rng(1)
    mdp = draw_mdp(rng, 20, 2, 0.95, "chain")  # solved by batched elimination if there are many
    pi, p = draw_policies(rng, 40, 20, 2), rng.random((40, 20, 2))
    star = mdp.optimal().policy
    many = terms(decompose_regret(mdp, pi, p, 1.0, comparator=star))
    for k in range(0, 40, 13):
        few = terms(decompose_regret(mdp, pi[k], p[k], 1.0, comparator=star))
        assert_allclose(many[:, [k]], few, rtol=0, atol=1e-12)


def test_mean_rewards_of_r_max_are_in_range_whatever_their_rounding():
    for seed in range(30):
        mdp = draw_mdp(np.random.default_rng(seed), 5, 2, 0.9, "dense")
        paying = mdp.with_rewards(np.ones((5, 2, 5)))  # means of ones under rounded rows
        parts = decompose_regret(paying, mdp.uniform_policy, np.zeros((5, 2)), 1.0)
        assert_allclose(parts.regret, 0, rtol=0, atol=1e-10)


@pytest.mark.parametrize("played", [0.9], indirect=True)
def test_sequences_that_do_not_fit_are_refused(played):
    mdp, pi, p, r = played
    number = np.arange(r.size).reshape(r.shape)
    twice = pi * np.where(number // 3 == 9, 2, 1)
    missing, too_low, too_high = (
        np.where(number == 17, bad, r) for bad in (np.nan, -1e-6, R_MAX + 1e-6)
    )
    assert_refuses(
        lambda sequences: regret(mdp, *sequences),
        ((pi, r[:5]), ValueError, r"^rewards must be one, .* per policy; got 5 for 6$"),
        ((pi, r.mT), ValueError, r"^rewards must have shape \(5, 3\), or n.* got \(6, 3, 5\)"),
        ((pi.mT, r), ValueError, r"^policies must have shape .*; got \(6, 3, 5\)"),
        ((twice, r), ValueError, r"^policies\[1, 4\] must sum to 1 within 1e-08; got 2"),
        ((pi, r, pi), ValueError, r"^comparator must have shape \(5, 3\); got \(6, 5, 3\)$"),
        ((pi, missing), ValueError, r"^rewards\[1, 0, 2\] must be a finite number; got nan"),
    )
    outside = r"^rewards\[1, 0, 2\] must be in \[0, r_max\] = "
    assert_refuses(
        lambda given: decompose_regret(mdp, pi, given[0], R_MAX, given[1]),
        ((p, too_low), ValueError, outside),
        ((p, too_high), ValueError, outside),
        ((p.mT, r), ValueError, r"^ascension must have shape \(5, 3\), or n.* \(6, 3, 5\)"),
        ((2 * p * (p == 1), r), ValueError, r"^ascension\[1, 0, 0\] must be at most 1; got 2$"),
        ((p[:5], r), ValueError, r"^ascensions must be one, .* got 5 for 6$"),
    )
