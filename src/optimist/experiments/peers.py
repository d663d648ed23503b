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
from typing import TYPE_CHECKING, Any, Literal

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

Verdict = Literal["lowest", "within", "behind"]


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


@dataclass(frozen=True)
class InWorld:
    """The comparison in one world.

    Attributes
    ----------
    best
        The setting of each family with the lowest mean over the seeds.
    peer
        The family of the best peer.
    ratio
        The loss of the subject divided by that of the best peer.
    verdict
        Whether the subject is lowest (ties included), within 1.2 times the best peer, or behind.
    failed
        Whether the subject fails at the end of its runs.
    succeeded
        The peers that succeed then, in any setting.
    """

    world: str
    held_out: bool
    best: Mapping[str, Played]
    peer: str
    ratio: Estimate
    verdict: Verdict
    failed: bool
    succeeded: tuple[str, ...]

    @property
    def fails_alone(self) -> bool:
        """Whether the subject fails while a peer succeeds."""
        return self.failed and bool(self.succeeded)


def in_world(
    families: Mapping[str, Sequence[Played]],
    subject: str,
    uniform: float,
    world: str = "",
    held_out: bool = False,
) -> InWorld:
    """Compare the subject with its peers in a world in which uniform play loses ``uniform``.

    Examples
    --------
    >>> def runs(setting, *averages):
    ...     return Played(setting, np.array(averages), np.zeros(len(averages)))
    >>> once = [runs("beta 1", 0.2, 0.4), runs("beta 3", 0.1, 0.3)]
    >>> found = in_world({"twice": [runs("", 0.2, 0.26)], "once": once}, "twice", uniform=0.9)
    >>> found.best["once"].setting, round(found.ratio.value, 3), found.verdict
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
    verdict: Verdict = "behind" if own > WITHIN * lowest else "within" if own > lowest else "lowest"
    return InWorld(
        world,
        held_out,
        best,
        peer,
        statistics.ratio(best[subject].scores, peers[peer].scores, np.random.default_rng(0)),
        verdict,
        failed=bool(best[subject].finals.mean() > max(FAILS * uniform, ROUNDING)),
        succeeded=tuple(
            name
            for name in peers
            if any(played.finals.mean() < SUCCEEDS * uniform for played in families[name])
        ),
    )


@dataclass(frozen=True)
class Comparison:
    """The comparison in all worlds whose optimum is known.

    Attributes
    ----------
    families
        The number of settings of each family, the subject first.
    worlds
        The comparison in each world.
    left_out
        The worlds in which the subject or all its peers have no finished run.
    """

    subject: str
    families: Mapping[str, int]
    worlds: tuple[InWorld, ...]
    left_out: tuple[str, ...] = ()

    @property
    def groups(self) -> dict[str, tuple[InWorld, ...]]:
        """All worlds; if some are held out, also the others ("chosen") and those held out."""
        held_out = tuple(w for w in self.worlds if w.held_out)
        if not held_out:
            return {"all": self.worlds}
        chosen = tuple(w for w in self.worlds if not w.held_out)
        return {"all": self.worlds, "chosen": chosen, "held_out": held_out}

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """For each group, in how many worlds the subject is lowest, close, or fails alone."""
        return {
            name: {
                "worlds": len(worlds),
                "lowest": sum(w.verdict == "lowest" for w in worlds),
                "close": sum(w.verdict != "behind" for w in worlds),
                "fails_alone": sum(w.fails_alone for w in worlds),
            }
            for name, worlds in self.groups.items()
        }

    @cached_property
    def ranks(self) -> dict[str, dict[str, Estimate]]:
        """The mean rank of each family over the worlds of a group in which all have finished."""
        found = {}
        for name, worlds in self.groups.items():
            whole = [w for w in worlds if len(w.best) == len(self.families)]
            if whole:
                scores = {f: [w.best[f].scores for w in whole] for f in self.families}
                found[name] = statistics.ranks(scores, np.random.default_rng(0))
        return found

    @property
    def sentence(self) -> str:
        """The counts in words."""
        if not self.worlds:
            return f"{self.subject} cannot be compared with its peers yet."
        counts = self.counts
        every = counts["all"]
        text = (
            f"{self.subject} is lowest or within {WITHIN:g} times the best peer on {every['close']}"
            f" of {_worlds(every['worlds'])}, and lowest on {every['lowest']}"
        )
        if "held_out" in counts:
            held = counts["held_out"]
            text += (
                f"; of the {held['worlds']} held out, on {held['close']}, and lowest on "
                f"{held['lowest']}"
            )
        fails = every["fails_alone"]
        text += f". It fails on {fails} where a peer succeeds." if fails else "."
        return text


def _worlds(n: int) -> str:
    return "1 world" if n == 1 else f"{n} worlds"


def compare(results: "Results") -> Comparison | None:
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
    return Comparison(subject, settings, tuple(compared), tuple(left_out))


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


def shown(comparison: Comparison) -> data.Comparison:
    """The comparison as the data of a report."""
    return data.Comparison(
        subject=comparison.subject,
        families=comparison.families,
        sentence=comparison.sentence,
        within=WITHIN,
        fails=FAILS,
        succeeds=SUCCEEDS,
        counts=comparison.counts,
        ranks=comparison.ranks,
        left_out=comparison.left_out,
        worlds=tuple(_shown_world(w) for w in comparison.worlds),
    )


def _shown_world(w: InWorld) -> data.Compared:
    lowest = w.best[w.peer].mean.value
    return data.Compared(
        name=w.world,
        held_out=w.held_out,
        peer=w.peer,
        ratio=w.ratio,
        verdict=w.verdict,
        failed=w.failed,
        succeeded=w.succeeded,
        families={
            family: data.Family(
                played.setting,
                played.mean,
                ratio=played.mean.value / lowest if lowest > 0 else math.nan,
            )
            for family, played in w.best.items()
        },
    )
