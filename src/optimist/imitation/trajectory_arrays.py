"""Trajectories as flat arrays: reading, weights, and states in a world."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optimist import checks
from optimist.checks import FloatArray, IntArray
from optimist.display.text import one_line


class Path(NamedTuple):
    """One trajectory: states [T, ...] and actions [T], None if they were not recorded."""

    states: NDArray[Any]
    actions: IntArray | None

    def __repr__(self) -> str:
        return one_line(self)


class WeightedPairs(NamedTuple):
    """Pairs of an expert with weights that sum to one: an empirical occupancy measure.

    Examples
    --------
    >>> pairs = WeightedPairs(np.array([0, 2, 2]), np.array([1, 0, 1]), np.array([0.5, 0.25, 0.25]))
    >>> pairs.state_occupancy(3)
    array([0.5, 0. , 0.5])
    >>> pairs.occupancy(3, 2)
    array([[0.  , 0.5 ],
           [0.  , 0.  ],
           [0.25, 0.25]])
    """

    states: NDArray[Any]
    """The states or observations, [m, ...]."""
    actions: IntArray | None
    """The actions, [m]; None if they were not recorded."""
    weights: FloatArray
    """Non-negative, [m]."""

    def __repr__(self) -> str:
        return one_line(self)

    def state_occupancy(self, n_states: int) -> FloatArray:
        """The weight of each state, [X]."""
        x = finite_states(self.states, n_states)
        return _sums(x, self.weights, n_states)

    def occupancy(self, n_states: int, n_actions: int) -> FloatArray:
        """The weight of each pair, [X, A]."""
        if self.actions is None:
            raise ValueError(
                "actions must be known for an occupancy of pairs; these data hold states alone, "
                "which have a state_occupancy"
            )
        x = finite_states(self.states, n_states)
        pairs = x * n_actions + checks.indices(self.actions, "actions", n_actions)
        return _sums(pairs, self.weights, n_states * n_actions).reshape(n_states, n_actions)


def _sums(entries: IntArray, weights: FloatArray, n: int) -> FloatArray:
    return np.asarray(np.bincount(entries, weights=weights, minlength=n), dtype=np.float64)


def is_finite(states: NDArray[Any]) -> bool:
    """Whether these are the numbers of states of a finite world, rather than observations."""
    return states.ndim == 1 and states.dtype.kind == "i"


def finite_states(states: NDArray[Any], n_states: int) -> IntArray:
    """The states as indices of a world with ``n_states`` states; others are refused."""
    if not is_finite(states):
        raise ValueError(
            f"states must be numbers 0, ..., {n_states - 1} for a table; got {kind_of(states)}. "
            "in_world(world) numbers positions on the map of a world"
        )
    return checks.indices(states, "states", n_states)


def kind_of(states: NDArray[Any]) -> str:
    """The kind of the states, in words."""
    if is_finite(states):
        return "states"
    size = int(np.prod(states.shape[1:]))
    return f"observations of {size} number{'s' * (size != 1)}"


# Reading


def read_steps(
    states: Any, actions: Any, lengths: ArrayLike | None
) -> tuple[NDArray[Any], IntArray | None, IntArray]:
    """Flat states [N, ...], flat actions [N] or None, and the length of each trajectory."""
    if lengths is None:
        x, found = _flatten(states, "states")
        a, same = (None, found) if actions is None else _flatten(actions, "actions")
        if not np.array_equal(same, found):
            raise ValueError("actions must have as many entries as the states, in each trajectory")
    else:
        x, a = np.asarray(states), None if actions is None else np.asarray(actions)
        found = _read_lengths(lengths, len(x) if x.ndim else -1)
    read = _read_actions(a, found) if a is not None else None
    return _frozen(_read_states(x)), read, _frozen(found)


def _flatten(given: Any, name: str) -> tuple[NDArray[Any], IntArray]:
    """The entries of all trajectories one after another, and the number of each."""
    if isinstance(given, np.ndarray) and given.ndim >= 2:
        n, T = given.shape[:2]
        parts: Sequence[NDArray[Any]] = [given.reshape(-1, *given.shape[2:])]
        lengths = np.full(n, T)
    else:
        parts = [np.asarray(part) for part in given]
        if any(part.ndim == 0 for part in parts):
            raise ValueError(
                f"{name} must be a sequence of trajectories, or [n, T, ...]; got one list of "
                "entries. Give lengths= for steps that stand one after another"
            )
        lengths = np.array([len(part) for part in parts], dtype=np.int64)
    if not lengths.size or not lengths.all():
        raise ValueError(f"{name} must hold at least one trajectory, and each at least one step")
    if len({part.shape[1:] for part in parts}) > 1:
        raise ValueError(f"{name} must have one shape at every step")
    return np.concatenate(parts), lengths


def _read_lengths(lengths: ArrayLike, n_steps: int) -> IntArray:
    found = np.asarray(lengths)
    found = checks.indices(found if found.size else found.astype(np.int64), "lengths", checks.MOST)
    if found.ndim != 1 or not found.all():
        raise ValueError(f"lengths must be [n] and at least 1; got {checks.short(found.tolist())}")
    if found.sum() != n_steps:
        raise ValueError(f"lengths must sum to the {n_steps} states; got {found.sum()}")
    return found


def _read_states(states: NDArray[Any]) -> NDArray[Any]:
    checks.real_array(states, "states")  # a check only: whole numbers stay whole
    if states.dtype.kind not in "iu":
        return states.astype(np.float64)
    return checks.indices(states, "states", checks.MOST) if states.ndim == 1 else states.astype(int)


def _read_actions(actions: NDArray[Any], lengths: IntArray) -> IntArray:
    checks.match_shape(actions.shape, "actions", (int(lengths.sum()),))
    return _frozen(checks.indices(actions, "actions", checks.MOST))


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    copy = np.array(array, order="C")
    copy.setflags(write=False)
    return copy
