"""Trajectories in a world, and the discounted means of their features."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optimist import checks
from optimist.checks import FloatArray, IntArray
from optimist.envs import World
from optimist.features import FeatureMap
from optimist.imitation.episodes import Steps, features_of
from optimist.imitation.recording import NUMBERS_AT_ONCE, finite_mdp
from optimist.imitation.trajectory_arrays import Path, finite_states
from optimist.imitation.trajectory_base import Trajectories
from optimist.mdp import FiniteMDP


def discount_weights(data: Trajectories) -> FloatArray:
    """The weight (1 - gamma) gamma^t / (1 - gamma^T) of each step in its trajectory, [N]."""
    powers = data.discount() ** data.times
    sums = np.add.reduceat(powers, data.offsets[:-1])
    return np.asarray(powers / np.repeat(sums, data.lengths))


def discounted_features(data: Trajectories, phi: FeatureMap) -> FloatArray:
    """The discounted mean of the features along each trajectory, [n, d]."""
    weights, offsets, n = discount_weights(data), data.offsets, len(data)
    rows, first = np.empty((n, phi.dim)), 0
    steps_at_once = max(1, NUMBERS_AT_ONCE // (phi.dim * phi.n_actions))
    while first < n:
        # As many trajectories as fit, at least one.
        fit = int(np.searchsorted(offsets, offsets[first] + steps_at_once, "right")) - 1
        end = max(fit, first + 1)
        at = slice(offsets[first], offsets[end])
        a = None if data.actions is None else data.actions[at]
        found = weights[at, None] * features_of(phi, data.states[at], a)
        rows[first:end] = np.add.reduceat(found, offsets[first:end] - offsets[first], axis=0)
        first = end
    return rows


def continued(steps: Steps, length: int | None, actions: bool, absorbing: Any) -> Path:
    """An episode as a path; one that terminated stays where it is until it has this length."""
    x, a = steps.observations, steps.actions if actions else None
    if not steps.terminated:
        return Path(x if a is None else x[:-1], a)
    if length is None:
        raise ValueError(
            "gamma or length must be given: it terminated, and stays in its last observation up to "
            "that length"
        )
    if absorbing is not None:
        x = np.array(x)
        x[-1] = absorbing
    more = max(0, checks.count(length, "length") - len(x))
    x = np.append(x, np.repeat(x[-1:], more, axis=0), axis=0)
    return Path(x, None if a is None else np.append(a, np.repeat(a[-1:], more + 1)))


def states_in(data: Trajectories, world: World | FiniteMDP) -> IntArray:
    """The states of the trajectories in a world, [N], if they, the actions and gamma fit it."""
    mdp, x = finite_mdp(world), data.states
    if isinstance(world, World) and x.ndim == 2 and x.shape[1] == 2:
        x = _states_at(world, x)
        if (x < 0).any():
            (i,) = checks.first(x < 0)
            found = ", ".join(f"{v:g}" for v in data.states[i])
            name = type(world).__name__
            raise ValueError(
                f"{data.place(i)}: a position must be a state of {name}; got ({found})"
            )
    states = finite_states(x, mdp.n_states)
    if data.actions is not None:
        checks.indices(data.actions, "actions", mdp.n_actions)
    if data.gamma not in (None, mdp.gamma):
        raise ValueError(f"gamma must be that of the world, {mdp.gamma:g}; got {data.gamma:g}")
    return states


def _states_at(world: World, positions: NDArray[Any]) -> IntArray:
    """The states at positions (row, column) on the map of a world, [N]; -1 where there is none."""
    known = np.array([world.position(x) for x in range(world.mdp.n_states)])  # [X, 2]
    rows, columns = known.max(axis=0) + 1
    number = np.full((rows, columns), -1)
    number[tuple(known.T)] = np.arange(len(known))
    row, column = positions.T
    inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
    whole = inside & (row % 1 == 0) & (column % 1 == 0)
    states = np.full(len(positions), -1)
    states[whole] = number[row[whole].astype(int), column[whole].astype(int)]
    return states
