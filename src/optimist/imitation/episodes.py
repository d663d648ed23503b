"""Trajectories of an expert, such as Minari's: one row of features each."""

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from optimist import checks, limits
from optimist.checks import FloatArray
from optimist.features import FeatureMap


class Trajectory(Protocol):
    """A trajectory of T steps, such as Minari's ``EpisodeData``."""

    @property
    def observations(self) -> Any:
        """All T + 1 observations, including the last."""

    @property
    def actions(self) -> Any:
        """All T actions."""

    @property
    def terminations(self) -> Any:
        """Whether each of the T steps terminated the process; only the last may."""


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
    rows = []
    for i, episode in enumerate(_load_minari(episodes) if isinstance(episodes, str) else episodes):
        try:
            rows.append(_discounted_mean(episode, phi, gamma, absorbing))
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"episode {i}: {error}") from error
    if not rows:
        raise ValueError("episodes must hold at least one trajectory; got none")
    return np.stack(rows)


def _discounted_mean(
    episode: Trajectory, phi: FeatureMap, gamma: float, absorbing: Any
) -> FloatArray:
    observations, actions, terminated = _read(episode)
    T = len(actions)
    limits.need(8 * (T + 1) * phi.dim, f"the {phi.dim:,} features of a trajectory of {T:,} steps")
    weights = (1 - gamma) * gamma ** np.arange(T)
    if terminated:
        # The last state is absorbing and gets the remaining weight gamma^T.
        weights = np.append(weights, gamma**T)
        actions = np.append(actions, actions[-1:], axis=0)
        if absorbing is not None:
            observations = np.array(observations)
            observations[-1] = absorbing
    else:
        weights /= weights.sum()  # 1 - gamma^T
        observations = observations[:T]
    return np.asarray(weights @ phi(observations, actions))


def _read(episode: Trajectory) -> tuple[NDArray[Any], NDArray[Any], bool]:
    """Observations, actions and whether the process terminated; checked for consistency."""
    parts = []
    for name in ("observations", "actions", "terminations"):
        if not hasattr(episode, name):
            raise TypeError(f"it must have {name}, as Minari's episodes do; got {episode!r}")
        part = getattr(episode, name)
        if isinstance(part, (dict, tuple)):
            raise TypeError(
                f"{name} must be one array; got a {type(part).__name__}. Flatten composite "
                "spaces first"
            )
        parts.append(np.asarray(part))
    observations, actions, terminations = parts
    T = len(actions) if actions.ndim else 0
    if not T:
        raise ValueError("actions must have at least one entry; got none")
    checks.match_shape(terminations.shape, "terminations", (T,))
    if observations.shape[:1] != (T + 1,):
        raise ValueError(
            f"observations must have {T + 1} rows, one more than the actions; got shape "
            f"{observations.shape}"
        )
    early = np.flatnonzero(terminations[:-1])
    if early.size:
        raise ValueError(f"terminations must be false before step {T}; got true at {early[0] + 1}")
    return observations, actions, bool(terminations[-1])


def _load_minari(name: str) -> Any:
    try:
        import minari
    except ImportError:
        raise ImportError(
            f"reading the dataset {name!r} needs Minari: pip install 'optimist[minari]'"
        ) from None
    return minari.load_dataset(name)
