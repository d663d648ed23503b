"""Occupancies of an imitator and its expert on the board of a world, and their difference."""

from typing import TYPE_CHECKING, Any

import numpy as np

from optimist.report.figures_board import (
    arrows,
    canvas,
    colour_bar,
    draw,
    find_run,
    pick_episodes,
    scale,
    symmetric_scale,
)
from optimist.report.figures_style import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@style()
def imitation_figure(data: dict[str, Any], world: str, agent: str) -> "Figure":
    """Draw the occupancy of an imitator as learning goes on, beside its expert's.

    The upper row shows the exact occupancies of the imitator's next policy, with its arrows, and
    of the expert. The lower row shows the imitator's minus the expert's, red where it is positive
    and blue where it is negative. The columns are recorded episodes, spread evenly in their
    logarithm, and the expert. Each row has one colour scale. That of occupancies is logarithmic
    over three decades at most. That of differences has zero in its middle, is linear around it,
    and logarithmic over two decades on both sides.

    Parameters
    ----------
    data
        The data of the report.
    world, agent
        Their names; the first run of the agent is drawn.
    """
    picture, run = find_run(data, world, agent)
    if run["difference"] is None:
        raise ValueError(f"agent must imitate an expert; {agent!r} in {world!r} does not")
    columns = pick_episodes(run["episodes"])
    headings = [f"episode {run['episodes'][i]:,}" for i in columns]
    names = ["occupancy", "learner\nminus expert"]
    figure, (above, below), bars = canvas(picture["board"], names, [*headings, "expert"])

    expert = picture["optimal"]
    occupancies = [run["occupancy"][i] for i in columns] + [expert["occupancy"]]
    values = np.array(occupancies, dtype=np.float64)
    norm = scale(values[np.isfinite(values)], log=True)
    meshes = [draw(ax, picture, v, norm) for ax, v in zip(above, values, strict=True)]
    if picture["moves"]:
        policies = [run["policy"][i] for i in columns] + [expert["policy"]]
        for ax, mesh, policy in zip(above, meshes, policies, strict=True):
            arrows(ax, picture, policy, mesh)
    colour_bar(figure, bars[0], meshes[0], below=bool((values < norm.vmin).any()))

    below.pop().set_axis_off()  # no difference of the expert from itself
    values = np.array([run["difference"][i] for i in columns], dtype=np.float64)
    norm = symmetric_scale(values[np.isfinite(values)])
    meshes = [draw(ax, picture, v, norm, signed=True) for ax, v in zip(below, values, strict=True)]
    colour_bar(figure, bars[1], meshes[0], below=False)
    return figure
