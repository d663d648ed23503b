"""Comparison of a study's subject with the best of its peers in each world.

Each family of peers is represented by the best setting of its grid in the world, chosen in
hindsight; the subject has one setting in all worlds. The score is the average suboptimality of a
run, a fraction of the optimal value, averaged over the seeds. Intervals resample the seeds of the
chosen settings, not the choice.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from optimist.checks import FloatArray
from optimist.envs import Gym
from optimist.experiments import statistics
from optimist.experiments.statistics import Estimate
from optimist.report import data

if TYPE_CHECKING:
    from optimist.experiments.results import Results

WITHIN = 1.2
"""The subject is close to the best peer if it loses at most this factor more."""

FAILS, SUCCEEDS = 0.5, 0.1
"""An agent fails if at the end of a run it loses more than the first fraction of what uniform play
loses, and succeeds if it loses less than the second."""

ROUNDING = 1e-12
"""Smaller fractions of the optimal value are rounding errors of the exact solver and count as 0."""


@dataclass(frozen=True)
class Played:
    """The runs of one setting of a family in one world.

    Attributes
    ----------
    setting
        The parameters that distinguish it in its family, as ``beta 0.3``; empty if it is the only.
    averages, finals
        The mean suboptimality of each seed over the run, and over its last tenth, [n].
    """

    setting: str
    averages: FloatArray
    finals: FloatArray

    @cached_property
    def scores(self) -> FloatArray:
        """The averages, with rounding errors set to 0."""
        return np.where(np.abs(self.averages) < ROUNDING, 0.0, self.averages)

    @cached_property
    def mean(self) -> Estimate:
        """The mean of the averages."""
        return statistics.estimate(self.scores, "mean", np.random.default_rng(0))


def in_world(
    families: Mapping[str, Sequence[Played]],
    subject: str,
    uniform: float,
    world: str = "",
    held_out: bool = False,
) -> data.Compared:
    """Compare the subject with its peers in a world in which uniform play loses ``uniform``.

    Examples
    --------
    >>> def runs(setting, *averages):
    ...     return Played(setting, np.array(averages), np.zeros(len(averages)))
    >>> once = [runs("beta 1", 0.2, 0.4), runs("beta 3", 0.1, 0.3)]
    >>> found = in_world({"twice": [runs("", 0.2, 0.26)], "once": once}, "twice", uniform=0.9)
    >>> found.families["once"].setting, round(found.ratio.value, 3), found.verdict
    ('beta 3', 1.15, 'within')
    """
    if len(families[subject]) != 1:
        raise ValueError(
            f"the subject must have one setting; {subject!r} has {len(families[subject])}"
        )
    best = {
        name: min(settings, key=lambda played: played.mean.value)
        for name, settings in families.items()
        if settings
    }
    peers = {name: played for name, played in best.items() if name != subject}
    if not peers:
        raise ValueError(f"the subject must have peers; {subject!r} has none")
    peer = min(peers, key=lambda name: peers[name].mean.value)
    own, lowest = best[subject].mean.value, peers[peer].mean.value
    verdict: data.Verdict = (
        "behind" if own > WITHIN * lowest else "within" if own > lowest else "lowest"
    )
    return data.Compared(
        world,
        held_out,
        peer,
        statistics.ratio(best[subject].scores, peers[peer].scores, np.random.default_rng(0)),
        verdict,
        failed=bool(best[subject].finals.mean() > max(FAILS * uniform, ROUNDING)),
        succeeded=tuple(
            name
            for name in peers
            if any(played.finals.mean() < SUCCEEDS * uniform for played in families[name])
        ),
        families={
            name: data.Family(
                played.setting,
                played.scores,
                played.mean,
                ratio=played.mean.value / lowest if lowest > 0 else math.nan,
            )
            for name, played in best.items()
        },
    )


def in_all_worlds(
    subject: str,
    families: Mapping[str, int],
    worlds: Sequence[data.Compared],
    left_out: Sequence[str] = (),
) -> data.Comparison:
    """The comparison in all worlds whose optimum is known, with counts and ranks.

    If some worlds are held out, the others ("chosen") and those held out are counted and ranked as
    groups of their own. Ranks are means over the worlds in which all families have finished.
    """
    held_out = [w for w in worlds if w.held_out]
    groups = {"all": list(worlds)}
    if held_out:
        groups |= {"chosen": [w for w in worlds if not w.held_out], "held_out": held_out}
    ranks = {}
    for group, some in groups.items():
        whole = [w for w in some if len(w.families) == len(families)]
        if whole:
            scores = {f: [w.families[f].scores for w in whole] for f in families}
            ranks[group] = statistics.ranks(scores, np.random.default_rng(0))
    counts = {
        group: {
            "worlds": len(some),
            "lowest": sum(w.verdict == "lowest" for w in some),
            "close": sum(w.verdict != "behind" for w in some),
            "fails_alone": sum(w.fails_alone for w in some),
        }
        for group, some in groups.items()
    }
    return data.Comparison(
        subject=subject,
        families=families,
        sentence=_sentence(subject, counts),
        within=WITHIN,
        fails=FAILS,
        succeeds=SUCCEEDS,
        counts=counts,
        ranks=ranks,
        left_out=tuple(left_out),
        worlds=tuple(worlds),
    )


def _sentence(subject: str, counts: Mapping[str, Mapping[str, int]]) -> str:
    """The counts in words."""
    every, held = counts["all"], counts.get("held_out")
    if not every["worlds"]:
        return f"{subject} cannot be compared with its peers yet."
    worlds = "1 world" if every["worlds"] == 1 else f"{every['worlds']} worlds"
    text = (
        f"{subject} is lowest or within {WITHIN:g} times the best peer on {every['close']} of "
        f"{worlds}, and lowest on {every['lowest']}"
    )
    if held:
        text += (
            f"; of the {held['worlds']} held out, on {held['close']}, and lowest on "
            f"{held['lowest']}"
        )
    fails = every["fails_alone"]
    return text + (f". It fails on {fails} where a peer succeeds." if fails else ".")


def compare(results: "Results") -> data.Comparison | None:
    """Compare the subject of a study with its peers; None without a subject or a known optimum.

    Settings without a finished run are ignored.
    """
    study = results.study
    subject = study.subject
    known = [name for name, world in study.worlds.items() if not isinstance(world, Gym)]
    if subject is None or not known:
        return None
    names = dict.fromkeys([subject, *study.family.values()])
    families = {name: [a for a, f in study.family.items() if f == name] for name in names}
    compared, left_out = [], []
    for name in known:
        there = {
            family: [
                Played(setting_of(agent, family), cell.averages, cell.finals)
                for agent in agents
                if (cell := results.cell(name, agent)) is not None
            ]
            for family, agents in families.items()
        }
        if there[subject] and any(there[family] for family in there if family != subject):
            lost = _lost_by_uniform_play(study.worlds[name])
            held_out = name in study.held_out
            compared.append(in_world(there, subject, lost, name, held_out))
        else:
            left_out.append(name)
    settings = {family: len(agents) for family, agents in families.items()}
    return in_all_worlds(subject, settings, compared, left_out)


def _lost_by_uniform_play(world: Any) -> float:
    mdp = world.mdp
    return float(mdp.suboptimality(mdp.uniform_policy) / (mdp.optimal().value or 1.0))


def setting_of(agent: str, family: str) -> str:
    """The name of an agent without that of its family.

    Examples
    --------
    >>> setting_of("RAVI-UCB, beta 0.3", "RAVI-UCB"), setting_of("beta 0.3", "beta {beta}")
    ('beta 0.3', 'beta 0.3')
    >>> setting_of("R-max", "R-max")
    ''
    """
    return "" if agent == family else agent.removeprefix(f"{family}, ")
