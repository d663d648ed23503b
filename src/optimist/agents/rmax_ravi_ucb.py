"""RMAX-RAVI-UCB, Algorithm 1, on finite worlds."""

import math
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from optimist import checks
from optimist.agents import checkpoint
from optimist.agents.configuration import Configuration
from optimist.agents.history import History
from optimist.agents.progress import progress
from optimist.checks import FloatArray
from optimist.core import Fixed, Rewards, SoftmaxPolicy, TablePolicy, Truncation
from optimist.core.finite import check_features, iterate, simulator, statistics
from optimist.core.rewards import FOR_EVER
from optimist.core.state import (
    EPISODES,
    STAGE,
    STEPS,
    UPDATES,
    WHOLE,
    Iterate,
    Player,
    Record,
    Rule,
    Snapshots,
    nobody,
)
from optimist.envs import World
from optimist.features import FeatureMap, OneHot, Table
from optimist.mdp import FiniteMDP, LinearMDP

CHUNK_STEPS = 200_000
"""Expected steps between two returns from compiled code: a few hundredths of a second."""

LINEAR = 1e-9
"""How far rewards may be from linear in the features to count as linear: rounding."""


class Optimism(NamedTuple):
    """What a learner believes just now."""

    value: FloatArray  # V, [X]
    bonus: FloatArray  # CB, [X, A]
    ascension: FloatArray  # p+, the probability of heaven, [X, A]


class RmaxRaviUcb:
    """Optimistic twice over: additive bonuses, and transitions to heaven where little is known.

    Parameters
    ----------
    world
        A world, or any `FiniteMDP` or `LinearMDP`. It is played, never looked into: only drawn
        states and the rewards are used, which the paper gives as functions.
    features
        Features of its pairs; by default a linear MDP's own, otherwise one-hot.
    config
        The parameters; `Configuration.practical()` by default.
    rewards
        Who picks r_k, always in [0, r_max]; by default they are the world's, and fixed.
    seed
        Seeds the run. The same seed gives the same bytes.
    stride
        Every so many episodes the policy is kept, to be evaluated exactly; 0 for none.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = RmaxRaviUcb(envs.RiverSwim(6, gamma=0.99), seed=0)
    >>> history = agent.learn(episodes=2000)
    >>> history.steps.size, history.suboptimality() < 0.05
    (2000, True)
    >>> agent.predict(3)          # swim right
    1
    """

    Config: ClassVar[type[Any]] = Configuration

    def __init__(
        self,
        world: World | FiniteMDP,
        features: FeatureMap | None = None,
        config: Configuration | None = None,
        rewards: Rewards | None = None,
        seed: int = 0,
        stride: int = 10,
    ) -> None:
        self.mdp = world.mdp if isinstance(world, World) else world
        self.features = _default_features(self.mdp) if features is None else features
        check_features(self.features, self.mdp)
        self.config = Configuration.practical() if config is None else config
        self.rewards = Fixed(self.mdp.r) if rewards is None else rewards
        self.stride = checks.count(stride, "stride", least=0)
        self.seed = checks.count(seed, "seed", least=0)
        seeds = np.random.SeedSequence(self.seed).spawn(2)
        self._rng, self._lottery = (np.random.default_rng(s) for s in seeds)
        self._simulator = simulator(self.mdp)
        self._stats = statistics(
            self.mdp, self._simulator, self.features, self.config.ridge_for(self.features.bound)
        )
        self._iterate = iterate(self.mdp, self._stats)
        self._drawn = iterate(self.mdp, self._stats)  # holds what pi_I is made of
        self._until = 0  # the episode before which the rewards are asked for again
        self._chosen: list[FloatArray] = []  # the reward functions so far
        self._chunks: list[dict[str, Any]] = []
        self._remembered = 0  # the first episode of the history

    # Learning

    @property
    def episodes(self) -> int:
        """How many episodes have been played."""
        return int(self._iterate.clock[EPISODES])

    @property
    def steps(self) -> int:
        """How many steps have been taken."""
        return int(self._iterate.clock[STEPS])

    def learn(self, episodes: int, show_progress: bool = True) -> History:
        """Play and learn; the history of these episodes. Calling it again goes on.

        An interruption (Ctrl-C) takes effect between two episodes, and all that was learnt stays.
        Progress is shown in a terminal only.
        """
        end = self.episodes + checks.count(episodes, "episodes")
        first, before = self.episodes, len(self._chunks)
        with progress(episodes, show_progress) as bar:
            while self.episodes < end and not bar.interrupted:
                bar.advance(self._learn_some(end - self.episodes))
        return self._history(before, first)

    @property
    def history(self) -> History:
        """The history of all episodes so far, or of those since it was last forgotten."""
        if not self._chunks:
            raise ValueError("nothing has been learnt yet, or all of it is forgotten")
        return self._history(0, self._remembered)

    def forget(self) -> None:
        """Drop the history so far, to bound the memory of a long run. What was learnt stays."""
        self._chunks.clear()
        del self._chosen[:-1]
        self._remembered = self.episodes

    def _learn_some(self, most: int) -> int:
        """Play as many episodes as one call should; how many."""
        hold = self._choose_rewards(most)
        stage = self.config.stage(self.episodes)
        chunk = max(1, math.ceil(CHUNK_STEPS / self.mdp.horizon))
        n = min(most, hold, chunk, stage - self.episodes if stage else most)
        done = self.episodes
        kept = np.arange(done, done + n)
        kept = kept[kept % self.stride == 0] if self.stride else kept[:0]
        record = Record(
            steps=np.zeros(n, dtype=np.int64),
            reward=np.zeros(n),
            epoch=np.zeros(n, dtype=np.int64),
            value=np.zeros(n),
            sup_q=np.zeros(n),
            bonus=np.zeros(n),
            ascension=np.zeros(n),
        )
        # Episode k replaces the drawn policy with probability 1/k: then each is drawn alike.
        lots = self._lottery.random(n) * np.arange(done + 1, done + n + 1) < 1
        shots = Snapshots(
            stride=self.stride,
            policies=np.zeros((len(kept), *self.mdp.r.shape)),
            draw=lots,
            Theta=self._drawn.Theta,
            rewards=self._drawn.rewards,
            Lambda=self._drawn.Lambda,
            log_pi=self._drawn.log_pi,
            clock=self._drawn.clock,
        )
        columns = self._play(self._rule(stage), record, shots)
        self._chunks.append({**columns, "evaluated": kept, "policies": shots.policies})
        return n

    def _choose_rewards(self, most: int) -> int:
        """Ask for rewards if it is time to, and for how many episodes they hold."""
        if self.episodes >= self._until:
            r, hold = self.rewards.choose(self.episodes, np.exp(self._iterate.log_pi))
            checks.count(hold, "the number of episodes for which rewards hold")
            self._check_rewards(r)
            # What holds for ever is asked for at every call, which costs nothing.
            self._until = self.episodes + hold if hold < FOR_EVER else 0
        return self._until - self.episodes if self._until else most

    def _play(self, rule: Rule, record: Record, shots: Snapshots) -> dict[str, Any]:
        """Play and learn under the rewards that were chosen; the columns of the history."""
        self._run(rule, self._chosen[-1].copy(), record, shots, nobody(), WHOLE)
        columns = checkpoint.columns_of(record)
        return {**columns, "chosen": np.full(len(record.steps), len(self._chosen) - 1)}

    def _run(
        self,
        rule: Rule,
        r: FloatArray,
        record: Record,
        shots: Snapshots,
        player: Player,
        part: int,
    ) -> None:
        """Hand everything to the compiled loop."""
        from optimist.core.engine import run  # numba takes its time: only those who learn wait

        state = (self._simulator, rule, self._stats, self._iterate)
        run(*state, r, self.mdp.nu0, self._rng, record, shots, player, part)

    def _rule(self, stage: int) -> Rule:
        """The configuration as the compiled loop takes it."""
        c = self.config
        ascension = c.ascension_in(stage)
        first, second = ascension.numbers
        return Rule(
            eta=float(c.eta),
            beta=float(c.beta),
            ascension=ascension.code,
            a=float(first),
            b=float(second),
            heaven=c.r_max * self.mdp.horizon,
            updates=c.updates,
            observe_last=c.observe_last,
            stage=stage,
        )

    def _check_rewards(self, r: FloatArray) -> FloatArray:
        """Remember the rewards if they are new, and refuse any outside [0, r_max]."""
        if self._chosen and (r is self._chosen[-1] or np.array_equal(r, self._chosen[-1])):
            return self._chosen[-1]
        r = checks.real_array(r, "rewards", shape=self.mdp.r.shape)
        slack = checks.ROW_SUM_TOLERANCE * self.config.r_max
        bad = (r < -slack) | (r > self.config.r_max + slack)
        if bad.any():
            where = checks.first(bad)
            raise ValueError(
                f"{checks.entry('rewards', where)} = {r[where]:.6g} is outside [0, r_max] = "
                f"[0, {self.config.r_max:g}]; FiniteMDP.affine(r_max) maps rewards there"
            )
        self._chosen.append(checks.frozen(r))
        return self._chosen[-1]

    def _history(self, chunk: int, first: int) -> History:
        parts = self._chunks[chunk:]
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return History(**columns, rewards=np.array(self._chosen), first=first, mdp=self.mdp)

    # Acting

    @property
    def optimism(self) -> Optimism:
        """The values, bonuses and probabilities of heaven of the last update."""
        it = self._iterate
        return Optimism(it.V.copy(), it.CB.copy(), it.p.copy())

    @property
    def policy(self) -> SoftmaxPolicy | TablePolicy:
        """The policy that the next episode would play."""
        return self._policy(self._iterate)

    @property
    def output(self) -> SoftmaxPolicy | TablePolicy:
        """The algorithm's output pi_I, with I drawn uniformly from the episodes so far."""
        return self._policy(self._drawn)

    def predict(self, state: ArrayLike, rng: np.random.Generator | None = None) -> int:
        """An action of the present policy: its most likely, or drawn if a generator is given."""
        return self.policy.predict(state, rng)

    def _policy(self, it: Iterate) -> SoftmaxPolicy | TablePolicy:
        c = self.config
        if isinstance(c.ascension, Truncation) and not math.isinf(c.eta):
            return TablePolicy(np.exp(it.log_pi))
        w = self._linear_weights(it.rewards)
        return SoftmaxPolicy(
            Theta=it.Theta.copy() if w is None else it.Theta + w,
            Lambda=it.Lambda.copy(),
            updates=int(it.clock[UPDATES]),
            eta=c.eta,
            beta=c.beta,
            ascension=c.ascension_in(int(it.clock[STAGE])),
            heaven=c.r_max * self.mdp.horizon,
            features=self.features,
            rewards=it.rewards.copy() if w is None else None,
        )

    def _linear_weights(self, r: FloatArray) -> FloatArray | None:
        """The weights w with r = Phi w, or None if the rewards are not linear in the features."""
        if isinstance(self.features, OneHot):
            return r.ravel()
        Phi, inverse = self._features_and_inverse
        w: FloatArray = inverse @ r.ravel()
        exact = np.abs(Phi @ w - r.ravel()).max() <= LINEAR * max(1.0, np.abs(r).max())
        return w if exact else None

    @cached_property
    def _features_and_inverse(self) -> tuple[FloatArray, FloatArray]:
        """All features as a matrix [X A, d], and its pseudo-inverse."""
        Phi = self.features.all_actions(np.arange(self.mdp.n_states)).reshape(self.mdp.r.size, -1)
        return Phi, np.asarray(np.linalg.pinv(Phi), dtype=np.float64)

    # Stopping and going on

    def save(self, folder: str | Path) -> None:
        """Write the whole learner into a folder; the file there is replaced at once or not at all.

        Rewards that a chooser of one's own picks are not saved: give it again when loading.
        """
        checkpoint.save(self, folder)

    @classmethod
    def load(
        cls,
        folder: str | Path,
        world: World | FiniteMDP,
        features: FeatureMap | None = None,
        rewards: Rewards | None = None,
    ) -> Self:
        """The learner in a folder, which goes on as if it had never stopped, bit for bit."""
        saved = checkpoint.read(folder, cls.__name__)
        seed, stride = saved.header["seed"], saved.header["stride"]
        agent = cls.__new__(cls)
        RmaxRaviUcb.__init__(agent, world, features, saved.config, rewards, seed, stride)
        checkpoint.restore(agent, saved)
        return agent

    def restore(self, folder: str | Path) -> None:
        """Bring this learner, newly made, to where the one in a folder was when it was saved."""
        checkpoint.restore(self, checkpoint.read(folder, type(self).__name__))

    @property
    def _arrays(self) -> dict[str, dict[str, Any]]:
        """The arrays that change while learning, by groups."""
        return {
            "stats": self._stats._asdict(),
            "iterate": self._iterate._asdict(),
            "drawn": self._drawn._asdict(),
        }

    @property
    def _given(self) -> tuple[Any, ...]:
        """Arrays that, besides world and features, have to be given again when loading."""
        return ()

    @property
    def _settings(self) -> dict[str, Any]:
        """What else a checkpoint says of the learner."""
        return {}


def _default_features(mdp: FiniteMDP) -> FeatureMap:
    """A linear MDP's own features, otherwise one-hot."""
    if isinstance(mdp, LinearMDP):
        return Table(mdp.Phi)
    return OneHot(mdp.n_states, mdp.n_actions)
