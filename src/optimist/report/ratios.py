"""Layout of the comparison of a subject with its peers, for figures and the page."""

from collections.abc import Iterable

from optimist.report.data import Compared, Comparison

LIMIT = 30.0
"""The axis shows ratios of peers up to this factor; each row counts the peers beyond. The subject
is always shown."""

EDGE = 0.04
"""Margin beyond the outermost numbers, as a fraction of the axis."""


def grouped(comparison: Comparison) -> list[tuple[str, list[Compared]]]:
    """The worlds under their headings, those held out last; a single group has no heading."""
    worlds = comparison.worlds
    held_out = [world for world in worlds if world.held_out]
    if not held_out:
        return [("", list(worlds))]
    others = [world for world in worlds if not world.held_out]
    groups = [("not held out", others), ("held out", held_out)]
    return [(heading, some) for heading, some in groups if some]


def limits(comparison: Comparison) -> tuple[float, float]:
    """The limits of the logarithmic axis: all ratios, up to `LIMIT` for peers."""
    worlds = comparison.worlds
    own = _positive(world.ratio.value for world in worlds)
    ends = _positive(x for world in worlds for x in (world.ratio.low, world.ratio.high))
    of_all = _positive(family.ratio for world in worlds for family in world.families.values())
    shown = [x for x in (*ends, *of_all) if 1 / LIMIT <= x <= LIMIT]
    beyond = [LIMIT] if any(x > LIMIT for x in of_all) else []
    low, high = min([0.8, *own, *shown]), max([1.5, *own, *shown, *beyond])
    room = (high / low) ** EDGE
    return low / room, high * room


def beyond(world: Compared, high: float) -> list[str]:
    """The families whose ratio lies beyond the axis."""
    return [name for name, family in world.families.items() if family.ratio > high]


def any_beyond(comparison: Comparison, high: float) -> bool:
    """Whether a ratio in any world lies beyond the axis."""
    return any(beyond(world, high) for world in comparison.worlds)


def _positive(numbers: Iterable[float]) -> list[float]:
    return [x for x in numbers if x > 0]  # nan is not
