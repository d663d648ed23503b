"""Certificates of what was learnt in a finite world (docs/certificates.md)."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from optimist import checks
from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core import Guarantee, TablePolicy
from optimist.core.state import Simulator
from optimist.envs import World
from optimist.mdp import FiniteMDP

Support = World | FiniteMDP | ArrayLike | Callable[[int, int], Iterable[int]]
"""Which next states are possible: an MDP, booleans [X, A, X], or a function of state and action."""

PRECISION = 0.01
"""The search for bounds ends when they could be nearer by no more than this share of their gap."""

SWEEPS, MOST_SWEEPS = 100, 20_000
"""Sweeps of one compiled call, between which interruptions are heard, and of all."""

ROUNDING = 1e-9
"""By this share of the largest value bounds are widened, for rounding."""


class Seen(NamedTuple):
    """The counts of a learner in a finite world, and its known rewards."""

    counts: FloatArray  # of each entry of P
    starts: IntArray  # how often an episode began in each state, [X]
    r: FloatArray  # [X, A]


@dataclass(frozen=True, repr=False)
class Certificate(Guarantee):
    """How far a policy may be from the optimum, by what was seen alone.

    With probability 1 - delta all certificates of a run hold, at whatever times they are computed:
    ``lower <= V^pi(nu_0) <= V*(nu_0) <= upper`` for the policy pi.

    Attributes
    ----------
    policy
        The policy with the best lower bound. It is deterministic, and may be better than what is
        played. ``policy.save`` keeps the numbers of the certificate too.
    """

    policy: TablePolicy

    def __repr__(self) -> str:
        return f"Certificate({self})"


class Certifier:
    """Certificates of one learner at one delta: each search begins at the bounds of the last.

    All of them hold at once, so that the best so far does.
    """

    def __init__(
        self,
        world: Simulator,
        r: FloatArray,
        delta: float,
        support: Support | None,
        precision: float = PRECISION,
    ) -> None:
        # Imported here, because it compiles: a learner that is not asked loads nothing of it.
        from optimist.core import evidence
        from optimist.core.certificate import certify, no_bounds
        from optimist.core.frame import frame
        from optimist.core.means import room_for_means

        self.r, self.delta, self.support = r, delta, support
        (X, A), gamma = r.shape, world.gamma
        self._precision = precision
        first, after, begins = world.first, world.after, np.ones(X, dtype=np.bool_)
        if support is not None:
            first, after, begins = read_support(support, X, A)
            self._place = _places(world, first, after)
        possible = np.append(np.diff(first), begins.sum()) if support is not None else np.array([X])
        unknown = (possible > 1).sum() if support is not None else (X > 1) * (X * A + 1)
        # The search is for rewards in [0, 1].
        self._lowest, self._range = float(r.min()) / (1 - gamma), float(np.ptp(r))
        self._margin = ROUNDING * float(np.abs(r).max()) / (1 - gamma)
        states = np.flatnonzero(begins)
        self._begins, self._world, self._n = begins, world, after.size
        seen = evidence.Evidence(
            first=np.append(first, after.size + states.size),
            after=np.concatenate([after, states]),
            counts=np.zeros(after.size + states.size),
            closed=support is not None,
            r=(r - r.min()) / (self._range or 1.0),
            gamma=gamma,
            log_events=math.log(2 * max(int(unknown), 1) / delta),
            log_gammas=evidence.log_gammas(X),
        )
        rows = evidence.room_for_rows(X * A + 1, seen.after.size)
        means = room_for_means(X * A + 1, seen.after.size)
        bounds, newton = no_bounds(X, A, float(seen.r.max()) / (1 - gamma))
        self._certify: Any = certify
        self._search = tuple(map(frame, (seen, rows, bounds, means, newton)))
        self._counts, self._policy, self._Q = seen.counts, bounds.policy, bounds.Q
        self._last: Certificate | None = None

    @property
    def upper_Q(self) -> FloatArray:
        """Upper bounds on Q*, [X, A], as of the last certificate."""
        return self._Q * self._range + self._lowest

    def serves(self, r: FloatArray, delta: float, support: Support | None) -> bool:
        """Whether it is for these rewards, this delta and this support."""
        same = self.r is r or np.array_equal(self.r, r)
        return same and self.delta == delta and self.support is support

    def certificate(self, seen: Seen, episodes: int, steps: int) -> Certificate:
        """The certificate of what was seen by now."""
        last = self._last
        if last is not None and (last.episodes, last.steps) == (episodes, steps):
            return last
        self._take(seen)
        upper, lower, settled, done = math.inf, -math.inf, False, 0
        while not settled and done < MOST_SWEEPS:
            upper, lower, settled = self._certify(*self._search, done == 0, SWEEPS, self._precision)
            done += SWEEPS
        policy = np.zeros(self.r.shape)
        policy[np.arange(len(policy)), self._policy] = 1
        lower = self._lowest + self._range * lower - self._margin
        upper = self._lowest + self._range * upper + self._margin
        if last is not None:  # values from states can only improve; their means might not
            lower, upper = max(lower, last.lower), min(upper, last.upper)
        numbers = (lower, upper, self.delta, episodes, steps)
        self._last = Certificate(*numbers, TablePolicy(policy, Guarantee(*numbers)))
        return self._last

    def _take(self, seen: Seen) -> None:
        """Note what was seen, and refuse what was not possible."""
        if self.support is None:
            self._counts[: self._n], self._counts[self._n :] = seen.counts, seen.starts
            return
        outside = (self._place < 0) & (seen.counts > 0)
        if outside.any():
            entry = int(np.argmax(outside))
            pair = int(np.searchsorted(self._world.first, entry, side="right")) - 1
            x, a = divmod(pair, self.r.shape[1])
            y = int(self._world.after[entry])
            raise ValueError(f"support must have all that was seen; got none of {x}, {a} to {y}")
        if seen.starts[~self._begins].any():
            x = int(np.argmax(~self._begins & (seen.starts > 0)))
            raise ValueError(f"support must have all that was seen; no episode begins in {x} there")
        known = self._place >= 0
        self._counts[self._place[known]] = seen.counts[known]
        self._counts[self._n :] = seen.starts[self._begins]


def read_support(support: Support, n_states: int, n_actions: int) -> tuple[IntArray, IntArray, Any]:
    """The possible next states by pairs, as in `Simulator`, and where episodes may begin, [X].

    Examples
    --------
    >>> first, after, begins = read_support(lambda x, a: {x, 1}, n_states=2, n_actions=1)
    >>> first, after, begins
    (array([0, 2, 3]), array([0, 1, 1]), array([ True,  True]))
    """
    begins: BoolArray = np.ones(n_states, dtype=np.bool_)
    if isinstance(support, World | FiniteMDP):
        mdp = support.mdp if isinstance(support, World) else support
        if mdp.r.shape != (n_states, n_actions):
            raise ValueError(
                f"support must be of {n_states} states and {n_actions} actions; got {mdp!r}"
            )
        kernel, begins = sp.csr_array(mdp.kernel, copy=True), mdp.nu0 > 0
        kernel.eliminate_zeros()
        kernel.sort_indices()
        return kernel.indptr.astype(np.int64), kernel.indices.astype(np.int64), begins
    if callable(support):
        table = np.zeros((n_states, n_actions, n_states), dtype=np.bool_)
        for x in range(n_states):
            for a in range(n_actions):
                states = checks.indices(list(support(x, a)), f"support({x}, {a})", n_states)
                table[x, a, states] = True
    else:
        table = np.asarray(support)
    if table.dtype != np.bool_ or table.shape != (n_states, n_actions, n_states):
        raise ValueError(
            "support must be an MDP, booleans [X, A, X], or a function of a state and an action; "
            f"got {table.dtype} of shape {table.shape}"
        )
    rows = table.reshape(-1, n_states)
    if not rows.any(axis=1).all():
        x, a = divmod(int(np.argmin(rows.any(axis=1))), n_actions)
        raise ValueError(f"support[{x}, {a}] must have a next state; got none")
    first = np.concatenate([[0], np.cumsum(rows.sum(axis=1))])
    return first, np.nonzero(rows)[1], begins


def _places(world: Simulator, first: IntArray, after: IntArray) -> IntArray:
    """Where each entry of P is among those that are possible; -1 if it is not."""
    X = world.nu0.size
    mine, theirs = (
        np.repeat(np.arange(f.size - 1), np.diff(f)) * X + y
        for f, y in ((world.first, world.after), (first, after))
    )
    order = np.argsort(theirs)
    at = np.minimum(np.searchsorted(theirs, mine, sorter=order), theirs.size - 1)
    found = order[at]
    return np.where(theirs[found] == mine, found, -1)
