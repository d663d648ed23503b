"""MB-TAIL: Mimic-MD in a world whose P is learnt by reward-free exploration."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from optimist import checks
from optimist.agents.driver import Policy, RunSettings
from optimist.agents.ending import Callback
from optimist.agents.watching import Watcher
from optimist.checks import FloatArray, IntArray
from optimist.core import TablePolicy
from optimist.core.tabular import KeptTables
from optimist.imitation.imitator import known_actions
from optimist.imitation.imitator_driver import Played
from optimist.imitation.imitator_history import ImitatorHistory
from optimist.imitation.mimic_md import Target, outside_part
from optimist.imitation.paths import default_length
from optimist.imitation.tabular import CountingDriver, TabularImitator, keep_table
from optimist.imitation.trajectories import TrajectoryDataset
from optimist.mdp import FiniteMDP, match_occupancy

CLONING_SHARE = 5
"""One episode in this number plays the cloned policy, as in the authors' code."""


@dataclass(frozen=True)
class MbTailConfig:
    """The parameters of MB-TAIL; the defaults are practical ones.

    Attributes
    ----------
    c
        The bonus of exploration is B(n) = c H / sqrt n, and H where n = 0.
    delta
        If it is given, the bonus is that of RF-Express, B(n) = 15 H^2 beta(n) / n with
        beta(n) = log(3 X A H / delta) + X log(8e (n+1)).
    backward
        If it is given, the uncertainty W is that of T = ``backward`` backward steps, with F = 1 +
        1/T; otherwise a fixed point, with F = 1.
    copy
        Whether the known actions are fixed in the match. The paper matches freely, and so forgets
        what it knows of the expert's actions.
    """

    c: float = 0.1
    delta: float | None = None
    backward: int | None = None
    copy: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checks.real_number(self.c, "c"))
        if self.c < 0:
            raise ValueError(f"c must not be negative; got {self.c:g}")
        if self.delta is not None:
            delta = checks.positive(checks.probability(self.delta, "delta"), "delta")
            object.__setattr__(self, "delta", delta)
        if self.backward is not None:
            backward = checks.count(self.backward, "backward", below=checks.MOST)
            object.__setattr__(self, "backward", backward)
        if not isinstance(self.copy, bool | np.bool_):
            raise TypeError(f"copy must be True or False; got {self.copy!r}")
        object.__setattr__(self, "copy", bool(self.copy))

    @classmethod
    def theory(cls, gamma: float, delta: float = 0.1) -> "MbTailConfig":
        """The parameters of the theory: those of RF-Express, cut where gamma^T <= 0.02.

        They explore uniformly for very long: at X = H = 20 and A = 5 the uncertainty of a pair
        leaves its cap after 91,000 visits.
        """
        return cls(delta=delta, backward=default_length(checks.discount(gamma)))

    def log_term(self, n_pairs: int, gamma: float) -> float:
        """log(3 X A H / delta), or 0 with practical bonuses."""
        if self.delta is None:
            return 0.0
        return math.log(3 * n_pairs / (1 - gamma) / self.delta)


class Tail(NamedTuple):
    """The results of the match."""

    counts: FloatArray  # of pairs while cloning, on paths within the known states, [X A]
    objective: FloatArray  # of the match, [1]


class MbTailDriver(CountingDriver):
    """Clones for a fifth of the episodes, explores in the others, and then matches."""

    GROUPS = ("playing", "seen", "tail")

    def __init__(
        self, mdp: FiniteMDP, expert: TrajectoryDataset, K: int | None, run: RunSettings
    ) -> None:
        super().__init__(mdp, expert, K, run)
        D1, D2 = expert.split(self.rng)
        self.kappa: IntArray = known_actions(D1, mdp.n_states)
        self.outside = outside_part(D2, mdp, self.kappa)
        known = self.kappa >= 0
        self.playing.pi[known] = np.eye(mdp.n_actions)[self.kappa[known]]
        self.tail = Tail(np.zeros(mdp.r.size), np.zeros(1))

    # Learning

    @property
    def cloning(self) -> int:
        """K_1, the number of episodes that are played with the cloned policy."""
        assert self.K is not None  # as learn sees to
        return self.K // CLONING_SHARE

    @property
    def left(self) -> int:
        """The episodes that are still to be played."""
        assert self.K is not None
        return self.K - self.episodes

    @property
    def inside(self) -> FloatArray:
        """mu_in, the mean over cloning episodes of 1-gamma for each pair within S1, [X, A]."""
        share = (1 - self.gamma) / max(min(self.episodes, self.cloning), 1)
        return self.tail.counts.reshape(self.mdp.r.shape) * share

    def learn_some(self, most: int) -> dict[str, Any]:
        # One phase in a call.
        phase = self.cloning - self.episodes if self.episodes < self.cloning else self.left
        return super().learn_some(min(most, phase))

    def play(self, record: Played, kept: KeptTables) -> None:
        first = self.episodes
        if first < self.cloning:
            self._clone(record)
            keep_table(self.playing.pi, kept, first, 0, record.steps.size)
        else:
            self._explore(record, kept)
        if self.episodes == self.cloning:
            self.playing.pi[:] = self.mdp.uniform_policy
        if not self.left:
            self.solve()
            self.clock["epochs"] = 1
            record.epoch[-1] = 1

    def _clone(self, record: Played) -> None:
        world, none = self.simulator, np.zeros(0, dtype=np.int64)
        self.compiled(
            record.stop, "optimist.core.imitators:play_tables",
            world.first, world.after, world.cumulative, world.start, world.gamma,
            np.cumsum(self.playing.pi, axis=1)[None], np.zeros(0), none, none, none,
            self.kappa >= 0, self.tail.counts, self.playing.clock, self.rng, 0,
            record.steps, record.last, record.stop,
        )  # fmt: skip

    def _explore(self, record: Played, kept: KeptTables) -> None:
        world, seen, config = self.simulator, self.seen, self.config
        self.compiled(
            record.stop, "optimist.core.reward_free:explore",
            world.first, world.after, world.cumulative, world.start, world.gamma, self.playing.pi,
            seen.counts, seen.visits, seen.starts, self.playing.clock, self.rng,
            config.c, config.log_term(self.mdp.r.size, self.gamma), config.backward or 0,
            record.steps, record.last, record.stop, *kept,
        )  # fmt: skip

    def solve(self) -> None:
        fixed = self.kappa if self.config.copy else None
        target = self.inside + self.outside
        found = match_occupancy(self.P, self.nu0, target, self.gamma, fixed=fixed)
        self.playing.pi[:] = found.policy
        self.tail.objective[0] = found.objective

    def counted_of(self, episodes: int, K: int | None) -> int:
        if episodes > (K or 0):
            raise ValueError(f"episodes must be at most K = {K}; got {episodes}")
        return max(episodes - (K or 0) // CLONING_SHARE, 0)

    # Acting

    @property
    def output(self) -> Policy:
        if self.K is None or self.left:
            raise ValueError("the output is known after all K episodes: learn first")
        return TablePolicy(self.playing.pi.copy())


class MbTail(TabularImitator):
    """MB-TAIL (Xu, Li, Yu and Luo, 2023): P unknown, a deterministic expert, K known beforehand.

    `MimicMD`, with two replacements. The known part of the expert's occupancy is estimated by
    episodes of a cloned policy, and P by reward-free exploration:

        D1, D2, S1, kappa, mu_out as in Mimic-MD;  bc = kappa on S1, uniform elsewhere
        K/5 episodes of bc:    mu_in(x_t, a_t) += (1-gamma) / (K/5) while all states are in S1
        4K/5 episodes of the greedy policy of W, which give P^ and nu^:                (RF-Express)
                               W(x,a) = min(H, B(n) + F gamma sum_y P^(y|x,a) max_a' W(y,a'))
        pi = argmin { ||mu_{P^}(pi) - mu_in - mu_out||_1 }

    The output is pi, after K episodes; before, `policy` is that of the next episode. The split of
    the episodes is that of the authors' code, which calls a path known if its whole prefix is in
    D1; by the paper's definition, from memory, each of its states must be. The constants of
    RF-Express (Menard et al., 2021) are those of two public implementations, which agree.

    Parameters
    ----------
    world, expert, seed, stride, config, parameters
        As of `TabularImitator`. The expert's data must have actions, one in each state.
    K
        The number of episodes, at least 5; by default that of the first call of `learn`.

    Examples
    --------
    >>> from optimist import envs
    >>> from optimist.imitation import TrajectoryDataset
    >>> world, rng = envs.ResetCliff(10), np.random.default_rng(0)
    >>> best = world.mdp.optimal().policy
    >>> data = TrajectoryDataset.from_rollouts(world, best, 20, rng)
    >>> il = MbTail(world, data, seed=0)
    >>> il.learn(1000)
    ImitatorHistory(episodes=1,000, steps=9,849)
    >>> mu, mu_E = world.mdp.occupancy(il.output.table), world.mdp.occupancy(best)
    >>> bool(((mu_E - mu) * world.mdp.r).sum() < 0.1 * (mu_E * world.mdp.r).sum())
    True
    """

    Config: ClassVar[type[Any]] = MbTailConfig
    Driver = MbTailDriver
    sees = "pairs"
    needs_actions = True
    needs_deterministic = True
    needs_K = True
    of_K = "the split into cloning and exploration"

    _driver: MbTailDriver

    @classmethod
    def _read_K(cls, K: int | None) -> int | None:
        """The number of episodes, at least 5: one of cloning."""
        return None if K is None else checks.count(K, "K", CLONING_SHARE, checks.MOST)

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
        if driver.K is None:
            self._read_K(episodes)
        else:
            asked = driver.left if episodes is None else checks.count(episodes, "episodes")
            if asked > driver.left or not driver.left:
                raise ValueError(
                    f"MbTail is made for K = {driver.K:,} episodes, of which {driver.left:,} are "
                    f"left; got episodes = {asked:,}"
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
    def target(self) -> Target:
        """The known actions and the two parts of what is matched, [X, A]."""
        driver = self._driver
        return Target(driver.kappa.copy(), driver.inside, driver.outside.copy())

    @property
    def objective(self) -> float:
        """The distance in L1 of the occupancy in the model from the target."""
        self._driver.output  # noqa: B018 - refuses before the last episode
        return float(self._driver.tail.objective[0])
