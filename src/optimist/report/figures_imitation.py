"""An expert and its imitator on the board of a world: where each spends its time, and who more."""

from typing import TYPE_CHECKING, Any

import numpy as np

from optimist.report.figures_board import (
    arrows,
    canvas,
    centred,
    colour_bar,
    draw,
    find,
    scale,
    spread,
)
from optimist.report.figures_style import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@style()
def imitation_figure(data: dict[str, Any], world: str, agent: str) -> "Figure":
    """Where an imitator spent its time after some episodes of a run, beside the expert.

    The upper row is the exact occupancy of the policy that it would play next, with its arrows,
    and that of the expert. The lower row is the imitator's minus the expert's: red where it is too
    often, blue where it is too rarely. The columns are recorded episodes, spread evenly in their
    logarithm, and the expert. Each row has one colour scale. That of the occupancy is logarithmic
    over three decades at most; that of the difference has zero in its middle and is logarithmic to
    both sides, over two decades, and linear between.

    Parameters
    ----------
    data
        The data of the report.
    world, agent
        Their names. Of several runs of the agent the first is drawn.
    """
    picture, run = find(data, world, agent)
    if run["difference"] is None:
        raise ValueError(f"{agent!r} imitates nobody in {world!r}, so there is nothing to compare")
    columns = spread(run["episodes"])
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

    below.pop().set_axis_off()  # the expert does not differ from itself
    values = np.array([run["difference"][i] for i in columns], dtype=np.float64)
    norm = centred(values[np.isfinite(values)])
    meshes = [draw(ax, picture, v, norm, signed=True) for ax, v in zip(below, values, strict=True)]
    colour_bar(figure, bars[1], meshes[0], below=False)
    return figure
