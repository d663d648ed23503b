"""Checks of a study's subject, the families of its agents, and the worlds held out.

The settings of a grid are one family, which has the name of the grid before expansion. The subject
is a family of one setting: it is compared untuned with peers that are tuned.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from optimist.parameters import did_you_mean
from optimist.text import check_seen


def families_of(agents: Iterable[str], given: Any) -> dict[str, str]:
    """The family of each agent: the given one, or else the agent itself.

    Examples
    --------
    >>> families_of(["once, beta 1", "once, beta 3", "twice"], {"once, beta 1": "once"})
    {'once, beta 1': 'once', 'once, beta 3': 'once, beta 3', 'twice': 'twice'}
    """
    names = list(agents)
    if not isinstance(given, Mapping):
        raise TypeError(f"families must be a mapping of agents to families; got {given!r}")
    for agent, family in given.items():
        if agent not in names:
            hint = did_you_mean(str(agent), names, "the agents are")
            raise ValueError(f"the keys of families must be agents; got {agent!r}: {hint}")
        check_family(family)
    return {name: given.get(name, name) for name in names}


def check_family(family: Any) -> None:
    """Raise an error unless this is the name of a family."""
    if not isinstance(family, str):
        raise TypeError(f"family must be a string; got {family!r}")
    check_seen(family, "family")


def check_subject(subject: Any, families: Mapping[str, str]) -> None:
    """Raise an error if the subject is no family, has several settings, or has no peers.

    Examples
    --------
    >>> check_subject("once", {"once, beta 1": "once", "once, beta 3": "once", "twice": "twice"})
    Traceback (most recent call last):
    ...
    ValueError: the subject must have one setting, as it is compared untuned with tuned peers;
    'once' has 2
    """
    if subject is None:
        return
    if not isinstance(subject, str):
        raise TypeError(f"subject must be a string; got {subject!r}")
    names = list(dict.fromkeys(families.values()))
    if subject not in names:
        hint = did_you_mean(subject, names, "the agents are")
        raise ValueError(f"subject must be one of the agents; got {subject!r}: {hint}")
    settings = sum(family == subject for family in families.values())
    if settings > 1:
        raise ValueError(
            "the subject must have one setting, as it is compared untuned with tuned peers; "
            f"{subject!r} has {settings}"
        )
    if len(names) == 1:
        raise ValueError(f"the subject must have peers; there is no agent but {subject!r}")


def check_held_out(held_out: Any, worlds: Iterable[str], subject: str | None) -> None:
    """Raise an error if a world is unknown or named twice, or if there is no subject.

    Examples
    --------
    >>> check_held_out(["maze"], ["Maze", "River"], "twice")
    Traceback (most recent call last):
    ...
    ValueError: held_out must name worlds; got 'maze': did you mean 'Maze'? The worlds are Maze,
    River
    """
    if isinstance(held_out, str | Mapping) or not isinstance(held_out, Iterable):
        raise TypeError(f"held_out must be a list of names of worlds; got {held_out!r}")
    given, names = list(held_out), list(worlds)
    for name in given:
        if name not in names:
            hint = did_you_mean(str(name), names, "the worlds are")
            raise ValueError(f"held_out must name worlds; got {name!r}: {hint}")
    if len(set(given)) < len(given):
        raise ValueError(f"held_out must name each world once; got {given}")
    if given and subject is None:
        raise ValueError(
            "held_out needs a subject: it lists worlds not used to choose its constants"
        )
