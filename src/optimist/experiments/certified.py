"""Certificates along a run: what was certified by the time that each policy was evaluated.

A run that is asked for certificates has three more columns, one number for each evaluated policy:

===================  =============================================================================
Column               From the episodes before that of the policy, at the delta of the run
===================  =============================================================================
upper                an upper bound on the optimal value
lower                a lower bound on the value of the policy that is certified
certified_value      the exact value of that policy, which the certificate does not know
===================  =============================================================================

The bounds are the best so far, as all certificates of a run hold at once.
"""

from typing import Any

import numpy as np

from optimist.agents import Agent
from optimist.agents.certified_agent import CertifiedAgent
from optimist.checks import FloatArray, IntArray
from optimist.experiments.curves import Curves

COLUMNS = ("lower", "upper", "certified_value")


def refusal(agent: Agent, delta: float) -> str:
    """Why an agent has no certificates in its world; empty if it has.

    Examples
    --------
    >>> from optimist import RmaxRaviUcb, envs
    >>> refusal(RmaxRaviUcb(envs.RiverSwim(4)), delta=0.05)
    ''
    >>> print(refusal(RmaxRaviUcb(envs.RandomLinear(3, 8, 2)), delta=0.05))
    a certificate needs the counts of transitions in a finite world; this learner keeps none:
    agent.estimate() plays fresh episodes instead
    """
    if not isinstance(agent, CertifiedAgent):
        return "a certificate needs the counts of an agent that keeps them; this learner has none"
    try:
        agent.certificate(delta)
    except ValueError as error:
        return str(error)
    return ""


def certificate_now(agent: Any, delta: float) -> Curves:
    """The row of the next policy of an agent that has certificates."""
    found = agent.certificate(delta)
    value = float(agent.mdp.value(found.policy.table))
    numbers = (found.lower, found.upper, value)
    return {name: np.array([x]) for name, x in zip(COLUMNS, numbers, strict=True)}


def best_so_far(rows: Curves) -> Curves:
    """The best bounds up to each row; the policy is that of the best lower bound.

    Examples
    --------
    >>> found = best_so_far({
    ...     "lower": np.array([0.1, 0.4, 0.3]),
    ...     "upper": np.array([2.0, 1.0, 1.5]),
    ...     "certified_value": np.array([0.5, 0.8, 0.9]),
    ... })
    >>> found["lower"], found["upper"], found["certified_value"]
    (array([0.1, 0.4, 0.4]), array([2., 1., 1.]), array([0.5, 0.8, 0.8]))
    """
    lower = np.maximum.accumulate(rows["lower"])
    new = np.append(True, lower[1:] > lower[:-1])
    best = np.maximum.accumulate(np.where(new, np.arange(len(lower)), 0))
    upper = np.minimum.accumulate(rows["upper"])
    return {"lower": lower, "upper": upper, "certified_value": rows["certified_value"][best]}


def first_within(at: IntArray, shares: FloatArray, levels: tuple[float, ...]) -> FloatArray:
    """The episode from which on the shares [n, T] stay within each level; nan if none, [n, levels].

    Examples
    --------
    >>> at, shares = np.array([1, 11, 21]), np.array([[0.5, 0.1, 0.2], [0.1, 0.3, 0.04]])
    >>> first_within(at, shares, (0.2, 0.05))
    array([[11., nan],
           [21., 21.]])
    """
    found = np.full((len(shares), len(levels)), np.nan)
    for j, level in enumerate(levels):
        beyond = shares > level
        first = np.where(beyond.any(axis=1), len(at) - beyond[:, ::-1].argmax(axis=1), 0)
        reached = first < len(at)
        found[reached, j] = at[first[reached]]
    return found
