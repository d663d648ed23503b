"""Warehouse: from the gate to the dock, around racks and around people."""

from dataclasses import dataclass

import numpy as np

from optimist import checks
from optimist.checks import BoolArray
from optimist.envs.grid import SYMBOLS, Grid
from optimist.mdp import FiniteMDP

PLAN = """
################
#..............#
#.##.##WW##.##.#
#.##.##WW##.##.#
#......WW......#
#.##.##WW##.##.#
#S##.##WW##.##G#
#......WW......#
#.##.##WW##.##.#
#..............#
################
"""
"""The map: S gate, G dock, # racks, W the walkway."""


@dataclass(frozen=True)
class Warehouse(Grid):
    """A vehicle drives from the gate to the dock, where racks stand and people walk.

    A step costs 1, and on the walkway ``walkway`` more; at the dock, where it stays, nothing. The
    shortest way crosses the walkway, the one below it is 4 steps longer, the one above it 8.
    Rewards are mapped onto [0, 1]; ``mdp.reward_map`` maps them back.

    Attributes
    ----------
    walkway
        The further cost of a step on the walkway.
    slip
        Probability that a move goes to one of its two sides.
    gamma
        The discount factor.

    Examples
    --------
    >>> for cost in (5.0, 0.0):
    ...     world = Warehouse(walkway=cost, slip=0.0)
    ...     now, path = world.mdp.nu0.argmax(), []
    ...     while world.mdp.r[now, 0] < 1:
    ...         path.append(now)
    ...         now = world.mdp.P[now, world.mdp.optimal().policy[now].argmax()].argmax()
    ...     print(f"{len(path)} steps, {world.people[path].sum()} of them on the walkway")
    19 steps, 0 of them on the walkway
    15 steps, 2 of them on the walkway
    """

    layout = PLAN.replace("W", ".")
    walkway: float = 5.0
    slip: float = 0.1
    gamma: float = 0.95

    def build(self) -> FiniteMDP:
        mdp = super().build()
        away = mdp.r == 0  # from the dock
        more = checks.not_negative(self.walkway, "walkway")
        r = -1.0 * away - more * self.people[:, None]
        return mdp.with_rewards(r).affine()

    @property
    def people(self) -> BoolArray:
        """Whether a state is on the walkway, [X]."""
        lines = PLAN.split()
        return np.array([lines[row][column] == "W" for row, column in self._cells])

    @property
    def board(self) -> tuple[str, ...]:
        """The map in the characters of a board, the walkway as what is to be avoided."""
        symbols = SYMBOLS | {"W": "x"}
        return tuple("".join(symbols[c] for c in line) for line in PLAN.split())
