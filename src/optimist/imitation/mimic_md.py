"""Mimic-MD: the known part of the expert's occupancy exactly, the rest from data."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sl

from optimist import limits
from optimist.agents.driver import RunSettings
from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core import schema
from optimist.imitation.imitator import known_actions, timed_actions
from optimist.imitation.offline import OfflineDriver, OfflineImitator
from optimist.imitation.trajectories import TrajectoryDataset
from optimist.mdp import FiniteMDP, match_occupancy, match_timed, policy_of, timed_occupancy

BYTES_A_VARIABLE = 400
"""About what HiGHS and the target take for each pair, at each time."""


class Target(NamedTuple):
    """The target of the match: [X, A], or with a law for each time [T, X, A]."""

    kappa: IntArray  # the known action of each state, -1 where it is unknown: [X], or [T, X]
    inside: FloatArray  # the mass of paths that never left the known states, exactly
    outside: FloatArray  # the mass after they were left, estimated


def stationary_target(mdp: FiniteMDP, D1: TrajectoryDataset, D2: TrajectoryDataset) -> Target:
    """The target of the stationary form.

    With S1 the states of D1 and M = P(.|., kappa) on S1 x S1, the known part is kappa's
    m = (1-gamma) nu0|S1 (I - gamma M)^{-1}.
    """
    kappa = known_actions(D1, mdp.n_states)
    S1 = np.flatnonzero(kappa >= 0)
    rows = sp.csr_array(mdp.kernel)[S1 * mdp.n_actions + kappa[S1]][:, S1]
    system = sp.csc_array(sp.eye_array(S1.size) - mdp.gamma * rows.T)
    inside = np.zeros(mdp.r.shape)
    inside[S1, kappa[S1]] = sl.spsolve(system, (1 - mdp.gamma) * mdp.nu0[S1])
    return Target(kappa, inside, outside_part(D2, mdp, kappa))


def outside_part(D2: TrajectoryDataset, mdp: FiniteMDP, kappa: IntArray) -> FloatArray:
    """The discounted frequencies in D2 from the first unknown state of each path on, [X, A]."""
    at, share = _after_leaving(D2, kappa[D2.states] < 0)
    weights = (1 - mdp.gamma) * mdp.gamma ** D2.times[at] * share
    mu = np.zeros(mdp.r.shape)
    np.add.at(mu, (D2.states[at], _actions(D2)[at]), weights)
    return mu


def timed_target(mdp: FiniteMDP, D1: TrajectoryDataset, D2: TrajectoryDataset) -> Target:
    """The target of the literal form: S1_t and kappa_t of each time, laws of mass one.

    The known part is the forward recursion through S1_0, ..., S1_t.
    """
    T, (X, A) = int(max(D1.lengths.max(), D2.lengths.max(initial=0))), mdp.r.shape
    kappa = timed_actions(D1, X, T)
    inside, law = np.zeros((T, X, A)), mdp.nu0
    for t in range(T):
        S1 = np.flatnonzero(kappa[t] >= 0)
        inside[t, S1, kappa[t, S1]] = law[S1]
        law = np.asarray(inside[t].ravel() @ mdp.kernel)
    at, share = _after_leaving(D2, kappa[D2.times, D2.states] < 0)
    outside = np.zeros((T, X, A))
    np.add.at(outside, (D2.times[at], D2.states[at], _actions(D2)[at]), share)
    return Target(kappa, inside, outside)


def _after_leaving(data: TrajectoryDataset, unknown: BoolArray) -> tuple[IntArray, FloatArray]:
    """The steps of each path from its first unknown state on; the weight of each, 1 / n.

    n is the number of paths that are long enough to have such a step.
    """
    so_far = np.append(0, np.cumsum(unknown))  # unknown states before each step
    first = np.repeat(data.offsets[:-1], data.lengths)
    at = np.flatnonzero(so_far[1:] > so_far[first])
    longer = np.bincount(data.times)  # how many paths reach each time
    return at, 1 / longer[data.times[at]]


def _actions(data: TrajectoryDataset) -> IntArray:
    assert data.actions is not None  # Mimic-MD needs actions, and refuses data without them
    return data.actions


@dataclass(frozen=True)
class MimicMDConfig:
    """The parameters of Mimic-MD. The theory has no constants: the split is half and half.

    Attributes
    ----------
    indexed
        Whether actions are known, and laws are matched, for each time apart, as in the paper. It is
        right for experts that depend on time; for others it knows less.
    """

    indexed: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.indexed, bool | np.bool_):
            raise TypeError(f"indexed must be True or False; got {self.indexed!r}")
        object.__setattr__(self, "indexed", bool(self.indexed))


class Matched(NamedTuple):
    """The target of the match, and its result."""

    kappa: IntArray
    inside: FloatArray
    outside: FloatArray
    tables: FloatArray  # the policy, [1, X, A] or [T, X, A]
    objective: FloatArray  # [1]


class MimicMDDriver(OfflineDriver):
    """Splits the data, and matches."""

    GROUPS = ("playing", "found")

    def __init__(
        self, mdp: FiniteMDP, expert: TrajectoryDataset, K: int | None, run: RunSettings
    ) -> None:
        super().__init__(mdp, expert, K, run)
        times = (int(expert.lengths.max()),) if self.config.indexed else ()
        shape = (*times, *mdp.r.shape)
        size = math.prod(shape)
        limits.need(BYTES_A_VARIABLE * size, f"a linear programme of {3 * size:,} variables")
        tables = np.broadcast_to(mdp.uniform_policy, shape).reshape(-1, *mdp.r.shape)
        blank = np.full(shape[:-1], -1), np.zeros(shape), np.zeros(shape)
        self.found = Matched(*blank, tables.copy(), np.zeros(1))

    def solve(self) -> None:
        mdp, indexed = self.mdp, self.config.indexed
        halves = self.expert.split(self.rng)
        target = (timed_target if indexed else stationary_target)(mdp, *halves)
        match = match_timed if indexed else match_occupancy
        wanted = target.inside + target.outside
        found = match(mdp.P, mdp.nu0, wanted, mdp.gamma, fixed=target.kappa)
        for array, value in zip(self.found, target, strict=False):
            array[...] = value
        self.found.tables[:] = found.policy
        self.found.objective[0] = found.objective
        self.playing.pi[:] = found.policy if not indexed else self._stationary(found.policy)

    def _stationary(self, tables: FloatArray) -> FloatArray:
        """The stationary policy of the same occupancy, and so of the same value."""
        mdp = self.mdp
        return policy_of(timed_occupancy(mdp.P, mdp.nu0, tables, mdp.gamma))

    def layout(self, arrays: dict[str, Any]) -> schema.Layout:
        found = self.found
        return {
            **super().layout(arrays),
            "found.kappa": schema.index(found.kappa.shape, self.mdp.n_actions, -1),
            "found.tables": schema.policy(found.tables.shape),
        }


class MimicMD(OfflineImitator):
    """Mimic-MD (Rajaraman, Yang, Jiao and Ramchandran, 2020): P known, a deterministic expert.

    The trajectories are split. Where the first half D1 shows the expert's action it is copied, and
    how much time the expert spends on paths that never leave those states S1 is computed from P.
    Only what happens after leaving is estimated, from the second half D2. Of the policies that copy
    D1, the one whose occupancy is nearest in L1 is taken:

        kappa(x) = the action of x in D1,  S1 = the states of D1,  M = P(.|., kappa) on S1 x S1
        mu_in(x, kappa(x)) = m(x),  (I - gamma M)' m = (1-gamma) nu0|S1
        mu_out(x,a) = mean over D2 of sum_{t >= s} (1-gamma) gamma^t 1{(x_t, a_t) = (x,a)},
                      s the first time at which x_t is not in S1
        pi = argmin { ||mu(pi) - mu_in - mu_out||_1 : pi(kappa(x)|x) = 1 on S1 }

    The pseudocode of the paper is from memory. In every run the gap to the expert is at most
    H ||mu_in + mu_out - mu(pi_E)||_1. With tau_E trajectories it is of order
    min(H sqrt(X / tau_E), X H^{3/2} / tau_E).

    Parameters
    ----------
    world, expert, K, seed, stride, config, parameters
        As of `OfflineImitator`. The expert's data must have actions, one in each state, or with
        ``indexed=True`` one in each state at each time.

    Examples
    --------
    >>> from optimist import envs
    >>> from optimist.imitation import TrajectoryDataset
    >>> world, rng = envs.ResetCliff(10), np.random.default_rng(0)
    >>> best = world.mdp.optimal().policy
    >>> data = TrajectoryDataset.from_rollouts(world, best, 20, rng)
    >>> il = MimicMD(world, data, seed=0)
    >>> history = il.learn()
    >>> bool(history.gaps(best, world.mdp.r)[0] < 1e-9)
    True
    """

    Config: ClassVar[type[Any]] = MimicMDConfig
    Driver = MimicMDDriver
    sees = "pairs"
    needs_actions = True
    needs_deterministic = True
    needs_kernel = True

    _driver: MimicMDDriver

    def _check_deterministic(self, data: TrajectoryDataset, n_states: int, config: Any) -> None:
        """Refuse different actions in one state; with ``indexed``, in one state at one time."""
        if config.indexed:
            timed_actions(data, n_states, int(data.lengths.max()))
        else:
            super()._check_deterministic(data, n_states, config)

    @property
    def target(self) -> Target:
        """The known actions and the two parts of what was matched: [X, A], or [T, X, A]."""
        self._driver.policy  # noqa: B018 - refuses before learn()
        found = self._driver.found
        return Target(found.kappa.copy(), found.inside.copy(), found.outside.copy())

    @property
    def objective(self) -> float:
        """The distance of the policy's occupancy from the target, in L1."""
        self._driver.policy  # noqa: B018
        return float(self._driver.found.objective[0])

    @property
    def tables(self) -> FloatArray:
        """The table of each time, [T, X, A]; the last is also played afterwards.

        If ``indexed``, `policy` is the stationary policy of the same occupancy.
        """
        self._driver.policy  # noqa: B018
        return self._driver.found.tables.copy()
