"""Base class of the tabular imitators: counts of transitions, and a new solution when they grow."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp

from optimist import limits
from optimist.agents import checkpoint
from optimist.agents.agent import Agent
from optimist.agents.arguments import refuse_environment, resolve
from optimist.agents.driver import RunSettings
from optimist.agents.ending import Callback
from optimist.agents.watching import Watcher
from optimist.checks import FloatArray, IntArray
from optimist.core import schema, storage
from optimist.core.state import Simulator
from optimist.core.tabular import KeptTables
from optimist.envs import World
from optimist.imitation.imitator import Imitator, Place, first_call, saved_settings
from optimist.imitation.imitator_driver import ImitatorDriver, Played
from optimist.imitation.imitator_history import ImitatorHistory
from optimist.imitation.trajectories import TrajectoryDataset
from optimist.mdp import FiniteMDP

BYTES_AN_ENTRY = 60
"""The bytes of an entry of P^: its place and value, twice while it is built, and in an LP."""

NOTHING_KNOWN = np.zeros(0, dtype=np.bool_)
NO_COUNTS = np.zeros(0)


class Seen(NamedTuple):
    """The counts of transitions, in arrays of a fixed size."""

    counts: FloatArray  # N, of each entry of P
    visits: IntArray  # n, of each pair whose next state was seen, [X A]
    starts: IntArray  # of each first state, [X]
    before: IntArray  # n at the last solution, [X A]


def blank_seen(world: Simulator) -> Seen:
    """Counts of zero, before the first episode."""
    n_pairs = world.first.size - 1
    visits, before = np.zeros((2, n_pairs), dtype=np.int64)
    starts = np.zeros(world.nu0.size, dtype=np.int64)
    return Seen(np.zeros(world.after.size), visits, starts, before)


def estimated_kernel(world: Simulator, seen: Seen) -> Any:
    """P^ = N / n, sparse [X A, X], with a uniform row where n = 0."""
    n_states, n_pairs = world.nu0.size, seen.visits.size
    pair = np.repeat(np.arange(n_pairs), np.diff(world.first))
    met, untried = seen.counts > 0, np.flatnonzero(seen.visits == 0)
    what = f"uniform rows of {untried.size:,} untried pairs for {n_states:,} states"
    limits.need(BYTES_AN_ENTRY * untried.size * n_states, what)
    shares = seen.counts[met] / seen.visits[pair[met]]
    rows = np.concatenate([pair[met], np.repeat(untried, n_states)])
    columns = np.concatenate([world.after[met], np.tile(np.arange(n_states), untried.size)])
    values = np.concatenate([shares, np.full(untried.size * n_states, 1 / n_states)])
    return sp.csr_array((values, (rows, columns)), shape=(n_pairs, n_states))


class CountingDriver(ImitatorDriver):
    """Counts n, N and first states; a new solution when some n grew by half, or from 0.

    A learner implements `solve`, which sets ``playing.pi``.
    """

    GROUPS: ClassVar[tuple[str, ...]] = ("playing", "seen")

    def __init__(
        self, mdp: FiniteMDP, expert: TrajectoryDataset, K: int | None, run: RunSettings
    ) -> None:
        super().__init__(mdp, expert, K, run)
        self.seen = blank_seen(self.simulator)

    @property
    def n(self) -> FloatArray:
        """n(x, a), [X, A]."""
        return self.seen.visits.reshape(self.mdp.r.shape).astype(np.float64)

    @property
    def P(self) -> Any:
        """P^, sparse [X A, X]."""
        return estimated_kernel(self.simulator, self.seen)

    @property
    def nu0(self) -> FloatArray:
        """nu^, the frequencies of first states, [X]; uniform before the first episode."""
        total, n_states = self.seen.starts.sum(), self.mdp.n_states
        return self.seen.starts / total if total else np.full(n_states, 1 / n_states)

    def play(self, record: Played, kept: KeptTables) -> None:
        i, end = 0, record.steps.size
        while i < end:
            first, before = self.episodes, int(self.clock["epochs"])
            done, due = self.play_until_due(record, i)
            keep_table(self.playing.pi, kept, first - i, i, done)
            if due:
                self.seen.before[:] = self.seen.visits
                self.solve()
                self.clock["epochs"] += 1
            record.epoch[i:done] = before
            record.epoch[done - 1] += due
            i = done

    def play_until_due(self, record: Played, i: int) -> tuple[int, bool]:
        """Play episodes i, i + 1, ... of the record under the present policy."""
        world, seen = self.simulator, self.seen
        done, due = self.compiled(
            record.stop, "optimist.core.imitators:play_tables",
            world.first, world.after, world.cumulative, world.start, world.gamma,
            np.cumsum(self.playing.pi, axis=1)[None], seen.counts, seen.visits, seen.starts,
            seen.before, NOTHING_KNOWN, NO_COUNTS, self.playing.clock, self.rng, i,
            record.steps, record.last, record.stop,
        )  # fmt: skip
        return int(done), bool(due)

    def solve(self) -> None:
        """Set the policy from the counts."""
        raise NotImplementedError

    def layout(self, arrays: dict[str, Any]) -> schema.Layout:
        starts = schema.count(self.seen.starts.shape)
        return {**super().layout(arrays), "seen.starts": starts}

    def restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        check_seen(self.simulator, arrays["seen.counts"], arrays["seen.visits"])
        if (arrays["seen.before"] > arrays["seen.visits"]).any():
            raise ValueError("seen.before must be at most seen.visits")
        begun, episodes = int(arrays["seen.starts"].sum()), int(arrays[f"{self.CLOCK}.episodes"][0])
        counted = self.counted_of(episodes, header["settings"]["K"])
        if begun != counted:
            raise ValueError(f"seen.starts must add up to {counted} episodes; got {begun}")
        super().restore(header, arrays)

    def counted_of(self, episodes: int, K: int | None) -> int:
        """The number of these episodes whose transitions are counted."""
        return episodes


def check_seen(world: Simulator, counts: FloatArray, visits: IntArray) -> None:
    """Refuse counts of the entries of P that are not those of the visits."""
    pair = np.repeat(np.arange(visits.size), np.diff(world.first))
    if (np.bincount(pair, counts, visits.size) != visits).any():
        raise ValueError("seen.visits must be the sum of the counts of each pair")


def keep_table(pi: FloatArray, kept: KeptTables, first: int, i: int, end: int) -> None:
    """Keep the policy that was played in episodes i, ..., end - 1 of a call.

    ``first`` is the number of the first episode of the call among all.
    """
    if kept.stride:
        numbers = first + np.arange(i, end)
        taken = -(-(first + i) // kept.stride) - -(-first // kept.stride)
        kept.policies[taken : taken + (numbers % kept.stride == 0).sum()] = pi
    if kept.draw[i:end].any():
        kept.drawn[:] = pi


class TabularImitator(Agent, Imitator):
    """An imitator that plays episodes of a finite world and keeps tables of it.

    Parameters
    ----------
    world
        A world, or any `FiniteMDP`. It is copied without its rewards.
    expert
        The trajectories of the expert.
    K
        The number of episodes that the parameters are made for; by default that of the first call
        of `learn`. Learners without such parameters do not use it.
    seed, stride, config, parameters
        As of `VariantAgent`.
    """

    Driver: ClassVar[type[ImitatorDriver]]
    _driver: ImitatorDriver

    def __init__(
        self,
        world: World | FiniteMDP,
        expert: TrajectoryDataset,
        *,
        K: int | None = None,
        seed: int = 0,
        stride: int = 10,
        config: Any = None,
        **parameters: Any,
    ) -> None:
        config, settings = resolve(type(self).__name__, self.Config, config, parameters)
        mdp = self._read_world(world)
        refuse_environment(world, settings)
        self.expert = self._read_expert(expert, world)
        self._check_deterministic(self.expert, mdp.n_states, config)
        run = RunSettings(config, seed, stride)
        self._start(self.Driver(mdp, self.expert, self._read_K(K), run), Place.of(world))

    @property
    def K(self) -> int | None:
        """The number of episodes that the learner is made for, once it is known."""
        return self._driver.K

    def learn(
        self,
        episodes: int | None = None,
        *,
        steps: int | None = None,
        callback: Callback | None = None,
        until: float | None = None,
        show_progress: bool = True,
        live: bool | Watcher = False,
    ) -> ImitatorHistory:
        """Play and learn, as `Agent.learn` does; the history of these episodes."""
        limits: dict[str, Any] = {"steps": steps, "callback": callback, "until": until}
        with first_call(type(self), self._driver, episodes):
            history = super().learn(episodes, **limits, show_progress=show_progress, live=live)
        assert isinstance(history, ImitatorHistory)  # as the driver makes them
        return history

    @property
    def history(self) -> ImitatorHistory:
        """The history of all episodes so far, or of those since it was last forgotten."""
        history = super().history
        assert isinstance(history, ImitatorHistory)
        return history

    def _restore(self, saved: checkpoint.Saved) -> None:
        given = saved.header["settings"], self._driver.settings
        now = saved_settings(saved.path, *given, self.K)
        with storage.reading(saved.path):
            self._read_K(now["K"])
        super()._restore(saved)
        self._driver.K = now["K"]
