"""The regret decomposition of Section 4, term by term in the augmented MDPs themselves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference.mdps import as_sparse, draw_mdp, draw_policies
from reference.refusals import assert_refuses

from optimist.mdp import augment, best_in_hindsight, decompose_regret, regret, with_heaven

R_MAX = 1.5
TERMS = (
    *("reward_bias", "model_bias_comparator", "regret_plus", "model_bias_learner"),
    "mean_ascension",
)


@pytest.fixture(params=[0.0, 0.5, 0.9, 0.999])
def played(request):
    rng = np.random.default_rng(0)
    mdp = draw_mdp(rng, 5, 3, request.param)
    p = rng.random((6, 5, 3)) * (rng.random((6, 5, 3)) < 0.7)
    p[0], p[1] = 0, 1
    return mdp, draw_policies(rng, 6, 5, 3), p, R_MAX * rng.random((6, 5, 3))


def in_heaven_too(f, value):
    """A function of the pairs, extended to heaven."""
    return np.append(f, np.full((1, f.shape[1]), value), axis=0)


def by_definition(mdp, r, p, comparator, pi):
    """The `TERMS` of one episode from occupancies on the augmented state space."""
    up = augment(mdp.with_rewards(r), p, R_MAX)
    mu, mu_best = (in_heaven_too(mdp.occupancy(one), 0) for one in (pi, comparator))
    up_mu, up_best = (up.occupancy(with_heaven(one)) for one in (pi, comparator))
    r_here = in_heaven_too(r, R_MAX)
    return [
        ((mu_best - mu) * (r_here - up.r)).sum(),
        ((up_best - mu_best) * up.r).sum(),
        ((up_best - up_mu) * up.r).sum(),
        ((up_mu - mu) * up.r).sum(),
        (mu * in_heaven_too(p, 0)).sum(),
    ]


def terms(parts):
    """The terms of every episode, [term, episode]."""
    return np.array([getattr(parts, name) for name in TERMS])


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
def test_rewards_out_of_range_and_ascensions_that_do_not_fit_are_refused(played):
    mdp, pi, p, r = played
    too_low, too_high = (
        np.where(np.arange(r.size).reshape(r.shape) == 17, bad, r) for bad in (-1e-6, R_MAX + 1e-6)
    )
    outside = r"^rewards\[1, 0, 2\] = .* is outside \[0, r_max\] = "
    assert_refuses(
        lambda given: decompose_regret(mdp, pi, given[0], R_MAX, given[1]),
        ((p, too_low), ValueError, outside),
        ((p, too_high), ValueError, outside),
        ((p.mT, r), ValueError, r"^ascension must have shape \(5, 3\), or n.* \(6, 3, 5\)"),
        ((2 * p * (p == 1), r), ValueError, r"^ascension\[1, 0, 0\] = 2 exceeds 1$"),
        ((p[:5], r), ValueError, r"^ascensions must be one, .* got 5 for 6$"),
    )
