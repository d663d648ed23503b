"""What an agent learns with: one driver for finite worlds, one for any Gymnasium environment."""

import copy
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from optimist import checks
from optimist.agents.configuration import Configuration
from optimist.agents.diagnostics import Diagnostics
from optimist.agents.interruption import Pace, in_thread, own
from optimist.agents.progress import Bar
from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core import Novelty, SoftmaxPolicy, TablePolicy
from optimist.core.schema import Array
from optimist.core.state import EPISODES, EPOCHS, RIDGE, STAGE, Rule
from optimist.features import FeatureMap

Policy = SoftmaxPolicy | TablePolicy

NO_STAGE = -1
"""On the clock in the place of a stage it makes the next episode begin an epoch."""

ROUNDING = 1e-6
"""How far a ridge may be off, as a part of it, after it has been added and changed many times."""


class Driver(ABC):
    """Plays and learns: an algorithm with its statistics and its random numbers.

    Attributes
    ----------
    config
        The parameters of the algorithm.
    rng, lottery
        Draw what is played, and which policy is the output.
    """

    def __init__(self, config: Any, gamma: float, seed: int, stride: int) -> None:
        self.config, self.gamma = config, gamma
        self.stride = checks.count(stride, "stride", least=0)
        self.seed = checks.count(seed, "seed", least=0)
        seeds = np.random.SeedSequence(self.seed).spawn(2)
        self.rng, self.lottery = (np.random.default_rng(s) for s in seeds)
        self.bar, self.pace = Bar(), Pace()

    until: int = 0
    """The episode before which rewards are asked for again, if they change."""

    policy_size: int = 0
    """How many numbers a policy has that is kept to be evaluated."""

    # Learning

    def begin(self) -> None:  # noqa: B027 - a finite world goes on where it was
        """Prepare for a call of `learn`."""

    @property
    @abstractmethod
    def episodes(self) -> int:
        """How many episodes have been played."""

    @property
    @abstractmethod
    def steps(self) -> int:
        """How many steps have been taken."""

    def evaluated_of_next(self, n: int) -> IntArray:
        """Which of the next n episodes have their policies kept, counted from the first of all."""
        coming = np.arange(self.episodes, self.episodes + n)
        return coming[coming % self.stride == 0] if self.stride else coming[:0]

    def drawn_of_next(self, n: int) -> BoolArray:
        """In which of the next n episodes the drawn policy is replaced.

        Episode k replaces it with probability 1/k: then each is drawn alike.
        """
        k = np.arange(self.episodes + 1, self.episodes + n + 1)
        return np.asarray(self.lottery.random(n) * k < 1)

    CHANGING: ClassVar[tuple[str, ...]]
    """The attributes that learning from an episode changes, besides the generators."""

    @property
    def aside(self) -> bool:
        """Whether the next call is made in a thread, on copies."""
        return self.bar.hears and self.pace.slow

    @contextmanager
    def call(self, episodes: int) -> Iterator[None]:
        """A call that plays so many episodes, or none if it is interrupted."""
        started, aside = time.perf_counter(), self.aside
        names = (*self.CHANGING, "rng") if aside else ()
        before = {name: getattr(self, name) for name in names}
        drawn = self.lottery.bit_generator.state
        try:
            for name, value in before.items():
                setattr(self, name, copy.deepcopy(value) if name == "rng" else own(value))
            yield
        except BaseException:
            vars(self).update(before)
            if aside:
                self.lottery.bit_generator.state = drawn
            raise
        if aside:  # others may hold the generator
            before["rng"].bit_generator.state = self.rng.bit_generator.state
            self.rng = before["rng"]
        self.pace.note(episodes, time.perf_counter() - started)

    def compiled(self, call: Callable[[], Any], stop: BoolArray) -> Any:
        """The result of a compiled call, which ends early when ``stop`` is raised."""
        return in_thread(call, self.bar, stop) if self.aside else call()

    @abstractmethod
    def learn_some(self, most: int) -> dict[str, Any]:
        """Play as many episodes as one call should; their columns of the history."""

    @abstractmethod
    def history(self, columns: dict[str, Any], first: int) -> Any:
        """The history of episodes of which these are the columns."""

    def forget(self) -> None:  # noqa: B027
        """Drop what only the history so far needs."""

    # Acting

    @property
    @abstractmethod
    def diagnostics(self) -> Diagnostics:
        """What has been learnt so far, in numbers."""

    @property
    @abstractmethod
    def policy(self) -> Policy:
        """The policy that the next episode would play."""

    @property
    @abstractmethod
    def output(self) -> Policy:
        """The algorithm's output pi_I."""

    # Stopping and going on

    @property
    @abstractmethod
    def arrays(self) -> dict[str, Any]:
        """The arrays that change while learning, by names with their groups."""

    @property
    @abstractmethod
    def world(self) -> dict[str, Any]:
        """By what the world and the features are known again, as plain data."""

    @property
    def settings(self) -> dict[str, Any]:
        """What else a checkpoint says of the learner."""
        return {}

    clock: ClassVar[str]
    """The name of the array that holds the clock."""

    @abstractmethod
    def layout(self, arrays: dict[str, Any]) -> dict[str, Array]:
        """What each array of a checkpoint must be, as many states as these are of."""

    @abstractmethod
    def columns(self, rows: int, kept: int, first: int, arrays: dict[str, Any]) -> dict[str, Array]:
        """What the columns of a saved history must be, of so many episodes from the first on."""

    @abstractmethod
    def restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Go on from what a checkpoint holds, arrays that are as `layout` says.

        What does not fit together is refused before anything is changed.
        """


class AlgorithmOne(Driver):
    """RMAX-RAVI-UCB, and whatever is a choice of its parameters."""

    config: Configuration
    knows_rewards = False
    """Whether the rewards of all pairs are known, of states that were never met too."""

    def __init__(
        self, features: FeatureMap, config: Configuration, gamma: float, seed: int, stride: int
    ) -> None:
        super().__init__(config, gamma, seed, stride)
        self.features = features

    @property
    def heaven(self) -> float:
        """What heaven is worth, or the most that it can be if that is learnt."""
        return self.config.heaven(self.gamma)

    @property
    def learns_prior(self) -> bool:
        """Whether the ridge, s and v are learnt (`core.prior`)."""
        return isinstance(self.config.ascension, Novelty)

    @property
    def learns_heaven(self) -> bool:
        """Whether heaven pays, and what it is worth is learnt (`Novelty`): unless it was said."""
        return self.knows_rewards and self.learns_prior and self.config.v_max is None

    def rule(self, stage: int) -> Rule:
        """The configuration as compiled code takes it."""
        c = self.config
        ascension = c.ascension_in(stage)
        first, second = ascension.numbers
        return Rule(
            eta=float(c.eta),
            bonus=c.added.code,
            beta=c.added.coefficient,
            ascension=ascension.code,
            a=float(first),
            b=float(second),
            heaven=self.heaven,
            updates=c.updates,
            tolerance=c.tolerance * self.heaven,
            ridge=c.ridge_for(self.features.bound),
            lazy=c.lazy,
            observe_last=c.observe_last,
            gamma=self.gamma,
            stage=stage,
            learns_heaven=self.learns_heaven,
        )

    def check_epoch(self, clock: IntArray, Lambda: FloatArray, prior: FloatArray) -> None:
        """Refuse statistics that no epoch of this learner could go on from.

        The next epoch takes the ridge of this one out of Lambda, which must leave it positive.
        """
        self.check_stage(clock)
        unit, ridge = self.config.ridge_for(self.features.bound), float(prior[RIDGE])
        s = Lambda.shape[1]
        if clock[EPOCHS] == 0 and not np.allclose(Lambda, unit * np.eye(s), ROUNDING, 0.0):
            raise ValueError(f"Lambda must be {unit:g} times the identity before the first epoch")
        if clock[EPOCHS] > 0 and self.learns_prior:
            from optimist.core.prior import LEAST, MOST, SHARED  # numba takes its time

            low, high = (SHARED * unit,) * 2 if s > 1 else (LEAST * unit, MOST * unit)
            if not low * (1 - ROUNDING) <= ridge <= high * (1 + ROUNDING):
                raise ValueError(f"prior[{RIDGE}] must be in [{low:g}, {high:g}]; got {ridge:g}")
            if s == 1 and Lambda.min() < ridge * (1 - ROUNDING):
                raise ValueError(f"Lambda must be at least prior[{RIDGE}]; got {Lambda.min():g}")

    def check_stage(self, clock: IntArray) -> None:
        """Refuse a clock with another stage than its last episode had."""
        played = int(clock[EPISODES])
        stage = self.config.stage(played - 1) if played else 0
        if clock[STAGE] not in (stage, NO_STAGE):
            raise ValueError(f"clock[{STAGE}] must be {stage} or {NO_STAGE}; got {clock[STAGE]}")
