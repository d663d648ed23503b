"""Base classes of feature maps, which declare dimension, norm bound and block structure."""

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from optimist.checks import FloatArray, IntArray, count, real_number

Structure = Literal["diagonal", "blocks", "dense"]


class Features:
    """The declarations that state features and state-action features share.

    Parameters
    ----------
    dim
        The number d of features.
    bound
        An upper bound on the Euclidean norm of every feature vector.
    blocks
        The number of equal contiguous blocks of features. No feature vector is non-zero
        in two blocks, so ``lambda I + sum phi phi'`` is block-diagonal with blocks of size
        ``dim // blocks``: d blocks are a diagonal matrix, one block is a dense one.
    """

    def __init__(self, dim: int, bound: float, blocks: int) -> None:
        self.dim = count(dim, "dim")
        self.bound = real_number(bound, "bound")
        self.blocks = count(blocks, "blocks")
        if self.bound < 0:
            raise ValueError(f"bound must be at least 0, as it bounds a norm; got {self.bound:.6g}")
        if self.dim % self.blocks:
            raise ValueError(
                f"blocks must divide dim = {self.dim}, as blocks are equal; got {self.blocks}"
            )

    @property
    def structure(self) -> Structure:
        """The structure of the covariance matrix, from `blocks`."""
        if self.blocks == self.dim:
            return "diagonal"
        return "dense" if self.blocks == 1 else "blocks"


class StateFeatures(Features, ABC):
    """A map psi from observations to R^d, over any leading batch axes.

    Examples
    --------
    A user-defined map declares its numbers and returns a new array:

    >>> import numpy as np
    >>> class Angle(StateFeatures):
    ...     def __init__(self):
    ...         super().__init__(dim=2, bound=1.0, blocks=1)
    ...
    ...     def __call__(self, observations):
    ...         return np.stack([np.cos(observations), np.sin(observations)], axis=-1)
    >>> Angle()(0.0), Angle().structure
    (array([1., 0.]), 'dense')
    """

    @abstractmethod
    def __call__(self, observations: ArrayLike) -> FloatArray:
        """The features [..., d] of a batch [...] of observations, in a new array."""

    def in_blocks(self, observations: ArrayLike) -> tuple[FloatArray, IntArray]:
        """The features in their only non-zero block, and the number of that block.

        Returns
        -------
        rows
            The features [..., s] in that block, of size ``s = dim // blocks``.
        block
            The number of the block [...]; it is 0 if all features are zero.

        Examples
        --------
        >>> from optimist.features import OneHotState
        >>> OneHotState(5).in_blocks([4, 2])
        (array([[1.],
               [1.]]), array([4, 2]))
        """
        return split(self(observations), self.blocks)


class FeatureMap(Features, ABC):
    """A map phi from state-action pairs to R^d, over any leading batch axes.

    `bound` is the B of the linear MDP assumption ``||phi(x, a)|| <= B``. `shared` is true if the
    features of a state's actions are equal within their blocks, which may differ.

    Examples
    --------
    >>> import numpy as np
    >>> class Reset(FeatureMap):
    ...     def __init__(self):
    ...         super().__init__(dim=2, bound=1.0, blocks=2, n_actions=2)
    ...
    ...     def __call__(self, states, actions):
    ...         return np.eye(2)[actions]
    ...
    ...     def all_actions(self, states):
    ...         return np.tile(np.eye(2), (*np.shape(states), 1, 1))
    >>> Reset().all_actions([4, 7]).shape, Reset().structure
    ((2, 2, 2), 'diagonal')
    """

    shared: bool = False

    def __init__(self, dim: int, bound: float, blocks: int, n_actions: int) -> None:
        super().__init__(dim, bound, blocks)
        self.n_actions = count(n_actions, "n_actions")

    @abstractmethod
    def __call__(self, states: ArrayLike, actions: ArrayLike) -> FloatArray:
        """The features [..., d] of states and actions in a new array; batch axes broadcast."""

    @abstractmethod
    def all_actions(self, states: ArrayLike) -> FloatArray:
        """The features [..., A, d] of every action in each of the states, in a new array."""

    def in_blocks(self, states: ArrayLike) -> tuple[FloatArray, IntArray]:
        """The features of every action in their only non-zero block, and the number of that block.

        Returns
        -------
        rows
            The features [..., A, s] in that block, of size ``s = dim // blocks``; [..., 1, s] if
            they are `shared`.
        block
            The number of the block [..., A].

        Examples
        --------
        >>> from optimist.features import RBF, PerAction
        >>> phi = PerAction(RBF(([0.0], [1.0]), centres=2), n_actions=3)
        >>> phi.in_blocks([0.5])
        (array([[0.5, 0.5]]), array([0, 1, 2]))
        """
        rows, block = split(self.all_actions(states), self.blocks)
        return rows[..., :1, :] if self.shared else rows, block


def split(features: FloatArray, blocks: int) -> tuple[FloatArray, IntArray]:
    """The entries of vectors [..., d] in their only non-zero block, and the number of that block.

    Examples
    --------
    >>> split(np.array([[0.0, 0.0, 1.0, 2.0], [3.0, 0.0, 0.0, 0.0]]), blocks=2)
    (array([[1., 2.],
           [3., 0.]]), array([1, 0]))
    """
    features = np.asarray(features, dtype=np.float64)
    *batch, dim = features.shape
    if blocks == 1:
        return features, np.zeros(batch, dtype=np.int64)
    apart = features.reshape(*batch, blocks, dim // blocks)
    block = np.asarray(np.argmax((apart != 0).any(axis=-1), axis=-1))
    return np.take_along_axis(apart, block[..., None, None], axis=-2)[..., 0, :], block


def batch_shape(states: tuple[int, ...], actions: tuple[int, ...]) -> tuple[int, ...]:
    """The batch axes that states and actions share after broadcasting."""
    if states == actions:
        return states
    try:
        return np.broadcast_shapes(states, actions)
    except ValueError:
        raise ValueError(
            f"a batch {states} of states does not broadcast with a batch {actions} of actions; "
            "give equally many of both, or one of either"
        ) from None
