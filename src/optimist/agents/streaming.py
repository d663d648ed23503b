"""Algorithm 1 in any Gymnasium environment: states are met one by one, rewards as they are paid."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from optimist import checks
from optimist.agents.configuration import Configuration
from optimist.agents.learner import COLUMNS, Episode, StreamLearner
from optimist.agents.terms import AnyFeatures, Terms, check_terms, features_of
from optimist.envs.players import AnyEnv, Players
from optimist.envs.reward_scale import RewardScale, known_range
from optimist.errors import BadEnvironment, Diverged
from optimist.features import describe

CHUNK_SECONDS = 0.2
"""About how long it may take until an interruption is noticed."""

CUT_OFF = (
    "the environment cut an episode off before its geometric end, so that its last pair is no draw "
    "of the occupancy measure: remove the time limit (max_episode_steps=-1 in gymnasium.make) or "
    "whatever wrapper truncates"
)

DIVERGED = 1e6
"""How many times what heaven is worth is beyond doubt too much."""


class StreamDriver(StreamLearner):
    """A Gymnasium environment, or several side by side, played step by step.

    An episode is learnt from when it has ended. Side by side, the others go on under the policy
    that comes of it.
    """

    absorbs = False
    """Whether a state in which an episode terminates is one like others, but never left."""

    def __init__(
        self,
        env: AnyEnv,
        features: AnyFeatures | None,
        config: Configuration,
        seed: int,
        stride: int,
        terms: Terms,
    ) -> None:
        given = check_terms(terms)
        self.players = Players(env)
        geometric = given.get("geometric")
        if geometric is None:
            geometric = self.players.can_be_stopped and not self.players.limited
        self.geometric = bool(geometric)
        if self.geometric and not self.players.can_be_stopped:
            raise ValueError(
                "geometric resets break off one episode while others go on: make the vector "
                "environment with autoreset_mode=gymnasium.vector.AutoresetMode.DISABLED"
            )
        declared, own = given.get("reward_range"), given.get("reward_map")
        known = known_range(env) if declared is None and own is None else declared
        scale = RewardScale(known, config.r_max, checks.discount(given["gamma"]), own)
        if given.get("value_bound") is not None:
            config = config.known(scale.value(given["value_bound"]))
        phi = features_of(features, self.players)
        super().__init__(phi, config, seed, stride, scale, given)
        self._under_way: list[Episode | None] = []  # None where the next step begins one
        self._failure: BaseException | None = None

    def begin(self) -> None:
        """Begin new episodes; those under way are dropped."""
        self._under_way, self._failure = [], None

    def learn_some(self, most: int) -> dict[str, Any]:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        rows: list[tuple[Any, ...]] = []
        started = time.monotonic()
        try:
            if not self._under_way:
                entropy = np.random.SeedSequence([self.seed, self.episodes])
                seed = int(entropy.generate_state(1)[0])
                seen = self._abroad(self.players.begin, seed)
                self._under_way = [
                    self._start(*s) for s in zip(self._meet(seen), seen, strict=True)
                ]
            while len(rows) < most and (not rows or time.monotonic() - started < CHUNK_SECONDS):
                if self.bar.impatient:
                    raise KeyboardInterrupt
                if self.memory.full:
                    self._make_room()
                self._step(rows, most)
        except BaseException as error:  # of the environment, the memory, or an interruption
            self._under_way = []  # what the episodes under way have seen is not learnt from
            if not rows:
                raise
            self._failure = error  # once what was learnt before it is in the history
        columns = zip(*rows, strict=True)
        return {name: np.array(column) for name, column in zip(COLUMNS, columns, strict=True)}

    def _step(self, rows: list[tuple[Any, ...]], most: int) -> None:
        """One step everywhere; a row for each episode that ends with it."""
        episodes, n = self._under_way, self.players.n
        actions = [self._act(0 if e is None else e.x) for e in episodes]
        going = [not self.geometric or self.rng.random() < self.gamma for _ in range(n)]
        step = self._abroad(self.players.step, actions)
        # The last pair of an episode that is broken off is not learnt from in the pseudocode.
        # To learn from it only if it terminated would count terminations too often.
        learnt = [goes or self.config.observe_last for goes in going]
        sights = [i for i in range(n) if learnt[i] and (self.absorbs or not step.terminated[i])]
        met = dict(zip(sights, self._meet(step.after[sights]), strict=True)) if sights else {}
        ended: list[bool] = []
        for i, episode in enumerate(episodes):
            if episode is None:
                episodes[i] = self._start(met[i], step.after[i])
                ended.append(False)
                continue
            episode.absorbed = going[i] and step.terminated[i]
            self._advance(episode, actions[i], step.reward[i], met.get(i, -1), learnt[i])
            episode.sight = np.array(step.after[i])  # a copy: some environments write over theirs
            ended.append(step.terminated[i] or step.truncated[i] or not going[i])
            if self.absorbs and going[i] and step.truncated[i] and not step.terminated[i]:
                raise BadEnvironment(CUT_OFF)
        if not any(ended):
            return
        over = [i for i in range(n) if ended[i]]
        for i in over:
            episode = episodes[i]
            if episode is not None and len(rows) < most:
                with self.call(1):
                    row = self._learn_from(episode, step.terminated[i])
                rows.append(row)
                self._check_values(rows[-1][COLUMNS.index("sup_q")])
        if len(rows) == most:
            self._under_way = []
            return
        starts = self._abroad(self.players.restart, ended)
        fresh = [-1] * len(over) if starts is None else self._meet(starts[over])
        for i, x in zip(over, fresh, strict=True):
            episodes[i] = None if starts is None else self._start(x, starts[i])

    def _abroad(self, ask: Callable[..., Any], *given: Any) -> Any:
        """Ask the environment, from which a second Ctrl-C comes back at once."""
        self.bar.abroad = True
        try:
            return ask(*given)
        finally:
            self.bar.abroad = False

    def _check_values(self, largest: float) -> None:
        """Refuse values without bound: nothing but heaven bounds them if the features are wrong."""
        if not largest < DIVERGED * self.heaven:
            raise Diverged(
                f"a value of {largest:.3g} is far above heaven, {self.heaven:.3g}: transitions are "
                "not linear in these features, and their errors add up. One tiling (tiles:N) "
                "cannot diverge, nor can truncated values (RaviUcb) upwards"
            )

    def _act(self, x: int) -> int:
        """An action drawn from the policy."""
        u, cumulative = self.rng.random(), self.memory.states.cumulative[x]
        a = 0
        while a < len(cumulative) - 1 and u >= cumulative[a]:
            a += 1
        return a

    def _advance(self, episode: Episode, a: int, reward: float, after: int, learnt: bool) -> None:
        """Note a step of an episode; ``after`` is -1 if it has terminated."""
        x, states = episode.x, self.memory.states
        episode.pair = (episode.sight, a)
        episode.steps += 1
        episode.reward += reward
        episode.bonus += float(states.CB[x, a])
        episode.ascension += float(states.p[x, a])
        paid = self.scale(reward)
        if learnt:
            episode.source.append(x)
            episode.action.append(a)
            episode.after.append(after)
            # Rewards that are known are not estimated.
            episode.paid.append(paid if self.reward is None else 0.0)
            episode.x = after

    def _start(self, x: int, sight: Any) -> Episode:
        return Episode(x, float(self.memory.states.V[x]), np.array(sight))

    def _make_room(self) -> None:
        """Thin what is kept; the episodes under way are among those that stay."""
        under_way = [e for e in self._under_way if e is not None]
        held = [x for e in under_way for x in (e.x, *e.source, *e.after) if x >= 0]
        terminal = self.scale.terminal if self.memory.links.ended[0] >= 0 else 0.0
        in_use = np.array(held, dtype=np.int64)
        number = self.memory.make_room(self.lottery, in_use, self.gamma, terminal)
        self._numbers.clear()
        for e in under_way:
            e.x = int(number[e.x])
            e.source = [int(number[x]) for x in e.source]
            e.after = [int(number[x]) if x >= 0 else -1 for x in e.after]

    @property
    def terms(self) -> Terms:
        """The terms on which the environment is played."""
        scale = self.scale
        reward_range = None if scale.mapped else (scale.low, scale.high)
        return Terms(gamma=self.gamma, geometric=self.geometric, reward_range=reward_range)

    @property
    def world(self) -> dict[str, Any]:
        spec = self.players.env.spec
        phi = self.features
        return {
            "id": None if spec is None else spec.id,
            "observations": str(self.players.observation_space),
            "players": self.players.n,
            "gamma": self.gamma,
            "rewards": [self.scale.low, self.scale.high, self.scale.mapped],
            "geometric": self.geometric,
            "known": self.reward is not None,
            "features": describe(phi) or [type(phi).__name__, phi.dim, phi.bound, phi.blocks],
        }
