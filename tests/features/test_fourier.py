import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference.refusals import assert_refuses

from optimist.features import Fourier

LOW, HIGH = np.array([-1.0, 0.0]), np.array([1.0, 5.0])
BOX = (LOW, HIGH)


def gaussian_kernel(points: np.ndarray, lengthscale: float) -> np.ndarray:
    unit = (points - LOW) / (HIGH - LOW)
    squared = ((unit[:, None] - unit) ** 2).sum(axis=-1)
    return np.exp(-squared / (2 * lengthscale**2))


def test_inner_products_approximate_the_gaussian_kernel():
    for lengthscale, pairs in itertools.product([0.1, 0.25, 1.0], [100, 10_000]):
        rng = np.random.default_rng(0)
        points = rng.uniform(LOW, HIGH, size=(40, 2))
        features = Fourier(BOX, pairs, rng, lengthscale)(points)
        error = features @ features.T - gaussian_kernel(points, lengthscale)
        # An entry is the mean of `pairs` cosines of variance at most 1/2, so its standard deviation
        # is at most sqrt(1/(2 pairs)); five of these leave room for the largest of 780 entries.
        assert np.abs(error).max() < 5 * np.sqrt(1 / (2 * pairs))


def test_cosines_come_before_sines():
    psi = Fourier(BOX, 3, np.random.default_rng(0))
    phases = np.array([0.5, 0.2]) @ psi.frequencies
    assert_allclose(psi([0.0, 1.0])[:3] * np.sqrt(3), np.cos(phases))
    assert_allclose(psi([0.0, 1.0])[3:] * np.sqrt(3), np.sin(phases))


def test_the_generator_decides_the_frequencies():
    one, same, other = (Fourier(BOX, 5, np.random.default_rng(s)) for s in (1, 1, 2))
    assert_array_equal(one.frequencies, same.frequencies)
    assert (one.frequencies != other.frequencies).all()
    with pytest.raises(ValueError, match="read-only"):
        one.frequencies[0, 0] = 0.0


def test_sizes():
    psi = Fourier(BOX, 7, np.random.default_rng(0))
    assert (psi.dim, psi.bound, psi.blocks) == (14, 1.0, 1)
    rng = np.random.default_rng(0)
    assert_refuses(
        lambda parameters: Fourier(BOX, *parameters),
        ((5, 0), TypeError, r"rng must be a Generator, .*default_rng\(0\); got 0"),
        ((0, rng), ValueError, "pairs must be at least 1; got 0"),
        ((3, rng, 0.0), ValueError, "lengthscale must be positive; got 0"),
        ((3, rng, -1.0), ValueError, "lengthscale must be positive; got -1"),
    )
