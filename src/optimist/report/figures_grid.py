"""Optimism on the board of a world: values, bonuses, heaven and occupancy as learning goes on."""

from typing import TYPE_CHECKING, Any

import numpy as np

from optimist.report.figures_board import (
    arrows,
    canvas,
    colour_bar,
    draw,
    find,
    label,
    scale,
    spread,
)
from optimist.report.figures_style import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS = {
    "value": "value",
    "bonus": "bonus",
    "ascension": "probability\nof heaven",
    "occupancy": "occupancy",
    "visits": "visits",
}
"""What is drawn, from top to bottom, and what it is called."""


@style()
def optimism_figure(data: dict[str, Any], world: str, agent: str) -> "Figure":
    """What an agent believed and did after some episodes of a run, on the board of a world.

    The rows are its values with its policy, its bonuses, its probabilities of heaven, and the
    exact occupancy of its policy. The columns are recorded episodes, spread evenly in their
    logarithm, and the optimum. An arrow is the mean move of the policy: the less sure, the shorter.
    A row has one colour scale, linear for values and otherwise logarithmic over three decades at
    most; what lies below, zero above all, has the lowest colour. The values of an imitator are of
    rewards that it makes up, so that it has no optimum beside it: see `imitation_figure`. Nor has a
    Gymnasium environment, of which the plane of its observations is drawn, and how often the agent
    was where.

    Parameters
    ----------
    data
        The data of the report.
    world, agent
        Their names. Of several runs of the agent the first is drawn.
    """
    picture, run = find(data, world, agent)
    rows = {name: called for name, called in ROWS.items() if run.get(name) is not None}
    columns = spread(run["episodes"])
    headings = [f"episode {run['episodes'][i]:,}" for i in columns]
    alone = run["difference"] is not None or picture["optimal"] is None
    headings += [] if alone else ["optimum"]
    labelled = "axes" in picture
    figure, axes, bars = canvas(picture["board"], list(rows.values()), headings, labelled)
    for name, boards, bar in zip(rows, axes, bars, strict=True):
        shown = [run[name][i] for i in columns]
        if not alone and name in picture["optimal"]:
            shown.append(picture["optimal"][name])
        elif not alone:
            boards.pop().set_axis_off()  # the optimum knows no bonus and no heaven
        values = np.array(shown, dtype=np.float64)
        norm = scale(values[np.isfinite(values)], log=name != "value")
        meshes = [draw(ax, picture, v, norm) for ax, v in zip(boards, values, strict=True)]
        if name == "value" and picture["moves"]:
            policies = [run["policy"][i] for i in columns] + [picture["optimal"]["policy"]]
            for ax, mesh, policy in zip(boards, meshes, policies, strict=False):
                arrows(ax, picture, policy, mesh)
        colour_bar(figure, bar, meshes[0], below=bool((values < norm.vmin).any()))
    if labelled:
        label(axes, picture["axes"])
    return figure
