"""FAIL, forward adversarial imitation learning from states (Sun, Vemula, Boots, Bagnell, 2019)."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from optimist import checks, limits
from optimist.agents.diagnostics import Diagnostics
from optimist.agents.driver import RunSettings
from optimist.agents.ending import Callback
from optimist.agents.watching import Watcher
from optimist.checks import FloatArray, IntArray
from optimist.core import TimedPolicy, schema
from optimist.core.tabular import KeptTables
from optimist.imitation.imitator_driver import ImitatorDriver, Played
from optimist.imitation.imitator_history import ImitatorHistory
from optimist.imitation.paths import default_length
from optimist.imitation.tabular import TabularImitator, keep_table
from optimist.imitation.trajectories import TrajectoryDataset
from optimist.mdp import FiniteMDP, match_next_state


@dataclass(frozen=True)
class ForwardAILConfig:
    """The parameters of FAIL. It has no constants to tune.

    Attributes
    ----------
    literal
        Whether a game has the importance weights A C / n of the paper, whose noise is that of the
        actions drawn. By default they are normalised in each state, and actions that were not tried
        in a visited state are forbidden.
    cut
        There are games for the times below T = ceil(log(1 / cut) H), so that gamma^T <= cut: the
        policy loses at most cut * H afterwards. There are no more than the expert's data allow.
    """

    literal: bool = False
    cut: float = 0.02

    def __post_init__(self) -> None:
        if not isinstance(self.literal, bool | np.bool_):
            raise TypeError(f"literal must be True or False; got {self.literal!r}")
        object.__setattr__(self, "literal", bool(self.literal))
        cut = checks.positive(checks.probability(self.cut, "cut"), "cut")
        if cut == 1:
            raise ValueError("cut must be below 1; got 1")
        object.__setattr__(self, "cut", cut)

    @classmethod
    def theory(cls, gamma: float, epsilon: float = 0.1) -> "ForwardAILConfig":
        """The paper's games, cut so late that this loses at most epsilon in value.

        Examples
        --------
        >>> ForwardAILConfig.theory(gamma=0.75, epsilon=0.25)
        ForwardAILConfig(literal=True, cut=0.0625)
        """
        gap = checks.positive(epsilon, "epsilon")
        return cls(literal=True, cut=gap * (1 - checks.discount(gamma)))


def schedule(K: int, T: int, gamma: float) -> IntArray:
    """The number of episodes K_t of each of T games: K_t ~ gamma^(t/3), rounded, with sum K.

    An episode lives to time t with probability gamma^t, and the error of game t counts gamma^t:
    this minimises sum_t gamma^t / sqrt(K_t gamma^t).

    Examples
    --------
    >>> schedule(K=100, T=5, gamma=0.7)
    array([25, 22, 20, 17, 16])
    """
    weights = gamma ** (np.arange(T) / 3)
    sums = np.rint(K * np.cumsum(weights) / weights.sum())
    return np.asarray(np.diff(sums, prepend=0), dtype=np.int64)


def solve_game(C: FloatArray, m: FloatArray, literal: bool = False) -> FloatArray:
    """The table pi_t whose law of the next state is nearest to m in L1, [X, A].

    It is the minimum over pi of the maximum over |f| <= 1 of u(pi, f), as one linear programme.

    Parameters
    ----------
    C
        Counts of (x, a, y) at time t, [X, A, X], not all 0.
    m
        The law of the expert's x_{t+1}, [X].
    literal
        As in `ForwardAILConfig`.

    Examples
    --------
    >>> C = np.array([[[3.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]])
    >>> solve_game(C, np.array([0.25, 0.75]))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    >>> solve_game(C, np.array([0.25, 0.75]), literal=True)[0].round(6)
    array([0.166667, 0.833333])
    """
    n, pairs = C.sum(), C.sum(axis=2)
    if literal:
        return match_next_state(C.shape[1] * C / n, m).policy
    visits = pairs.sum(axis=1, keepdims=True)
    M = (visits / n)[:, :, None] * C / np.where(pairs > 0, pairs, 1)[:, :, None]
    return match_next_state(M, m, allowed=(pairs > 0) | (visits == 0)).policy


class Games(NamedTuple):
    """The policy so far, and the data of the present game."""

    tables: FloatArray  # pi_0, ..., pi_{T-1}, uniform from the present game on, [T, X, A]
    counts: FloatArray  # of the entries of P at the time of the game


class ForwardDriver(ImitatorDriver):
    """One game after the other, each with its own episodes."""

    GROUPS = ("playing", "games")

    def __init__(
        self, mdp: FiniteMDP, expert: TrajectoryDataset, K: int | None, run: RunSettings
    ) -> None:
        super().__init__(mdp, expert, K, run)
        X, A = mdp.r.shape
        longest = int(expert.lengths.max())
        if longest < 2:
            raise ValueError("expert must have a trajectory of at least 2 steps; all have 1")
        T = min(longest - 1, default_length(mdp.gamma, self.config.cut))
        limits.need(16 * T * X * A + 64 * X * A * X, f"{T:,} games of {X:,} states, {A:,} actions")
        self.laws = expert.by_time(X)[1 : T + 1]
        tables = np.full((T, X, A), 1 / A)
        self.games = Games(tables, np.zeros(self.simulator.after.size))
        self._judged = (0, mdp.uniform_policy)

    @property
    def ends(self) -> IntArray:
        """After how many episodes each game ends, [T]."""
        assert self.K is not None  # as the first call of learn sets it
        return np.cumsum(schedule(self.K, len(self.laws), self.gamma))

    @property
    def left(self) -> int:
        """The episodes that are still to be played."""
        assert self.K is not None
        return self.K - self.episodes

    def play(self, record: Played, kept: KeptTables) -> None:
        world, ends, first, i = self.simulator, self.ends, self.episodes, 0
        while i < record.steps.size:
            t = int(np.searchsorted(ends, self.episodes, side="right"))
            self.clock["epochs"] = t  # games that have no episodes are over
            done = min(record.steps.size, i + int(ends[t]) - self.episodes)
            self.compiled(
                record.stop, "optimist.core.roll_in:play_game",
                world.first, world.after, world.cumulative, world.start, world.gamma,
                np.cumsum(self.games.tables[: t + 1], axis=2), self.games.counts,
                self.playing.clock, self.rng, record.steps[i:done], record.last[i:done],
                record.stop,
            )  # fmt: skip
            if kept.stride:
                keep_table(self._stationary_policy(t), kept, first, i, done)
            record.epoch[i:done] = t
            if self.episodes == ends[t]:
                record.epoch[done - 1] = self._finish(t, ends)
            i = done

    def _finish(self, t: int, ends: IntArray) -> int:
        """Solve game t, and copy its table to games that have no episodes; the next game."""
        world, tables = self.simulator, self.games.tables
        pair = np.repeat(np.arange(self.mdp.r.size), np.diff(world.first))
        C = np.zeros((*self.mdp.r.shape, self.mdp.n_states))
        C.reshape(self.mdp.r.size, -1)[pair, world.after] = self.games.counts
        after = int(np.searchsorted(ends, self.episodes, side="right"))
        if C.any():
            tables[t:after] = solve_game(C, self.laws[t], self.config.literal)
        elif t:  # no episode lived to t + 1
            tables[t:after] = tables[t - 1]
        self.games.counts[:] = 0
        self.clock["epochs"] = after
        return after

    def _stationary_policy(self, t: int) -> FloatArray:
        """The stationary policy with the occupancy of game t's policy, for the history."""
        if self._judged[0] != t:
            self._judged = (t, self._timed(t).stationary_in(self.mdp).table)
        return self._judged[1]

    def _timed(self, t: int) -> TimedPolicy:
        return TimedPolicy(self.games.tables[: t + 1].copy())

    @property
    def diagnostics(self) -> Diagnostics:
        return replace(super().diagnostics, pi=self._stationary_policy(int(self.clock["epochs"])))

    @property
    def policy(self) -> TimedPolicy:
        return self._timed(int(self.clock["epochs"]))

    @property
    def output(self) -> TimedPolicy:
        if self.K is None or self.left:
            raise ValueError("the output is known after all K episodes: learn first")
        return self.policy

    def layout(self, arrays: dict[str, Any]) -> schema.Layout:
        tables = schema.policy(self.games.tables.shape)
        return {**super().layout(arrays), "games.tables": tables}

    def restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        episodes, games = (
            int(arrays[f"{self.CLOCK}.{name}"][0]) for name in ("episodes", "epochs")
        )
        K, T = header["settings"]["K"], len(self.laws)
        ends = np.cumsum(schedule(K or 1, T, self.gamma))
        wanted = int(np.searchsorted(ends, episodes, side="right")) if episodes else 0
        if games != wanted or episodes > (K or 0):
            raise ValueError(f"{self.CLOCK} must have played {wanted} of {T} games; got {games}")
        super().restore(header, arrays)


class ForwardAIL(TabularImitator):
    """FAIL: forward in time, match the law of the expert's next state, from states alone.

    With pi_0, ..., pi_{t-1} fixed, K_t episodes play them and then uniformly. Of those that live to
    time t + 1 the transition at t is counted, and pi_t makes the law of the next state nearest to
    that of the expert's x_{t+1}, in L1. The output is the time-indexed policy of all games, a
    `TimedPolicy`; its history judges it by the stationary policy of the same occupancy.

    The paper solves each min-max game by play; here the discriminators are all |f| <= 1, and a game
    is a linear programme. It is slow by design: every time has episodes of its own.

    Parameters
    ----------
    world, expert, seed, stride, config, parameters
        As of `TabularImitator`. Actions in the data are ignored.
    K
        The number of episodes; by default that of the first call of `learn`.

    Examples
    --------
    >>> from optimist import envs
    >>> world, rng = envs.ResetCliff(4, 2, gamma=0.7), np.random.default_rng(0)
    >>> expert = TrajectoryDataset.from_rollouts(
    ...     world, world.mdp.optimal().policy, 500, rng, actions=False
    ... )
    >>> learner = ForwardAIL(world, expert, seed=0)
    >>> _ = learner.learn(4000)
    >>> learner.output.tables.shape
    (13, 4, 2)
    >>> pi = learner.output.stationary_in(world.mdp)
    >>> world.mdp.suboptimality(pi.table) < 0.2 * world.mdp.suboptimality(world.mdp.uniform_policy)
    True
    """

    Config: ClassVar[type[Any]] = ForwardAILConfig
    Driver = ForwardDriver
    sees = "states"
    needs_K = True
    of_K = "the number of episodes of each game"

    _driver: ForwardDriver

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
        """Play and learn; the history of these episodes.

        All calls together play K episodes; by default a call plays those that are left.
        """
        driver = self._driver
        if driver.K is not None:
            asked = driver.left if episodes is None else checks.count(episodes, "episodes")
            if asked > driver.left or not driver.left:
                raise ValueError(
                    f"ForwardAIL is made for K = {driver.K:,} episodes, of which {driver.left:,} "
                    f"are left; got episodes = {asked:,}"
                )
            episodes = asked
        return super().learn(
            episodes,
            steps=steps,
            callback=callback,
            until=until,
            show_progress=show_progress,
            live=live,
        )

    @property
    def policy(self) -> TimedPolicy:
        """The policy of the next episode: the tables found so far, and then a uniform one."""
        return self._driver.policy

    @property
    def output(self) -> TimedPolicy:
        """The tables of all games, once all K episodes were played."""
        return self._driver.output
