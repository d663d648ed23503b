"""Trajectories such as Minari's, with actions or without: one row of features each."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from optimist import checks, limits
from optimist.checks import FloatArray
from optimist.features import FeatureMap, StateOnly

Result = TypeVar("Result")


class Trajectory(Protocol):
    """A trajectory of T steps, such as Minari's ``EpisodeData``.

    It may also have ``actions``, all T of them, and ``terminations``: whether each of the T steps
    terminated the process, which only the last may. With actions it must have terminations.
    """

    @property
    def observations(self) -> Any:
        """All T + 1 observations, including the last."""


class Steps(NamedTuple):
    """A trajectory as arrays."""

    observations: NDArray[Any]
    """All T + 1 observations."""
    actions: NDArray[Any] | None
    """All T actions; None if they were not recorded."""
    terminated: bool


def discounted_means(
    episodes: Iterable[Trajectory] | str, phi: FeatureMap, gamma: float, absorbing: Any = None
) -> FloatArray:
    """The discounted mean of the features along each trajectory, [n, d].

    `FeatureDataset.from_episodes` explains the arguments and the weights.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from optimist.features import OneHotState, StateOnly
    >>> fell = SimpleNamespace(observations=[0, 1, 2], actions=[0, 0], terminations=[False, True])
    >>> discounted_means([fell], StateOnly(OneHotState(3), n_actions=1), gamma=0.5)
    array([[0.5 , 0.25, 0.25]])
    """
    gamma = checks.discount(gamma)
    return np.stack(
        each_episode(episodes, lambda steps: _discounted_mean(steps, phi, gamma, absorbing))
    )


def each_episode(
    episodes: Iterable[Trajectory] | str, use: Callable[[Steps], Result]
) -> list[Result]:
    """Apply a function to every trajectory, at least one; errors name the trajectory."""
    results = []
    for i, episode in enumerate(_load_minari(episodes) if isinstance(episodes, str) else episodes):
        try:
            results.append(use(_read(episode)))
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"episode {i}: {error}") from error
    if not results:
        raise ValueError("episodes must hold at least one trajectory; got none")
    return results


def _discounted_mean(steps: Steps, phi: FeatureMap, gamma: float, absorbing: Any) -> FloatArray:
    observations, actions, terminated = steps
    T = len(observations) - 1
    limits.need(8 * (T + 1) * phi.dim, f"the {phi.dim:,} features of a trajectory of {T:,} steps")
    weights = (1 - gamma) * gamma ** np.arange(T + 1)
    if terminated:
        # The last state is absorbing and gets the remaining weight gamma^T.
        weights[-1] = gamma**T
        actions = None if actions is None else np.append(actions, actions[-1:], axis=0)
        if absorbing is not None:
            observations = np.array(observations)
            observations[-1] = absorbing
    elif actions is not None:
        weights, observations = weights[:-1], observations[:-1]  # the last has no action
    if not terminated:
        weights = weights / weights.sum()
    return np.asarray(weights @ features_of(phi, observations, actions))


def features_of(
    phi: FeatureMap, observations: NDArray[Any], actions: NDArray[Any] | None
) -> FloatArray:
    """The features [n, d] of pairs, or of states alone if phi is the same for all actions.

    Examples
    --------
    >>> from optimist.features import OneHot, OneHotState
    >>> features_of(StateOnly(OneHotState(2), n_actions=3), np.array([1]), None)
    array([[0., 1.]])
    >>> features_of(OneHot(2, n_actions=3), np.array([1]), None)
    Traceback (most recent call last):
    ...
    ValueError: phi must not depend on actions, of which the data have none; use features of states,
    such as StateOnly(OneHotState(n_states), n_actions)
    """
    if actions is not None:
        return phi(observations, actions)
    if isinstance(phi, StateOnly):
        return phi.psi(observations)
    of_all = phi.all_actions(observations)  # [n, A, d]
    if (of_all != of_all[:, :1]).any():
        raise ValueError(
            "phi must not depend on actions, of which the data have none; use features of states, "
            "such as StateOnly(OneHotState(n_states), n_actions)"
        )
    return np.ascontiguousarray(of_all[:, 0])


def _read(episode: Trajectory) -> Steps:
    """A trajectory, checked for consistency."""
    observations = _part(episode, "observations")
    if getattr(episode, "actions", None) is None:
        T = len(observations) - 1 if observations.ndim else -1
        if T < 0:
            raise ValueError("observations must have at least one row; got none")
        if getattr(episode, "terminations", None) is None:
            return Steps(observations, None, False)
        return Steps(observations, None, _terminated(_part(episode, "terminations"), T))
    actions = _part(episode, "actions")
    T = len(actions) if actions.ndim else 0
    if not T:
        raise ValueError("actions must have at least one entry; got none")
    terminated = _terminated(_part(episode, "terminations"), T)
    if observations.shape[:1] != (T + 1,):
        raise ValueError(
            f"observations must have {T + 1} rows, one more than the actions; got shape "
            f"{observations.shape}"
        )
    return Steps(observations, actions, terminated)


def _part(episode: Trajectory, name: str) -> NDArray[Any]:
    if not hasattr(episode, name):
        raise TypeError(f"it must have {name}, as Minari's episodes do; got {episode!r}")
    part = getattr(episode, name)
    if isinstance(part, (dict, tuple)):
        raise TypeError(
            f"{name} must be one array; got a {type(part).__name__}. Flatten composite spaces first"
        )
    return np.asarray(part)


def _terminated(terminations: NDArray[Any], T: int) -> bool:
    checks.match_shape(terminations.shape, "terminations", (T,))
    early = np.flatnonzero(terminations[:-1])
    if early.size:
        raise ValueError(f"terminations must be false before step {T}; got true at {early[0] + 1}")
    return bool(terminations[-1:].any())


def _load_minari(name: str) -> Any:
    try:
        import minari
    except ImportError:
        raise ImportError(
            f"reading the dataset {name!r} needs Minari: pip install 'optimist[minari]'"
        ) from None
    return minari.load_dataset(name)
