"""What a streaming learner keeps: every state it has met, once, and the transitions between them.

States are known by their features (and rewards, where those are known): two that share them are one
state to the algorithm. So finitely many observations, or the cells of a tiling, collapse to counts,
and the cost of an update stops growing; others grow with the number of steps, up to a limit.
"""

import math
from typing import Any, Literal, NamedTuple

import numpy as np

from optimist import checks, limits
from optimist.checks import FloatArray, IntArray
from optimist.core import schema
from optimist.errors import MemoryFull
from optimist.features import FeatureMap

WhenFull = Literal["thin", "error"]

MATRICES = 6
"""How many matrices of the size of a covariance a learner holds."""


DERIVED = ("head", "left", "following", "ended")
"""Arrays that follow from the others, and are not saved."""


class States(NamedTuple):
    """The states that were met, with room for more: n of the first axis are in use."""

    rows: FloatArray  # phi within its block, [X, s] if all actions share it, else [X A, s]
    block: IntArray  # the block of phi(x, a), [X, A]
    V: FloatArray  # [X]
    log_pi: FloatArray  # [X, A]
    cumulative: FloatArray  # of pi, [X, A]
    CB: FloatArray  # [X, A]
    p: FloatArray  # [X, A]
    r: FloatArray  # rewards that are known and not in the weights, [X, A]
    rewards: FloatArray  # their sum over the epoch's updates, [X, A]
    head: IntArray  # the first link to this state, or -1, [X]
    left: IntArray  # how many links leave it, [X]


class Links(NamedTuple):
    """The transitions (x, a, x'), each once, in chains of those that lead to the same state."""

    source: IntArray  # x
    action: IntArray  # a
    after: IntArray  # x', or -1 if the episode terminated
    following: IntArray  # the next link to the same x', or -1
    weight: FloatArray  # how often it was seen
    paid: FloatArray  # the sum of its rewards
    ended: IntArray  # the first link that terminated, or -1, [1]


class Moments(NamedTuple):
    """Sums over all data, of a fixed size."""

    Lambda: FloatArray  # [blocks, s, s]
    inverse: FloatArray  # of Lambda; unused if diagonal
    stale: IntArray  # rank-one updates of each block since it was factorised
    log_det: FloatArray  # [2]: of Lambda now, and at the start of the epoch
    paid: FloatArray  # sum phi (r + gamma V) with V of terminations alone, [d]
    values: FloatArray  # sum phi V(x') for the present V, [d]
    features: FloatArray  # sum phi, [d]


class Epoch(NamedTuple):
    """The policy: what it is made of, and the clock."""

    Theta: FloatArray  # the sum of theta over the epoch's updates, [d]
    theta: FloatArray  # of the last update, [d]
    Lambda: FloatArray  # at the start of the epoch
    inverse: FloatArray  # of that
    prior: FloatArray  # the four numbers of `core.prior`, as of then
    first: FloatArray  # the regression of V - v as of then, for variances, [d]; else empty
    second: FloatArray  # that of (V - v)^2, likewise
    clock: IntArray  # as of the compiled engine


class Memory:
    """The states and transitions of a run, in arrays that grow.

    Parameters
    ----------
    features
        The map phi.
    ridge
        Lambda is ridge times the identity before the first step. Where it is learnt, whoever learns
        it says here what it is by now.
    limit
        About how many bytes may be taken.
    when_full
        "thin" forgets transitions that others stand for; "error" raises `MemoryFull`.
    rewards_known
        Whether states come with rewards, by which they are told apart as well.
    """

    def __init__(
        self,
        features: FeatureMap,
        ridge: float,
        limit: float,
        when_full: WhenFull,
        rewards_known: bool = False,
    ) -> None:
        if when_full not in ("thin", "error"):
            raise ValueError(f"when_full = {when_full!r} must be 'thin' or 'error'")
        self.features, self.ridge, self.when_full = features, ridge, when_full
        self._rewards_known = rewards_known
        d, A = features.dim, features.n_actions
        blocks, s = features.blocks, features.dim // features.blocks
        self._rows = 1 if features.shared else A  # rows of each state
        per_state = 8 * (self._rows * s + 7 * A + 3) + 40 + 80  # a link each; an entry of the index
        self.limit = checks.positive(limit, "memory")
        self.most = int(self.limit // per_state)
        if self.most < 2:
            raise ValueError(f"memory = {limit:g} bytes is less than two states take: {per_state}")
        matrices = MATRICES * 8 * blocks * s * s
        if matrices > self.limit:
            raise ValueError(
                f"{d:,} features in {blocks} blocks of {s:,} need {matrices / 2**30:.1f} GiB for "
                f"their covariances, and memory={self.limit:.3g} bytes is the limit: take fewer "
                "features, or one tiling (tiles:N), whose covariance is diagonal"
            )
        limits.need(matrices, f"the covariances of {d:,} features")
        self.n_states = self.n_links = 0
        self.states = States(
            rows=np.zeros((0, s)),
            block=np.zeros((0, A), dtype=np.int64),
            V=np.zeros(0),
            log_pi=np.zeros((0, A)),
            cumulative=np.zeros((0, A)),
            CB=np.zeros((0, A)),
            p=np.zeros((0, A)),
            r=np.zeros((0, A)),
            rewards=np.zeros((0, A)),
            head=np.zeros(0, dtype=np.int64),
            left=np.zeros(0, dtype=np.int64),
        )
        none = np.zeros(0, dtype=np.int64)
        self.links = Links(none, none, none, none, np.zeros(0), np.zeros(0), np.array([-1]))
        identity = np.tile(np.eye(s), (blocks, 1, 1))
        log_det = d * math.log(ridge)
        self.moments = Moments(
            Lambda=ridge * identity,
            inverse=identity / ridge,
            stale=np.zeros(blocks, dtype=np.int64),
            log_det=np.array([log_det, log_det]),
            paid=np.zeros(d),
            values=np.zeros(d),
            features=np.zeros(d),
        )
        self._index: dict[int, int] = {}  # from the digest of a state to its number

    # Growing

    def find(self, observations: Any, r: FloatArray | None) -> tuple[list[int], int]:
        """The numbers of observations [n, ...] as states, new ones among them; how many were known.

        ``r`` are the known rewards [n, A] there, if they are.
        """
        rows, block = self.features.in_blocks(observations)
        if not np.isfinite(rows).all():
            raise ValueError("the features of an observation are not all finite numbers")
        known = self.n_states
        each = range(len(block))
        return [self._find(rows[i], block[i], None if r is None else r[i]) for i in each], known

    def _find(self, rows: FloatArray, block: IntArray, r: FloatArray | None) -> int:
        key = hash((rows.tobytes(), block.tobytes(), None if r is None else r.tobytes()))
        x = self._index.get(key, -1)
        if x >= 0 and self._is(x, rows, block, r):
            return x
        x = self.n_states
        self._reserve_states(x + 1)
        self.states.rows[x * self._rows : (x + 1) * self._rows] = rows
        self.states.block[x] = block
        self.states.r[x] = 0.0 if r is None else r
        self.states.head[x], self.states.left[x] = -1, 0
        self._index[key] = x  # of two with one digest the later is found, the other kept for itself
        self.n_states += 1
        return x

    def _is(self, x: int, rows: FloatArray, block: IntArray, r: FloatArray | None) -> bool:
        """Whether a state is the one with these features: digests may coincide."""
        mine = self.states.rows[x * self._rows : (x + 1) * self._rows]
        if not (mine == rows).all() or not (self.states.block[x] == block).all():
            return False
        return r is None or bool((self.states.r[x] == r).all())

    def _reserve_states(self, n: int) -> None:
        room = len(self.states.V)
        if n > room:
            size = max(64, 2 * room)
            self.states = States._make(
                (
                    _grown(array, size * self._rows if name == "rows" else size)
                    for name, array in self.states._asdict().items()
                )
            )

    def reserve_links(self, more: int) -> None:
        """Make room for so many more links."""
        room, n = len(self.links.source), self.n_links + more
        if n > room:
            *arrays, ended = self.links
            size = max(64, n, 2 * room)
            self.links = Links._make([*(_grown(array, size) for array in arrays), ended])

    def restore(self, arrays: dict[str, Any]) -> None:
        """Go on from copies of such `arrays`, which are as `layout` says."""
        groups: dict[str, dict[str, Any]] = {"states": {}, "links": {}, "moments": {}}
        for name, array in arrays.items():
            group, _, part = name.partition(".")
            groups[group][part] = np.array(array)
        n, m = len(arrays["states.V"]), len(arrays["links.source"])
        none = np.full(n, -1)
        self.states = States(**groups["states"], head=none, left=none.copy())
        self.links = Links(**groups["links"], following=np.full(m, -1), ended=np.array([-1]))
        self.moments = Moments(**groups["moments"])
        self.n_states, self.n_links = n, m
        self._reindex()
        self._chain()

    @property
    def arrays(self) -> dict[str, Any]:
        """All that `restore` needs, by names with their groups."""
        groups: dict[str, Any] = {
            "states": self.states,
            "links": self.links,
            "moments": self.moments,
        }
        return {
            f"{group}.{name}": array[: self._used(group, name, self.n_states, self.n_links)]
            for group, values in groups.items()
            for name, array in values._asdict().items()
            if name not in DERIVED
        }

    def layout(self, n: int, m: int) -> dict[str, schema.Array]:
        """What the arrays of a checkpoint must be, with n states and m links."""
        A, blocks = self.features.n_actions, self.features.blocks
        wanted = {}
        for name, array in self.arrays.items():
            group, _, part = name.partition(".")
            used = self._used(group, part, n, m)
            shape = array.shape if used is None else (used, *array.shape[1:])
            wanted[name] = schema.usual(name, shape)
        return {
            **wanted,
            "states.block": schema.index((n, A), blocks),
            "links.source": schema.index((m,), n),
            "links.action": schema.index((m,), A),
            "links.after": schema.index((m,), n, -1),
        }

    def _used(self, group: str, name: str, n: int, m: int) -> int | None:
        """How long an array is with n states and m links; None if that does not depend on them."""
        return {"rows": n * self._rows}.get(name, {"states": n, "links": m}.get(group))

    # Shrinking

    @property
    def full(self) -> bool:
        """Whether it is time to make room."""
        return self.n_states >= self.most or self.n_links >= 2 * self.most

    def make_room(
        self, rng: np.random.Generator, in_use: IntArray, gamma: float, terminal: float
    ) -> IntArray:
        """Thin the transitions, or raise `MemoryFull`; the new numbers of the states, or -1.

        A link (x, a, x') of weight n is kept with probability q = min(1, c n phi' Lambda^{-1} phi),
        and then counts as n / q: ridge leverage scores (Alaoui and Mahoney, 2015), with c such that
        a quarter as many links stay as there may be states. The sums and Lambda keep their means;
        seldom seen pairs stay, but not the seldom outcomes of pairs often seen. The error of theta
        no longer shrinks below that of the links kept, while Lambda goes on growing: bonuses are
        then too small by up to the root of the mean weight. States that no link needs are
        forgotten, and all sums are taken again over what is left.
        """
        if self.when_full == "error":
            raise MemoryFull(
                f"the memory holds {self.n_states:,} states and is full: give more (memory=...), "
                "or let it forget what others stand for (when_full='thin')"
            )
        links, n = self.links, self.n_links
        scores = links.weight[:n] * self.leverage()
        keep = inclusion_probabilities(scores, self.most // 4)  # a link needs two states
        stays = rng.random(n) < keep
        kept = np.flatnonzero(stays)
        weight, paid = links.weight[kept] / keep[kept], links.paid[kept] / keep[kept]
        source, action, after = links.source[kept], links.action[kept], links.after[kept]
        used = np.union1d(np.concatenate([source, after[after >= 0]]), in_use)
        if 4 * used.size > 3 * self.most:
            raise MemoryFull(
                f"the memory holds {self.n_states:,} states, and too few of them can stand for "
                f"others to be forgotten: give more than memory={self.limit:.3g} bytes"
            )
        number = np.full(self.n_states, -1)
        number[used] = np.arange(used.size)
        rows = self.states.rows.reshape(-1, self._rows, self.states.rows.shape[1])
        others = (array[used] for array in self.states[1:])
        self.states = States._make([rows[used].reshape(-1, rows.shape[2]), *others])
        self.n_states = used.size
        self._reindex()
        self.links = Links(
            number[source],
            action,
            np.where(after >= 0, number[after], -1),
            np.full(kept.size, -1),
            weight,
            paid,
            np.array([-1]),
        )
        self.n_links = kept.size
        self._chain()
        self._sum_up(gamma, terminal)
        return number

    def leverage(self) -> FloatArray:
        """phi' Lambda^{-1} phi of each link's pair."""
        block, phi = self._pairs()
        if phi.shape[1] == 1:
            return np.asarray(phi[:, 0] ** 2 / self.moments.Lambda[block, 0, 0])
        scores = np.empty(len(block))
        for b in range(self.features.blocks):
            here = block == b
            L = np.linalg.cholesky(self.moments.Lambda[b])
            scores[here] = (np.linalg.solve(L, phi[here].T) ** 2).sum(axis=0)
        return scores

    def _pairs(self) -> tuple[IntArray, FloatArray]:
        """The block of each link's pair, and its features there."""
        source, action = self.links.source[: self.n_links], self.links.action[: self.n_links]
        at = source if self._rows == 1 else source * self._rows + action
        return self.states.block[source, action], self.states.rows[at]

    def _reindex(self) -> None:
        """Find the states by their features again."""
        self._index, s = {}, self.states
        for x in range(self.n_states):
            rows = s.rows[x * self._rows : (x + 1) * self._rows]
            r = s.r[x].tobytes() if self._rewards_known else None
            self._index[hash((rows.tobytes(), s.block[x].tobytes(), r))] = x

    def _chain(self) -> None:
        """Chain the links that lead to the same state, and count those that leave one."""
        links, n = self.links, self.n_links
        self.states.head[: self.n_states] = -1
        self.states.left[: self.n_states] = 0
        np.add.at(self.states.left, links.source[:n], 1)
        for link, after in enumerate(links.after[:n].tolist()):
            if after >= 0:
                links.following[link] = self.states.head[after]
                self.states.head[after] = link
            else:
                links.following[link] = links.ended[0]
                links.ended[0] = link

    def _sum_up(self, gamma: float, terminal: float) -> None:
        """All sums over the data again, from the links."""
        m, n, links = self.moments, self.n_links, self.links
        block, phi = self._pairs()
        s = phi.shape[1]
        ended = links.after[:n] < 0
        paid = links.paid[:n] + gamma * terminal * links.weight[:n] * ended
        V = np.where(ended, 0.0, self.states.V[links.after[:n]]) * links.weight[:n]
        log_det = 0.0
        for b in range(self.features.blocks) if s > 1 else ():
            here = block == b
            part, weight = phi[here], links.weight[:n][here]
            m.Lambda[b] = self.ridge * np.eye(s) + (part * weight[:, None]).T @ part
            m.inverse[b] = np.linalg.inv(m.Lambda[b])
            log_det += np.linalg.slogdet(m.Lambda[b])[1]
            m.paid[b * s : (b + 1) * s] = paid[here] @ part
            m.values[b * s : (b + 1) * s] = V[here] @ part
            m.features[b * s : (b + 1) * s] = weight @ part
        if s == 1:
            d = self.features.dim
            square = np.bincount(block, links.weight[:n] * phi[:, 0] ** 2, minlength=d)
            m.Lambda[:, 0, 0] = self.ridge + square
            m.paid[:] = np.bincount(block, paid * phi[:, 0], minlength=d)
            m.values[:] = np.bincount(block, V * phi[:, 0], minlength=d)
            m.features[:] = np.bincount(block, links.weight[:n] * phi[:, 0], minlength=d)
            log_det = float(np.log(m.Lambda).sum())
        m.stale[:] = 0
        m.log_det[:] += log_det - m.log_det[0]  # the epoch has grown as much as it had


def inclusion_probabilities(scores: FloatArray, expected: int) -> FloatArray:
    """min(1, c scores) with the c for which they sum to ``expected``, or 1 if there are no more.

    Examples
    --------
    >>> inclusion_probabilities(np.array([1.0, 2.0, 9.0]), expected=2)
    array([0.33333333, 0.66666667, 1.        ])
    """
    if scores.size <= expected:
        return np.ones_like(scores)
    ordered = np.sort(scores)[::-1]
    rest = np.append(np.cumsum(ordered[::-1])[::-1], 0.0)  # the sum of all but the i largest
    for i in range(expected):  # the i largest are kept for certain
        if (expected - i) * ordered[i] <= rest[i] > 0:
            return np.asarray(np.minimum(1.0, (expected - i) / rest[i] * scores))
    return np.asarray(scores > 0, dtype=np.float64)  # as many or fewer matter at all


def _grown(array: Any, size: int) -> Any:
    more = np.zeros((size, *array.shape[1:]), dtype=array.dtype)
    more[: len(array)] = array
    return more
