"""The memory of a streaming learner: the states that it has met, and the transitions between them.

States are identified by their features (and rewards, where those are known): two that share them
are one state to the algorithm. So finitely many observations, or the cells of a tiling, collapse to
counts, and the cost of an update stops growing; others grow with the steps, up to a limit.
"""

from typing import Any, Literal

import numpy as np

from optimist import checks, limits
from optimist.checks import FloatArray, IntArray
from optimist.core import schema
from optimist.core.arrays import MATRICES, blank_regression, block_shape
from optimist.core.norms import norms
from optimist.core.state import (
    Chains,
    Epoch,
    Links,
    Regression,
    Rule,
    States,
    Stream,
    Sums,
    arrays_of,
)
from optimist.core.thinning import chain, choose, sum_again
from optimist.errors import MemoryFull
from optimist.features import Distinct, FeatureMap

BYTES_A_DIGEST = 150
"""About what a distinct observation takes in its numbering."""

VECTORS = 18
"""How many numbers are kept of each feature: of all data, the epoch, and the policy drawn."""

WhenFull = Literal["thin", "error"]


class Memory:
    """The states and transitions of a run, in arrays that grow.

    Parameters
    ----------
    features
        The map phi.
    ridge
        Lambda is ridge times the identity before the first step. A learner that learns it sets the
        attribute.
    limit
        About how many bytes may be taken.
    when_full
        "thin" forgets pairs with their transitions; "error" raises `MemoryFull`.
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
            raise ValueError(f"when_full must be 'thin' or 'error'; got {when_full!r}")
        self.features, self.ridge, self.when_full = features, ridge, when_full
        self._rewards_known = rewards_known
        d, A = features.dim, features.n_actions
        blocks, s = block_shape(features)
        self._rows = 1 if features.shared else A  # rows of each state
        per_state = 8 * (self._rows * s + 8 * A + 3) + 40 + 80  # a link each; an entry of the index
        if isinstance(features, Distinct):
            per_state += BYTES_A_DIGEST + 8 * VECTORS * A  # its features are its own
        self.limit = checks.positive(limit, "memory")
        self.most = int(self.limit // per_state)
        if self.most < 2:
            raise ValueError(
                f"memory must be at least {2 * per_state} bytes, for two states; got {limit:g}"
            )
        matrices = MATRICES * 8 * blocks * s * s
        if matrices > self.limit:
            raise ValueError(
                f"{d:,} features in {blocks} blocks of {s:,} need {matrices / 2**30:.1f} GiB for "
                f"their covariances, and memory={self.limit:.3g} bytes is the limit: take fewer "
                "features, or one tiling (tiles:N), whose covariance is diagonal"
            )
        limits.need(matrices, f"the covariances of {d:,} features")
        self.n_states = self.n_links = 0
        none = np.zeros(0, dtype=np.int64)
        self.states = States(
            rows=np.zeros((0, s)),
            block=np.zeros((0, A), dtype=np.int64),
            V=np.zeros(0),
            log_pi=np.zeros((0, A)),
            cumulative=np.zeros((0, A)),
            CB=np.zeros((0, A)),
            p=np.zeros((0, A)),
            standing=np.zeros((0, A)),
            r=np.zeros((0, A)),
            rewards=np.zeros((0, A)),
        )
        self.links = Links(none, none, none, np.zeros(0), np.zeros(0))
        self.chains = Chains(none, none, none, np.array([-1]))
        self.regression = blank_regression(features, ridge)
        self.sums = Sums(np.zeros(d), np.zeros(d), np.zeros(d))
        self._index: dict[int, int] = {}  # from the digest of a state to its number

    # Growing

    def find(self, observations: Any, r: FloatArray | None) -> tuple[list[int], int]:
        """The numbers of observations [n, ...] as states, new ones among them; how many were known.

        ``r`` are the known rewards [n, A] there, if they are.
        """
        phi = self.features
        rows, block = (phi.add if isinstance(phi, Distinct) else phi.in_blocks)(observations)
        if not np.isfinite(rows).all():
            raise ValueError("the features of an observation are not all finite numbers")
        known = self.n_states
        each = range(len(block))
        return [self._find(rows[i], block[i], None if r is None else r[i]) for i in each], known

    def _find(self, rows: FloatArray, block: IntArray, r: FloatArray | None) -> int:
        given = (rows, block) if r is None else (rows, block, r)
        key = _digest(given)
        x = self._index.get(key, -1)
        if x >= 0 and all((a == b).all() for a, b in zip(given, self._state(x), strict=True)):
            return x  # otherwise two states have one digest
        x = self.n_states
        self._reserve_states(x + 1)
        self.states.rows[x * self._rows : (x + 1) * self._rows] = rows
        self.states.block[x] = block
        self.states.r[x] = 0.0 if r is None else r
        self.chains.head[x], self.chains.left[x] = -1, 0
        self._index[key] = x  # of two with one digest the later is found; the other is kept
        self.n_states += 1
        return x

    def _state(self, x: int) -> tuple[Any, ...]:
        """The data that identify a state: its features, and its rewards where they are known."""
        s, rows = self.states, slice(x * self._rows, (x + 1) * self._rows)
        return (s.rows[rows], s.block[x], s.r[x])[: 3 if self._rewards_known else 2]

    def _reserve_states(self, n: int) -> None:
        room = len(self.states.V)
        if n > room:
            size = max(64, 2 * room)
            grown = {
                name: _grown(array, size * self._rows if name == "rows" else size)
                for name, array in self.states._asdict().items()
            }
            self.states = self.states._replace(**grown)
            head, left = (_grown(array, size) for array in self.chains[:2])
            self.chains = self.chains._replace(head=head, left=left)

    def reserve_links(self, more: int) -> None:
        """Make room for this many more links."""
        room, n = len(self.links.source), self.n_links + more
        if n > room:
            size = max(64, n, 2 * room)
            self.links = Links._make(_grown(array, size) for array in self.links)
            self.chains = self.chains._replace(following=_grown(self.chains.following, size))

    def stream(self, rule: Rule, epoch: Epoch) -> Stream:
        """The argument of every function of the compiled part."""
        parts = (self.states, self.links, self.chains, self.regression, self.sums)
        return Stream(rule, *parts, epoch)

    @property
    def ends(self) -> bool:
        """Whether an episode has terminated so far."""
        return bool(self.chains.ended[0] >= 0)

    def restore(self, arrays: dict[str, Any]) -> None:
        """Continue from copies of such `arrays`, which are as `layout` says."""
        groups: dict[str, dict[str, Any]] = {}
        for name, array in arrays.items():
            group, _, part = name.partition(".")
            groups.setdefault(group, {})[part] = np.array(array)
        self.states = States(**groups["states"])
        self.links = Links(**groups["links"])
        self.regression = Regression(**groups["regression"])
        self.sums = Sums(**groups["sums"])
        self.n_states, self.n_links = len(self.states.V), len(self.links.source)
        self._index_states()
        self.chains = chain(self.links, len(self.states.V))

    @property
    def arrays(self) -> dict[str, Any]:
        """The arrays that `restore` needs, by names with their groups."""
        found = {
            **arrays_of("states", self.states),
            **arrays_of("links", self.links),
            **arrays_of("regression", self.regression),
            **arrays_of("sums", self.sums),
        }
        n, m = self.n_states, self.n_links
        return {name: array[: self._used(name, n, m)] for name, array in found.items()}

    def layout(self, n: int, m: int) -> dict[str, schema.Array]:
        """The declarations of the arrays of a checkpoint with n states and m links."""
        A, blocks = self.features.n_actions, self.features.blocks
        wanted = {}
        for name, array in self.arrays.items():
            used = self._used(name, n, m)
            shape = array.shape if used is None else (used, *array.shape[1:])
            wanted[name] = schema.usual(name, shape)
        return {
            **wanted,
            "states.block": schema.index((n, A), blocks),
            "links.source": schema.index((m,), n),
            "links.action": schema.index((m,), A),
            "links.after": schema.index((m,), n, -1),
        }

    def _used(self, name: str, n: int, m: int) -> int | None:
        """The length of an array with n states and m links; None if it does not depend on them."""
        lengths = {"states.rows": n * self._rows}
        return lengths.get(name, {"states": n, "links": m}.get(name.partition(".")[0]))

    def rescale(self, factor: float, shift: float, gamma: float, terminal: float) -> None:
        """Map rewards r that were paid to factor r + shift."""
        m, links = self.n_links, self.links
        links.paid[:m] = factor * links.paid[:m] + shift * links.weight[:m]
        self._sum_again(gamma, terminal)

    def refit(self, features: FeatureMap, kept: IntArray | None = None) -> None:
        """Give the features other numbers: ``kept`` of the present ones, and room for more."""
        self.features = features
        self.regression = refitted(self.regression, features.dim, kept, Lambda=self.ridge)
        self.sums = refitted(self.sums, features.dim, kept)
        log_det = self.regression.log_det  # the epoch has grown as much as it had
        log_det += np.log(self.regression.Lambda).sum() - log_det[0]
        if kept is not None:
            number = np.full(kept.max(initial=-1) + 1, -1)
            number[kept] = np.arange(kept.size)
            self.states.block[: self.n_states] = number[self.states.block[: self.n_states]]
            self._index_states()

    # Shrinking

    @property
    def full(self) -> bool:
        """Whether to make room."""
        return self.n_states >= self.most or self.n_links >= 2 * self.most

    def make_room(
        self, rng: np.random.Generator, in_use: IntArray, gamma: float, terminal: float
    ) -> IntArray:
        """Forget pairs, or raise `MemoryFull`; the new numbers of the states, or -1.

        Of the links (x, a, x') a quarter as many stay as there may be states, as
        `optimist.core.thinning` says; states that none of them needs are forgotten. The next update
        begins an epoch: bonuses of all data would be too small for its estimates.
        """
        if self.when_full == "error":
            raise MemoryFull(
                f"the memory holds {self.n_states:,} states and is full: give more (memory=...), "
                "or let it forget (when_full='thin')"
            )
        links = Links._make(array[: self.n_links] for array in self.links)
        leverage, expected = self.leverage(), self.most // 4  # a link needs two states
        while True:
            stays = choose(rng, links, self.features.n_actions, leverage, expected)
            kept = Links._make(array[stays] for array in links)
            used = np.union1d(np.concatenate([kept.source, kept.after[kept.after >= 0]]), in_use)
            if 4 * used.size <= 3 * self.most:
                break
            if expected == 0:
                raise MemoryFull(
                    f"the memory holds {self.n_states:,} states, and too few of them can be "
                    f"forgotten: give more than memory={self.limit:.3g} bytes"
                )
            expected //= 2  # pairs that lead to many states may stay by chance
        number = np.full(self.n_states, -1)
        number[used] = np.arange(used.size)
        rows = self.states.rows.reshape(-1, self._rows, self.states.rows.shape[1])
        others = {n: a[used] for n, a in self.states._asdict().items() if n != "rows"}
        self.states = self.states._replace(rows=rows[used].reshape(-1, rows.shape[2]), **others)
        self.n_states = used.size
        self._index_states()
        after = np.where(kept.after >= 0, number[kept.after], -1)
        self.links = kept._replace(source=number[kept.source], after=after)
        self.n_links = len(after)
        self.chains = chain(self.links, len(self.states.V))
        self._sum_again(gamma, terminal)
        self.end_epoch()
        return number

    def end_epoch(self) -> None:
        """Let the next update begin an epoch, as if the determinant had more than doubled."""
        log_det = self.regression.log_det
        log_det[1] = log_det[0] - 1.0

    def _sum_again(self, gamma: float, terminal: float) -> None:
        """Compute all sums over the data anew."""
        links = Links._make(array[: self.n_links] for array in self.links)
        V, later = self.states.V, gamma * terminal
        sum_again(self.regression, self.sums, self.ridge, links, *self._pairs(), V, later)

    def leverage(self) -> FloatArray:
        """phi' Lambda^{-1} phi of each link's pair."""
        block, phi = self._pairs()
        Lambda = self.regression.Lambda
        # That of the regression has the rounding of many updates.
        inverse: FloatArray = np.asarray(np.linalg.inv(Lambda), dtype=np.float64)
        return norms(Lambda, inverse, phi, block) ** 2

    def _pairs(self) -> tuple[IntArray, FloatArray]:
        """The block of each link's pair, and its features there."""
        source, action = self.links.source[: self.n_links], self.links.action[: self.n_links]
        at = source if self._rows == 1 else source * self._rows + action
        return self.states.block[source, action], self.states.rows[at]

    def _index_states(self) -> None:
        """Index the states by the data that identify them."""
        self._index = {_digest(self._state(x)): x for x in range(self.n_states)}


def refitted(group: Any, d: int, kept: IntArray | None = None, Lambda: float = 1.0) -> Any:
    """Arrays of d features with blocks of size one: ``kept`` of the present ones, then blank."""
    changed = {}
    for name, array in group._asdict().items():
        if name in ("log_det", "prior", "clock") or not array.size:
            continue
        blank = {"Lambda": Lambda, "inverse": 1 / Lambda}.get(name, 0.0)
        more = np.full((d, *array.shape[1:]), blank, dtype=array.dtype)
        part = array if kept is None else array[kept]
        more[: len(part)] = part
        changed[name] = more
    return group._replace(**changed)


def _digest(parts: tuple[Any, ...]) -> int:
    return hash(tuple(part.tobytes() for part in parts))


def _grown(array: Any, size: int) -> Any:
    more = np.zeros((size, *array.shape[1:]), dtype=array.dtype)
    more[: len(array)] = array
    return more
