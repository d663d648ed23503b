"""OAL, online apprenticeship learning (Shani, Zahavy and Mannor, 2021), on tables."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from optimist import checks
from optimist.agents.diagnostics import Diagnostics
from optimist.agents.driver import RunSettings
from optimist.agents.ending import Callback
from optimist.agents.history import Column
from optimist.agents.watching import Watcher
from optimist.checks import FloatArray
from optimist.core import schema
from optimist.core.tabular import KeptTables
from optimist.imitation.history import ImitationRegret
from optimist.imitation.imitator_driver import Played
from optimist.imitation.imitator_history import ImitatorHistory
from optimist.imitation.recording import PolicyLike, policy_table
from optimist.imitation.tabular import CountingDriver, TabularImitator
from optimist.imitation.trajectories import TrajectoryDataset
from optimist.mdp import FiniteMDP

TOLERANCE = 1e-4
"""Sweeps of the evaluation end when no value changes by more than this part of H."""


@dataclass(frozen=True)
class OalConfig:
    """The parameters of OAL. The defaults are practical, and the same for all worlds.

    They were chosen on GridWorld, ResetCliff, RiverSwim, FourRooms and DeepSea, with 300 to 3,000
    episodes and an expert that is known well.

    Attributes
    ----------
    bonus
        A pair that was visited n times has the bonus bonus * H / sqrt n, and H if n = 0.
    policy_step
        t_pi as a multiple of the theory's sqrt(2 log A / K) / H.
    cost_step
        t_c as a multiple of the theory's sqrt(X A / (2 K)).
    """

    bonus: float = 0.1
    policy_step: float = 30.0
    cost_step: float = 3.0

    def __post_init__(self) -> None:
        for name in ("bonus", "policy_step", "cost_step"):
            value = checks.real_number(getattr(self, name), name)
            if value < 0 or (value == 0 and name != "bonus"):
                least = "not be negative" if name == "bonus" else "be positive"
                raise ValueError(f"{name} must {least}; got {value:g}")
            object.__setattr__(self, name, value)

    @classmethod
    def theory(
        cls, K: int, n_states: int, n_actions: int, gamma: float, delta: float = 0.1
    ) -> "OalConfig":
        """The parameters of the paper's theorem for K episodes, with probability 1 - delta.

        Its bonus is 2 H sqrt(X log(3 H^2 X A K / delta) / n), which is below H only after many
        visits.

        Examples
        --------
        >>> c = OalConfig.theory(K=1000, n_states=20, n_actions=5, gamma=0.95)
        >>> round(c.bonus ** 2), c.policy_step, c.cost_step
        (1672, 1.0, 1.0)
        """
        K, X = checks.count(K, "K"), checks.count(n_states, "n_states")
        A, H = checks.count(n_actions, "n_actions"), 1 / (1 - checks.discount(gamma))
        delta = checks.positive(checks.probability(delta, "delta"), "delta")
        log = math.log(3 * H**2 * X * A * K / delta)
        return cls(bonus=2 * math.sqrt(X * log), policy_step=1.0, cost_step=1.0)

    def steps(self, K: int, n_states: int, n_actions: int, gamma: float) -> tuple[float, float]:
        """t_pi and t_c for K episodes.

        Examples
        --------
        >>> OalConfig(cost_step=2.0).steps(K=200, n_states=50, n_actions=2, gamma=0.9)[1]
        1.0
        """
        t_pi = math.sqrt(2 * math.log(n_actions) / K) * (1 - gamma)
        t_c = math.sqrt(n_states * n_actions / (2 * K))
        return self.policy_step * t_pi, self.cost_step * t_c


class Learnt(NamedTuple):
    """The state of the two players."""

    costs: FloatArray  # c_k, [X, A]
    S: FloatArray  # the sum of all Q, [X, A]
    V: FloatArray  # optimistic costs to go of the last policy, [X]
    m: FloatArray  # its occupancy of states in the model, [X]


class OalHistory(ImitatorHistory):
    """An imitation by OAL, episode by episode.

    Attributes
    ----------
    costs
        The costs c_k of the episodes whose policies were kept, [n, X, A].
    """

    costs = Column[FloatArray]("finite worlds")

    def regret(self, expert: PolicyLike, r_true: ArrayLike) -> ImitationRegret:
        """The gap to the expert under the true rewards, and what each player adds to it.

        Of the policies that were kept, with r_k = 1 - c_k. Expert and rewards are revealed here for
        evaluation only.

        Parameters
        ----------
        expert
            The expert's policy pi_E: an array [X, A], or any policy with probabilities.
        r_true
            The true rewards, [X, A].
        """
        r = checks.real_array(r_true, "r_true", shape=self.mdp.r.shape)
        ahead = self.mdp.occupancy(policy_table(expert, self.mdp)) - self.occupancies
        parts = (ahead * r, ahead * (1 - self.costs), -ahead * (1 - self.costs - r))
        return ImitationRegret(*(self.mdp.horizon * part.sum(axis=(1, 2)) for part in parts))


class OalDriver(CountingDriver):
    """Both players move after every episode, in compiled code."""

    GROUPS = ("playing", "seen", "learnt")

    def __init__(
        self, mdp: FiniteMDP, expert: TrajectoryDataset, K: int | None, run: RunSettings
    ) -> None:
        super().__init__(mdp, expert, K, run)
        X, shape = mdp.n_states, mdp.r.shape
        self.mu_E = expert.occupancy(*shape)
        self.learnt = Learnt(np.full(shape, 0.5), np.zeros(shape), np.zeros(X), np.full(X, 1 / X))
        self.kept_costs = np.zeros((0, *shape))
        self.policy_size = 2 * mdp.r.size  # and its costs

    def learn_some(self, most: int) -> dict[str, Any]:
        columns = super().learn_some(most)
        return {**columns, "costs": self.kept_costs}

    def play(self, record: Played, kept: KeptTables) -> None:
        assert self.K is not None  # as the first call of learn sets it
        world, seen, H = self.simulator, self.seen, self.mdp.horizon
        steps = self.config.steps(self.K, *self.mdp.r.shape, self.gamma)
        self.kept_costs = np.zeros_like(kept.policies)
        self.compiled(
            record.stop, "optimist.core.mirror:run_oal",
            world.first, world.after, world.cumulative, world.start, world.gamma, seen.counts,
            seen.visits, seen.starts, self.mu_E, self.config.bonus * H, *steps, TOLERANCE * H,
            self.playing.pi, self.playing.clock, *self.learnt, self.rng, record.steps, record.last,
            record.stop, kept.stride, kept.policies, self.kept_costs, kept.draw, kept.drawn,
        )  # fmt: skip

    def history(self, columns: dict[str, Any], first: int) -> OalHistory:
        return OalHistory(columns, first, self.mdp)

    @property
    def diagnostics(self) -> Diagnostics:
        n, H = self.n, self.mdp.horizon
        CB = np.where(n > 0, self.config.bonus * H / np.sqrt(np.maximum(n, 1)), H)
        return Diagnostics(self.learnt.V, self.playing.pi, CB, np.zeros_like(CB), 0, H)

    def layout(self, arrays: dict[str, Any]) -> schema.Layout:
        return {
            **super().layout(arrays),
            "learnt.costs": schema.real(self.mdp.r.shape, 0.0, 1.0),
            "learnt.V": schema.real((self.mdp.n_states,), 0.0),
        }

    def columns(self, rows: int, kept: int, first: int, arrays: dict[str, Any]) -> schema.Layout:
        costs = schema.real((kept, *self.mdp.r.shape), 0.0, 1.0)
        return {**super().columns(rows, kept, first, arrays), "costs": costs}


class Oal(TabularImitator):
    """OAL: a player of costs against a mirror step on optimistic values, one episode each.

    After an episode with pi_k the counts give a model P^, nu^ and bonuses b, and

        Q = clip(c_k - b + gamma P^ V, 0, H),  V = <pi_k, Q>            costs to go, optimistic
        c_{k+1} = clip(c_k + t_c (d_k - mu_E), 0, 1)                    d_k: occupancy of pi_k in P^
        pi_{k+1} ~ pi_k exp(-t_pi Q)

    from c_1 = 1/2 and a uniform pi_1. It is Algorithm 2 of Shani, Zahavy and Mannor (2021) with one
    policy and one cost for all times, which loses nothing in a discounted world. No MDP is solved.
    mu_E is the discounted occupancy of pairs in the expert's data. The output is pi_k with k
    uniform, which the theorem is about.

    Parameters
    ----------
    world, expert, seed, stride, config, parameters
        As of `TabularImitator`. The expert's data must have actions.
    K
        The number of episodes that t_pi and t_c are made for; by default that of the first call of
        `learn`. Learning beyond it keeps the steps for K.

    Examples
    --------
    >>> from optimist import envs
    >>> world, rng = envs.GridWorld(), np.random.default_rng(0)
    >>> best = world.mdp.optimal().policy
    >>> expert = TrajectoryDataset.from_rollouts(world, best, 100, rng)
    >>> gaps = Oal(world, expert, seed=0).learn(1000).gaps(best, world.mdp.r)
    >>> bool(gaps[-1] < 0.1 * gaps[0])
    True
    """

    Config: ClassVar[type[Any]] = OalConfig
    Driver = OalDriver
    sees = "pairs"
    needs_actions = True
    needs_K = True
    of_K = "the step of each player"

    _driver: OalDriver

    def learn(
        self,
        episodes: int | None = None,
        *,
        steps: int | None = None,
        callback: Callback | None = None,
        until: float | None = None,
        show_progress: bool = True,
        live: bool | Watcher = False,
    ) -> OalHistory:
        """Play and learn, as `Agent.learn` does; the history of these episodes."""
        history = super().learn(
            episodes,
            steps=steps,
            callback=callback,
            until=until,
            show_progress=show_progress,
            live=live,
        )
        assert isinstance(history, OalHistory)  # as the driver makes them
        return history

    @property
    def history(self) -> OalHistory:
        """The history of all episodes so far, or of those since it was last forgotten."""
        history = super().history
        assert isinstance(history, OalHistory)
        return history

    @property
    def costs(self) -> FloatArray:
        """The costs c_k that the next episode is judged by, [X, A]."""
        return self._driver.learnt.costs.copy()

    @property
    def visits(self) -> FloatArray:
        """How often each pair was tried and its next state seen, [X, A]."""
        return self._driver.n
