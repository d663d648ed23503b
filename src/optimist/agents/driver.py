"""Drivers play and learn: in finite worlds, in Gymnasium environments, and with tables."""

import copy
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from optimist import checks
from optimist.agents.diagnostics import Diagnostics
from optimist.agents.history import History
from optimist.agents.interruption import Pace, in_thread, own_copy
from optimist.agents.progress import Bar
from optimist.checks import BoolArray, IntArray
from optimist.core import SoftmaxPolicy, TablePolicy, Variant
from optimist.core.policy import PolicyPrior
from optimist.core.schema import Array
from optimist.core.state import NO_STAGE, Epoch, Rule
from optimist.features import FeatureMap
from optimist.parameters import to_plain

Policy = SoftmaxPolicy | TablePolicy

ROUNDING = 1e-6
"""How far a ridge may be off, as a part of it, after it has been added and changed many times."""


class Driver(ABC):
    """Plays and learns: an algorithm with its statistics and its random numbers.

    Attributes
    ----------
    config
        The configuration of the agent.
    rng, output_rng
        Draw what is played, and which policy is the output.
    """

    def __init__(self, config: Any, gamma: float, seed: int, stride: int) -> None:
        self.config, self.gamma = config, gamma
        self.stride = checks.count(stride, "stride", least=0)
        self.seed = checks.count(seed, "seed", least=0)
        seeds = np.random.SeedSequence(self.seed).spawn(2)
        self.rng, self.output_rng = (np.random.default_rng(s) for s in seeds)
        self.bar, self.pace = Bar(), Pace()

    @property
    def saved_config(self) -> dict[str, Any]:
        """The configuration as a checkpoint holds it."""
        return to_plain(self.config)

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
        return np.asarray(self.output_rng.random(n) * k < 1)

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
        drawn = self.output_rng.bit_generator.state
        try:
            for name, value in before.items():
                setattr(self, name, copy.deepcopy(value) if name == "rng" else own_copy(value))
            yield
        except BaseException:
            vars(self).update(before)
            if aside:
                self.output_rng.bit_generator.state = drawn
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
    def history(self, columns: dict[str, Any], first: int) -> History:
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

    # Stopping and continuing

    @property
    @abstractmethod
    def arrays(self) -> dict[str, Any]:
        """The arrays that change while learning, by names with their groups."""

    @property
    @abstractmethod
    def fingerprint(self) -> dict[str, Any]:
        """Plain data that identify the world and the features."""

    @property
    def settings(self) -> dict[str, Any]:
        """What else a checkpoint says of the learner."""
        return {}

    episodes_array: ClassVar[str]
    """The name of the array that holds the number of episodes."""

    @abstractmethod
    def layout(self, arrays: dict[str, Any]) -> dict[str, Array]:
        """What each array of a checkpoint must be, as many states as these are of."""

    @abstractmethod
    def columns(self, rows: int, kept: int, first: int, arrays: dict[str, Any]) -> dict[str, Array]:
        """What the columns of a saved history must be, of so many episodes from the first on."""

    @abstractmethod
    def restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Continue from the arrays of a checkpoint, which are as `layout` says.

        What does not fit together is refused before anything is changed.
        """


class VariantDriver(Driver):
    """An algorithm of the family of RMAX-RAVI-UCB."""

    epoch: Epoch
    knows_rewards = False
    """Whether the rewards of all pairs are known, of states that were never met too."""

    def __init__(
        self,
        features: FeatureMap,
        config: Any,
        variant: Variant,
        gamma: float,
        seed: int,
        stride: int,
    ) -> None:
        super().__init__(config, gamma, seed, stride)
        self.features, self.variant = features, variant
        self.unit_ridge = variant.ridge_for(features.bound)
        self.heaven = variant.heaven(gamma)  # R_max H or v_max; the most, if its worth is learnt

    @property
    def learns_heaven(self) -> bool:
        """Whether heaven pays, and its worth is learnt (`Novelty`): unless it was given."""
        return self.knows_rewards and self.variant.learns_prior and self.variant.v_max is None

    def rule(self, stage: int) -> Rule:
        """The parameters as compiled code takes them."""
        return self.variant.rule(self.gamma, self.features.bound, stage, self.learns_heaven)

    episodes_array = "epoch.clock.episodes"

    @property
    def episodes(self) -> int:
        return int(self.epoch.clock[0]["episodes"])

    @property
    def steps(self) -> int:
        return int(self.epoch.clock[0]["steps"])

    @property
    def settings(self) -> dict[str, Any]:
        return {"v_max": self.variant.v_max}  # with a value_bound, which is in no configuration

    def softmax_policy(self, epoch: Epoch, **others: Any) -> SoftmaxPolicy:
        """The policy of an epoch, with whatever the driver knows of its rewards."""
        prior, clock = epoch.prior[0], epoch.clock[0]
        given: dict[str, Any] = {
            "Theta": epoch.Theta.copy(),
            "Lambda": epoch.Lambda.copy(),
            "updates": int(clock["updates"]),
            "eta": self.variant.eta,
            "bonus": self.variant.bonus,
            "gamma": self.gamma,
            "ascension": self.variant.ascension_in(int(clock["stage"])),
            "heaven": self.heaven,
            "features": self.features,
            "prior": PolicyPrior(*(float(prior[name]) for name in PolicyPrior._fields)),
            "moments": np.array([epoch.first, epoch.second]),
        }
        return SoftmaxPolicy(**{**given, **others})

    def check_epoch(self, arrays: dict[str, Any]) -> None:
        """Refuse statistics from which no epoch of this learner could continue.

        The next epoch takes the ridge of this one out of Lambda, which must leave it positive.
        """
        for group in ("epoch", "drawn"):
            self._check_clock(arrays, f"{group}.clock")
            if arrays[f"{group}.prior.pays"][0] and not arrays["states.alike"].size:
                raise ValueError(f"{group}.prior.pays must be False: no worth of heaven is learnt")
        Lambda, unit = arrays["regression.Lambda"], self.unit_ridge
        s, ridge = Lambda.shape[1], float(arrays["epoch.prior.ridge"][0])
        epochs = arrays["epoch.clock.epochs"][0]
        if epochs == 0 and not np.allclose(Lambda, unit * np.eye(s), ROUNDING, 0.0):
            raise ValueError(f"Lambda must be {unit:g} times the identity before the first epoch")
        if epochs > 0 and self.variant.learns_prior:
            from optimist.core.prior import LEAST, MOST, SHARED  # numba takes its time

            low, high = (SHARED * unit,) * 2 if s > 1 else (LEAST * unit, MOST * unit)
            if not low * (1 - ROUNDING) <= ridge <= high * (1 + ROUNDING):
                raise ValueError(f"prior.ridge must be in [{low:g}, {high:g}]; got {ridge:g}")
            if s == 1 and Lambda.min() < ridge * (1 - ROUNDING):
                raise ValueError(f"Lambda must be at least prior.ridge; got {Lambda.min():g}")

    def _check_clock(self, arrays: dict[str, Any], name: str) -> None:
        """Refuse a clock with more epochs than episodes, or with another stage than its last."""
        fields = ("episodes", "epochs", "stage")
        played, epochs, stage = (int(arrays[f"{name}.{field}"][0]) for field in fields)
        if epochs > played:
            raise ValueError(f"{name}.epochs must be at most {played}, the episodes; got {epochs}")
        wanted = self.variant.stage(played - 1) if played else 0
        if stage not in (wanted, NO_STAGE):
            raise ValueError(f"{name}.stage must be {wanted} or {NO_STAGE}; got {stage}")
