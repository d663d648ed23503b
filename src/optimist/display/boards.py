"""Boards: a number for each state of a world, drawn on its map by matplotlib."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.display.style import WIDE, number
from optimist.display.text import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure
    from matplotlib.quiver import Quiver

DECADES = 3
"""Decades that a logarithmic colour scale shows below its largest value."""

SIGNED_DECADES = 2
"""Logarithmic decades on either side of a scale of differences, which is linear around zero."""

WALL, PAPER = "#101010", "#ffffff"
"""Walls are darker than any state, and other cells that are no state are lighter."""

MARKS = {"s": "S", "$": "G"}
"""Letters drawn at starts and goals."""

NO_ARROW = "s$x="
"""No arrows here: starts and goals have letters, and goals, pits and ground are absorbing."""

SMALLEST = 3.5
"""Side of the smallest cell with an arrow, in points."""


@dataclass(frozen=True)
class Map:
    """Where the states of a world are.

    Attributes
    ----------
    board
        A character for each cell, line by line: ``#`` wall, ``s`` start, ``$`` goal, ``x`` pit,
        ``=`` ground.
    cells
        The row and the column of each state, [X, 2].
    moves
        The rows and columns by which each action moves, [A, 2]; None if they do not.
    axes
        The ends of both dimensions of a plane of observations, [2, 2]; None if it is a board.
    """

    __repr__ = one_line

    board: tuple[str, ...]
    cells: IntArray
    moves: IntArray | None = None
    axes: FloatArray | None = None


def canvas(
    board: Sequence[str], rows: list[str], headings: list[str], labelled: bool = False
) -> tuple["Figure", list[list["Axes"]], list["Axes"]]:
    """A figure with a grid of boards, and an axis for a colour bar at the right of each row.

    ``labelled`` leaves room for labels of the axes.
    """
    from optimist.display.figure import Figure

    tall = len(board) / max(len(line) for line in board)
    flat = tall < 0.7  # then the names of the rows are horizontal
    left, right, top = 0.75 if flat else 0.4, 0.5, 0.17  # inches
    beside, below = 0.06, 0.28 if labelled else 0.12  # between boards
    names, left = 0.5 * left, left + 0.2 if labelled else left  # x of the names of the rows
    width = (WIDE - left - right) / len(headings)
    height = min(max((width - beside) * tall, 0.3), 1.5) + below
    total = top + height * len(rows)
    figure = Figure(figsize=(WIDE, total))
    across, up = (width - beside) / WIDE, (height - below) / total
    axes, bars = [], []
    for i, name in enumerate(rows):
        bottom = 1 - (top + (i + 1) * height - 0.5 * below) / total
        lefts = [(left + j * width) / WIDE for j in range(len(headings))]
        axes.append([figure.add_axes((x, bottom, across, up)) for x in lefts])
        bars.append(figure.add_axes((1 - right / WIDE, bottom, 0.07 / WIDE, up)))
        place = names / WIDE, bottom + up / 2
        turned = 0 if flat else 90
        figure.text(*place, name, rotation=turned, ha="center", va="center", linespacing=0.9)
    for ax, heading in zip(axes[0], headings, strict=True):
        ax.set_title(heading)
    return figure, axes, bars


def scale(values: FloatArray, log: bool) -> Any:
    """The colour scale of a row of boards, a Normalize."""
    from matplotlib.colors import LogNorm, Normalize

    if log:
        high = values.max(initial=0) or 1.0
        low = max(values.min(initial=high, where=values > 0), high / 10**DECADES)
        return LogNorm(low if low < high else high / 10, high)
    low, high = values.min(), values.max()
    return Normalize(low, high if high > low else low + 1)


def symmetric_scale(values: FloatArray) -> Any:
    """The colour scale of differences, a Normalize with zero in its middle."""
    from matplotlib.colors import SymLogNorm

    most = np.abs(values).max(initial=0) or 1.0
    # With linscale = 0.9 the linear part is as wide as a decade.
    return SymLogNorm(most / 10**SIGNED_DECADES, linscale=0.9, vmin=-most, vmax=most)


def draw_row(
    figure: "Figure",
    axes: list["Axes"],
    bar: "Axes",
    picture: Map,
    values: FloatArray,
    policies: Sequence[FloatArray] = (),
    log: bool = False,
    signed: bool = False,
) -> None:
    """Draw a row of boards with one colour scale, its bar, and arrows of policies."""
    known = values[np.isfinite(values)]
    norm = symmetric_scale(known) if signed else scale(known, log)
    meshes = [draw(ax, picture, v, norm, signed) for ax, v in zip(axes, values, strict=True)]
    if policies and picture.moves is not None:
        for ax, mesh, policy in zip(axes, meshes, policies, strict=True):
            draw_arrows(ax, picture, policy, picture.moves, mesh)
    colour_bar(figure, bar, meshes[0], below=bool((values < norm.vmin).any()))


def draw(ax: "Axes", picture: Map, values: FloatArray, norm: Any, signed: bool) -> "QuadMesh":
    """Colour the cells of the states by their values; other cells are wall or paper."""
    from matplotlib import colormaps
    from matplotlib.colors import Colormap, ListedColormap, to_rgb

    across = max(len(line) for line in picture.board)
    board = [line.ljust(across) for line in picture.board]
    under = np.array([[to_rgb(WALL if c == "#" else PAPER) for c in line] for line in board])
    numbers = np.full((len(board), across), np.nan)
    # LogNorm masks zeros, which would then look like paper.
    numbers[tuple(picture.cells.T)] = np.maximum(values, norm.vmin)
    if signed:
        colours: Colormap = colormaps["coolwarm"]  # zero is grey, unlike paper
    else:
        # Viridis without its darkest fifth, which in grey looks like a wall.
        colours = ListedColormap(colormaps["viridis"](np.linspace(0.2, 1, 256)))
    edges: dict[str, Any] = {"edgecolors": "face", "linewidth": 0.5}  # no seams between cells
    ax.pcolormesh(under, **edges)
    mesh = ax.pcolormesh(np.ma.masked_invalid(numbers), norm=norm, cmap=colours, **edges)
    ax.set(xticks=(), yticks=(), aspect="equal")
    ax.invert_yaxis()
    ax.spines[:].set_visible(False)
    letter: dict[str, Any] = {"ha": "center", "va": "center", "fontweight": "bold"}
    size = min(max(0.7 * _cell_points(ax, board), 5), 8)
    for row, line in enumerate(board):
        for column in [i for i, c in enumerate(line) if c in MARKS]:
            [ink] = contrast_colour(mesh, numbers[[row], [column]])
            place = column + 0.5, row + 0.5
            ax.text(*place, MARKS[line[column]], color=ink, fontsize=size, **letter)
    return mesh


def draw_arrows(
    ax: "Axes", picture: Map, policy: FloatArray, moves: IntArray, mesh: "QuadMesh"
) -> "Quiver | None":
    """Draw the mean move of a policy in each cell; None if the cells are too small."""
    cells = picture.cells
    free = [picture.board[row][column] not in NO_ARROW for row, column in cells]
    if not any(free) or _cell_points(ax, picture.board) < SMALLEST:
        return None
    row, column = cells[free].T
    down, right = 0.8 * (policy @ moves)[free].T
    return ax.quiver(
        column + 0.5,
        row + 0.5,
        right,
        down,
        color=contrast_colour(mesh, np.array(mesh.get_array())[row, column]),
        pivot="mid",
        angles="xy",
        scale_units="xy",
        scale=1,
        units="x",  # the width is in cells, the head in widths
        width=0.1,
        headwidth=4,
        headlength=3.5,
        headaxislength=3.5,
    )


def label_axes(axes: list[list["Axes"]], ends: FloatArray) -> None:
    """Label the ends of both axes, at the leftmost maps and at those of the last row."""
    (left, right), (bottom, top) = ([number(x) for x in pair] for pair in ends)
    small: dict[str, Any] = {"length": 0, "pad": 1, "labelsize": 6}
    for row in axes:
        edge = row[0].get_ylim()[0]  # the bottom, as rows count from the top
        texts = (bottom, "obs[1]", top)
        row[0].set_yticks((edge, edge / 2, 0), texts, rotation=90)
        row[0].tick_params("y", **small)
        for text, place in zip(row[0].get_yticklabels(), ("bottom", "center", "top"), strict=True):
            text.set(va=place)
    for ax in axes[-1]:
        edge = ax.get_xlim()[1]
        ax.set_xticks((0, edge / 2, edge), (left, "obs[0]", right))
        ax.tick_params("x", **small)
        for text, place in zip(ax.get_xticklabels(), ("left", "center", "right"), strict=True):
            text.set(ha=place)


def _cell_points(ax: "Axes", board: Sequence[str]) -> float:
    """The side of a cell in points."""
    box, across = ax.get_window_extent(), max(len(line) for line in board)
    return 72 / ax.figure.dpi * min(box.width / across, box.height / len(board))


def contrast_colour(mesh: "QuadMesh", values: FloatArray) -> list[str]:
    """Black or white for each value, whichever contrasts with its colour."""
    light = np.array(mesh.cmap(mesh.norm(values)))[:, :3] @ (0.299, 0.587, 0.114)
    return ["black" if x > 0.5 else "white" for x in light]


def colour_bar(figure: "Figure", ax: "Axes", mesh: "QuadMesh", below: bool) -> None:
    """Draw a colour bar with few ticks, pointed if some values lie below it."""
    from matplotlib.colors import LogNorm, SymLogNorm
    from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator

    ticks = 3 if ax.get_window_extent().height > 0.5 * figure.dpi else 2
    bar = figure.colorbar(mesh, cax=ax, extend="min" if below else "neither", format=number)
    if isinstance(mesh.norm, SymLogNorm):
        power = 10.0 ** np.floor(np.log10(mesh.get_clim()[1]))
        sizes = [power, power / 10][: ticks - 1]
        bar.locator = FixedLocator([-x for x in sizes] + [0, *sizes[::-1]])
    else:
        log = isinstance(mesh.norm, LogNorm)
        bar.locator = LogLocator(numticks=ticks + 1) if log else MaxNLocator(ticks)
    bar.minorticks_off()
    bar.outline.set_visible(False)
