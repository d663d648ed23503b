"""Who a study is about: its subject, the families of its agents, and the worlds held out.

The settings of a grid are one family, called as the grid was before it was expanded. The subject
is a family of one setting: it is compared with peers that are tuned, and is not tuned itself.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from optimist.experiments.parameters import did_you_mean
from optimist.text import check_seen


def families_of(agents: Iterable[str], given: Any) -> dict[str, str]:
    """The family of each agent: what is given of some, or else the agent itself.

    Examples
    --------
    >>> families_of(["once, beta 1", "once, beta 3", "twice"], {"once, beta 1": "once"})
    {'once, beta 1': 'once', 'once, beta 3': 'once, beta 3', 'twice': 'twice'}
    """
    names = list(agents)
    if not isinstance(given, Mapping):
        raise TypeError(f"families = {given!r} is not a mapping of agents to their families")
    for agent, family in given.items():
        if agent not in names:
            hint = did_you_mean(str(agent), names, "the agents are")
            raise ValueError(f"families names the agent {agent!r}, which is none: {hint}")
        check_family(family)
    return {name: given.get(name, name) for name in names}


def check_family(family: Any) -> None:
    """Refuse what is not the name of a family."""
    if not isinstance(family, str):
        raise TypeError(f"family = {family!r} is not text, as the name of a family is")
    check_seen(family, "family")


def check_subject(subject: Any, families: Mapping[str, str]) -> None:
    """Refuse a subject that is no family, that is tuned, or that has no peers.

    Examples
    --------
    >>> check_subject("once", {"once, beta 1": "once", "once, beta 3": "once", "twice": "twice"})
    Traceback (most recent call last):
    ...
    ValueError: the subject 'once' has 2 settings: give it one, for it is compared untuned with
    peers that are tuned
    """
    if subject is None:
        return
    if not isinstance(subject, str):
        raise TypeError(f"subject = {subject!r} is not text")
    names = list(dict.fromkeys(families.values()))
    if subject not in names:
        hint = did_you_mean(subject, names, "the agents are")
        raise ValueError(f"subject = {subject!r} is none of the agents: {hint}")
    settings = sum(family == subject for family in families.values())
    if settings > 1:
        raise ValueError(
            f"the subject {subject!r} has {settings} settings: give it one, for it is compared "
            "untuned with peers that are tuned"
        )
    if len(names) == 1:
        raise ValueError(f"the subject {subject!r} has no peers: there is no other agent")


def check_held_out(held_out: Any, worlds: Iterable[str], subject: str | None) -> None:
    """Refuse worlds that are not there or are named twice, and any if there is no subject.

    Examples
    --------
    >>> check_held_out(["maze"], ["Maze", "River"], "twice")
    Traceback (most recent call last):
    ...
    ValueError: held_out names 'maze', which is none of the worlds: did you mean 'Maze'? The worlds
    are Maze, River
    """
    if isinstance(held_out, str | Mapping) or not isinstance(held_out, Iterable):
        raise TypeError(f"held_out = {held_out!r} is not a list of names of worlds")
    given, names = list(held_out), list(worlds)
    for name in given:
        if name not in names:
            hint = did_you_mean(str(name), names, "the worlds are")
            raise ValueError(f"held_out names {name!r}, which is none of the worlds: {hint}")
    if len(set(given)) < len(given):
        raise ValueError(f"held_out = {given} names a world twice")
    if given and subject is None:
        raise ValueError("held_out needs a subject, whose constants were not chosen there")
