"""The data of a report: `optimist.experiments` makes them, the page and the figures show them.

Numbers that are missing are nan. Mappings list agents in the order in which they are shown.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal, Protocol

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.display.boards import Map
from optimist.display.text import one_line
from optimist.report.labels import Labels

LEVELS = (0.2, 0.1, 0.05, 0.02, 0.01)
"""Shares of the optimal value that policies are certified to be within."""


class ShownEstimate(Protocol):
    """A number with its interval; without an interval, the note says why."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def note(self) -> str: ...


class ShownBand(Protocol):
    """A curve [T] with an interval at each point."""

    @property
    def value(self) -> FloatArray: ...
    @property
    def low(self) -> FloatArray: ...
    @property
    def high(self) -> FloatArray: ...


@dataclass(frozen=True)
class Curve:
    """A quantity of an agent: over the seeds, and of each of them, [n, T]."""

    __repr__ = one_line

    mean: ShownBand
    seeds: FloatArray
    iqm: ShownBand | None = None


@dataclass(frozen=True)
class Curves:
    """The curves of an agent in a world.

    Attributes
    ----------
    episode, steps
        The episodes and the steps of the points, [T]; those of `Labels.by` are the same for all
        seeds, and the others are means over them.
    of
        The curve of each quantity (`Labels.quantities`) that the agent has.
    """

    __repr__ = one_line

    episode: IntArray | FloatArray
    steps: IntArray | FloatArray
    of: Mapping[str, Curve]


@dataclass(frozen=True)
class Certified:
    """What an agent certified in a world, as shares of the optimal value.

    Attributes
    ----------
    episode
        The episodes of the points, [T].
    lower, upper, value
        The bounds, and the exact value of the policy that is certified, means over the seeds, [T].
    certified, truly
        The episode from which on the policy is certified within each of `LEVELS` of the optimum,
        and that from which on it truly is; nan if not by the end, [n, levels].
    """

    __repr__ = one_line

    episode: IntArray
    lower: FloatArray
    upper: FloatArray
    value: FloatArray
    certified: FloatArray
    truly: FloatArray


@dataclass(frozen=True)
class ShownOptimum:
    """An optimal policy [X, A] of a world, its values and its occupancy [X]."""

    __repr__ = one_line

    value: FloatArray
    occupancy: FloatArray
    policy: FloatArray


@dataclass(frozen=True)
class Recording:
    """The beliefs of an agent at n moments of one run, about X states or cells of a map.

    Attributes
    ----------
    episodes
        The number of episodes played by then, [n].
    value
        Its values, [n, X].
    bonus, ascension
        Its bonuses and probabilities of heaven, means over the actions, [n, X]; None without any.
    occupancy, difference
        The exact occupancy of its policy; of an imitator also minus that of the expert, [n, X].
    policy
        Its next policy, [n, X, A].
    visits, action
        How often it was near, and its most likely action, [n, X]; of maps only.
    """

    __repr__ = one_line

    agent: str
    seed: int
    episodes: IntArray
    value: FloatArray
    bonus: FloatArray | None = None
    ascension: FloatArray | None = None
    occupancy: FloatArray | None = None
    difference: FloatArray | None = None
    policy: FloatArray | None = None
    visits: FloatArray | None = None
    action: IntArray | None = None

    @property
    def opening(self) -> int:
        """The moment to show first: one at which optimism differs much between the states.

        Bonuses and probabilities of heaven are as high everywhere before the first episode, and may
        have faded everywhere at the end; between, they are high where the agent has not been. Each
        is divided by its largest number, and the standard deviations over the states are added. It
        is the first moment with 90% of the largest sum, and neither the first nor the last of all.
        """
        n = len(self.episodes)
        spread = np.zeros(n)
        for hope in (self.bonus, self.ascension):
            if hope is not None and n and (most := np.nanmax(hope, initial=0)) > 0:
                spread = spread + np.nanstd(hope, axis=1) / most
        inner = spread[1:-1]
        if not inner.any():
            return math.ceil((n - 1) / 2) if n else 0
        return 1 + int((inner >= 0.9 * inner.max()).argmax())


@dataclass(frozen=True)
class Picture(Map):
    """A world that can be drawn, the recordings in it, and its optimum where that is known."""

    __repr__ = one_line

    runs: tuple[Recording, ...] = ()
    optimum: ShownOptimum | None = None


@dataclass(frozen=True)
class About:
    """A world or an agent: its kind in a line, its parameters, and the origin of its class."""

    detail: str
    parameters: Mapping[str, str]
    origin: str = ""


@dataclass(frozen=True)
class ShownAgent:
    """An agent of the report."""

    name: str
    about: About


@dataclass(frozen=True)
class ShownWorld:
    """A world of the report.

    Attributes
    ----------
    labels
        The measurements.
    length, seeds
        The episodes or steps of its runs (`Labels.by`), and the most finished seeds of an agent.
    estimates
        For each agent with finished runs, the estimate of each measure.
    improvement
        The probability that a run of an agent does better than one of another.
    states, actions, optimal, uniform
        The sizes, the optimal value, and the value of uniform play, where they are known.
    certified, uncertified
        The certificates of each agent that was asked for them, or why it has none.
    """

    __repr__ = one_line

    name: str
    about: About
    labels: Labels
    length: int
    seeds: int
    estimates: Mapping[str, Mapping[str, ShownEstimate]]
    improvement: Mapping[str, Mapping[str, ShownEstimate]]
    curves: Mapping[str, Curves]
    states: int | None = None
    actions: int | None = None
    optimal: float = math.nan
    uniform: float = math.nan
    picture: Picture | None = None
    certified: Mapping[str, Certified] = field(default_factory=dict)
    uncertified: Mapping[str, str] = field(default_factory=dict)

    @property
    def scores(self) -> dict[str, ShownEstimate]:
        """The first measure of each agent, if it is known."""
        first = self.labels.measures[0].key
        found = {agent: row[first] for agent, row in self.estimates.items()}
        return {agent: score for agent, score in found.items() if not math.isnan(score.value)}


@dataclass(frozen=True)
class MissingRun:
    """A run that failed or is damaged."""

    world: str
    agent: str
    seed: int
    message: str


Verdict = Literal["lowest", "within", "behind"]


@dataclass(frozen=True)
class Family:
    """A family at its best setting in a world.

    Attributes
    ----------
    setting
        The parameters that distinguish it in its family; empty if it is the only one.
    scores, average, ratio
        The average suboptimality of each seed, [n], its mean, and that as a multiple of the best
        peer's; nan if that is 0.
    """

    __repr__ = one_line

    setting: str
    scores: FloatArray
    average: ShownEstimate
    ratio: float


@dataclass(frozen=True)
class Compared:
    """The subject and its peers in one world.

    Attributes
    ----------
    peer
        The family of the best peer.
    ratio
        The loss of the subject divided by that of the best peer.
    verdict
        Whether the subject is lowest (ties included), within 1.2 times the best peer, or behind.
    failed, succeeded
        Whether the subject fails at the end of its runs; the peers that succeed then, in any
        setting.
    families
        Each family with its setting of the lowest mean over the seeds.
    """

    name: str
    held_out: bool
    peer: str
    ratio: ShownEstimate
    verdict: Verdict
    failed: bool
    succeeded: tuple[str, ...]
    families: Mapping[str, Family]

    @property
    def fails_alone(self) -> bool:
        """Whether the subject fails while a peer succeeds."""
        return self.failed and bool(self.succeeded)


@dataclass(frozen=True)
class Comparison:
    """A subject and its peers in all worlds.

    Attributes
    ----------
    families
        The number of settings of each family, the subject first.
    sentence
        The counts in words.
    within, fails, succeeds
        The thresholds of a verdict, of failing and of succeeding.
    counts, ranks
        For each group of worlds, how often the subject is lowest, close or fails; and the mean rank
        of each family.
    left_out
        The worlds in which too little has finished.
    """

    subject: str
    families: Mapping[str, int]
    sentence: str
    within: float
    fails: float
    succeeds: float
    counts: Mapping[str, Mapping[str, int]]
    ranks: Mapping[str, Mapping[str, ShownEstimate]]
    left_out: tuple[str, ...]
    worlds: tuple[Compared, ...]

    @property
    def whole(self) -> list[Compared]:
        """The worlds in which all families have finished, over which ranks are means."""
        return [world for world in self.worlds if len(world.families) == len(self.families)]


@dataclass(frozen=True)
class ReportData:
    """The contents of a report.

    Attributes
    ----------
    level, draws
        The level of the intervals, and the number of resamples.
    specification
        The text of the study.
    environment
        The versions and machines of the runs.
    comparison
        None if the study has no subject.
    certify
        The delta of the certificates; None if the study has none.
    """

    __repr__ = one_line

    title: str
    description: str
    version: str
    created: str
    level: float
    draws: int
    specification: str
    environment: Mapping[str, str]
    agents: tuple[ShownAgent, ...]
    worlds: tuple[ShownWorld, ...]
    failures: tuple[MissingRun, ...] = ()
    damaged: tuple[MissingRun, ...] = ()
    unfinished: int = 0
    comparison: Comparison | None = None
    certify: float | None = None


def plain(value: Any, digits: int = 17, where: str = "the data") -> Any:
    """Data in the form of JSON; nan becomes None, and infinite numbers are an error.

    Examples
    --------
    >>> plain(About("Rmax", {"visits": "2"}))
    {'detail': 'Rmax', 'parameters': {'visits': '2'}, 'origin': ''}
    >>> plain(np.array([1 / 3, math.nan]), digits=3)
    [0.333, None]
    """
    if isinstance(value, float):
        if math.isinf(value):
            raise ValueError(f"{where} must be finite, or nan if it is missing; got {value}")
        return None if math.isnan(value) else float(f"{value:.{digits}g}")
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist(), digits, where)
    if isinstance(value, list | tuple):
        return [plain(item, digits, where) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(item, digits, f"{key} in {where}") for key, item in value.items()}
    if is_dataclass(value):
        return plain({f.name: getattr(value, f.name) for f in fields(value)}, digits, where)
    return value
