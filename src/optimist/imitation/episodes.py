"""Whole trajectories of an expert, such as Minari's: one row of features for each."""

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from optimist import checks, limits
from optimist.checks import FloatArray
from optimist.features import FeatureMap


class Episode(Protocol):
    """A trajectory of T steps, such as Minari's ``EpisodeData``."""

    @property
    def observations(self) -> Any:
        """All T + 1 of them, the last included."""

    @property
    def actions(self) -> Any:
        """All T of them."""

    @property
    def terminations(self) -> Any:
        """Whether each of the T steps ended the process; only the last may."""


def discounted_means(
    episodes: Iterable[Episode] | str, phi: FeatureMap, gamma: float, absorbing: Any = None
) -> FloatArray:
    """The discounted mean of the features along each trajectory, [n, d].

    What it takes and how it weighs is told at `FeatureDataset.from_episodes`.

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
        raise ValueError("there are no episodes: at least one trajectory of the expert is needed")
    return np.stack(rows)


def _discounted_mean(episode: Episode, phi: FeatureMap, gamma: float, absorbing: Any) -> FloatArray:
    observations, actions, terminated = _read(episode)
    T = len(actions)
    limits.need(8 * (T + 1) * phi.dim, f"the {phi.dim:,} features of a trajectory of {T:,} steps")
    weights = (1 - gamma) * gamma ** np.arange(T)
    if terminated:
        # The last state is absorbing, so what is left of the weights, gamma^T, is all its own.
        weights = np.append(weights, gamma**T)
        actions = np.append(actions, actions[-1:], axis=0)
        if absorbing is not None:
            observations = np.array(observations)
            observations[-1] = absorbing
    else:
        weights /= weights.sum()  # 1 - gamma^T
        observations = observations[:T]
    return np.asarray(weights @ phi(observations, actions))


def _read(episode: Episode) -> tuple[NDArray[Any], NDArray[Any], bool]:
    """Observations, actions and whether the process ended, if they belong together."""
    parts = []
    for name in ("observations", "actions", "terminations"):
        if not hasattr(episode, name):
            raise TypeError(f"it has no {name}: it must be like Minari's episodes")
        part = getattr(episode, name)
        if isinstance(part, (dict, tuple)):
            raise TypeError(
                f"its {name} are a {type(part).__name__}, as of a composite space; they must be "
                "one array: flatten them first"
            )
        parts.append(np.asarray(part))
    observations, actions, terminations = parts
    T = len(actions) if actions.ndim else 0
    if not T:
        raise ValueError("it has no actions: a trajectory has at least one step")
    checks.match_shape(terminations.shape, "terminations", (T,))
    if observations.shape[:1] != (T + 1,):
        raise ValueError(
            f"it has observations of shape {observations.shape} for {T} actions; there must be "
            f"{T + 1}, the one after the last action included"
        )
    early = np.flatnonzero(terminations[:-1])
    if early.size:
        raise ValueError(f"terminations[{early[0]}] is true, and yet there are {T} steps")
    return observations, actions, bool(terminations[-1])


def _load_minari(name: str) -> Any:
    try:
        import minari
    except ImportError:
        raise ImportError(
            f"the dataset {name!r} is read by Minari, which is not installed: "
            "pip install 'optimist[minari]'"
        ) from None
    return minari.load_dataset(name)
