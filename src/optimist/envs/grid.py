"""Grid worlds from maps in text: any map, FourRooms and a maze."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optimist import checks
from optimist.checks import IntArray
from optimist.envs.world import World
from optimist.mdp import FiniteMDP, build_kernel

SYMBOLS = {".": ".", "S": "s", "G": "$", "O": "x", "#": "#"}
"""The characters of a map, and those of the board: free, start, goal, pit, wall."""

STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))
"""The actions: up, right, down, left."""

OPEN_ROOM = """
S....
.....
.....
.....
....G
"""


class Grid(World):
    """Base class of grid worlds: four moves on the cells of a map that are not walls.

    A move into a wall or off the map stays put. With probability ``slip`` a move goes to one of the
    two sides instead, each with half of it. A goal pays 1 at every step and is never left; a pit
    pays nothing and is never left. So a value is the expected discounted time spent in goals.
    Episodes start on the starts with equal probability. The states are the cells in reading order.
    """

    layout: str
    """The map: ``#`` wall, ``.`` free, ``S`` start, ``G`` goal, ``O`` pit."""
    slip: float
    gamma: float

    def build(self) -> FiniteMDP:
        slip = checks.probability(self.slip, "slip")
        self.check_size(sum(map(len, self._lines)), n_actions=4, successors=3)
        symbols, cells = self._symbols, self._cells
        starts, goals = symbols == "S", symbols == "G"
        if not starts.any() or not goals.any():
            raise ValueError("layout: the map needs at least one start S and one goal G")
        number = np.full(np.add(cells.max(axis=0), 3), -1)  # with a border around the map
        number[tuple(cells.T + 1)] = np.arange(len(cells))
        after = [number[tuple((cells + 1 + step).T)] for step in STEPS]
        here = np.arange(len(cells))
        stays = goals | (symbols == "O")
        after = [np.where((there < 0) | stays, here, there) for there in after]
        P = build_kernel(
            n_actions=4,
            moves=[
                (a, after[(a + turn) % 4], probability)
                for a in range(4)
                for turn, probability in ((0, 1 - slip), (1, slip / 2), (-1, slip / 2))
            ],
        )
        r = np.repeat(goals[:, None].astype(np.float64), 4, axis=1)
        return FiniteMDP(P, r, starts / starts.sum(), self.gamma)

    @property
    def board(self) -> tuple[str, ...]:
        """The map in the characters of a board."""
        return tuple("".join(SYMBOLS[c] for c in line) for line in self._lines)

    def position(self, state: int) -> tuple[int, int]:
        row, column = self._cells[state]
        return int(row), int(column)

    @property
    def moves(self) -> tuple[tuple[int, int], ...]:
        """Up, right, down, left."""
        return STEPS

    @property
    def _lines(self) -> list[str]:
        if not isinstance(self.layout, str):
            raise TypeError(
                f"layout must be text, one line for each row of the map; got {self.layout!r}"
            )
        lines = [line.strip() for line in self.layout.strip().splitlines()]
        for i, line in enumerate(lines):
            if len(line) != len(lines[0]):
                raise ValueError(
                    f"layout: line {i + 1} of the map has {len(line)} cells, "
                    f"the first has {len(lines[0])}"
                )
            for j, c in enumerate(line):
                if c not in SYMBOLS:
                    raise ValueError(
                        f"layout: line {i + 1}, column {j + 1} of the map is {c!r}; "
                        f"a cell is one of {' '.join(SYMBOLS)}"
                    )
        if not lines:
            raise ValueError("layout: the map is empty")
        return lines

    @cached_property
    def _cells(self) -> IntArray:
        """Row and column of each state, [X, 2]."""
        lines = self._lines
        free = [(i, j) for i, line in enumerate(lines) for j, c in enumerate(line) if c != "#"]
        return np.array(free, dtype=np.int64).reshape(-1, 2)

    @cached_property
    def _symbols(self) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
        """The character of each state, [X]."""
        lines = self._lines
        return np.array([lines[i][j] for i, j in self._cells])


@dataclass(frozen=True)
class GridWorld(Grid):
    """A grid world with any map; by default an open 5 x 5 room, from corner to corner.

    Attributes
    ----------
    layout
        The map, a line for each row: # wall, . free, S start, G goal, O pit.
    slip
        Probability that a move goes to one of its two sides.
    gamma
        The discount factor.

    Examples
    --------
    >>> world = GridWorld("S.G", slip=0, gamma=0.5)
    >>> world.mdp.optimal().V          # 1/2 * 1/2 * 2 from the start, 2 in the goal
    array([0.5, 1. , 2. ])
    """

    layout: str = OPEN_ROOM
    slip: float = 0.1
    gamma: float = 0.9


@dataclass(frozen=True)
class FourRooms(Grid):
    """Four rooms joined by four doors (Sutton, Precup and Singh, 1999), from corner to corner.

    Attributes
    ----------
    slip
        Probability that a move goes to one of its two sides.
    gamma
        The discount factor.
    """

    layout = """
    #############
    #S....#.....#
    #.....#.....#
    #...........#
    #.....#.....#
    #.....#.....#
    ##.####.....#
    #.....###.###
    #.....#.....#
    #.....#.....#
    #...........#
    #.....#....G#
    #############
    """
    slip: float = 0.1
    gamma: float = 0.97


@dataclass(frozen=True)
class Maze(Grid):
    """A maze with one way through, of 97 cells.

    Attributes
    ----------
    slip
        Probability that a move goes to one of its two sides.
    gamma
        The discount factor.
    """

    layout = """
    ###############
    #S#.......#...#
    #.#####.#.#.#.#
    #.#...#.#...#.#
    #.#.#.#######.#
    #...#.#.....#.#
    #####.#.###.#.#
    #...#...#.#.#.#
    #.#######.#.#.#
    #.........#.#.#
    #.###.###.#.#.#
    #.#...#...#...#
    #.#.#########.#
    #.#..........G#
    ###############
    """
    slip: float = 0.1
    gamma: float = 0.99
