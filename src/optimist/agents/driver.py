"""Drivers play and learn: in finite worlds, in Gymnasium environments, and with tables."""

import copy
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import numpy as np

from optimist import checks
from optimist.agents.certificate import Seen
from optimist.agents.coming import ComingEpisode
from optimist.agents.diagnostics import Diagnostics
from optimist.agents.ending import episodes_before
from optimist.agents.history import History
from optimist.agents.interruption import Pace, in_thread, own_copy
from optimist.agents.progress import Bar
from optimist.agents.snapshot import Snapshot, policy_of
from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core import SoftmaxPolicy, Truncation, Variant, schema
from optimist.core.acting import ActingPolicy
from optimist.core.policy import PolicyPrior
from optimist.core.state import (
    NO_STAGE,
    Epoch,
    Regression,
    Rule,
    Simulator,
    States,
    arrays_of,
    blank_epoch,
)
from optimist.features import FeatureMap
from optimist.mdp import FiniteMDP
from optimist.parameters import to_plain

Policy = ActingPolicy

ROUNDING = 1e-6
"""How far a ridge may be off, as a part of it, after it has been added and changed many times."""


class RunSettings(NamedTuple):
    """The parameters of a run, the same for every algorithm and world."""

    config: Any
    seed: int
    stride: int


class Driver(ABC):
    """Plays and learns: an algorithm with its statistics and its random numbers.

    Attributes
    ----------
    config
        The configuration of the agent.
    rng, output_rng
        The generators of the played episodes, and of the policy drawn for the output.
    """

    def __init__(self, run: RunSettings, gamma: float) -> None:
        self.config, self.gamma = run.config, gamma
        self.stride = checks.count(run.stride, "stride", least=0)
        self.seed = checks.count(run.seed, "seed", least=0)
        seeds = np.random.SeedSequence(self.seed).spawn(2)
        self.rng, self.output_rng = (np.random.default_rng(s) for s in seeds)
        self.bar, self.pace = Bar(), Pace()

    @property
    def saved_config(self) -> dict[str, Any]:
        """The configuration as a checkpoint holds it."""
        return to_plain(self.config)

    until: int = 0
    """The episode before which new rewards are requested, if they change."""

    mdp: FiniteMDP | None = None
    """The finite world that is played, if it is one."""

    simulator: Simulator
    """The same as it is played, if episodes are compiled."""

    env: Any = None
    """The Gymnasium environment that is played, if it is one."""

    latest_path: FloatArray | None = None
    """The observations of the latest episode in the plane, [steps + 1, 2], in such environments."""

    coming_episode: ComingEpisode | None = None
    """The data that determine the path of the next episode, if it is played under one policy."""

    policy_size: int = 0
    """How many numbers a policy has that is kept to be evaluated."""

    step_limit: float = math.inf
    """`learn_some` ends with the episode that reaches this number of steps of the whole run."""

    broken: str = ""
    """Why the learner cannot go on, if it cannot."""

    def refuse_if_broken(self) -> None:
        """Raise an error if the learner cannot continue."""
        if self.broken:
            raise ValueError(self.broken)

    # Learning

    def begin(self) -> None:  # noqa: B027 - a finite world goes on where it was
        """Prepare for a call of `learn`."""

    CLOCK: ClassVar[str]
    """The name of the counters among the arrays of a checkpoint."""

    @property
    @abstractmethod
    def clock(self) -> Any:
        """The counters, a record of `optimist.core.state.CLOCK`."""

    @property
    def episodes(self) -> int:
        """The number of episodes played so far."""
        return int(self.clock["episodes"])

    @property
    def steps(self) -> int:
        """The number of steps taken so far."""
        return int(self.clock["steps"])

    def evaluated_of_next(self, n: int) -> IntArray:
        """The episodes of the next n whose policies are kept, counted from the run's first."""
        coming = np.arange(self.episodes, self.episodes + n)
        return coming[coming % self.stride == 0] if self.stride else coming[:0]

    def drawn_of_next(self, n: int) -> BoolArray:
        """The episodes among the next n in which the drawn policy is replaced.

        Episode k replaces it with probability 1/k: then each is drawn alike.
        """
        k = np.arange(self.episodes + 1, self.episodes + n + 1)
        return np.asarray(self.output_rng.random(n) * k < 1)

    GROUPS: ClassVar[tuple[str, ...]]
    """The attributes that are named tuples of arrays, which learning changes in place."""

    OTHERS: ClassVar[tuple[str, ...]] = ()
    """The other objects that learning from an episode changes, besides the generators."""

    UNSAVED: ClassVar[tuple[str, ...]] = ()
    """Arrays that are given with the world, or hold nothing between two calls."""

    @property
    def aside(self) -> bool:
        """Whether the next call runs in a thread, on copies."""
        return self.bar.hears and self.pace.slow

    @contextmanager
    def call(self, episodes: int) -> Iterator[None]:
        """A call that plays this many episodes, or none if it is interrupted."""
        started, aside = time.perf_counter(), self.aside
        names = (*self.GROUPS, *self.OTHERS, "rng") if aside else ()
        before = {name: getattr(self, name) for name in names}
        drawn = self.output_rng.bit_generator.state
        try:
            for name, value in before.items():
                setattr(self, name, copy.deepcopy(value) if name == "rng" else own_copy(value))
            prepared = time.perf_counter()
            yield
        except BaseException:
            vars(self).update(before)
            if aside:
                self.output_rng.bit_generator.state = drawn
            raise
        if aside:  # others may hold the generator
            before["rng"].bit_generator.state = self.rng.bit_generator.state
            self.rng = before["rng"]
        self.pace.note(episodes, time.perf_counter() - prepared, prepared - started)

    def compiled(self, stop: BoolArray, function: str | Callable[..., Any], *given: Any) -> Any:
        """The result of a compiled function, which ends early when ``stop`` is raised.

        It may be named as ``module:function``. It is then imported where it is called: the import
        of numba takes long, and an interruption must be heard meanwhile.
        """

        def call() -> Any:
            if callable(function):
                return function(*given)
            module, _, name = function.partition(":")
            return getattr(import_module(module), name)(*given)

        return in_thread(call, self.bar, stop) if self.aside else call()

    @property
    def mean_steps(self) -> float:
        """The mean number of steps of an episode of a finite world, H; elsewhere the least, 1."""
        return 1.0 if self.mdp is None else self.mdp.horizon

    def before_step_limit(self, most: int) -> int:
        """The number of these episodes of a finite world that one call may play."""
        if math.isinf(self.step_limit):
            return most
        return min(most, episodes_before(self.step_limit - self.steps, self.mean_steps))

    @property
    def no_returns(self) -> str:
        """The reason why mean returns do not measure this learner; empty if they do."""
        if self.mdp is None:
            return ""
        return "the return of an episode of a finite world is mostly chance"

    @abstractmethod
    def learn_some(self, most: int) -> dict[str, Any]:
        """Play as many episodes as one call should, at least one; their columns of the history."""

    @abstractmethod
    def history(self, columns: dict[str, Any], first: int) -> History:
        """The history of episodes of which these are the columns."""

    def forget(self) -> None:  # noqa: B027
        """Drop the data that only the history so far needs."""

    @property
    def evidence(self) -> Seen:
        """The data that a certificate is computed from."""
        raise ValueError(
            "a certificate needs the counts of transitions in a finite world; this learner keeps "
            "none: agent.estimate() plays fresh episodes instead"
        )

    # Acting

    @property
    @abstractmethod
    def diagnostics(self) -> Diagnostics:
        """The state of the learner, in numbers."""

    @property
    def snapshot(self) -> Snapshot:
        """What is believed of all states, in a finite world."""
        now = self.diagnostics
        return Snapshot(now.V, now.CB, now.p, now.pi)

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
    def state(self) -> dict[str, Any]:
        """The arrays that learning changes in place, by names with their groups."""
        groups = [arrays_of(name, getattr(self, name)) for name in self.GROUPS]
        return {n: a for group in groups for n, a in group.items() if n not in self.UNSAVED}

    @property
    def arrays(self) -> dict[str, Any]:
        """The arrays that a checkpoint holds."""
        return self.state

    @property
    @abstractmethod
    def fingerprint(self) -> dict[str, Any]:
        """Plain data that identify the world and the features."""

    @property
    def settings(self) -> dict[str, Any]:
        """The other data of a checkpoint."""
        return {}

    def layout(self, arrays: dict[str, Any]) -> schema.Layout:
        """The declarations of the arrays of a checkpoint, for as many states as these have."""
        return {name: schema.usual(name, array.shape) for name, array in self.state.items()}

    @abstractmethod
    def columns(self, rows: int, kept: int, first: int, arrays: dict[str, Any]) -> schema.Layout:
        """The declarations of the columns of a saved history of this many episodes."""

    def restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Continue from the arrays of a checkpoint, which are as `layout` says.

        Arrays that do not fit together are refused before anything is changed.
        """
        for name, array in self.state.items():
            array[...] = arrays[name]


class VariantDriver(Driver):
    """An algorithm of the family of RMAX-RAVI-UCB."""

    CLOCK = "epoch.clock"
    epoch: Epoch
    knows_rewards = False
    """Whether the rewards of all pairs are known, of states that were never met too."""

    def __init__(
        self, features: FeatureMap, variant: Variant, gamma: float, run: RunSettings
    ) -> None:
        super().__init__(run, gamma)
        self.features, self.variant = features, variant
        self.ridge = variant.ridge_for(features.bound)
        self.heaven = variant.heaven(gamma)  # R_max H or v_max; the most, if its worth is learnt
        # Values that are cut off have no closed form, unless only those of the last update matter.
        self.truncates = isinstance(variant.ascension, Truncation) and not math.isinf(variant.eta)

    @property
    @abstractmethod
    def statistics(self) -> tuple[States, int, Regression]:
        """The states, how many of them are in use, and the covariance of all data so far."""

    @property
    @abstractmethod
    def targets(self) -> FloatArray:
        """The right-hand side of the next regression, [d]."""

    @property
    def learns_heaven(self) -> bool:
        """Whether heaven pays, and its worth is learnt (`Novelty`): unless it was given."""
        return self.knows_rewards and self.variant.learns_prior and self.variant.v_max is None

    def blank_epoch(self, regression: Regression, met_later: bool, estimates: bool) -> Epoch:
        """Before the first epoch; ``estimates`` says whether rewards are estimated."""
        v = expected = 0.0
        if self.variant.evaluates:  # losses of 0 are the values of heaven
            v = self.heaven
            expected = v if estimates else self.gamma * v
        return blank_epoch(regression, self.variant.keeps_moments, met_later, v, expected)

    def rule(self, stage: int) -> Rule:
        """The parameters as compiled code takes them."""
        return self.variant.rule(self.gamma, self.features.bound, stage, self.learns_heaven)

    @property
    def clock(self) -> Any:
        return self.epoch.clock[0]

    @property
    def diagnostics(self) -> Diagnostics:
        (s, n, reg), prior, epoch = self.statistics, self.epoch.prior[0], int(self.clock["epochs"])
        learnt = self.variant.learns_prior and epoch > 0
        return Diagnostics(
            V=s.V[:n],
            pi=self.pi,
            CB=s.CB[:n],
            p=s.p[:n],
            epoch=epoch,
            heaven=float(prior["worth"]) if prior["pays"] else self.heaven,
            ridge=self.ridge,
            Lambda=reg.Lambda,
            inverse=1 / reg.Lambda if reg.Lambda.shape[1] == 1 else reg.inverse,
            log_det=float(reg.log_det[0]),
            b=self.targets,
            s=float(prior["novel"]) if learnt else None,
            v=float(prior["v"]) if learnt else None,
            theta=self.epoch.concentration if learnt else None,
        )

    @property
    def pi(self) -> FloatArray:
        """The probabilities with which actions are played, [X, A]."""
        s, n, _ = self.statistics
        return policy_of(s.log_pi[:n], s.standing[:n])

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
            "ridge": self.ridge,
            "prior": PolicyPrior(*(float(prior[name]) for name in PolicyPrior._fields)),
            "moments": np.array([epoch.first, epoch.second]),
            "concentration": epoch.concentration.copy(),
        }
        return SoftmaxPolicy(**{**given, **others})

    def check_epoch(self, arrays: dict[str, Any]) -> None:
        """Refuse statistics with which no epoch of this learner could continue."""
        learns = self.variant.learns_prior and self.knows_rewards
        for group in ("epoch", "drawn"):
            self._check_clock(arrays, f"{group}.clock")
            if arrays[f"{group}.prior.pays"][0] and not learns:
                raise ValueError(f"{group}.prior.pays must be False: no worth of heaven is learnt")
        Lambda, ridge = arrays["regression.Lambda"], self.ridge
        s, epochs = Lambda.shape[1], arrays["epoch.clock.epochs"][0]
        if epochs == 0 and not np.allclose(Lambda, ridge * np.eye(s), ROUNDING, 0.0):
            raise ValueError(f"Lambda must be {ridge:g} times the identity before the first epoch")
        if s == 1 and Lambda.min(initial=ridge) < ridge * (1 - ROUNDING):
            raise ValueError(f"Lambda must be at least the ridge, {ridge:g}; got {Lambda.min():g}")

    def _check_clock(self, arrays: dict[str, Any], name: str) -> None:
        """Refuse a clock with more epochs than could begin, or with another stage than its last."""
        fields = ("episodes", "epochs", "stage", "steps")
        played, epochs, stage, steps = (int(arrays[f"{name}.{field}"][0]) for field in fields)
        most, what = (steps, "steps") if self.variant.midway else (played, "episodes")
        if epochs > most:
            raise ValueError(f"{name}.epochs must be at most {most}, the {what}; got {epochs}")
        wanted = self.variant.stage(played - 1) if played else 0
        if stage not in (wanted, NO_STAGE):
            raise ValueError(f"{name}.stage must be {wanted} or {NO_STAGE}; got {stage}")
