"""Policies that depend on the time since the episode began."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from optimist import checks
from optimist.checks import FloatArray, IntArray
from optimist.core import storage
from optimist.core.acting import ActingPolicy
from optimist.core.policy import TablePolicy
from optimist.mdp import FiniteMDP, policy_of, timed_occupancy


@dataclass(frozen=True, repr=False)
class TimedPolicy(ActingPolicy):
    """A policy of a finite world with one table for each time, pi_0, ..., pi_{T-1}.

    From time T on the last table is played. What acts must be given the time: the number of steps
    since the episode began.

    Attributes
    ----------
    tables
        The probabilities, [T, X, A].

    Examples
    --------
    >>> policy = TimedPolicy(np.array([[[1.0, 0.0]], [[0.25, 0.75]]]))
    >>> policy.predict(0, time=0), policy.predict([0, 0, 0], time=[0, 1, 2])
    (0, array([0, 1, 1]))
    >>> policy.probabilities(0, time=1)
    array([0.25, 0.75])
    >>> policy.probabilities(0)
    Traceback (most recent call last):
    ...
    ValueError: time must be given: the policy depends on it; or use stationary_in(mdp)
    """

    tables: FloatArray

    @property
    def facts(self) -> dict[str, object]:
        return dict(zip(("times", "states", "actions"), self.tables.shape, strict=True))

    def probabilities(self, states: ArrayLike, time: ArrayLike | None = None) -> FloatArray:
        """pi_t(. | x) for one state, [A], or a batch, [..., A]; one time for all, or one each."""
        if time is None:
            raise ValueError(
                "time must be given: the policy depends on it; or use stationary_in(mdp)"
            )
        x = checks.indices(states, "state", self.tables.shape[1])
        t = checks.indices(time, "time", checks.MOST)
        if t.ndim and t.shape != x.shape:
            raise ValueError(
                f"time must be one number or have the shape of the states, {x.shape}; "
                f"got shape {t.shape}"
            )
        return np.asarray(self.tables[np.minimum(t, len(self.tables) - 1), x])

    def predict(
        self,
        observations: ArrayLike,
        rng: np.random.Generator | None = None,
        *,
        deterministic: bool | None = None,
        time: ArrayLike | None = None,
    ) -> int | IntArray:
        """Actions at a time: most likely, or drawn if a generator is given, as of other policies.

        One time for all observations, or one for each.
        """
        pi = self.probabilities(observations, time)
        rows = np.arange(pi[..., 0].size).reshape(pi.shape[:-1])
        here = TablePolicy(pi.reshape(-1, pi.shape[-1]))
        return here.predict(rows, rng, deterministic=deterministic)

    def stationary_in(self, mdp: FiniteMDP) -> TablePolicy:
        """The stationary policy of the same discounted occupancy, so of the same value.

        It has the same value for every reward, which makes it right to judge by. It is computed
        from the world's kernel, which a learner does not know.

        Examples
        --------
        >>> mdp = FiniteMDP([[[1, 0], [0, 1]], [[0, 1], [0, 1]]], np.zeros((2, 2)), [1, 0], 0.5)
        >>> stay, leave = [[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]
        >>> TimedPolicy(np.array([stay, leave])).stationary_in(mdp).probabilities(0).round(9)
        array([0.66666667, 0.33333333])
        """
        return TablePolicy(policy_of(timed_occupancy(mdp.P, mdp.nu0, self.tables, mdp.gamma)))

    def save(self, path: str | Path) -> None:
        """Write the tables."""
        storage.write(path, "timed policy", {}, {"tables": self.tables})


def table_in(mdp: FiniteMDP, policy: ActingPolicy) -> FloatArray:
    """The probabilities by which a policy is judged in an MDP, [X, A].

    They are its own, or those of the same occupancy if it depends on the time.
    """
    if isinstance(policy, TimedPolicy):
        return policy.stationary_in(mdp).table
    return policy.probabilities(np.arange(mdp.n_states))
