"""Q-learning on tables that grow with the observations met, of any kind.

A digest identifies an observation (`features.Numbering`), so images, dictionaries and numbers are
all states. Observations of floats hardly ever repeat: they count as the cells of a tiling.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from optimist import checks
from optimist.agents.algorithm import Algorithm, DecisionProblem
from optimist.checks import FloatArray, IntArray
from optimist.features import Numbering, PerAction, Tiles, default_name, features_named
from optimist.features.numbering import DIGEST_BYTES

DEFAULT = "default"

ROWS = 64
"""The number of rows that a table begins with; it doubles when it is full."""


@dataclass
class HashedTable(Algorithm):
    """Q-learning with one row of a table for each observation met.

    Attributes
    ----------
    rate
        The learning rate, in (0, 1].
    features
        For observations of floats: the single tiling whose cells are the states, such as tiles:12
        or tiles:12x8; "default" is the default one, which boxes of up to six dimensions have.
    """

    rate: float = 0.5
    features: str = DEFAULT

    def __post_init__(self) -> None:
        if not 0 < checks.real_number(self.rate, "rate") <= 1:
            raise ValueError(f"rate must be in (0, 1]; got {self.rate:g}")

    def start(self, problem: DecisionProblem) -> None:
        self._problem, self._cell = problem, _cells(self, problem.observation_space)
        self._numbers, empty = Numbering(), (0, problem.n_actions)
        self._last: tuple[Any, int] = None, -1
        self._Q: FloatArray = np.zeros(empty)
        self._visits: IntArray = np.zeros(empty, dtype=np.int64)

    def act(self, state: Any, rng: np.random.Generator) -> int:
        """The best action; one of the best at random if there are several."""
        x = self._row(state)
        Q = self._Q[x]
        best = np.flatnonzero(Q.max() == Q)
        return int(best[0] if best.size == 1 else rng.choice(best))

    def observe(
        self, state: Any, action: int, reward: float, next_state: Any, terminated: bool
    ) -> None:
        x, y = self._row(state), -1 if terminated else self._row(next_state)
        self._visits[x, action] += 1
        target = reward + self._bonus(int(self._visits[x, action]))
        if not terminated:
            target += self._problem.gamma * float(self._Q[y].max())
        self._Q[x, action] += self.rate * (target - self._Q[x, action])

    @property
    @abstractmethod
    def _untried(self) -> float:
        """Q of pairs that were not tried."""

    @abstractmethod
    def _bonus(self, visits: int) -> float:
        """The bonus added to the reward of a pair at its n-th visit."""

    def policy(self) -> FloatArray | None:
        n = self._problem.n_states
        return None if n is None else np.array([self.probabilities(x) for x in range(n)])

    def probabilities(self, observation: Any) -> FloatArray:
        """The best actions share all probability; of an observation never met, all are best."""
        row = self._numbers.find(self._cell(observation))
        Q = self._Q[row] if row >= 0 else np.zeros(self._problem.n_actions)
        best = Q.max() == Q
        return np.asarray(best / best.sum())

    @property
    def arrays(self) -> dict[str, Any]:
        n = len(self._numbers)
        digests = np.frombuffer(b"".join(self._numbers.digests), dtype=np.uint8)
        return {
            "digests": digests.reshape(n, DIGEST_BYTES),
            "Q": self._Q[:n],
            "visits": self._visits[:n],
        }

    def restore(self, arrays: Mapping[str, Any]) -> None:
        digests, Q, visits = (arrays[name] for name in ("digests", "Q", "visits"))
        numbers, wanted = Numbering(map(bytes, digests)), (len(digests), self._problem.n_actions)
        if digests.shape != (len(numbers), DIGEST_BYTES) or not Q.shape == visits.shape == wanted:
            raise ValueError(
                f"digests must be [n, {DIGEST_BYTES}] and all different, and Q and visits "
                f"[n, {self._problem.n_actions}]; got {digests.shape}, {Q.shape} and "
                f"{visits.shape}"
            )
        self._numbers, self._Q, self._visits = numbers, Q.copy(), visits.copy()
        self._last = None, -1

    def _row(self, observation: Any) -> int:
        """The row of an observation; the tables grow if it is a new one."""
        if observation is self._last[0]:  # it is looked up as often as three times in a row
            return self._last[1]
        row, size = self._numbers.add(self._cell(observation)), len(self._Q)
        if row >= size:
            more = (max(size, ROWS), self._Q.shape[1])
            self._Q = np.concatenate([self._Q, np.full(more, self._untried)])
            self._visits = np.concatenate([self._visits, np.zeros(more, dtype=np.int64)])
        self._last = observation, row
        return row


@dataclass
class HashedQLearning(HashedTable):
    """Epsilon-greedy Q-learning in any environment.

    Attributes
    ----------
    epsilon
        The probability of a random action.
    initial
        Q of pairs that were not tried.

    Examples
    --------
    >>> import gymnasium
    >>> from optimist import PythonAgent
    >>> lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    >>> agent = PythonAgent(lake, HashedQLearning(epsilon=0.3), gamma=0.95, seed=0)
    >>> _ = agent.learn(500)
    >>> agent.predict([0, 14])                           # away from the holes, and to the goal
    array([1, 2])
    """

    epsilon: float = 0.1
    initial: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.probability(self.epsilon, "epsilon")
        checks.real_number(self.initial, "initial")

    def act(self, state: Any, rng: np.random.Generator) -> int:
        if rng.random() < self.epsilon:
            return int(rng.integers(self._problem.n_actions))
        return super().act(state, rng)

    def probabilities(self, observation: Any) -> FloatArray:
        uniform = self.epsilon / self._problem.n_actions
        return uniform + (1 - self.epsilon) * super().probabilities(observation)

    @property
    def _untried(self) -> float:
        return self.initial

    def _bonus(self, visits: int) -> float:
        return 0.0


@dataclass
class CountBonus(HashedTable):
    """Greedy Q-learning with the bonus c / sqrt(n(x, a)) added to the reward of each visit.

    A pair that was not tried is worth the first bonus for ever, c / (1 - gamma). With less, the
    first action of a state would earn a bonus, be the best from then on, and the others never be
    tried. Counts are of digests, as those of #Exploration (Tang et al., 2017) are of hashes.

    Attributes
    ----------
    c
        The size of the bonus, in the units of the rewards.

    Examples
    --------
    >>> from optimist import PythonAgent, envs
    >>> agent = PythonAgent(envs.DeepSea(6), CountBonus(), seed=0)
    >>> agent.learn(2000).suboptimality() < 0.2
    True
    """

    c: float = 0.03

    def __post_init__(self) -> None:
        super().__post_init__()
        if checks.real_number(self.c, "c") < 0:
            raise ValueError(f"c must be at least 0; got {self.c:g}")

    @property
    def _untried(self) -> float:
        return self.c / (1 - self._problem.gamma)

    def _bonus(self, visits: int) -> float:
        return self.c / float(np.sqrt(visits))


def _cells(table: HashedTable, space: spaces.Space[Any]) -> Callable[[Any], Any]:
    """The key of an observation: itself, or the cell that holds its floats."""
    kind = type(table).__name__
    if not isinstance(space, spaces.Box) or space.dtype is None or space.dtype.kind != "f":
        if table.features != DEFAULT:
            raise ValueError(
                f"{kind}.features is for observations of floats, and must be {DEFAULT!r} for "
                f"{space}; got {table.features!r}"
            )
        return lambda observation: observation
    name = default_name(space) if table.features == DEFAULT else table.features
    phi = features_named(name, space, n_actions=1)
    psi = phi.psi if isinstance(phi, PerAction) else None
    if not isinstance(psi, Tiles) or psi.tilings > 1:
        raise ValueError(
            f"{kind} needs one tiling of {space}, as its floats hardly ever repeat; got {name!r}: "
            f"give {kind}(features='tiles:4'), with as many tiles along each dimension as are due"
        )
    return lambda observation: int(psi.tiles(observation)[..., 0])
