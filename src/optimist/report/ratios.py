"""Layout of the comparison of a subject with its peers, for figures and the page."""

from typing import Any

LIMIT = 30.0
"""The axis shows ratios of peers up to this factor; each row counts the peers beyond. The subject
is always shown."""

EDGE = 0.04
"""Margin beyond the outermost numbers, as a fraction of the axis."""

GROUPS = {"chosen": "not held out", "held_out": "held out"}


def grouped(peers: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """The worlds under their headings, those held out last; a single group has no heading.

    Examples
    --------
    >>> river, sea = {"name": "River", "held_out": True}, {"name": "Sea", "held_out": False}
    >>> [(heading, len(worlds)) for heading, worlds in grouped({"worlds": [river, sea]})]
    [('not held out', 1), ('held out', 1)]
    >>> grouped({"worlds": [sea]}) == [("", [sea])]
    True
    """
    worlds = peers["worlds"]
    held_out = [world for world in worlds if world["held_out"]]
    if not held_out:
        return [("", worlds)]
    others = [world for world in worlds if not world["held_out"]]
    groups = [(GROUPS["chosen"], others), (GROUPS["held_out"], held_out)]
    return [(heading, some) for heading, some in groups if some]


def limits(peers: dict[str, Any]) -> tuple[float, float]:
    """The limits of the logarithmic axis: all ratios, up to `LIMIT` for peers.

    Examples
    --------
    >>> def world(ratio, peer):
    ...     families = {"twice": {"ratio": ratio}, "once": {"ratio": peer}}
    ...     return {"ratio": {"value": ratio, "low": None, "high": None}, "families": families}
    >>> low, high = limits({"worlds": [world(0.5, 1.0), world(2.0, 400.0)]})
    >>> round(low, 2), round(high, 1)
    (0.42, 35.3)
    """
    own = _positive(world["ratio"]["value"] for world in peers["worlds"])
    ends = _positive(world["ratio"][end] for world in peers["worlds"] for end in ("low", "high"))
    of_all = _positive(f["ratio"] for world in peers["worlds"] for f in world["families"].values())
    shown = [x for x in (*ends, *of_all) if 1 / LIMIT <= x <= LIMIT]
    beyond = [LIMIT] if any(x > LIMIT for x in of_all) else []
    low, high = min([0.8, *own, *shown]), max([1.5, *own, *shown, *beyond])
    room = (high / low) ** EDGE
    return low / room, high * room


def beyond(world: dict[str, Any], high: float) -> list[str]:
    """The families whose ratio lies beyond the axis.

    Examples
    --------
    >>> beyond({"families": {"a": {"ratio": 1.0}, "b": {"ratio": 99.0}, "c": {"ratio": None}}}, 30)
    ['b']
    """
    families = world["families"].items()
    return [name for name, f in families if f["ratio"] is not None and f["ratio"] > high]


def _positive(numbers: Any) -> list[float]:
    return [x for x in numbers if x is not None and x > 0]
