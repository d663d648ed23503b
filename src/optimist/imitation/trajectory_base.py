"""Trajectories one after another in flat arrays; base class of the dataset."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optimist import checks
from optimist.checks import IntArray
from optimist.display.card import card
from optimist.display.svg import bars
from optimist.imitation.trajectory_arrays import Path, is_finite, kind_of, read_steps


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Trajectories:
    """Trajectories as flat, read-only arrays; `TrajectoryDataset` explains the parameters."""

    states: NDArray[Any]
    actions: IntArray | None
    lengths: IntArray
    gamma: float | None

    def __init__(
        self,
        states: Any,
        actions: Any = None,
        lengths: ArrayLike | None = None,
        gamma: float | None = None,
    ) -> None:
        x, a, n = read_steps(states, actions, lengths)
        known = None if gamma is None else checks.discount(gamma)
        # The fields have the names of the parameters, as dataclasses.replace requires.
        self.__dict__.update(states=x, actions=a, lengths=n, gamma=known)

    def split(self, rng: np.random.Generator) -> tuple[Self, Self]:
        """Two halves at random: ceil(n / 2) trajectories, and the others, which may be none."""
        order = checks.generator(rng).permutation(len(self))
        half = (len(self) + 1) // 2
        return self.take(order[:half]), self.take(order[half:])

    def take(self, which: ArrayLike) -> Self:
        """The trajectories of these numbers, in this order."""
        chosen = np.asarray(which, dtype=np.int64) if np.size(which) == 0 else np.asarray(which)
        chosen = checks.indices(chosen, "which", len(self))
        lengths = self.lengths[chosen]
        first = np.repeat(self.offsets[chosen] - np.r_[0, np.cumsum(lengths)][:-1], lengths)
        at = first + np.arange(lengths.sum())
        a = None if self.actions is None else self.actions[at]
        return replace(self, states=self.states[at], actions=a, lengths=lengths)

    # Contents

    @cached_property
    def offsets(self) -> IntArray:
        """Trajectory i has the steps offsets[i], ..., offsets[i + 1] - 1, [n + 1]."""
        return np.append(0, np.cumsum(self.lengths))

    @cached_property
    def times(self) -> IntArray:
        """The time t of each step, [N]."""
        return np.arange(len(self.states)) - np.repeat(self.offsets[:-1], self.lengths)

    @property
    def contents(self) -> str:
        """The contents of the dataset, in words."""
        n, kind = len(self), kind_of(self.states)
        steps = sorted({int(self.lengths.min()), int(self.lengths.max())}) if n else [0]
        how = " to ".join(f"{T:,}" for T in steps)
        what = kind if self.actions is None else f"{kind} and actions"
        plural = "" if steps == [1] else "s"
        return f"{n:,} trajector{'y' if n == 1 else 'ies'} of {how} step{plural}, {what}"

    @property
    def finite(self) -> bool:
        """Whether the states are those of a finite world, rather than observations."""
        return is_finite(self.states)

    def __getitem__(self, i: int) -> Path:
        at = range(len(self))[i]
        steps = slice(self.offsets[at], self.offsets[at + 1])
        return Path(self.states[steps], None if self.actions is None else self.actions[steps])

    def __iter__(self) -> Iterator[Path]:
        return (self[i] for i in range(len(self)))

    def __len__(self) -> int:
        return len(self.lengths)

    def __repr__(self) -> str:
        gamma = "" if self.gamma is None else f", gamma={self.gamma:g}"
        return f"{type(self).__name__}({self.contents}{gamma})"

    def _repr_html_(self) -> str:
        facts = {"trajectories": f"{len(self):,}", "steps": f"{len(self.states):,}"}
        facts["of"] = kind_of(self.states) + ("" if self.actions is None else " and actions")
        if self.gamma is not None:
            facts["gamma"] = f"{self.gamma:g}"
        visits = bars(np.bincount(self.states), "visits of each state") if self.finite else ""
        return card(type(self).__name__, facts, visits)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trajectories):
            return NotImplemented
        return self.gamma == other.gamma and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("lengths", "states", "actions")
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Call the constructor again, since unpickled arrays are writable.
        return type(self), (self.states, self.actions, self.lengths, self.gamma)

    def discount(self) -> float:
        """The discount factor, which must be known."""
        self.check_any()
        if self.gamma is None:
            raise ValueError(
                "gamma must be known to discount: use in_world(world), or "
                "dataclasses.replace(data, gamma=0.9)"
            )
        return self.gamma

    def check_any(self) -> None:
        """Refuse a dataset without trajectories, such as the second half of a single one."""
        if not len(self):
            raise ValueError("the dataset must hold at least one trajectory; it has none")

    def place(self, step: int) -> str:
        """The episode and time of a step, for errors."""
        i = int(np.searchsorted(self.offsets, step, side="right")) - 1
        return f"episode {i}, t = {self.times[step]}"
