"""Statistics over seeds, against enumeration of all resamples and against SciPy."""

import itertools
import math
import tracemalloc
from dataclasses import is_dataclass
from functools import partial

import numpy as np
import pytest
import scipy.stats
from hypothesis import example, given
from hypothesis import strategies as st

from optimist.experiments import statistics
from optimist.experiments.statistics import (
    ONE_SEED,
    Estimate,
    estimate,
    interquartile_mean,
    iqm_band,
    log_log_slope,
    mean_band,
    probability_of_improvement,
    ranks,
    ratio,
)

BANDS = {"mean": mean_band, "iqm": iqm_band}
ORACLES = {
    "mean": lambda x, axis=0: np.mean(x, axis),
    "iqm": lambda x, axis=0: scipy.stats.trim_mean(x, 0.25, axis),
}
MANY = 20_000
"""So many draws that Monte Carlo error is small; five standard deviations of it are allowed."""

both = pytest.mark.parametrize("name", ["mean", "iqm"])


def rng(seed=0):
    return np.random.default_rng(seed)


def resamples(*samples):
    """Every way to draw from each of the samples as often as it is long, all equally likely."""
    ways = [itertools.product(range(len(x)), repeat=len(x)) for x in samples]
    for picks in itertools.product(*ways):
        yield [np.asarray(x)[list(i)] for x, i in zip(samples, picks, strict=True)]


def assert_interval(found, outcomes, level):
    """The bounds are quantiles of all outcomes, but for the Monte Carlo error of MANY draws."""
    for bound, p in ((found.low, (1 - level) / 2), (found.high, (1 + level) / 2)):
        slack = 5 * math.sqrt(p * (1 - p) / MANY)
        least, most = np.quantile(outcomes, [p - slack, p + slack], 0, method="inverted_cdf")
        assert (least - 1e-10 <= bound).all()
        assert (bound <= most + 1e-10).all()


# The interquartile mean.


def test_the_interquartile_mean_is_that_of_scipy():
    for n in range(1, 14):
        data = rng(n).normal(size=(3, n, 2))
        before = data.copy()
        expected = scipy.stats.trim_mean(data, 0.25, axis=1)
        for axis in (1, -2):
            np.testing.assert_allclose(interquartile_mean(data, axis), expected, rtol=1e-13)
        np.testing.assert_allclose(interquartile_mean(data[0]), expected[0], rtol=1e-13)
        assert interquartile_mean(data[0, :, 0]).shape == ()
        np.testing.assert_array_equal(data, before)
    assert interquartile_mean([1e20, 1, 2, 3, -1e20]) == 2  # not by sums that cancel


# Bands.


@both
def test_a_band_is_that_of_all_resamples(name):
    curves = rng(1).exponential(size=(4, 3)) * [1, 10, 100]
    outcomes = [ORACLES[name](drawn) for [drawn] in resamples(curves)]
    for level in (0.5, 0.87):
        found = BANDS[name](curves, rng(), level, MANY)
        assert_interval(found, outcomes, level)
        np.testing.assert_allclose(found.value, ORACLES[name](curves), rtol=1e-14)
        assert (found.n, found.note) == (4, "")
    one = BANDS[name](curves, rng(), draws=1)  # its interval lies between the data and one resample
    drawn = np.where(one.low < one.value, one.low, one.high)
    assert np.isclose(drawn, outcomes, rtol=1e-12).all(axis=1).any()


def coverage(band):
    """The fraction of the columns whose interval contains 0; each is an experiment of its own."""
    return np.mean((band.low <= 0) & (band.high >= 0))


def test_intervals_of_gaussian_data_cover_as_often_as_theory_says():
    # The bootstrap takes a t statistic for a Gaussian one and divides by n instead of n - 1.
    n, experiments = 20, 4000
    for level in (0.5, 0.95):
        band = mean_band(rng(5).normal(size=(n, experiments)), rng(6), level)
        limit = scipy.stats.norm.ppf((1 + level) / 2) * math.sqrt((n - 1) / n)
        expected = 2 * scipy.stats.t.cdf(limit, n - 1) - 1
        error = 4 * math.sqrt(expected * (1 - expected) / experiments)
        assert coverage(band) == pytest.approx(expected, abs=error)
    assert 0.92 < coverage(iqm_band(rng(7).normal(size=(n, 2000)), rng(8), draws=1000)) < 0.96


@both
def test_whole_curves_are_resampled_regardless_of_chunks(name, monkeypatch):
    x = rng(9).normal(size=(7, 1))
    curves = np.hstack([x, rng(10).normal(size=(7, 5)), x])
    whole = BANDS[name](curves, rng())
    assert (whole.low[0], whole.high[0]) == (whole.low[-1], whole.high[-1])
    for points in (1, 3):
        monkeypatch.setattr(statistics, "CHUNK_BYTES", points * 2001 * 7 * 8)
        cut = BANDS[name](curves, rng())
        np.testing.assert_allclose(
            [cut.value, cut.low, cut.high], [whole.value, whole.low, whole.high], atol=1e-14
        )


@both
def test_memory_stays_bounded(name):
    curves = rng().random((100, 100))  # 160 MB of resamples
    tracemalloc.start()
    BANDS[name](curves, rng())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64e6


@both
@given(constant=st.floats(-1e100, 1e100), n=st.integers(2, 12), level=st.floats(0.01, 0.99))
@example(constant=0.1, n=3, level=0.95)  # 0.1 + 0.1 + 0.1 is not 3 * 0.1
def test_constant_data_have_an_interval_of_zero_width(name, constant, n, level):
    band = BANDS[name](np.full((n, 2), constant), rng(), level, draws=50)
    for curve in (band.value, band.low, band.high):
        np.testing.assert_array_equal(curve, constant)


@both
@given(
    data=st.lists(st.integers(-1000, 1000), min_size=2, max_size=9),
    shift=st.integers(-1000, 1000),
    scale=st.sampled_from([-3.0, 0.1, 7.0]),
)
def test_intervals_move_with_the_data(name, data, shift, scale):
    found = estimate(data, name, rng(), 0.8, draws=50)
    moved = estimate(scale * np.array(data) + shift, name, rng(), 0.8, draws=50)
    bounds = scale * np.array([found.low, found.high]) + shift
    assert moved.value == pytest.approx(scale * found.value + shift, abs=1e-9)
    np.testing.assert_allclose([moved.low, moved.high], np.sort(bounds), rtol=0, atol=1e-9)


@both
def test_higher_levels_are_wider_and_every_interval_contains_the_value(name):
    curves = rng(11).exponential(size=(6, 300))
    least, narrow, wide = (BANDS[name](curves, rng(), level) for level in (0.01, 0.5, 0.95))
    assert (least.low <= least.value).all()
    assert (least.value <= least.high).all()
    assert (wide.low < narrow.low).all()
    assert (narrow.high < wide.high).all()


@both
def test_one_seed_has_a_curve_but_no_band(name):
    band = BANDS[name]([[0.1, 0.2, 0.3]], rng())
    np.testing.assert_array_equal(band.value, [0.1, 0.2, 0.3])
    np.testing.assert_array_equal([band.low, band.high], np.full((2, 3), math.nan))
    assert (band.n, band.note) == (1, ONE_SEED)


# Numbers.


@both
def test_an_estimate_is_a_band_of_one_point(name):
    data = rng(14).exponential(size=9)
    band = BANDS[name](data[:, None], rng(), 0.7, 300)
    found = estimate(data, name, rng(), 0.7, 300)
    assert found == Estimate(*band.value, *band.low, *band.high, n=9)
    assert estimate([2], name, rng()).note == ONE_SEED


def test_estimates_are_readable():
    nan = math.nan
    for numbers, note, text in (
        ((0.12345, 0.101, 0.1449), "", "0.123 [0.101, 0.145]"),
        ((99.96, -999.7, 1234.5), "", "100 [-1000, 1234]"),
        ((0.0, 1.23456e-7, 1234567), "", "0 [1.23e-07, 1.23e+06]"),
        ((0.5, nan, nan), ONE_SEED, "0.5 (one seed: no interval)"),
        ((nan, nan, nan), "nothing", "nan (nothing)"),
        ((12.345, nan, nan), "", "12.3"),
    ):
        assert str(Estimate(*numbers, n=3, note=note)) == text


# The probability of improvement.


def test_the_probability_is_that_of_mann_and_whitney():
    for seed in range(5):
        a, b = rng(seed).integers(6, size=9), rng(seed + 50).integers(8, size=7)
        expected = scipy.stats.mannwhitneyu(b, a).statistic / 63
        for samples, value in (((a, b), expected), ((b, a), 1 - expected)):
            found = probability_of_improvement(*samples, rng(), draws=10)
            assert found.value == pytest.approx(value, abs=1e-14)
            assert found.n == 7


def test_lower_is_better():
    for a, b, expected in (([0, 1], [2, 3], 1), ([2, 3], [0, 1], 0), ([1, 1], [1, 1], 0.5)):
        assert probability_of_improvement(a, b, rng()) == Estimate(expected, expected, expected, 2)


def test_the_two_samples_are_resampled_independently():
    a, b = [1.0, 3.0, 6.0], [2.0, 3.0, 7.0]
    outcomes = [np.mean([(x < y) + (x == y) / 2 for x in p for y in q]) for p, q in resamples(a, b)]
    for level in (0.5, 0.8):
        found = probability_of_improvement(a, b, rng(), level, MANY)
        assert_interval(found, outcomes, level)
    grown = probability_of_improvement(np.exp(a), np.exp(b), rng(), level, MANY)
    assert grown == found  # only the order counts


def test_one_seed_on_either_side_has_no_interval():
    for a, b in (([1], [0, 2]), ([0, 2], [1]), ([1], [1])):
        found = probability_of_improvement(a, b, rng())
        assert (found.value, found.n, found.note) == (0.5, 1, ONE_SEED)
        assert np.isnan([found.low, found.high]).all()


# The slope of regret.


def test_the_slope_of_a_power_is_that_power():
    spaced = np.unique(np.geomspace(1, 10**6, 40).astype(int))
    for episodes, power in itertools.product(
        (np.arange(1, 2001), spaced, [1, 50, 1000], [3, 4]), (0.5, 2 / 3, 1.0)
    ):
        regret = np.outer([1.0, 5.0, 30.0], np.power(episodes, power))
        found = log_log_slope(episodes, regret, rng())
        np.testing.assert_allclose([found.value, found.low, found.high], power, rtol=0, atol=1e-12)
        assert (found.n, found.note) == (3, "")


def random_regret(seed, n=3, episodes=400):
    return rng(seed).exponential(size=(n, episodes)).cumsum(axis=1) ** rng(seed).random((n, 1))


def slope(k, mean_regret, since):
    """By NumPy's interpolation and least squares."""
    log_k = np.log(k)
    start = max(log_k[0], np.log(since * k[-1]))
    grid = np.linspace(start, log_k[-1], statistics.SLOPE_POINTS)
    return np.polyfit(grid, np.interp(grid, log_k, np.log(mean_regret)), 1)[0]


def test_the_slope_and_its_interval_are_those_of_all_resamples():
    regret = random_regret(15)
    for first, since in ((1, 0.1), (1, 0.37), (200, 0.1)):
        k = np.arange(first, first + 400)
        outcomes = [slope(k, drawn.mean(axis=0), since) for [drawn] in resamples(regret)]
        found = log_log_slope(k, regret, rng(), since, level=0.6, draws=MANY)
        assert found.value == pytest.approx(slope(k, regret.mean(axis=0), since), rel=1e-10)
        assert_interval(found, outcomes, 0.6)


def test_the_slope_does_not_depend_on_the_start_nor_on_units():
    k, regret = np.arange(1, 401), random_regret(16)
    found = log_log_slope(k, regret, rng())
    early = regret.copy()
    early[:, :39] = -1
    assert log_log_slope(k, early, rng()) == found
    early[:, 39] = -1  # after episode 40, the first of the last decade
    assert math.isnan(log_log_slope(k, early, rng()).value)
    other = log_log_slope(10 * k, 7 * regret, rng())
    np.testing.assert_allclose(
        [other.value, other.low, other.high], [found.value, found.low, found.high], rtol=1e-9
    )


def test_constant_regret_has_slope_zero():
    found = log_log_slope(np.arange(1, 1001), np.full((5, 1000), 0.1), rng())
    assert found == Estimate(0, 0, 0, 5)


def test_without_positive_mean_regret_there_is_no_slope_or_no_interval():
    for regret in ([[0, 0, 0], [0, 0, 0]], [[1, 2, 3], [-4, -4, -4]], [[0, 0, 1]]):
        found = log_log_slope([1, 2, 3], regret, rng())
        assert np.isnan([found.value, found.low, found.high]).all()
        assert (found.n, found.note) == (len(regret), "no positive mean regret to fit")
    for regret, note in (
        ([[1, 10, 100]], ONE_SEED),
        ([[0, 0, 0], [1, 10, 100]], "some resamples have no regret: no interval"),
    ):
        found = log_log_slope([1, 10, 100], regret, rng())
        assert found.value == pytest.approx(1, abs=1e-12)
        assert np.isnan([found.low, found.high]).all()
        assert (found.n, found.note) == (len(regret), note)


# Ratios.


def test_the_ratio_is_that_of_the_means_of_independent_resamples():
    a, b = [1.0, 4.0, 7.0], [2.0, 3.0]
    outcomes = [x.mean() / y.mean() for x, y in resamples(a, b)]
    for level in (0.3, 0.8):
        found = ratio(a, b, rng(), level, MANY)
        assert found.value == 4 / 2.5
        assert found.n == 2
        assert_interval(found, np.array(outcomes), level)


def test_there_is_no_ratio_to_zero():
    found = ratio([1, 2], [0, 0], rng())
    assert np.isnan([found.value, found.low, found.high]).all()
    assert found.note == "divided by zero: no ratio"
    found = ratio([1, 2], [0, 1], rng())
    assert (found.value, found.note) == (3, "some resamples are zero: no interval")
    assert math.isnan(found.low)
    found = ratio([1], [2, 3], rng())
    assert (found.value, found.note, math.isnan(found.high)) == (0.4, ONE_SEED, True)
    assert ratio([0, 0], [1, 1], rng()) == Estimate(0, 0, 0, 2)


# Ranks.


def test_ranks_are_those_of_the_means():
    scores = {str(n): rng(n).integers(4, size=(6, n)) for n in (2, 4, 8, 3)}
    means = [table.mean(axis=1) for table in scores.values()]
    expected = scipy.stats.rankdata(means, axis=0).mean(axis=1)
    found = ranks(scores, rng())
    assert list(found) == list(scores)
    np.testing.assert_allclose([rank.value for rank in found.values()], expected, rtol=1e-14)
    assert expected.sum() == pytest.approx(10)
    assert {rank.n for rank in found.values()} == {2}


def test_worlds_and_agents_are_resampled_independently():
    a, b = [[1.0, 4.0], [2.0, 4.0]], [[2.0, 3.0], [3.0, 3.0]]
    outcomes = [
        (scipy.stats.rankdata([p.mean(), r.mean()]) + scipy.stats.rankdata([q.mean(), s.mean()]))
        / 2
        for p, q, r, s in resamples(*a, *b)
    ]
    for level in (0.3, 0.7):
        found = ranks({"a": a, "b": b}, rng(), level, MANY)
        for i, agent in enumerate("ab"):
            assert_interval(found[agent], np.array(outcomes)[:, i], level)


def test_the_same_scores_in_another_order_tie():
    scores = rng(17).random((50, 7))
    found = ranks({"a": scores, "b": rng(18).permuted(scores, axis=1)}, rng())
    assert found["a"].value == found["b"].value == 1.5


def test_clear_ranks_have_zero_width_and_one_seed_has_no_interval():
    best, worst = [[0, 1], [0, 1]], [[5, 6], [7, 8]]
    found = ranks({"worst": worst, "best": best}, rng())
    assert found == {"worst": Estimate(2, 2, 2, 2), "best": Estimate(1, 1, 1, 2)}
    found = ranks({"worst": worst, "best": [[0], [1]]}, rng())
    assert [found["best"].value, found["worst"].value] == [1, 2]
    assert {(r.n, r.note, math.isnan(r.low)) for r in found.values()} == {(1, ONE_SEED, True)}


def test_an_agent_may_have_more_seeds_in_some_worlds_than_in_others():
    a, b = [np.array([1.0, 2.0]), np.array([5.0])], [np.array([3.0]), np.array([1.0, 2.0, 9.0])]
    found = ranks({"a": a, "b": b}, rng())
    assert {agent: (rank.value, rank.n) for agent, rank in found.items()} == {
        "a": (1.5, 1), "b": (1.5, 1)
    }  # fmt: skip
    whole = rng(3).random((4, 5))
    assert ranks({"a": list(whole), "b": whole[::-1]}, rng()) == ranks(
        {"a": whole, "b": whole[::-1]}, rng()
    )


# What they have in common.

A, B = np.arange(30), np.arange(5, 35)
CALLS = {
    "mean_band": partial(mean_band, A[:, None]),
    "iqm_band": partial(iqm_band, A[:, None]),
    "estimate": partial(estimate, A, "mean"),
    "probability": partial(probability_of_improvement, A, B),
    "ratio": partial(ratio, A, B),
    "slope": partial(log_log_slope, np.arange(1, 401), random_regret(19, n=9)),
    "ranks": partial(ranks, {"a": rng(20).random((40, 5)), "b": rng(21).random((40, 5))}),
}


def told(found):
    """All that was found, which the one line of a band does not show."""
    return repr(vars(found)) if is_dataclass(found) else repr(found)


@pytest.mark.parametrize("name", CALLS)
def test_every_statistic_depends_on_the_generator_alone_and_checks_level_and_draws(name):
    call = CALLS[name]
    one, same, other = (told(call(rng(seed), level=0.9, draws=99)) for seed in (0, 0, 1))
    assert one == same
    assert one != other
    for level in (0, 1, -0.5, 95, math.nan):
        with pytest.raises(ValueError, match=r"level must be in \(0, 1\); got"):
            call(rng(), level=level)
    with pytest.raises(ValueError, match="draws must be at least 1; got 0"):
        call(rng(), draws=0)
    with pytest.raises(TypeError, match=r"rng must be a Generator, .*; got 0"):
        call(0)


REFUSED = (
    (lambda: mean_band([1, 2], rng()), r"data must have shape .*; got \(2,\)"),
    (
        lambda: iqm_band([[1, 2], [3, math.nan]], rng()),
        r"data\[1, 1\] must be a finite number; got nan",
    ),
    (lambda: mean_band([[1, math.inf]], rng()), r"data\[0, 1\] must be a finite number; got inf"),
    (lambda: iqm_band(np.empty((0, 3)), rng()), "data must not be empty"),
    (lambda: mean_band(np.empty((3, 0)), rng()), "data must not be empty"),
    (lambda: interquartile_mean([]), "data must not be empty"),
    (lambda: interquartile_mean([math.nan]), r"data\[0\] must be a finite number; got nan"),
    (lambda: interquartile_mean(3), "axis 0 is out of bounds"),
    (lambda: estimate([[1]], "mean", rng()), r"data must have shape .*; got \(1, 1\)"),
    (lambda: estimate([], "mean", rng()), "data must not be empty"),
    (lambda: estimate([1], "median", rng()), "statistic must be 'mean' or 'iqm'; got 'median'"),
    (lambda: probability_of_improvement([], [1], rng()), "a must not be empty"),
    (lambda: probability_of_improvement([1], [[1]], rng()), r"b must have shape .*; got \(1, 1\)"),
    (lambda: log_log_slope([1, 1], [[1, 1]], rng()), "episodes must be"),
    (lambda: log_log_slope([0, 1], [[1, 1]], rng()), "episodes must be"),
    (lambda: log_log_slope([5], [[1]], rng()), "episodes must be"),
    (lambda: log_log_slope([1, 2], [1, 1], rng()), r"regret must have shape .*; got \(2,\)"),
    (lambda: log_log_slope([1, 2], [[1, 1, 1]], rng()), r"must have shape \(any, 2\)"),
    (lambda: log_log_slope([1, 2], [[1, 1]], rng(), 1.0), r"since must be in \(0, 1\); got 1"),
    (lambda: log_log_slope([1, 2], [[1, 1]], rng(), 0.0), r"since must be in \(0, 1\); got 0"),
    (lambda: ranks({}, rng()), "at least one agent"),
    (lambda: ranks({"a": [[1]], "b": [[1], [2]]}, rng()), "all the same number of worlds"),
    (
        lambda: ranks({"a": [[1, math.nan]]}, rng()),
        r"scores\['a'\]\[0, 1\] must be a finite number; got nan",
    ),
    (lambda: ratio([1], [], rng()), "b must not be empty"),
    (
        lambda: ranks({"a": [np.array([math.nan])]}, rng()),
        r"scores\['a'\]\[0\]\[0\] must be a finite number; got nan",
    ),
    (lambda: ranks({"a": [1, 2]}, rng()), r"scores\['a'\] must have shape .*; got \(2,\)"),
)


def test_invalid_data_are_refused():
    for call, message in REFUSED:
        with pytest.raises(ValueError, match=message):
            call()
