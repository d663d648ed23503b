"""Optimism on the board of a world: values, bonuses, heaven and occupancy during learning."""

from typing import TYPE_CHECKING, Any

import numpy as np

from optimist.report.figures_board import (
    arrows,
    canvas,
    colour_bar,
    draw,
    find_run,
    label_axes,
    pick_episodes,
    scale,
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
"""The quantities from top to bottom, with the names of their rows."""


@style()
def optimism_figure(data: dict[str, Any], world: str, agent: str) -> "Figure":
    """Draw the beliefs and the policy of an agent on the board of a world, as learning goes on.

    The rows are its values with its policy, its bonuses, its probabilities of heaven, and the
    exact occupancy of its policy. The columns are recorded episodes, spread evenly in their
    logarithm, and the optimum. An arrow is the mean move of the policy, shorter if the policy is
    random. Each row has one colour scale, linear for values and otherwise logarithmic over three
    decades at most; lower values, including zero, have the lowest colour.

    Imitators have no column of the optimum, since their values are of rewards of their own: see
    `imitation_figure`. Nor have Gymnasium environments, which show the plane of observations and
    visits instead of occupancies.

    Parameters
    ----------
    data
        The data of the report.
    world, agent
        Their names; the first run of the agent is drawn.
    """
    picture, run = find_run(data, world, agent)
    rows = {name: called for name, called in ROWS.items() if run.get(name) is not None}
    columns = pick_episodes(run["episodes"])
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
            boards.pop().set_axis_off()  # the optimum has no bonus and no heaven
        values = np.array(shown, dtype=np.float64)
        norm = scale(values[np.isfinite(values)], log=name != "value")
        meshes = [draw(ax, picture, v, norm) for ax, v in zip(boards, values, strict=True)]
        if name == "value" and picture["moves"]:
            policies = [run["policy"][i] for i in columns] + [picture["optimal"]["policy"]]
            for ax, mesh, policy in zip(boards, meshes, policies, strict=False):
                arrows(ax, picture, policy, mesh)
        colour_bar(figure, bar, meshes[0], below=bool((values < norm.vmin).any()))
    if labelled:
        label_axes(axes, picture["axes"])
    return figure
