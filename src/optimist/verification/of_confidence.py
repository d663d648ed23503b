"""docs/explanation/rule.md: the constants of `Optimist.Config.proven`; values are optimistic."""

from dataclasses import dataclass

import numpy as np

from optimist.agents import Optimist
from optimist.agents.driver import RunSettings
from optimist.agents.finite_driver import FiniteDriver
from optimist.checks import FloatArray, IntArray
from optimist.display.text import one_line
from optimist.features import OneHot
from optimist.mdp import FiniteMDP
from optimist.verification.statement import Claim, Needs, Statements, at_most

STATEMENTS: Statements["ProvenRun"] = Statements("Optimist with proven constants")
add = STATEMENTS.add


@dataclass(frozen=True)
class ProvenRun:
    """A run in a known world, as it stood after each of K episodes."""

    __repr__ = one_line

    mdp: FiniteMDP
    delta: float
    R_max: float
    V: FloatArray  # the values, [K, X]
    counts: FloatArray  # how often each entry of P was drawn so far, [K, entries]
    first: IntArray  # where the entries of each pair begin, [X A]
    after: IntArray  # the next state of each entry
    T: IntArray  # the steps so far, [K]

    @property
    def most(self) -> float:
        """R_max H, which no value of the world exceeds."""
        return self.R_max * self.mdp.horizon

    def sums(self, f: FloatArray) -> FloatArray:
        """The sums of f over the next states seen of each pair, for f [X], [K, X A]."""
        return np.add.reduceat(self.counts * f[self.after], self.first, axis=1)


def play_proven(mdp: FiniteMDP, K: int, delta: float, seed: int) -> ProvenRun:
    """A run of K episodes, with one-hot features whatever the world's own are."""
    config = Optimist.Config.proven(delta, r_max=max(1.0, mdp.reward_range[1]))
    features, run = OneHot(mdp.n_states, mdp.n_actions), RunSettings(config, seed, 0)
    driver = FiniteDriver(mdp, features, config.variant(), run)
    V, counts = np.empty((K, mdp.n_states)), np.empty((K, driver.data.counts.size))
    T, world = np.empty(K, dtype=np.int64), driver.simulator
    for k in range(K):
        driver.learn_some(1)
        V[k], counts[k], T[k] = driver.states.V, driver.data.counts, driver.steps
    return ProvenRun(mdp, delta, config.r_max, V, counts, world.first[:-1], world.after, T)


@add("Bernstein", "docs/explanation/rule.md", needs=Needs.CHANCE)
def bernstein(run: ProvenRun) -> Claim:
    """(P - P^_k) V* <= sqrt(2 Var^_k(V*) L / n) + 3 R_max H L / n, for every tried pair"""
    best = run.mdp.optimal().V
    L = np.log(3 * run.mdp.r.size * run.T * (run.T + 1) / run.delta)[:, None]
    visits = run.sums(np.ones_like(best))
    tried, n = visits > 0, np.maximum(visits, 1)
    mean = run.sums(best) / n
    variance = np.maximum(run.sums(best**2) / n - mean**2, 0)
    most = np.sqrt(2 * variance * L / n) + 3 * run.most * L / n
    error = np.asarray(run.mdp.kernel @ best) - mean
    return at_most(error[tried], most[tried], unit=run.most, trivial=run.most)


@add("optimism", "docs/explanation/rule.md", needs=Needs.CHANCE)
def optimistic(run: ProvenRun) -> Claim:
    """V* - gamma^k R_max H <= V_k: each episode makes at least one update"""
    left = run.mdp.gamma ** np.arange(1, len(run.T) + 1)[:, None] * run.most
    return at_most(run.mdp.optimal().V - left, run.V, trivial=run.most)
