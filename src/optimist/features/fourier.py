"""Random Fourier features of the Gaussian kernel."""

import math

import numpy as np
from numpy.typing import ArrayLike

from optimist import limits
from optimist.checks import FloatArray, count, frozen, generator, positive
from optimist.features.base import StateFeatures
from optimist.features.box import BoxLike, Outside, UnitBox


class Fourier(StateFeatures):
    """Random Fourier features, whose inner products approximate a Gaussian kernel.

    With x and y in the box rescaled to the unit cube, ``psi(x) . psi(y)`` has the mean
    ``exp(-||x - y||^2 / (2 l^2))`` and an error of order ``1 / sqrt(pairs)`` (Rahimi and Recht,
    2007). Each pair (cos, sin) / sqrt(pairs) has squared norm 1 / pairs, so every psi(x) has norm
    one and the bound 1 is exact.

    Parameters
    ----------
    box
        A space with ``low`` and ``high``, or a pair (low, high); finite, unless squashed.
    pairs
        The number of frequencies. Each has two features; all cosines come before all sines.
    rng
        The generator that draws the frequencies.
    lengthscale
        The l of the kernel, as a fraction of the sides of the box: how far values generalise.
    outside
        What to do with an observation outside the box: raise an error ("error"), or clip it to the
        border ("clip", or "warn" with a warning). "squash" raises an error too, but the box may
        have infinite sides. See `UnitBox`.

    Examples
    --------
    >>> psi = Fourier(([0.0], [1.0]), pairs=5000, rng=np.random.default_rng(0), lengthscale=0.5)
    >>> x, y = psi([[0.0], [0.5]])
    >>> round(float(x @ y), 2), round(math.exp(-1 / 2), 2)
    (0.61, 0.61)
    """

    def __init__(
        self,
        box: BoxLike,
        pairs: int,
        rng: np.random.Generator,
        lengthscale: float = 0.25,
        *,
        outside: Outside = "error",
    ) -> None:
        self.box = UnitBox(box, outside)
        self.pairs = count(pairs, "pairs")
        self.lengthscale = positive(lengthscale, "lengthscale")
        numbers = self.box.n_dims * self.pairs
        limits.need(3 * 8 * numbers, f"{self.pairs:,} frequencies")  # drawn, scaled and copied
        # The frequencies of a Gaussian kernel are Gaussian, with the inverse of its lengthscale.
        frequencies = generator(rng).standard_normal((self.box.n_dims, self.pairs))
        self.frequencies = frozen(frequencies / self.lengthscale)
        super().__init__(dim=2 * self.pairs, bound=1.0, blocks=1)

    def __call__(self, observations: ArrayLike) -> FloatArray:
        phases = self.box.unit(observations) @ self.frequencies
        features = np.empty((*phases.shape[:-1], self.dim))
        np.cos(phases, out=features[..., : self.pairs])
        np.sin(phases, out=features[..., self.pairs :])
        features *= 1 / math.sqrt(self.pairs)
        return features
