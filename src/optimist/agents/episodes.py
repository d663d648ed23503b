"""Episodes, step by step in plain Python: of a finite world, or of a Gymnasium environment."""

from abc import ABC, abstractmethod
from bisect import bisect_right
from copy import deepcopy
from typing import Any

import numpy as np
from gymnasium import spaces

from optimist.agents.algorithm import DecisionProblem
from optimist.core.arrays import simulator
from optimist.envs import Gym
from optimist.envs.endings import Endings
from optimist.envs.players import Players
from optimist.mdp import FiniteMDP


class Episodes(ABC):
    """Base class of sources of episodes."""

    problem: DecisionProblem
    state: int = -1
    """The state of a finite world that the next episode begins in, or -1."""
    endings: Endings | None = None
    """How episodes of an environment end."""

    def begin(self, seed: int) -> None:  # noqa: B027 - a finite world continues where it was
        """Prepare for a call of `learn`."""

    @abstractmethod
    def first(self, rng: np.random.Generator) -> Any:
        """The first state of an episode."""

    @abstractmethod
    def step(self, action: int, rng: np.random.Generator) -> tuple[float, Any, bool, bool]:
        """Reward, next state (None if it is not seen), whether it terminated, whether it ended."""

    @abstractmethod
    def end(self, rng: np.random.Generator) -> None:
        """The episode is over."""


class FiniteEpisodes(Episodes):
    """Episodes of a finite world, drawn in the order of the compiled loops."""

    def __init__(self, mdp: FiniteMDP) -> None:
        world = simulator(mdp)
        self._start, self._first = world.start.tolist(), world.first.tolist()
        self._after, self._cumulative = world.after.tolist(), world.cumulative.tolist()
        self._rewards, self._gamma = mdp.r.tolist(), mdp.gamma
        space = spaces.Discrete(mdp.n_states)
        self.problem = DecisionProblem(mdp.n_states, mdp.n_actions, mdp.gamma, space)

    def first(self, rng: np.random.Generator) -> int:
        if self.state < 0:
            self.end(rng)
        return self.state

    def step(self, action: int, rng: np.random.Generator) -> tuple[float, Any, bool, bool]:
        reward = self._rewards[self.state][action]
        if not rng.random() < self._gamma:  # before the next state is seen
            return reward, None, False, True
        pair = self.state * self.problem.n_actions + action
        begin, end = self._first[pair], self._first[pair + 1]
        entry = min(bisect_right(self._cumulative, rng.random(), begin, end), end - 1)
        self.state = self._after[entry]
        return reward, self.state, False, False

    def end(self, rng: np.random.Generator) -> None:
        self.state = bisect_right(self._start, rng.random())


class EnvironmentEpisodes(Episodes):
    """Episodes of a Gymnasium environment."""

    def __init__(self, world: Gym) -> None:
        self.world, self.players = world, Players(world.make())
        if self.players.n > 1:
            raise ValueError(f"an algorithm plays one environment; got {self.players.n}")
        self.endings: Endings = Endings(world, self.players)
        space = self.players.observation_space
        n = int(space.n) if isinstance(space, spaces.Discrete) else None
        self.problem = DecisionProblem(n, self.players.n_actions, world.gamma, space)
        self._seen: Any = None  # the first observation of the next episode
        self._steps = 0  # of this episode
        self._seed: int | None = None  # the seed of the environment, until it is reset

    def begin(self, seed: int) -> None:
        self._seen, self._seed = None, seed

    def first(self, rng: np.random.Generator) -> Any:
        if self._seed is not None:
            self._seen, self._seed = self.players.begin(self._seed), None
        elif self._seen is None:
            self._seen = self.players.restart([True])
        self._steps = 0
        return self._state(self._seen)

    def step(self, action: int, rng: np.random.Generator) -> tuple[float, Any, bool, bool]:
        goes = self.endings.continues(rng)
        step = self.players.step([action])
        self._steps += 1
        if step.truncated[0]:
            self.endings.cut_off()
        over = step.terminated[0] or step.truncated[0] or not goes
        over = over or self.endings.exceeds_patience(self._steps)
        after = self._state(step.after) if goes else None
        return step.reward[0], after, goes and step.terminated[0], over

    def end(self, rng: np.random.Generator) -> None:
        self._seen = None

    def _state(self, seen: Any) -> Any:
        if self.problem.n_states is None:
            return deepcopy(seen[0])  # some environments write over what they have shown
        return int(seen[0]) - int(self.problem.observation_space.start)  # type: ignore[attr-defined]
