"""The regret decomposition of Section 4, term by term in the augmented MDPs themselves."""

import numpy as np
import pytest

from optimist.mdp import augment, best_in_hindsight, decompose_regret, regret, with_heaven

R_MAX = 1.5


@pytest.fixture(params=[0.0, 0.5, 0.9, 0.999])
def played(world, policies, request):
    rng = np.random.default_rng(0)
    mdp = world(rng, 5, 3, request.param)
    p = rng.random((6, 5, 3)) * (rng.random((6, 5, 3)) < 0.7)
    p[0], p[1] = 0, 1
    return mdp, policies(rng, 6, 5, 3), p, R_MAX * rng.random((6, 5, 3))


def in_heaven_too(f, value):
    """A function of the pairs, extended to heaven."""
    return np.append(f, np.full((1, f.shape[1]), value), axis=0)


def by_definition(mdp, r, p, comparator, pi):
    """The terms of one episode from occupancies on the augmented state space."""
    up = augment(mdp.with_rewards(r), p, R_MAX)
    mu, mu_best = (in_heaven_too(mdp.occupancy(one), 0) for one in (pi, comparator))
    up_mu, up_best = (up.occupancy(with_heaven(one)) for one in (pi, comparator))
    r_here = in_heaven_too(r, R_MAX)
    return {
        "reward_bias": ((mu_best - mu) * (r_here - up.r)).sum(),
        "model_bias_comparator": ((up_best - mu_best) * up.r).sum(),
        "regret_plus": ((up_best - up_mu) * up.r).sum(),
        "model_bias_learner": ((up_mu - mu) * up.r).sum(),
        "mean_ascension": (mu * in_heaven_too(p, 0)).sum(),
    }


@pytest.mark.parametrize("comparator", ["uniform", "best"])
def test_each_term_is_its_definition(played, as_sparse, comparator):
    mdp, pi, p, r = played
    given = mdp.uniform_policy if comparator == "uniform" else None
    star = best_in_hindsight(mdp, r).policy if given is None else given
    expected = [by_definition(mdp, r[k], p[k], star, pi[k]) for k in range(6)]
    for one in (mdp, as_sparse(mdp)):
        parts = decompose_regret(one, pi, p, R_MAX, r, given)
        assert parts.gamma == mdp.gamma
        for name in expected[0]:
            terms = [terms[name] for terms in expected]
            np.testing.assert_allclose(getattr(parts, name), terms, rtol=0, atol=1e-12)


def test_the_terms_sum_to_the_regret(played):
    mdp, pi, p, r = played
    parts = decompose_regret(mdp, pi, p, R_MAX, r)
    total = parts.reward_bias - parts.model_bias_comparator
    total += parts.regret_plus + parts.model_bias_learner
    gaps = regret(mdp, pi, r)
    np.testing.assert_allclose(total, (1 - mdp.gamma) * gaps, rtol=0, atol=1e-13)
    np.testing.assert_allclose(parts.regret, gaps, rtol=0, atol=1e-10)


def test_without_ascension_all_regret_is_that_in_the_augmented_mdp(played):
    mdp, pi, _, r = played
    parts = decompose_regret(mdp, pi, np.zeros((5, 3)), R_MAX, r)
    for bias in (parts.reward_bias, parts.mean_ascension):
        np.testing.assert_array_equal(bias, 0)
    for bias in (parts.model_bias_comparator, parts.model_bias_learner):
        np.testing.assert_allclose(bias, 0, rtol=0, atol=1e-13)
    np.testing.assert_allclose(parts.regret_plus, (1 - mdp.gamma) * regret(mdp, pi, r), atol=1e-13)


def test_one_ascension_function_and_one_reward_serve_all_episodes(played):
    mdp, pi, p, r = played
    one = decompose_regret(mdp, pi, p[2], R_MAX, r[2])
    each = decompose_regret(mdp, pi, [p[2]] * 6, R_MAX, [r[2]] * 6)
    for name in ("reward_bias", "model_bias_comparator", "regret_plus", "model_bias_learner"):
        np.testing.assert_allclose(getattr(one, name), getattr(each, name), rtol=0, atol=1e-13)
    own = decompose_regret(mdp, pi, p[2], R_MAX)
    np.testing.assert_allclose(own.regret, mdp.suboptimality(pi), rtol=0, atol=1e-10)


def test_many_episodes_are_decomposed_like_few(world, policies):
    rng = np.random.default_rng(1)
    mdp = world(rng, 20, 2, 0.95, "chain")  # eliminated side by side when there are many
    pi, p = policies(rng, 40, 20, 2), rng.random((40, 20, 2))
    star = mdp.optimal().policy
    many = decompose_regret(mdp, pi, p, 1.0, comparator=star)
    for k in range(0, 40, 13):
        few = decompose_regret(mdp, pi[k], p[k], 1.0, comparator=star)
        for name in ("reward_bias", "model_bias_comparator", "regret_plus", "model_bias_learner"):
            assert getattr(many, name)[k] == pytest.approx(getattr(few, name)[0], abs=1e-12)


def test_mean_rewards_of_r_max_are_in_range_whatever_their_rounding(world):
    for seed in range(30):
        mdp = world(np.random.default_rng(seed), 5, 2, 0.9, "dense")
        paying = mdp.with_rewards(np.ones((5, 2, 5)))  # means of ones under rounded rows
        parts = decompose_regret(paying, mdp.uniform_policy, np.zeros((5, 2)), 1.0)
        np.testing.assert_allclose(parts.regret, 0, rtol=0, atol=1e-10)


@pytest.mark.parametrize("bad", [-1e-6, R_MAX + 1e-6])
def test_rewards_outside_the_range_are_refused(played, bad):
    mdp, pi, p, r = played
    r = np.where(np.arange(r.size).reshape(r.shape) == 17, bad, r)
    with pytest.raises(ValueError, match=r"^rewards\[1, 0, 2\] = .* is outside \[0, r_max\] = "):
        decompose_regret(mdp, pi, p, R_MAX, r)


def test_ascensions_that_do_not_fit_are_refused(played):
    mdp, pi, p, r = played
    with pytest.raises(ValueError, match=r"^ascension has shape \(6, 3, 5\); .* \(5, 3\), or n"):
        decompose_regret(mdp, pi, p.transpose(0, 2, 1), R_MAX, r)
    with pytest.raises(ValueError, match=r"^ascension\[1, 0, 0\] = 2 exceeds 1$"):
        decompose_regret(mdp, pi, 2 * p * (p == 1), R_MAX, r)
    with pytest.raises(ValueError, match=r"5 ascension functions for 6 policies"):
        decompose_regret(mdp, pi, p[:5], R_MAX, r)
