"""The history of a run: numbers of each episode, and exact values of the policies it played."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from optimist import checks, limits
from optimist.agents.plotted import Plotted
from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.mdp import FiniteMDP, best_in_hindsight, regret

BYTES_AN_EPISODE = 160
"""The bytes of the numbers of an episode, twice, as they are copied when joined."""

COLUMNS = ("steps", "reward", "epoch", "optimistic_value", "sup_q", "bonus", "ascension")
"""The columns of every history, in the order of the record of the compiled loop."""

TABLE = (*COLUMNS, "terminated", "states", "rollouts")
"""The columns with one number an episode, as far as a history has them."""

C = TypeVar("C")


def check_history(episodes: int, kept: int, policy_size: int) -> None:
    """Refuse a history of this many episodes, with policies [X, A], that is too large."""
    needed = BYTES_AN_EPISODE * episodes + 3 * 8 * kept * policy_size  # in parts, whole, evaluated
    policies = f" and {kept:,} policies of {policy_size:,} numbers" if kept * policy_size else ""
    limits.need(needed, f"the history of {episodes:,} episodes{policies}")


def joined(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The columns of several parts of a run, one after the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


class Column(Generic[C]):
    """A column of a history as a typed attribute; not every history has it."""

    def __init__(self, where: str = "") -> None:
        self.where = where  # the worlds whose histories have it

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.name = name

    def __get__(self, history: "History", owner: type[Any]) -> C:
        """The column, if this history has it."""
        if history is None:
            raise AttributeError(f"{self.name} is an attribute of a history, not of its class")
        if self.name not in history.columns:
            raise AttributeError(f"{self.name} is available in {self.where} only")
        found: C = history.columns[self.name]
        return found


class History(Plotted):
    """A run, episode by episode, in a finite world or in a Gymnasium environment.

    Attributes
    ----------
    steps, epoch
        The length of each episode, and the epoch after it, [K].
    reward
        The sum of its rewards, in the world's own units, [K].
    optimistic_value
        V_k at the start: <nu0, V_k> in a finite world, V_k of the first state elsewhere, [K].
    sup_q
        The largest |Q_{k+1}| computed after the episode, 0 if none was, [K].
    bonus, ascension
        The means of CB and of p+ along the path, [K].
    first
        The number of the first of these episodes.
    chosen
        In finite worlds: which of ``rewards`` was r_k, [K].
    evaluated, policies
        In finite worlds: the episodes, counted from 0, whose policies were kept, [n], and those
        policies, [n, X, A].
    rewards, mdp
        In finite worlds: the reward functions of the run, [m, X, A], and the MDP that was played,
        against which values are exact.
    terminated
        In environments: whether the episode ended by itself, and was not broken off, [K].
    states
        In environments: how many states were kept after it, [K].
    columns
        All columns by name.
    """

    steps = Column[IntArray]()
    reward = Column[FloatArray]("worlds with rewards")
    epoch = Column[IntArray]()
    optimistic_value = Column[FloatArray]()
    sup_q = Column[FloatArray]()
    bonus = Column[FloatArray]()
    ascension = Column[FloatArray]()
    chosen = Column[IntArray]("finite worlds")
    evaluated = Column[IntArray]("finite worlds")
    policies = Column[FloatArray]("finite worlds")
    terminated = Column[BoolArray]("Gymnasium environments")
    states = Column[IntArray]("Gymnasium environments")

    def __init__(
        self,
        columns: Mapping[str, Any],
        first: int,
        mdp: FiniteMDP | None = None,
        rewards: FloatArray | None = None,
    ) -> None:
        self.columns, self.first = dict(columns), first
        self._mdp, self._rewards = mdp, rewards

    def __repr__(self) -> str:
        return f"{type(self).__name__}(episodes={len(self.steps):,}, steps={self.steps.sum():,})"

    @property
    def mdp(self) -> FiniteMDP:
        """The finite world that was played."""
        if self._mdp is None:
            raise AttributeError("mdp is available in finite worlds only")
        return self._mdp

    @property
    def rewards(self) -> FloatArray:
        """The reward functions of the run, [m, X, A]."""
        if self._rewards is None:
            raise AttributeError("rewards are available in finite worlds only")
        return self._rewards

    def mean_return(self, last: int | None = None) -> float:
        """The mean return of the last ``last`` episodes, or of all."""
        n = len(self.reward) if last is None else checks.count(last, "last")
        return float(self.reward[-n:].mean())

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

    def table(self) -> dict[str, FloatArray | IntArray | BoolArray]:
        """The numbers of each episode as columns of equal length, ready for a data frame."""
        shown = {name: self.columns[name] for name in TABLE if name in self.columns}
        return {"episode": self.first + np.arange(len(self.steps)), **shown}

    def losses(self) -> tuple[FloatArray, float]:
        """The exact regrets of the policies that were kept, [n], and the comparator's value."""
        return self._regrets, float(self._best_value.mean())

    @cached_property
    def _regrets(self) -> FloatArray:
        if self._mdp is None:
            raise AttributeError(
                "regret is not available for Gymnasium environments; use mean_return()"
            )
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
