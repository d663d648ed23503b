"""Every distinct observation is a state of its own, met on the fly."""

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from optimist.checks import FloatArray, IntArray, count
from optimist.features.base import FeatureMap, batch_shape
from optimist.features.indicators import indicators
from optimist.features.numbering import DIGEST_BYTES, Numbering

FEWEST = 64
"""The least number of states that there is room for."""


class Distinct(FeatureMap):
    """One-hot features of whatever was observed: an image, a text, a dictionary.

    Observations are told apart by a digest of 16 bytes, whatever their type. There is room for a
    power of two of them, which grows as more are met. One that was not met has no features: all of
    them are zero.

    Parameters
    ----------
    n_actions
        The number of actions.
    axes
        The number of axes of an observation that is an array. Others are single observations, or
        object arrays of them.
    digests
        The digests of the observations met so far, as hexadecimal text.

    Examples
    --------
    >>> phi = Distinct(n_actions=2)
    >>> rows, block = phi.add(np.array(["left", "right", "left"]))
    >>> phi.n_states, phi.in_blocks("right")
    (2, (array([[1.]]), array([2, 3])))
    >>> phi.in_blocks("never met")
    (array([[0.]]), array([0, 1]))
    """

    shared = True

    def __init__(self, n_actions: int, axes: int = 0, digests: str = "") -> None:
        self.axes = count(axes, "axes", least=0)
        given = bytes.fromhex(digests)
        self._numbers = Numbering(
            given[i : i + DIGEST_BYTES] for i in range(0, len(given), DIGEST_BYTES)
        )
        if DIGEST_BYTES * len(self._numbers) != len(given):
            raise ValueError(f"digests must be distinct, of {DIGEST_BYTES} bytes each")
        self._known: int | None = None  # as many as the numbering has
        A = count(n_actions, "n_actions")
        super().__init__(self._room * A, 1.0, self._room * A, A)

    @property
    def n_states(self) -> int:
        """How many observations have been met."""
        return len(self._numbers) if self._known is None else self._known

    @property
    def digests(self) -> str:
        """The digests of the observations met so far, as hexadecimal text."""
        return b"".join(self._numbers.digests[: self.n_states]).hex()

    @property
    def _room(self) -> int:
        """A power of two that is at least as much as has been met."""
        return max(FEWEST, 1 << max(self.n_states - 1, 0).bit_length())

    def add(self, observations: Any) -> tuple[FloatArray, IntArray]:
        """Number what has not been met before, and make room for it; then as `in_blocks`."""
        found = [self._numbers.add(each) for each in self._each(observations)]
        self.dim = self.blocks = self._room * self.n_actions
        return self._in_blocks(np.array(found).reshape(self._batch(observations)))

    def snapshot(self) -> Self:
        """The features as they are now, which do not grow; what is met later has none."""
        made = type(self)(self.n_actions, self.axes)
        made._numbers, made._known = self._numbers, self.n_states
        made.dim = made.blocks = self.dim
        return made

    def only(self, numbers: IntArray) -> Self:
        """The features of some of the observations alone, numbered anew in this order."""
        digests = self._numbers.digests
        return type(self)(
            self.n_actions, self.axes, b"".join(digests[i] for i in numbers.tolist()).hex()
        )

    def __call__(self, states: Any, actions: ArrayLike) -> FloatArray:
        x, a = self._number(states), np.asarray(actions)
        batch_shape(x.shape, a.shape)
        pairs = np.asarray(np.maximum(x, 0) * self.n_actions + a)
        return indicators(pairs[..., None], self.dim, 1.0) * (x >= 0)[..., None]

    def all_actions(self, states: Any) -> FloatArray:
        x = self._number(states)
        pairs = np.maximum(x, 0)[..., None] * self.n_actions + np.arange(self.n_actions)
        return indicators(pairs[..., None], self.dim, 1.0) * (x >= 0)[..., None, None]

    def in_blocks(self, states: Any) -> tuple[FloatArray, IntArray]:
        return self._in_blocks(self._number(states))

    def _in_blocks(self, x: IntArray) -> tuple[FloatArray, IntArray]:
        pairs = np.maximum(x, 0)[..., None] * self.n_actions + np.arange(self.n_actions)
        return np.where(x >= 0, 1.0, 0.0)[..., None, None], pairs

    def _number(self, observations: Any) -> IntArray:
        """The number of each observation [...], or -1."""
        found = np.array([self._numbers.find(each) for each in self._each(observations)], np.int64)
        found = found.reshape(self._batch(observations))
        return np.where(found < self.n_states, found, -1)

    def _batch(self, observations: Any) -> tuple[int, ...]:
        """The axes of a batch of observations; none of a single one."""
        if isinstance(observations, Mapping | tuple | str):
            return ()
        shape: tuple[int, ...] = np.shape(observations)
        if isinstance(observations, np.ndarray) and observations.dtype == object:
            return shape
        return shape[: len(shape) - self.axes]

    def _each(self, observations: Any) -> Iterator[Any]:
        """The observations of a batch one by one."""
        batch = self._batch(observations)
        if not batch and not (isinstance(observations, np.ndarray) and observations.ndim == 0):
            yield observations
            return
        array = np.asarray(observations)
        for index in np.ndindex(batch):
            yield array[index]
