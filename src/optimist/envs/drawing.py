"""Drawings of a world: its board with the agent on it, as text or as pixels."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from optimist.envs.world import World

AGENT = "@"
COLOURS = {
    ".": (0xF4, 0xF1, 0xEA),  # a state
    "#": (0x3B, 0x3F, 0x46),  # a wall
    "$": (0x3A, 0x9D, 0x5D),  # where the large reward is paid
    "x": (0xB5, 0x4A, 0x3F),  # a pit, or a state to avoid
    "s": (0x9C, 0xC3, 0xE0),  # where episodes start
    "=": (0xC9, 0xC4, 0xB8),  # where nothing more happens
    " ": (0xFF, 0xFF, 0xFF),  # not a state
}
AGENT_COLOUR = (0x1F, 0x3D, 0x8A)
CELL = 24
"""The side of a cell, in pixels."""


def text(world: "World", state: int) -> str:
    """The board with the agent as an ``@``."""
    row, column = world.position(state)
    lines = list(world.board)
    lines[row] = lines[row][:column] + AGENT + lines[row][column + 1 :]
    return "\n".join(lines)


def image(world: "World", state: int) -> NDArray[np.uint8]:
    """The board in colours with the agent as a disc, [height, width, 3]."""
    width = max(len(line) for line in world.board)
    cells = np.array([[COLOURS[c] for c in line.ljust(width)] for line in world.board], np.uint8)
    pixels = cells.repeat(CELL, axis=0).repeat(CELL, axis=1)
    pixels[::CELL] = pixels[:, ::CELL] = COLOURS["="]  # thin lines between the cells
    y, x = np.ogrid[:CELL, :CELL]
    disc = (y - CELL / 2) ** 2 + (x - CELL / 2) ** 2 < (CELL / 3) ** 2
    row, column = world.position(state)
    cell = pixels[row * CELL : (row + 1) * CELL, column * CELL : (column + 1) * CELL]
    cell[disc] = AGENT_COLOUR
    return pixels
