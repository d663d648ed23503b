"""Base class of drivers of imitators on finite worlds: no rewards, tables, a history."""

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from optimist import limits
from optimist.agents.diagnostics import Diagnostics
from optimist.agents.driver import Driver, Policy, RunSettings
from optimist.agents.finite_driver import fingerprint
from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core import TablePolicy, schema
from optimist.core.arrays import simulator
from optimist.core.state import blank_clock
from optimist.core.tabular import KeptTables
from optimist.imitation.imitator_history import ImitatorHistory
from optimist.imitation.trajectories import TrajectoryDataset
from optimist.mdp import FiniteMDP

BYTES_A_PAIR = 200
"""About what an imitator keeps of a pair: policies, counts, targets and the like."""


class Playing(NamedTuple):
    """The present policy, and the counters."""

    pi: FloatArray  # the present policy, [X, A]
    clock: Any  # one record of `optimist.core.state.CLOCK`, [1]; epochs: the solutions so far


class Played(NamedTuple):
    """The record of each episode of a call."""

    steps: IntArray  # its length
    epoch: IntArray  # the number of solutions after it
    last: IntArray  # its last pair, x * A + a
    stop: BoolArray  # [1]: if set from outside, the call ends soon, and its result is dropped


def blank_played(episodes: int) -> Played:
    """A record with room for ``episodes`` episodes."""
    steps, epoch, last = (np.zeros(episodes, dtype=np.int64) for _ in range(3))
    return Played(steps, epoch, last, np.zeros(1, dtype=np.bool_))


class ImitatorDriver(Driver):
    """A finite world without its rewards, and an expert's trajectories.

    A learner implements `play`. What it learns stands in named tuples of arrays, whose attributes
    it adds to GROUPS: they are then copied, saved and restored.

    Attributes
    ----------
    mdp, expert, K
        The world with rewards 0, the data, and the number of episodes, if it is known.
    playing, drawn
        The present policy with the counters, and the policy pi_I of an episode drawn uniformly.
    """

    mdp: FiniteMDP

    GROUPS: ClassVar[tuple[str, ...]] = ("playing",)
    OTHERS: ClassVar[tuple[str, ...]] = ("drawn",)
    CLOCK = "playing.clock"

    def __init__(
        self, mdp: FiniteMDP, expert: TrajectoryDataset, K: int | None, run: RunSettings
    ) -> None:
        super().__init__(run, mdp.gamma)
        X, A = mdp.n_states, mdp.n_actions
        limits.need(BYTES_A_PAIR * X * A, f"tables of {X:,} states and {A:,} actions")
        self.mdp, self.expert, self.K = mdp, expert, K
        self.policy_size = mdp.r.size
        self.simulator = simulator(mdp)
        self.playing = Playing(mdp.uniform_policy.copy(), blank_clock())
        self.drawn: FloatArray = mdp.uniform_policy.copy()

    # Learning

    @property
    def clock(self) -> Any:
        return self.playing.clock[0]

    @property
    def no_returns(self) -> str:
        return "an imitator sees no rewards"

    def learn_some(self, most: int) -> dict[str, Any]:
        n = min(self.before_step_limit(most), self.pace.episodes)
        with self.call(n):
            evaluated, record = self.evaluated_of_next(n), blank_played(n)
            policies = np.zeros((len(evaluated), *self.mdp.r.shape))
            kept = KeptTables(self.stride, policies, self.drawn_of_next(n), self.drawn)
            self.play(record, kept)
        return {
            "steps": record.steps,
            "epoch": record.epoch,
            "pairs": record.last,
            "evaluated": evaluated,
            "policies": policies,
        }

    @abstractmethod
    def play(self, record: Played, kept: KeptTables) -> None:
        """Play and learn as many episodes as the record has room for; advance the clock.

        The policies of episodes whose number is a multiple of ``kept.stride`` go to
        ``kept.policies``, and where ``kept.draw`` says so to ``kept.drawn``.
        """

    def history(self, columns: dict[str, Any], first: int) -> ImitatorHistory:
        return ImitatorHistory(columns, first, self.mdp)

    # Acting

    @property
    def diagnostics(self) -> Diagnostics:
        pi = self.playing.pi
        unknown = np.full(pi.shape, np.nan)  # most learners have no values and bonuses
        epoch = int(self.clock["epochs"])
        return Diagnostics(unknown[:, 0], pi.copy(), unknown, unknown, epoch, heaven=np.nan)

    @property
    def policy(self) -> Policy:
        return TablePolicy(self.playing.pi.copy())

    @property
    def output(self) -> Policy:
        return TablePolicy(self.drawn.copy())

    # Stopping and continuing

    @property
    def state(self) -> dict[str, Any]:
        return {**super().state, "drawn.pi": self.drawn}

    @property
    def settings(self) -> dict[str, Any]:
        return {"K": self.K}

    def layout(self, arrays: dict[str, Any]) -> schema.Layout:
        return {**super().layout(arrays), **schema.clock(self.CLOCK, self.mdp.n_states)}

    def columns(self, rows: int, kept: int, first: int, arrays: dict[str, Any]) -> schema.Layout:
        return {
            **dict.fromkeys(("steps", "epoch"), schema.count((rows,))),
            "pairs": schema.index((rows,), self.mdp.r.size),
            "evaluated": schema.index((kept,), first + rows, first),
            "policies": schema.policy((kept, *self.mdp.r.shape)),
        }

    @property
    def fingerprint(self) -> dict[str, Any]:
        data = self.expert
        actions = np.zeros(0, dtype=np.int64) if data.actions is None else data.actions
        given = data.states, actions, data.lengths, *self.given
        return fingerprint(self.mdp, self.simulator, *given)

    @property
    def given(self) -> tuple[Any, ...]:
        """Arrays besides the world and the expert that must be given again when loading."""
        return ()
