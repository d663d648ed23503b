"""The history of a run: numbers of each episode, and exact values of the policies it played."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar, overload

import numpy as np

from optimist import checks, limits
from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.display.card import card
from optimist.display.svg import sparkline
from optimist.mdp import FiniteMDP, best_in_hindsight, regret

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BYTES_AN_EPISODE = 160
"""What the numbers of an episode take, and once more while they are put together."""

COLUMNS = ("steps", "reward", "epoch", "optimistic_value", "sup_q", "bonus", "ascension")
"""The columns of every history, in the order of the record of the compiled loop."""

TABLE = (*COLUMNS, "terminated", "states", "rollouts")
"""The columns with one number an episode, as far as a history has them."""

WINDOWS = 200
"""Columns are plotted as their means over so many windows."""

LIGHT = 2_000_000
"""Policies of no more numbers in all are evaluated to be shown."""

C = TypeVar("C")


def check_history(episodes: int, kept: int, policy_size: int) -> None:
    """Refuse to keep the history of so many episodes, with policies [X, A], if it does not fit."""
    needed = BYTES_AN_EPISODE * episodes + 3 * 8 * kept * policy_size  # in parts, whole, evaluated
    policies = f" and {kept:,} policies of {policy_size:,} numbers" if kept * policy_size else ""
    limits.need(needed, f"the history of {episodes:,} episodes{policies}")


def cumulative(episode: IntArray, suboptimality: FloatArray) -> FloatArray:
    """Sums over all episodes up to each; missing episodes are interpolated linearly.

    Examples
    --------
    >>> cumulative(np.array([1, 2, 4]), np.array([1.0, 1.0, 0.0]))      # episode 3 counts as 0.5
    array([1. , 2. , 2.5])
    """
    steps, rise = np.diff(episode), np.diff(suboptimality)
    # Each piece is the sum over j = 1, ..., n of s + rise j / n.
    pieces = steps * suboptimality[:-1] + rise * (steps + 1) / 2
    return np.cumsum(np.concatenate([suboptimality[:1], pieces]))


def joined(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The columns of several parts of a run, one after the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


class Column(Generic[C]):
    """A column of a history as a typed attribute, which not every history has."""

    def __init__(self, where: str = "") -> None:
        self.where = where  # the worlds whose histories have it

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.name = name

    def __get__(self, history: "History", owner: type[Any]) -> C:
        """The column, if this history has it."""
        if history is None:
            raise AttributeError(f"{self.name} is an attribute of a history, not of its class")
        if self.name not in history.columns:
            raise AttributeError(f"{self.name} is kept in {self.where} only")
        found: C = history.columns[self.name]
        return found


class History:
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

    def _repr_html_(self) -> str:
        facts = {"episodes": f"{len(self.steps):,}", "steps": f"{self.steps.sum():,}"}
        what, cheap = self._main, self.columns.get("policies", self.steps).size <= LIGHT
        if not len(self.steps) or (what in self.EXACT and not cheap):
            return card(type(self).__name__, facts)
        what = "suboptimality" if what == "regret" else what
        (_, y), form = self._curve(what), ".1%" if what == "suboptimality" else ".4g"
        name, late = self.QUANTITIES.get(what, what), y[-max(1, len(y) // 10) :]
        facts |= {name: f"{y.mean():{form}}", "in the last tenth": f"{late.mean():{form}}"}
        return card(type(self).__name__, facts, sparkline(y, f"{name} by episode"))

    # Figures

    QUANTITIES: ClassVar[dict[str, str]] = {
        "regret": "cumulative regret",
        "suboptimality": "relative suboptimality",
        "matching_error": "matching error",
        "return": "return",
    }
    """What `plot` draws besides columns, and the labels of its axis."""

    EXACT = ("regret", "suboptimality", "matching_error")
    """Those that are computed from the policies that were kept."""

    @overload
    def plot(
        self, what: str | None = ..., log: Literal["", "x", "y", "xy"] = ..., *, ax: None = ...
    ) -> "Figure": ...
    @overload
    def plot(
        self,
        what: str | None = ...,
        log: Literal["", "x", "y", "xy"] = ...,
        *,
        ax: "Axes",
        **line: Any,
    ) -> "Axes": ...
    def plot(
        self,
        what: str | None = None,
        log: Literal["", "x", "y", "xy"] = "",
        *,
        ax: "Axes | None" = None,
        **line: Any,
    ) -> "Figure | Axes":
        """Draw a quantity over the episodes as a matplotlib figure.

        Parameters
        ----------
        what
            In finite worlds "regret", summed over the episodes, or "suboptimality", as a fraction
            of the comparator's value; of `FraIL` there "matching_error". Elsewhere "return". Or any
            column: its means over 200 windows. By default the first of these that there is.
        log
            The logarithmic axes.
        ax
            Axes of a figure of one's own, which are then returned.
        line
            What else matplotlib is told of the line, such as ``label``.
        """
        from optimist.display.curve import draw_curve

        what = self._main if what is None else what
        x, y = self._curve(what)
        name = self.QUANTITIES.get(what, what.replace("_", " "))
        drawn: Figure | Axes = draw_curve(x, y, name, log, ax, **line)
        return drawn

    @property
    def _main(self) -> str:
        """What is plotted by default."""
        if "reward" not in self.columns:
            return "steps"
        return "return" if self._mdp is None else "regret"

    def _curve(self, what: str) -> tuple[IntArray, FloatArray]:
        """Episodes, counted from 1, and a quantity at each of them."""
        if what in ("regret", "suboptimality"):
            at = self.evaluated + 1
            if what == "regret":
                return at, cumulative(at, self._regrets)
            return at, self._regrets / self._best_value.mean()
        column = self.columns.get("reward" if what == "return" else what)
        if (what not in self.QUANTITIES and what not in TABLE) or column is None:
            there = ", ".join(repr(name) for name in TABLE if name in self.columns)
            raise ValueError(f"what must be {self._main!r} or a column: {there}; got {what!r}")
        n = len(column)
        ends = np.unique(np.arange(1, WINDOWS + 1) * n // WINDOWS)[-n:] if n else np.zeros(0, int)
        ends = ends[ends > 0]
        sums = np.append(0.0, np.cumsum(column, dtype=np.float64))
        return self.first + ends, np.diff(sums[np.append(0, ends)]) / np.diff(ends, prepend=0)

    @property
    def mdp(self) -> FiniteMDP:
        """The finite world that was played."""
        if self._mdp is None:
            raise AttributeError("mdp is known of finite worlds only")
        return self._mdp

    @property
    def rewards(self) -> FloatArray:
        """The reward functions of the run, [m, X, A]."""
        if self._rewards is None:
            raise AttributeError("rewards are known as functions in finite worlds only")
        return self._rewards

    def mean_return(self, last: int | None = None) -> float:
        """The mean return of the last so many episodes, or of all."""
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
