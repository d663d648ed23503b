"""Actions of a policy, most likely or drawn, of one observation or of many."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from optimist import checks
from optimist.checks import FloatArray, IntArray
from optimist.display.card import card


class ActingPolicy(ABC):
    """Base class of policies: actions, given the probabilities.

    Examples
    --------
    >>> from optimist.core import TablePolicy
    >>> policy = TablePolicy(np.array([[0.25, 0.75], [1.0, 0.0]]))
    >>> policy.predict(0), policy.predict([0, 1])
    (1, array([1, 0]))
    >>> policy.predict([0, 0, 0, 0], np.random.default_rng(0))
    array([1, 1, 0, 0])
    """

    @property
    def facts(self) -> dict[str, object]:
        """A few numbers that describe the policy."""
        return {}

    def __repr__(self) -> str:
        facts = ", ".join(f"{name}={value}" for name, value in self.facts.items())
        return f"{type(self).__name__}({facts})"

    def _repr_html_(self) -> str:
        return card(type(self).__name__, self.facts)

    @abstractmethod
    def probabilities(self, states: ArrayLike) -> FloatArray:
        """pi(. | x) for one state, [A], or a batch, [..., A]."""

    @abstractmethod
    def save(self, path: str | Path) -> None:
        """Write the policy into a file, which `load_policy` reads."""

    def predict(
        self,
        observations: ArrayLike,
        rng: np.random.Generator | None = None,
        *,
        deterministic: bool | None = None,
    ) -> int | IntArray:
        """The most likely actions, or actions drawn from the policy if a generator is given.

        An int for one observation, integers [...] for a batch [...]. Actions of a batch are drawn
        as if one after the other. ``deterministic`` is that of Stable-Baselines3: True gives the
        most likely actions whether or not there is a generator, and False needs one.
        """
        if deterministic is False and rng is None:
            raise ValueError(
                "deterministic=False needs a generator to draw actions with: "
                "predict(observations, rng, deterministic=False)"
            )
        if rng is None or deterministic:
            chosen = self.likeliest(observations)
        else:
            chosen = _drawn(self.probabilities(observations), checks.generator(rng))
        return chosen if chosen.ndim else int(chosen)

    def likeliest(self, observations: ArrayLike) -> IntArray:
        """The most likely action of each observation, [...]."""
        return np.asarray(self.probabilities(observations).argmax(axis=-1))

    def as_sb3(self, seed: int = 0) -> "StableBaselinesModel":
        """The policy as a model of Stable-Baselines3, which its functions can evaluate.

        Actions that are not deterministic are drawn with a generator of its own, of this seed.
        """
        return StableBaselinesModel(self, seed)


class StableBaselinesModel:
    """A policy with the `predict` of Stable-Baselines3, as its ``evaluate_policy`` calls it.

    Examples
    --------
    >>> from optimist.core import TablePolicy
    >>> model = TablePolicy(np.array([[0.25, 0.75], [1.0, 0.0]])).as_sb3()
    >>> model.predict(np.array([0, 1]), deterministic=True)
    (array([1, 0]), None)
    """

    def __init__(self, policy: ActingPolicy, seed: int = 0) -> None:
        self.policy = policy
        self._rng = np.random.default_rng(checks.count(seed, "seed", least=0))

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[IntArray, Any]:
        """Actions as an array, and the state as it was: the policy has no memory."""
        actions = self.policy.predict(observation, self._rng, deterministic=deterministic)
        return np.asarray(actions), state


def _drawn(pi: FloatArray, rng: np.random.Generator) -> IntArray:
    """Actions by inversion, with the numbers that ``rng.choice`` would draw for each."""
    below = np.cumsum(pi, axis=-1)
    below /= below[..., -1:]
    return np.asarray((below <= rng.random(pi.shape[:-1])[..., None]).sum(axis=-1))
