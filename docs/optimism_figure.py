"""Draw docs/optimism.png: what the second optimism of the paper does to a world that is half known.

Run it with ``make figure``. All quantities are exact; nothing is sampled.
"""

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm

import optimist as opt
from optimist.checks import FloatArray
from optimist.envs.grid import STEPS

VISITS = 5_000
"""Expected steps of uniform play before the picture is taken."""

OMEGA, SLOPE = 5.0, 7.0
"""The ascension function is a sigmoid of SLOPE / sqrt(1 + visits) - OMEGA, as in Algorithm 1."""


def show(ax: Axes, world: opt.envs.GridWorld, values: FloatArray, title: str, **style: Any) -> None:
    """Colour the cells by their values, [X]."""
    picture = np.full((len(world.board), len(world.board[0])), np.nan)
    for state, value in enumerate(values):
        picture[world.position(state)] = value
    ax.set_facecolor("#3b3f46")
    drawn = ax.imshow(picture, **style)
    ax.set_title(title, fontsize=10.5)
    ax.set_xticks([])
    ax.set_yticks([])
    bar = ax.figure.colorbar(drawn, ax=ax, fraction=0.046, pad=0.03)
    bar.ax.tick_params(labelsize=8)
    bar.outline.set_visible(False)


def arrows(ax: Axes, world: opt.envs.GridWorld, policy: FloatArray) -> None:
    """Draw the action of a deterministic policy in each cell that is not a goal."""
    for state, action in enumerate(policy.argmax(axis=1)):
        (row, column), (down, right) = world.position(state), STEPS[action]
        if world.board[row][column] != "$":
            ax.arrow(
                column - 0.22 * right,
                row - 0.22 * down,
                0.28 * right,
                0.28 * down,
                head_width=0.2,
                head_length=0.16,
                color="white",
                alpha=0.85,
                lw=0.6,
            )


def mark(ax: Axes, world: opt.envs.GridWorld) -> None:
    """Name the start and the goal."""
    for row, line in enumerate(world.board):
        for symbol, name in (("s", "S"), ("$", "G")):
            if symbol in line:
                ax.text(
                    line.index(symbol),
                    row,
                    name,
                    ha="center",
                    va="center",
                    fontsize=9,
                    fontweight="bold",
                    color="black",
                    bbox={"boxstyle": "circle,pad=0.15", "fc": "white", "ec": "none"},
                )


def main() -> None:
    """Three panels: the truth, what uniform play has seen, and what optimism makes of it."""
    # The goal is moved to the upper right room, so that the truth and the unknown lie apart.
    layout = opt.envs.FourRooms.layout.replace("G", ".").replace("S....#.....", "S....#....G")
    world = opt.envs.GridWorld(layout, slip=0.1, gamma=0.97)
    mdp = world.mdp
    visits = VISITS * mdp.occupancy(mdp.uniform_policy)
    ascension = 1 / (1 + np.exp(OMEGA - SLOPE / np.sqrt(1 + visits)))
    hoped = opt.mdp.augment(mdp, ascension, r_max=1.0).optimal()
    best = mdp.optimal()

    fig, axes = plt.subplots(1, 3, figsize=(11.5, 3.7), constrained_layout=True)
    scale: dict[str, Any] = {"cmap": "viridis", "vmin": best.V.min(), "vmax": mdp.horizon}
    show(axes[0], world, best.V, "the truth: optimal values and actions", **scale)
    arrows(axes[0], world, best.policy)
    show(
        axes[1],
        world,
        visits.sum(axis=1),
        f"what {VISITS:,} steps of uniform play have seen",
        cmap="magma",
        norm=LogNorm(vmin=0.3),
    )
    show(axes[2], world, hoped.V[:-1], "optimism: values if the unknown were heaven", **scale)
    arrows(axes[2], world, hoped.policy[:-1])
    for ax in axes:
        mark(ax, world)
    fig.savefig(Path(__file__).with_name("optimism.png"), dpi=140)


if __name__ == "__main__":
    main()
