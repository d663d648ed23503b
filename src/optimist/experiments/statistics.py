"""Statistics over seeds: means, curves and comparisons with bootstrap intervals.

Intervals are percentile bootstraps over the seeds, as recommended by Agarwal et al. (2021, "Deep
Reinforcement Learning at the Edge of the Statistical Precipice"): ``rng`` draws ``draws`` resamples
of whole seeds with replacement. Intervals are pointwise, each of the given ``level``. An interval
that excludes the statistic of the data, which can happen with few seeds, is widened to include it.
With few seeds intervals are too narrow: those of level 0.95 for the mean of a Gaussian cover it in
93% of all cases with 20 seeds, in 90% with 10 and in 84% with 5.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from optimist import checks
from optimist.checks import FloatArray
from optimist.display.text import one_line

DRAWS = 2000
"""Default number of resamples."""

LEVEL = 0.95
"""Default level of intervals."""

CHUNK_BYTES = 2**25
"""Memory for the resamples of a band at a time."""

SLOPE_POINTS = 30
"""Points of a fit, spaced evenly in the logarithm of the episode."""

ONE_SEED = "one seed: no interval"

Resampled = Callable[[FloatArray, FloatArray], FloatArray]
"""A statistic [T, 1 + draws] of curves [n, T]; resample d has counts[d, i] copies of seed i."""


@dataclass(frozen=True)
class Estimate:
    """A number with its interval and the number of seeds.

    If there is no interval, `low` and `high` are nan and `note` says why.

    Examples
    --------
    >>> print(Estimate(0.12345, 0.101, 0.1449, n=10))
    0.123 [0.101, 0.145]
    >>> print(Estimate(2512.3, math.nan, math.nan, n=1, note=ONE_SEED))
    2512 (one seed: no interval)
    """

    value: float
    low: float
    high: float
    n: int
    note: str = ""

    def __str__(self) -> str:
        """The numbers to three digits, or to the unit if that is more, and the note."""
        numbers = (self.value, self.low, self.high)
        value, low, high = (f"{x:.0f}" if 99.95 <= abs(x) < 1e6 else f"{x:.3g}" for x in numbers)
        interval = "" if math.isnan(self.low) else f" [{low}, {high}]"
        return value + interval + (f" ({self.note})" if self.note else "")


@dataclass(frozen=True)
class Band:
    """A curve [T] with an interval at each point; nan without intervals, as in `Estimate`."""

    __repr__ = one_line

    value: FloatArray
    low: FloatArray
    high: FloatArray
    n: int
    note: str = ""


def interquartile_mean(data: ArrayLike, axis: int = 0) -> FloatArray:
    """The mean of the middle half along an axis: int(n / 4) of n numbers are cut at both ends.

    Of fewer than four numbers it is the mean.

    Examples
    --------
    >>> float(interquartile_mean([5, 1, 100, 3]))
    4.0
    """
    return _middle_mean(np.array(np.moveaxis(_nonempty(data, "data"), axis, -1)))


def mean_band(data: ArrayLike, rng: Generator, level: float = LEVEL, draws: int = DRAWS) -> Band:
    """The mean over the seeds of their curves [n, T], with an interval at each point.

    Examples
    --------
    >>> band = mean_band([[0, 1], [0, 3], [0, 5]], np.random.default_rng(0))
    >>> band.value, band.low, band.high
    (array([0., 3.]), array([0., 1.]), array([0., 5.]))
    """
    return _band(data, _means, rng, level, draws)


def iqm_band(data: ArrayLike, rng: Generator, level: float = LEVEL, draws: int = DRAWS) -> Band:
    """As `mean_band`, for the interquartile mean, which a few failed seeds do not change.

    Examples
    --------
    >>> band = iqm_band([[1], [2], [3], [4], [5], [6], [7], [99]], np.random.default_rng(0), 0.5)
    >>> band.value, band.low, band.high
    (array([4.5]), array([3.75]), array([5.25]))
    """
    return _band(data, _interquartile_means, rng, level, draws)


def estimate(
    data: ArrayLike,
    statistic: Literal["mean", "iqm"],
    rng: Generator,
    level: float = LEVEL,
    draws: int = DRAWS,
) -> Estimate:
    """The mean or the interquartile mean of one number per seed, [n], with its interval.

    Examples
    --------
    >>> print(estimate([1, 2, 3, 4, 5], "mean", np.random.default_rng(0)))
    3 [1.8, 4.2]
    """
    if statistic not in ("mean", "iqm"):
        raise ValueError(f"statistic must be 'mean' or 'iqm'; got {statistic!r}")
    x = checks.real_array(data, "data", (None,))
    band = (mean_band if statistic == "mean" else iqm_band)(x[:, None], rng, level, draws)
    return Estimate(band.value.item(), band.low.item(), band.high.item(), band.n, band.note)


def probability_of_improvement(
    a: ArrayLike, b: ArrayLike, rng: Generator, level: float = LEVEL, draws: int = DRAWS
) -> Estimate:
    """P(A < B) + P(A = B) / 2, the probability that A beats B if LOWER is better.

    This fits suboptimality and regret. Scores must be rounded beforehand to tie if they differ by
    rounding errors only. The samples a [n] and b [m] are resampled independently; the n of the
    estimate is the smaller of the two.

    Examples
    --------
    >>> print(probability_of_improvement([1, 2, 3], [3, 4, 2], np.random.default_rng(0)))
    0.778 [0.333, 1]
    """
    x, y = _nonempty(a, "a", (None,)), _nonempty(b, "b", (None,))
    wins = (x[:, None] < y) + (x[:, None] == y) / 2
    n, m = wins.shape
    wins_of_x = np.einsum("dn,nm->dm", _counts(n, rng, level, draws), wins)
    chances = np.einsum("dm,dm->d", wins_of_x, _counts(m, rng, level, draws)) / (n * m)
    return _estimate(chances, level, min(n, m))


def ratio(
    a: ArrayLike, b: ArrayLike, rng: Generator, level: float = LEVEL, draws: int = DRAWS
) -> Estimate:
    """The mean of the sample a [n] divided by that of b [m], resampled independently.

    There is no ratio if the mean of b is not positive, and no interval if that of a resample is
    not; the note says so. The n of the estimate is the smaller of the two.

    Examples
    --------
    >>> print(ratio([3, 3, 3], [1, 2, 3], np.random.default_rng(0)))
    1.5 [1, 3]
    """
    x, y = _nonempty(a, "a", (None,)), _nonempty(b, "b", (None,))
    above = _means(x[:, None], _counts(len(x), rng, level, draws))[0]
    below = _means(y[:, None], _counts(len(y), rng, level, draws))[0]
    ratios = above / np.where(below > 0, below, math.nan)
    note = "some resamples are zero: no interval" if np.isnan(ratios).any() else ""
    note = "divided by zero: no ratio" if np.isnan(ratios[0]) else note
    return _estimate(ratios, level, min(len(x), len(y)), note)


def log_log_slope(
    episodes: ArrayLike,
    regret: ArrayLike,
    rng: Generator,
    since: float = 0.1,
    level: float = LEVEL,
    draws: int = DRAWS,
) -> Estimate:
    """The exponent with which mean regret grows in K: 1 if linear, 1/2 if like sqrt(K).

    It is the least-squares slope of log mean regret against log episodes. By default the fit uses
    the last decade of episodes, since early regret is linear for every agent. The mean curve is
    interpolated, linearly in the logarithms, at `SLOPE_POINTS` points spaced evenly in the
    logarithm; otherwise nearly all points would lie at the end.

    Parameters
    ----------
    episodes
        The episodes, counted from 1 and increasing, after which regret was recorded, [T].
    regret
        The cumulative regret of each seed by then, [n, T]. There is no slope if its mean is not
        positive, and no interval if that of a resample is not; the note says so. Round regret that
        consists of rounding errors to zero first, as it would have a slope too.
    since
        The fit starts at this fraction of the last episode.

    Examples
    --------
    >>> k = np.arange(1, 1001)
    >>> print(log_log_slope(k, [np.sqrt(k), k], np.random.default_rng(0)))
    0.973 [0.5, 1]
    """
    k = checks.real_array(episodes, "episodes", shape=(None,))
    if len(k) < 2 or k[0] < 1 or (np.diff(k) <= 0).any():
        raise ValueError("episodes must be at least two increasing numbers, the first at least 1")
    if not 0 < since < 1:
        raise ValueError(f"since must be in (0, 1); got {since:.6g}")
    curves, log_k = _nonempty(regret, "regret", (None, len(k))), np.log(k)
    x = np.linspace(max(log_k[0], np.log(since * k[-1])), log_k[-1], SLOPE_POINTS)
    left = np.clip(np.searchsorted(log_k, x, side="right") - 1, 0, len(k) - 2)
    share = (x - log_k[left]) / (log_k[left + 1] - log_k[left])
    ends = curves[:, np.concatenate([left, left + 1])]
    means = _means(ends, _counts(len(curves), rng, level, draws))
    y_left, y_right = np.split(np.log(np.where(means > 0, means, math.nan)), 2)
    y = y_left + share[:, None] * (y_right - y_left)
    x -= x.mean()
    # Relative to the first point, so that constant regret has slope 0 without rounding errors.
    slopes = np.einsum("p,pd->d", x, y - y[0]) / (x**2).sum()
    note = "some resamples have no regret: no interval" if np.isnan(slopes).any() else ""
    note = "no positive mean regret to fit" if np.isnan(slopes[0]) else note
    return _estimate(slopes, level, len(curves), note)


def ranks(
    scores: Mapping[str, ArrayLike | Sequence[FloatArray]],
    rng: Generator,
    level: float = LEVEL,
    draws: int = DRAWS,
) -> dict[str, Estimate]:
    """The rank of each agent by its mean score in a world, averaged over the worlds.

    The scores of an agent are an array [worlds, seeds], or a list of arrays [seeds] if the number
    of seeds differs between worlds; all agents have the same worlds. LOWER is better, 1 is the best
    rank, and equal means share the mean of their ranks. Seeds are resampled independently for each
    agent and world, so that intervals account for other seeds, not for other worlds. The n of the
    estimates is the fewest seeds of any agent and world; if it is one, there are no intervals.

    Examples
    --------
    >>> scores = {"calm": [[1, 2, 1], [1, 1, 1]], "wild": [[5, 4, 6], [3, 1, 1]]}
    >>> {agent: str(rank) for agent, rank in ranks(scores, np.random.default_rng(0)).items()}
    {'calm': '1 [1, 1.25]', 'wild': '2 [1.75, 2]'}
    """
    # Sorted, so that the same scores in another order tie exactly.
    tables = [[np.sort(row) for row in _rows(x, f"scores[{a!r}]")] for a, x in scores.items()]
    if len({len(table) for table in tables}) != 1:
        raise ValueError("scores must have at least one agent, and all the same number of worlds")
    means = np.array(
        [[_means(x[:, None], _counts(len(x), rng, level, draws))[0] for x in own] for own in tables]
    )
    shared = [(means < own).sum(axis=0) + ((means == own).sum(axis=0) + 1) / 2 for own in means]
    of_agents = zip(scores, np.mean(shared, axis=1), strict=True)
    fewest = min(len(row) for table in tables for row in table)
    return {agent: _estimate(resampled, level, fewest) for agent, resampled in of_agents}


def _band(data: ArrayLike, of: Resampled, rng: Generator, level: float, draws: int) -> Band:
    curves = _nonempty(data, "data", (None, None))
    counts = _counts(len(curves), rng, level, draws)
    step = max(1, CHUNK_BYTES // counts.nbytes)
    parts = [curves[:, i : i + step] for i in range(0, curves.shape[1], step)]
    summaries = [_value_and_bounds(of(part, counts), level, len(curves)) for part in parts]
    value, low, high = np.concatenate(summaries, axis=1)
    return Band(value, low, high, len(curves), ONE_SEED if len(curves) == 1 else "")


def _estimate(resampled: FloatArray, level: float, n: int, note: str = "") -> Estimate:
    value, low, high = _value_and_bounds(resampled, level, n).tolist()
    return Estimate(value, low, high, n, note or (ONE_SEED if n == 1 else ""))


def _value_and_bounds(resampled: FloatArray, level: float, n: int) -> FloatArray:
    """Value, low and high, from a statistic of the data and of its resamples, [..., 1 + draws]."""
    value = resampled[..., 0]
    bounds = np.quantile(resampled[..., 1:], [(1 - level) / 2, (1 + level) / 2], axis=-1)
    low, high = bounds if n > 1 else np.full_like(bounds, math.nan)
    return np.stack([value, np.minimum(low, value), np.maximum(high, value)])


def _means(curves: FloatArray, counts: FloatArray) -> FloatArray:
    # einsum instead of BLAS, whose threads cost more than they gain on such small matrices.
    means: FloatArray = np.einsum("dn,nt->td", counts, curves) / len(curves)
    # Clipped to the extremes, so that the mean of constant data is exact.
    return np.clip(means, curves.min(axis=0)[:, None], curves.max(axis=0)[:, None])


def _interquartile_means(curves: FloatArray, counts: FloatArray) -> FloatArray:
    seeds = np.repeat(np.indices(counts.shape)[1], counts.ravel().astype(np.int64))
    # Unlike indexing, `take` keeps each resample contiguous, which halves the time of sorting.
    return _middle_mean(np.take(curves.T, seeds.reshape(counts.shape), axis=1))


def _middle_mean(samples: FloatArray) -> FloatArray:
    """The interquartile mean along the last axis; sorts the samples in place."""
    samples.sort(axis=-1)
    cut = samples.shape[-1] // 4
    middle = samples[..., cut : samples.shape[-1] - cut]
    return np.asarray(middle.mean(axis=-1).clip(middle[..., 0], middle[..., -1]))


def _counts(n: int, rng: Generator, level: float, draws: int) -> FloatArray:
    """The number of copies of each of n seeds in the data (row 0, all 1) and in each resample."""
    checks.generator(rng)
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1); got {level:.6g}")
    counts = rng.multinomial(n, np.full(n, 1 / n), size=checks.count(draws, "draws"))
    return np.vstack([np.ones(n), counts])


def _rows(x: ArrayLike | Sequence[FloatArray], name: str) -> list[FloatArray]:
    if isinstance(x, list) and x and all(isinstance(row, np.ndarray) for row in x):
        return [_nonempty(row, f"{name}[{i}]", (None,)) for i, row in enumerate(x)]
    return list(_nonempty(np.asarray(x), name, (None, None)))


def _nonempty(x: ArrayLike, name: str, shape: tuple[int | None, ...] | None = None) -> FloatArray:
    array = checks.real_array(x, name, shape)
    if not array.size:
        raise ValueError(f"{name} must not be empty; got shape {array.shape}")
    return array
