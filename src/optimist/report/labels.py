"""The names, order and format of each kind of measurement, in tables, figures and the page."""

from dataclasses import dataclass, replace
from typing import Literal

Form = Literal["percent", "number", "decimal"]
"""How a number is written; `optimist.display.numbers.FORMS` has the functions."""


@dataclass(frozen=True)
class Measure:
    """A column of a table of results."""

    key: str
    title: str
    form: Form
    meaning: str


@dataclass(frozen=True)
class Quantity:
    """A curve.

    Attributes
    ----------
    name, axis, about
        The label of the axis on the page, that in figures, and the caption on the page.
    ticks
        The format of ticks on the page, as plotly takes it.
    log
        The logarithmic axes of its figure.
    """

    key: str
    name: str
    axis: str
    about: str
    form: Form = "number"
    ticks: str = "~g"
    log: Literal["", "x", "y", "xy"] = ""


@dataclass(frozen=True)
class Labels:
    """The measurements in a world, in words.

    Attributes
    ----------
    measured
        The source of the numbers, as in "measured by exact values".
    title, better, best
        The first measure, which ranks the agents; and what it is to be better and best by it.
    verb, least, unit
        Words of the finding: an agent "loses" "least", so much "of the optimal value".
    higher
        Whether higher numbers are better; then curves need not include zero, and may be negative.
    main
        The quantity of the small charts of all worlds.
    by
        The unit of the length of a run.
    """

    key: Literal["values", "returns"]
    measured: str
    title: str
    better: str
    best: str
    verb: str
    least: str
    unit: str
    higher: bool
    main: str
    measures: tuple[Measure, ...]
    quantities: tuple[Quantity, ...]
    by: Literal["episode", "step"] = "episode"

    def quantity(self, key: str) -> Quantity | None:
        """The quantity with a key, if it is one of these."""
        return next((q for q in self.quantities if q.key == key), None)


VALUES = Labels(
    key="values",
    measured="exact values",
    title="Average suboptimality in % of the optimal value",
    better="lower average suboptimality",
    best="lowest average suboptimality",
    verb="loses",
    least="least",
    unit="of the optimal value",
    higher=False,
    main="suboptimality",
    measures=(
        Measure(
            *("average", "average, %", "percent"),
            "the suboptimality of the played policies as a fraction of the optimal value, averaged "
            "over the run. Values are exact, not sums of sampled rewards.",
        ),
        Measure(
            *("iqm", "IQM, %", "percent"),
            "the same, as the interquartile mean over the seeds, which a few failed seeds do not "
            "change.",
        ),
        Measure("final", "final, %", "percent", "the same, over the last tenth of the episodes."),
        Measure("regret", "total regret", "number", "the sum of the losses over all episodes."),
        Measure(
            *("slope", "slope", "decimal"),
            "the exponent with which regret grew over the last decade of episodes: 1 if nothing is "
            "learnt, ½ for a √K law, 0 once nothing more is lost.",
        ),
    ),
    quantities=(
        Quantity(
            *("regret", "regret", "cumulative regret", "summed over the episodes so far"),
            ticks="~s",
        ),
        Quantity(
            *("suboptimality", "suboptimality", "relative suboptimality"),
            about="share of the optimal value lost",
            form="percent",
            ticks="~p",
            log="x",
        ),
        Quantity(
            *("matching_error", "matching error", "matching error"),
            about="distance of an imitator's features from the expert's",
            log="x",
        ),
        Quantity(
            *("average_matching_error", "average matching error", "average matching error"),
            about="the matching error, averaged over the policies so far",
            log="xy",
        ),
    ),
)

RETURNS = Labels(
    key="returns",
    measured="returns",
    title="Mean return",
    better="higher mean return",
    best="highest mean return",
    verb="earns",
    least="most",
    unit="an episode",
    higher=True,
    main="return",
    measures=(
        Measure(
            *("mean_return", "mean return", "number"),
            "the sum of the rewards of an episode, in the units of the environment, averaged over "
            "all episodes of the run. Higher is better; no optimum is known here.",
        ),
        Measure(
            "final_return",
            "final return",
            "number",
            "the same, over the last tenth of the episodes.",
        ),
    ),
    quantities=(
        Quantity(
            *(
                "return",
                "return",
                "return",
                "of an episode, each point the mean since the one before",
            ),
        ),
    ),
)

RETURNS_BY_STEPS = replace(
    RETURNS,
    by="step",
    measures=(
        Measure(
            *("mean_return", "mean return", "number"),
            "the sum of the rewards of an episode, in the units of the environment, averaged over "
            "the steps of the run: the mean of the curve. Higher is better; no optimum is known "
            "here.",
        ),
        Measure(
            *("final_return", "final return", "number"),
            "the same, over the last tenth of the steps.",
        ),
    ),
    quantities=(
        Quantity(
            *("return", "return", "return"),
            "of the episodes that ended since the point before, or else of the one under way",
        ),
    ),
)

ALL = (VALUES, RETURNS, RETURNS_BY_STEPS)
"""A report has either of the last two, and not both: a study is by episodes or by steps."""
