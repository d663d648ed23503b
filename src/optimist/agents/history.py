"""What a run has seen: numbers of each episode, and exact values of the policies it played."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optimist import checks, limits
from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.mdp import FiniteMDP, best_in_hindsight, regret

BYTES_AN_EPISODE = 160
"""What the numbers of an episode take, and once more while they are put together."""


def check_history(episodes: int, kept: int, policy_size: int) -> None:
    """Refuse to keep the history of so many episodes, with policies [X, A], if it does not fit."""
    needed = BYTES_AN_EPISODE * episodes + 3 * 8 * kept * policy_size  # in parts, whole, evaluated
    policies = f" and {kept:,} policies of {policy_size:,} numbers" if kept * policy_size else ""
    limits.need(needed, f"the history of {episodes:,} episodes{policies}")


@dataclass(frozen=True)
class History:
    """A run, episode by episode.

    Attributes
    ----------
    steps, reward, epoch
        The length of each episode, the sum of its rewards, and the epoch after it, [K].
    optimistic_value
        <nu0, V_k>, what the algorithm expects when the episode begins, [K].
    sup_q
        The largest |Q_{k+1}| computed after the episode, 0 if none was, [K].
    bonus, ascension
        The means of CB and of p+ along the path, [K].
    chosen
        Which of ``rewards`` was r_k, [K].
    evaluated
        The episodes, counted from 0, whose policies were kept, [n].
    policies
        Those policies, [n, X, A].
    rewards
        The reward functions of the run, [m, X, A].
    first
        The number of the first of these episodes.
    mdp
        The MDP that was played, against which values are exact.
    """

    steps: IntArray
    reward: FloatArray
    epoch: IntArray
    optimistic_value: FloatArray
    sup_q: FloatArray
    bonus: FloatArray
    ascension: FloatArray
    chosen: IntArray
    evaluated: IntArray
    policies: FloatArray
    rewards: FloatArray
    first: int
    mdp: FiniteMDP

    def values(self) -> FloatArray:
        """The exact values <nu0, V^{pi_k}> under r_k of the policies that were kept, [n]."""
        return self._best_value - self._regrets

    def regrets(self) -> FloatArray:
        """The exact regret of each policy that was kept, [n].

        The comparator is the best fixed policy for all rewards of the run, in hindsight.
        """
        return self._regrets.copy()

    def suboptimality(self) -> float:
        """The mean regret of the policies kept, as a fraction of the comparator's value."""
        return float(self._regrets.mean() / self._best_value.mean())

    def table(self) -> dict[str, FloatArray | IntArray]:
        """The numbers of each episode as columns of equal length, ready for a data frame."""
        columns = ("steps", "reward", "epoch", "optimistic_value", "sup_q", "bonus", "ascension")
        return {
            "episode": self.first + np.arange(len(self.steps)),
            **{c: getattr(self, c) for c in columns},
        }

    @cached_property
    def _regrets(self) -> FloatArray:
        return regret(self.mdp, self.policies, self._rewards_of_evaluated, self._comparator)

    @cached_property
    def _best_value(self) -> FloatArray:
        mu = self.mdp.occupancy(self._comparator)
        earned = (mu * self._rewards_of_evaluated).sum(axis=(1, 2))
        return np.asarray(self.mdp.horizon * earned)

    @cached_property
    def _comparator(self) -> FloatArray:
        weights = np.bincount(self.chosen, minlength=len(self.rewards)) / len(self.chosen)
        mean = np.einsum("m,mxa->xa", weights, self.rewards)
        return best_in_hindsight(self.mdp, mean).policy

    @property
    def _rewards_of_evaluated(self) -> FloatArray:
        if not len(self.evaluated):
            raise ValueError("no policies were kept to be evaluated: the stride was 0")
        return self.rewards[self.chosen[self.evaluated - self.first]]


@dataclass(frozen=True)
class StreamHistory:
    """A run in a Gymnasium environment, episode by episode.

    Attributes
    ----------
    steps, epoch
        The length of each episode, and the epoch after it, [K].
    reward
        Its return: the sum of its rewards, in the environment's own units, [K].
    optimistic_value
        V_k at its first state, what the algorithm expects when it begins, [K].
    sup_q
        The largest |Q_{k+1}| computed after it, 0 if none was, [K].
    bonus, ascension
        The means of CB and of p+ along the path, [K].
    terminated
        Whether it ended by itself, and was not broken off, [K].
    states
        How many states were kept after it, [K].
    first
        The number of the first of these episodes.
    """

    steps: IntArray
    reward: FloatArray
    epoch: IntArray
    optimistic_value: FloatArray
    sup_q: FloatArray
    bonus: FloatArray
    ascension: FloatArray
    terminated: BoolArray
    states: IntArray
    first: int

    def mean_return(self, last: int | None = None) -> float:
        """The mean return of the last so many episodes, or of all."""
        n = len(self.reward) if last is None else checks.count(last, "last")
        return float(self.reward[-n:].mean())

    def table(self) -> dict[str, FloatArray | IntArray | BoolArray]:
        """The numbers of each episode as columns of equal length, ready for a data frame."""
        columns = {name: array for name, array in vars(self).items() if name != "first"}
        return {"episode": self.first + np.arange(len(self.steps)), **columns}
