"""Worlds: an MDP with known arrays, its features, an environment to play it, and its drawing."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from optimist import checks, limits
from optimist.checks import FloatArray, IntArray
from optimist.display import svg
from optimist.display.boards import Map
from optimist.display.card import card
from optimist.envs.environment import FiniteEnv
from optimist.features import FeatureMap, OneHot, Table
from optimist.mdp import FiniteMDP, LinearMDP

BOARD_WIDTH = 20
"""The number of states in a row of the default board."""

MOST_STATES = 2000
"""Most states of a world that is shown on its map."""

BYTES = 50
"""The approximate memory of a pair while an MDP is built, and of each of its transitions."""


@dataclass(frozen=True)
class World(ABC):
    """A known MDP that can be solved exactly, played through Gymnasium, and drawn.

    A world is a frozen dataclass of its parameters that implements `build`. Its rewards lie in
    [0, 1]. `dataclasses.asdict` returns the parameters.

    Examples
    --------
    >>> from optimist import envs
    >>> world = envs.RiverSwim(6, gamma=0.99)
    >>> world, world.mdp, world.features.dim
    (RiverSwim(n=6, gamma=0.99), FiniteMDP(states=6, actions=2, gamma=0.99), 12)
    >>> env = world.make(render_mode="ansi")
    >>> env.reset(seed=0)
    (0, {})
    >>> print(env.render())
    @....$
    """

    def __post_init__(self) -> None:
        # Building the MDP here refuses bad parameters at once.
        least, most = self.mdp.reward_range
        if least < -checks.RANGE_TOLERANCE or most > 1 + checks.RANGE_TOLERANCE:
            name = type(self).__name__
            raise ValueError(f"rewards of {name} must lie in [0, 1]; got [{least}, {most}]")

    def _repr_html_(self) -> str:
        parameters = {f.name: getattr(self, f.name) for f in fields(self) if f.repr}
        short = {
            n: x
            for n, x in parameters.items()
            if isinstance(x, int | float | str) and "\n" not in str(x)
        }
        mdp, where = self.mdp, self.map
        facts = {**short, "states": f"{mdp.n_states:,}", "actions": mdp.n_actions}
        if where is None:
            return card(type(self).__name__, facts)
        best = mdp.optimal()
        picture = svg.board(where, best.V, "optimal value by state")
        facts["optimal value"] = f"{best.value:.4g}"
        return card(type(self).__name__, facts, picture)

    def __getstate__(self) -> dict[str, Any]:
        """The state without what was computed from it, which another process computes again.

        The arrays of an MDP can be a thousand times as large as its parameters.
        """
        kind = type(self)
        return {
            name: value
            for name, value in vars(self).items()
            if not isinstance(getattr(kind, name, None), cached_property)
        }

    @abstractmethod
    def build(self) -> FiniteMDP:
        """The MDP of these parameters."""

    def check_size(self, n_states: int, n_actions: int, successors: int) -> None:
        """Refuse a world that does not fit into memory, before it is built.

        ``successors`` is the number of next states of a pair.
        """
        name = f"{type(self).__name__} with {n_states:,} states and {n_actions:,} actions"
        limits.need(BYTES * n_states * n_actions * (1 + successors), name)

    @cached_property
    def mdp(self) -> FiniteMDP:
        """The MDP, built once."""
        return self.build()

    @cached_property
    def features(self) -> FeatureMap:
        """Features in which the MDP is linear: a linear MDP's own, otherwise one-hot."""
        if isinstance(self.mdp, LinearMDP):
            return Table(self.mdp.Phi)
        return OneHot(self.mdp.n_states, self.mdp.n_actions)

    def make(self, render_mode: str | None = None) -> FiniteEnv:
        """The world as a Gymnasium environment, which never ends (see `GeometricReset`)."""
        return FiniteEnv(self, render_mode)

    # Its drawing: cells in rows, and the position of a state among them

    @property
    def board(self) -> tuple[str, ...]:
        """The cells of the world, one character each (see `drawing.COLOURS`)."""
        return in_rows("." * self.mdp.n_states)

    def position(self, state: int) -> tuple[int, int]:
        """Row and column of a state on the board."""
        return divmod(state, BOARD_WIDTH)

    @property
    def moves(self) -> tuple[tuple[int, int], ...] | None:
        """The step (down, right) of each action on the board; None if actions have no direction."""
        return None

    @property
    def has_board(self) -> bool:
        """Whether the board is one of its own."""
        return type(self).board is not World.board

    @property
    def map(self) -> Map | None:
        """Where the states are, if the world has a board of its own and is small enough to show."""
        n = self.mdp.n_states
        if not self.has_board or n > MOST_STATES:
            return None
        cells = np.array([self.position(x) for x in range(n)])
        return Map(tuple(self.board), cells, np.array(self.moves) if self.moves else None)


def start_in_first(n_states: int) -> FloatArray:
    """The initial distribution of a world that starts in its first state, [X]."""
    nu0 = np.zeros(n_states)
    nu0[0] = 1
    return nu0


def in_rows(cells: str) -> tuple[str, ...]:
    """The default board, on which `World.position` places the states: rows of `BOARD_WIDTH`."""
    return tuple(cells[i : i + BOARD_WIDTH] for i in range(0, len(cells), BOARD_WIDTH))


def scatter_actions(n_states: int, n_actions: int, seed: int) -> IntArray:
    """One action per state, [X], drawn uniformly.

    A world whose special action is the same in all states would favour learners that break ties
    towards low indices, as argmax and linear programmes do.
    """
    rng = np.random.default_rng(checks.count(seed, "seed", least=0))
    return rng.integers(n_actions, size=n_states)
