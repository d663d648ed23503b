"""Figures of boards and maps: the estimates of an agent as learning goes on."""

from typing import TYPE_CHECKING, Any

import numpy as np

from optimist.display.boards import canvas, draw_row, label_axes
from optimist.display.style import style
from optimist.report.data import Picture, Recording, ShownWorld

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EPISODES = 5
"""Recorded episodes shown, at most."""

ROWS = {
    "value": "value",
    "bonus": "bonus",
    "ascension": "probability\nof heaven",
    "occupancy": "occupancy",
    "visits": "visits",
}
"""The rows of `optimism_figure` from top to bottom, with their names."""


@style()
def optimism_figure(world: ShownWorld, agent: str) -> "Figure":
    """Draw the beliefs and the policy of an agent on the board of a world, as learning goes on.

    The rows are its values with its policy, its bonuses, its probabilities of heaven, and the
    exact occupancy of its policy. The columns are recorded episodes, spread evenly in their
    logarithm, and the optimum. An arrow is the mean move of the policy, shorter if the policy is
    random. Each row has one colour scale, linear for values and otherwise logarithmic over three
    decades at most; lower values, including zero, have the lowest colour.

    Imitators have no column of the optimum, since their values are of rewards of their own: see
    `imitation_figure`. Nor have Gymnasium environments, which show the plane of observations and
    visits instead of occupancies.
    """
    picture, run = find_run(world, agent)
    rows = {name: called for name, called in ROWS.items() if getattr(run, name) is not None}
    at = pick_episodes(run.episodes)
    best = picture.optimum if run.difference is None else None
    headings = [*_headings(run, at), *(["optimum"] if best else [])]
    labelled = picture.axes is not None
    figure, axes, bars = canvas(picture.board, list(rows.values()), headings, labelled)
    policies = [] if run.policy is None else list(run.policy[at])
    policies += [best.policy] if best else []
    for name, boards, bar in zip(rows, axes, bars, strict=True):
        values = list(getattr(run, name)[at])
        if best and hasattr(best, name):
            values.append(getattr(best, name))
        elif best:
            boards.pop().set_axis_off()  # the optimum has no bonus and no heaven
        arrows = policies if name == "value" else []
        draw_row(figure, boards, bar, picture, np.array(values), arrows, log=name != "value")
    if picture.axes is not None:
        label_axes(axes, picture.axes)
    return figure


@style()
def imitation_figure(world: ShownWorld, agent: str) -> "Figure":
    """Draw the occupancy of an imitator as learning goes on, beside its expert's.

    The upper row shows the exact occupancies of the imitator's next policy, with its arrows, and
    of the expert. The lower row shows the imitator's minus the expert's, red where it is positive
    and blue where it is negative. The columns are recorded episodes, spread evenly in their
    logarithm, and the expert. Each row has one colour scale. That of occupancies is logarithmic
    over three decades at most. That of differences has zero in its middle, is linear around it,
    and logarithmic over two decades on both sides.
    """
    picture, run = find_run(world, agent)
    expert = picture.optimum
    if run.difference is None or run.occupancy is None or run.policy is None or expert is None:
        raise ValueError(f"agent must imitate an expert; {agent!r} in {world.name!r} does not")
    at = pick_episodes(run.episodes)
    names, headings = ["occupancy", "learner\nminus expert"], [*_headings(run, at), "expert"]
    figure, (above, below), bars = canvas(picture.board, names, headings)
    values = np.array([*run.occupancy[at], expert.occupancy])
    policies = [*run.policy[at], expert.policy]
    draw_row(figure, above, bars[0], picture, values, policies, log=True)
    below.pop().set_axis_off()  # no difference of the expert from itself
    draw_row(figure, below, bars[1], picture, run.difference[at], signed=True)
    return figure


def _headings(run: Recording, at: list[int]) -> list[str]:
    return [f"episode {run.episodes[i]:,}" for i in at]


def pick_episodes(episodes: Any) -> list[int]:
    """Indices of recorded episodes to show, spread evenly in their logarithm.

    The state before the first episode is left out, as nothing has been computed then.

    Examples
    --------
    >>> pick_episodes([0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 500])
    [1, 3, 5, 8, 10]
    """
    first = 1 if len(episodes) > 1 and episodes[0] == 0 else 0
    recorded = np.log(np.maximum(episodes[first:], 1))
    wanted = np.linspace(recorded[0], recorded[-1], EPISODES)
    nearest = np.abs(recorded - wanted[:, None]).argmin(axis=1)
    return [first + int(i) for i in np.unique(nearest)]


def find_run(world: ShownWorld, agent: str) -> tuple[Picture, Recording]:
    """The picture of a world and the first run of an agent in it."""
    if world.picture is None:
        raise ValueError(f"the report has no picture of {world.name!r}")
    runs = {run.agent: run for run in reversed(world.picture.runs)}
    if agent not in runs:
        raise ValueError(f"the report has no picture of {agent!r} in {world.name!r}")
    return world.picture, runs[agent]
