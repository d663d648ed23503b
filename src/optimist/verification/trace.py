"""A run of Algorithm 1 with nothing left out: every policy, value, bonus, covariance and pair."""

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optimist import limits
from optimist.agents import Configuration
from optimist.agents.finite import FiniteDriver, columns_of
from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core import Rewards, Sigmoid
from optimist.core.state import PLAY, STATE, UPDATE, Record, Rule, Simulator, Snapshots, nobody
from optimist.features import FeatureMap
from optimist.mdp import FiniteMDP


@dataclass(frozen=True)
class Trace:
    """What the compiled learner did, as it did it. K episodes, U updates, T pairs.

    Attributes
    ----------
    mdp, config
        The world and the parameters.
    phi, block
        The features of all pairs within their block of the covariance, [X A, s], and which block of
        the n that is, [X A]; d = n s.
    played
        The policies pi_k as they were played, [K, X, A].
    r
        The rewards r_k, [K, X, A].
    epoch
        The epoch after each episode, counted from 1, [K].
    CB, p
        The bonuses CB_k and ascension functions p_k+, [K, X, A].
    Lambda
        The covariances Lambda_{T_k}, by blocks, [K, n, s, s].
    frozen
        The covariances Lambda_{t_e} at the start of each epoch, [E, n, s, s].
    ridge
        Lambda_1 is this times the identity.
    cumulative
        The cumulative probabilities by which actions were drawn, [K, X, A].
    probabilities
        Those by which next states were drawn, in the order of the entries of P.
    steps, paid
        The length of each episode and the sum of its rewards, as the learner counts them, [K].
    apart
        Whether the learner had drawn other numbers by the end of an episode than the pairs below
        tell, [K].
    begins
        The first state of each episode, [K].
    pairs, at
        The pairs x * A + a in the order of playing, and the episode of each, [T].
    seen
        The next state of each pair, or -1 where the episode ended before it was seen, [T].
    episode
        The episode of each update, [U].
    V, V_next, Q
        V_k and V_{k+1}, [U, X], and Q_{k+1}, [U, X, A].
    log_before, log_after
        The logarithms of pi_k, after its reset where an epoch begins, and of pi_{k+1}, [U, X, A].
    """

    mdp: FiniteMDP
    config: Configuration
    phi: FloatArray
    block: IntArray
    ridge: float
    probabilities: FloatArray
    played: FloatArray
    cumulative: FloatArray
    r: FloatArray
    epoch: IntArray
    CB: FloatArray
    p: FloatArray
    Lambda: FloatArray
    frozen: FloatArray
    steps: IntArray
    paid: FloatArray
    apart: BoolArray
    begins: IntArray
    pairs: IntArray
    at: IntArray
    seen: IntArray
    episode: IntArray
    V: FloatArray
    V_next: FloatArray
    Q: FloatArray
    log_before: FloatArray
    log_after: FloatArray


def record(
    mdp: FiniteMDP,
    features: FeatureMap,
    config: Configuration,
    K: int,
    seed: int = 0,
    rewards: Rewards | None = None,
) -> Trace:
    """Run Algorithm 1 for K episodes in compiled code, and keep everything.

    Examples
    --------
    >>> from optimist import envs
    >>> world = envs.RiverSwim(6, gamma=0.9)
    >>> trace = record(world.mdp, world.features, Configuration.practical(updates=1), K=20)
    >>> trace.Q.shape, len(trace.pairs) == trace.at.size, bool((trace.V[0] == 0).all())
    ((20, 6, 2), True, True)
    """
    covered = isinstance(config.ascension, Sigmoid) and math.isfinite(config.eta)
    if not covered or config.lazy or config.v_max is not None or config.anytime:
        raise ValueError(
            "the analysis is of one sigmoid, a finite eta, updates after each episode and a heaven "
            "that is worth R_max H"
        )
    X, A = mdp.r.shape
    covariance = features.dim**2 // features.blocks
    of_updates = config.updates * (2 * X + 3 * X * A)
    numbers = 5 * X * A + of_updates + covariance + 10 * mdp.horizon  # an episode; its pairs too
    limits.need(2 * 8 * K * numbers, f"recording {K:,} episodes of {X:,} states")  # and a copy
    driver = Recorder(mdp, features, config, rewards, seed, stride=1)
    for _ in range(K):
        driver.learn_some(1)
    kept = {name: np.array(values) for name, values in driver.kept.items()}
    world = driver.simulator
    return Trace(
        mdp=mdp,
        config=config,
        phi=driver.stats.phi,
        block=driver.stats.block,
        ridge=config.ridge_for(features.bound),
        probabilities=np.concatenate(
            [np.diff(part, prepend=0.0) for part in np.split(world.cumulative, world.first[1:-1])]
        ),
        **kept,
    )


class Recorder(FiniteDriver):
    """The compiled learner, stopped after every episode and every update to be looked at."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        given = ("mdp", "config", "phi", "block", "ridge", "probabilities")
        self.kept: dict[str, list[Any]] = {
            field.name: [] for field in fields(Trace) if field.name not in given
        }

    def _play(self, rule: Rule, record: Record, shots: Snapshots) -> dict[str, Any]:
        k, it, r = self.episodes, self.iterate, self.chosen[-1].copy()
        self._keep(played=np.exp(it.log_pi), cumulative=it.cumulative.copy(), r=r)
        again = np.random.Generator(type(self.rng.bit_generator)())
        again.bit_generator.state = self.rng.bit_generator.state
        begin = int(it.clock[STATE])
        pairs, seen = replay(self.simulator, it.cumulative, rule.observe_last, begin, again)
        self._run(rule, r, record, shots, nobody(), PLAY)
        following = _first_above(self.simulator.start, again.random())
        synchronous = again.bit_generator.state == self.rng.bit_generator.state
        self._keep(apart=not synchronous or following != it.clock[STATE])
        self._keep(begins=pairs[0] // r.shape[1], steps=record.steps[0], paid=record.reward[0])
        for pair, after in zip(pairs, seen, strict=True):
            self._keep(pairs=pair, seen=after, at=k)
        epoch = int(record.epoch[0])
        self._keep(epoch=epoch, CB=it.CB.copy(), p=it.p.copy(), Lambda=self.stats.Lambda.copy())
        if epoch > len(self.kept["frozen"]):
            self._keep(frozen=it.Lambda.copy())
        once = rule._replace(updates=1)
        for _ in range(rule.updates):
            self._keep(episode=k, V=it.V.copy(), log_before=it.log_pi.copy())
            self._run(once, r, record, shots, nobody(), UPDATE)
            self._keep(V_next=it.V.copy(), Q=it.PV.copy(), log_after=it.log_pi.copy())
        return {**columns_of(record), "chosen": np.zeros(1, dtype=np.int64)}

    def _keep(self, **values: Any) -> None:
        for name, value in values.items():
            self.kept[name].append(value)


def replay(
    world: Simulator, pi: FloatArray, observe_last: bool, x: int, rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    """The pairs of the episode that these random numbers make, and the next state of each.

    It is the loop of the pseudocode. The next state is -1 where it was not seen; ``pi`` are the
    cumulative probabilities of the actions, and x is -1 before the first episode of all.
    """
    pairs: list[int] = []
    seen: list[int] = []
    if x < 0:
        x = _first_above(world.start, rng.random())
    while True:
        pair = x * pi.shape[1] + _first_above(pi[x], rng.random())
        pairs.append(pair)
        going = rng.random() < world.gamma
        if going or observe_last:
            begin, end = world.first[pair], world.first[pair + 1]
            x = int(world.after[begin + _first_above(world.cumulative[begin:end], rng.random())])
        seen.append(x if going or observe_last else -1)
        if not going:
            return pairs, seen


def _first_above(cumulative: NDArray[Any], u: float) -> int:
    """The first index whose cumulative probability exceeds u, or the last."""
    return min(int(np.searchsorted(cumulative, u, side="right")), len(cumulative) - 1)
