"""The interface of user-defined algorithms in plain Python."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike


class DecisionProblem(NamedTuple):
    """The sizes of the problem, which an algorithm receives before the first episode."""

    n_states: int | None  # None in an environment whose observations are not numbered
    n_actions: int
    gamma: float
    observation_space: spaces.Space[Any]


@dataclass
class Algorithm(ABC):
    """Base class of algorithms in plain Python. `PythonAgent` plays them; studies take them as is.

    Parameters are the fields of a dataclass, with a default for each. What is learnt is kept in
    other attributes, which `start` creates. If they are arrays and numbers, runs are saved and
    continued without further work; otherwise override `arrays` and `restore`.

    States are numbers in finite worlds and in environments with discrete observations, and
    observations elsewhere. Rewards are in the units of the world.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from optimist import PythonAgent, envs
    >>> @dataclass
    ... class EpsilonGreedy(Algorithm):
    ...     epsilon: float = 0.1
    ...     rate: float = 0.2
    ...
    ...     def start(self, problem):
    ...         self.gamma, shape = problem.gamma, (problem.n_states, problem.n_actions)
    ...         self.Q = np.full(shape, 1 / (1 - self.gamma))
    ...
    ...     def act(self, state, rng):
    ...         return rng.choice(self.Q.shape[1], p=self.policy()[state])
    ...
    ...     def observe(self, state, action, reward, next_state, terminated):
    ...         target = reward + self.gamma * (not terminated) * self.Q[next_state].max()
    ...         self.Q[state, action] += self.rate * (target - self.Q[state, action])
    ...
    ...     def policy(self):
    ...         best = np.eye(self.Q.shape[1])[self.Q.argmax(axis=1)]
    ...         return self.epsilon / self.Q.shape[1] + (1 - self.epsilon) * best
    >>> agent = PythonAgent(envs.RiverSwim(4, gamma=0.9), EpsilonGreedy(epsilon=0.05), seed=0)
    >>> agent.learn(1000).suboptimality() < 0.3
    True
    """

    Config: ClassVar[type[Any]]
    """The class itself: its fields are the parameters."""

    def __init_subclass__(cls) -> None:
        cls.Config = cls

    def start(self, problem: DecisionProblem) -> None:  # noqa: B027 - some have nothing to prepare
        """Prepare for the first episode."""

    @abstractmethod
    def act(self, state: Any, rng: np.random.Generator) -> int:
        """The next action; all randomness must come from ``rng``."""

    @abstractmethod
    def observe(
        self, state: Any, action: int, reward: float, next_state: Any, terminated: bool
    ) -> None:
        """Learn from a transition.

        The last step of an episode that a geometric reset ends is not observed, as in Algorithm 1:
        its coin is tossed before the next state is seen.
        """

    def end_episode(self) -> None:  # noqa: B027 - some learn at every step alone
        """Learn from an episode that has ended."""

    @abstractmethod
    def policy(self) -> ArrayLike | None:
        """The probabilities of actions, [X, A]; None where states are not numbered."""

    def probabilities(self, observation: Any) -> ArrayLike | None:
        """The probabilities of actions at one observation, [A], where states are not numbered.

        `agent.policy` needs them there.
        """
        return None

    @property
    def arrays(self) -> dict[str, Any]:
        """Its state as arrays: by default every attribute that is not a parameter."""
        parameters = {f.name for f in fields(self)}
        found = {name: value for name, value in vars(self).items() if name not in parameters}
        for name, value in found.items():
            if not isinstance(value, np.ndarray | np.generic | bool | int | float):
                kind = type(self).__name__
                raise TypeError(
                    f"{kind}.{name} must be an array or a number to be saved; got "
                    f"{type(value).__name__}: override {kind}.arrays and {kind}.restore"
                )
        return {name: np.array(value) for name, value in found.items()}

    def restore(self, arrays: Mapping[str, Any]) -> None:
        """Continue from `arrays`; `start` has been called."""
        for name, array in arrays.items():
            setattr(self, name, array.copy() if array.ndim else array.item())

    def fresh(self) -> Self:
        """The algorithm with the same parameters, before its start."""
        for kind in type(self).__mro__:
            if "__init__" in vars(kind) and "__dataclass_fields__" not in vars(kind):
                if kind is object:
                    break
                raise TypeError(
                    f"{kind.__name__} has an __init__ of its own: make it a dataclass, whose "
                    "fields are its parameters, and prepare in start(problem)"
                )
        return replace(self)
