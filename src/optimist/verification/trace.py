"""Record a complete run of Algorithm 1: every policy, value, bonus, covariance and pair."""

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optimist import limits
from optimist.agents.driver import RunSettings
from optimist.agents.finite_driver import FiniteDriver, columns_of
from optimist.agents.rmax_ravi_ucb import RmaxRaviUcbConfig
from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core import Rewards
from optimist.core.state import Kept, Record, Rule, Simulator
from optimist.display.text import one_line
from optimist.features import FeatureMap
from optimist.mdp import FiniteMDP


@dataclass(frozen=True)
class Trace:
    """Everything the compiled learner computed, over K episodes, U updates, E epochs and T pairs.

    The covariance has n blocks of size s, and d = n s. A pair is the number x * A + a.
    """

    __repr__ = one_line

    mdp: FiniteMDP
    config: RmaxRaviUcbConfig
    phi: FloatArray  # the features of all pairs within their block, [X A, s]
    block: IntArray  # the block of each pair, [X A]
    ridge: float  # Lambda_1 is this times the identity
    probabilities: FloatArray  # from which next states were drawn, in the order of the entries of P
    # Episodes
    played: FloatArray  # the policies pi_k that were played, [K, X, A]
    cumulative: FloatArray  # the cumulative probabilities from which actions were drawn, [K, X, A]
    r: FloatArray  # the rewards r_k, [K, X, A]
    epoch: IntArray  # the epoch after each episode, counted from 1, [K]
    CB: FloatArray  # the bonuses CB_k, [K, X, A]
    p: FloatArray  # the ascension functions p_k+, [K, X, A]
    Lambda: FloatArray  # the covariances Lambda_{T_k}, by blocks, [K, n, s, s]
    frozen: FloatArray  # the covariances Lambda_{t_e} at the start of each epoch, [E, n, s, s]
    steps: IntArray  # the length of each episode, as counted by the learner, [K]
    paid: FloatArray  # the sum of its rewards, as counted by the learner, [K]
    apart: BoolArray  # whether the learner's generator then differs from one that drew `pairs`, [K]
    begins: IntArray  # the first state of each episode, [K]
    # Pairs, in the order of play
    pairs: IntArray  # [T]
    at: IntArray  # the episode of each pair, [T]
    seen: IntArray  # the next state, or -1 if the episode ended before it was seen, [T]
    # Updates
    episode: IntArray  # the episode of each update, [U]
    V: FloatArray  # V_k, [U, X]
    V_next: FloatArray  # V_{k+1}, [U, X]
    Q: FloatArray  # Q_{k+1}, [U, X, A]
    log_before: FloatArray  # log pi_k, after the reset if an epoch begins, [U, X, A]
    log_after: FloatArray  # log pi_{k+1}, [U, X, A]


def record(
    mdp: FiniteMDP,
    features: FeatureMap,
    config: RmaxRaviUcbConfig,
    K: int,
    seed: int = 0,
    rewards: Rewards | None = None,
) -> Trace:
    """RunSettings Algorithm 1 for K episodes in compiled code, and record everything.

    Examples
    --------
    >>> from optimist import envs
    >>> world = envs.RiverSwim(6, gamma=0.9)
    >>> trace = record(world.mdp, world.features, RmaxRaviUcbConfig(updates=1), K=20)
    >>> trace.Q.shape, len(trace.pairs) == trace.at.size, bool((trace.V[0] == 0).all())
    ((20, 6, 2), True, True)
    """
    if not math.isfinite(config.eta) or config.lazy or config.v_max is not None or config.anytime:
        raise ValueError(
            "config must be one that the analysis covers: a Sigmoid, a finite eta, updates after "
            "each episode, and no v_max or anytime schedule"
        )
    X, A = mdp.r.shape
    covariance = features.dim**2 // features.blocks
    of_updates = config.updates * (2 * X + 3 * X * A)
    numbers = 5 * X * A + of_updates + covariance + 10 * mdp.horizon  # per episode
    limits.need(2 * 8 * K * numbers, f"recording {K:,} episodes of {X:,} states")  # and a copy
    driver = Recorder(mdp, features, config.variant(), RunSettings(config, seed, 1), rewards)
    for _ in range(K):
        driver.learn_some(1)
    kept = {name: np.array(values) for name, values in driver.kept.items()}
    world = driver.simulator
    return Trace(
        mdp=mdp,
        config=config,
        phi=driver.states.rows,
        block=driver.states.block.ravel(),
        ridge=driver.ridge,
        probabilities=np.concatenate(
            [np.diff(part, prepend=0.0) for part in np.split(world.cumulative, world.first[1:-1])]
        ),
        **kept,
    )


class Recorder(FiniteDriver):
    """The compiled learner, stopped after every episode and every update to copy its state."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        given = ("mdp", "config", "phi", "block", "ridge", "probabilities")
        self.kept: dict[str, list[Any]] = {
            field.name: [] for field in fields(Trace) if field.name not in given
        }

    def _play(self, rule: Rule, record: Record, kept: Kept) -> dict[str, Any]:
        from optimist.core.finite import learn_one, play_one  # numba takes its time

        k, s, clock, r = self.episodes, self.states, self.epoch.clock[0], self.chosen[-1]
        self._keep(played=np.exp(s.log_pi), cumulative=s.cumulative.copy(), r=r)
        again = np.random.Generator(type(self.rng.bit_generator)())
        again.bit_generator.state = self.rng.bit_generator.state
        begin = int(clock["state"])
        pairs, seen = replay(self.simulator, s.cumulative, rule.observe_last, begin, again)
        play_one(self.learner(rule), self.rng, record, kept)
        following = _first_above(self.simulator.start, again.random())
        synchronous = again.bit_generator.state == self.rng.bit_generator.state
        self._keep(apart=not synchronous or following != self.epoch.clock[0]["state"])
        self._keep(begins=pairs[0] // r.shape[1], steps=record.steps[0], paid=record.reward[0])
        for pair, after in zip(pairs, seen, strict=True):
            self._keep(pairs=pair, seen=after, at=k)
        epoch = int(record.epoch[0])
        self._keep(epoch=epoch, CB=s.CB.copy(), p=s.p.copy(), Lambda=self.regression.Lambda.copy())
        if epoch > len(self.kept["frozen"]):
            self._keep(frozen=self.epoch.Lambda.copy())
        once = self.learner(rule._replace(updates=1))
        for _ in range(rule.updates):
            self._keep(episode=k, V=s.V.copy(), log_before=s.log_pi.copy())
            learn_one(once, self.rng, record)
            self._keep(V_next=s.V.copy(), Q=self.data.Q.copy(), log_after=s.log_pi.copy())
        return {**columns_of(record), "chosen": np.zeros(1, dtype=np.int64)}

    def _keep(self, **values: Any) -> None:
        for name, value in values.items():
            self.kept[name].append(value)


def replay(
    world: Simulator, pi: FloatArray, observe_last: bool, x: int, rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    """Replay one episode from the random numbers of ``rng``; its pairs and their next states.

    This is the loop of the pseudocode. A next state is -1 if it was not seen. ``pi`` holds the
    cumulative probabilities of the actions; x is -1 before the first episode.
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
