"""Plays Gymnasium environments step by step, and learns from each episode when it has ended."""

import time
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from optimist.agents.driver import RunSettings
from optimist.agents.stream_learner import STREAM_COLUMNS, EpisodeUnderWay, StreamLearner
from optimist.core import Variant
from optimist.envs import Gym
from optimist.envs.players import Players
from optimist.envs.reward_scale import RewardScale, known_range
from optimist.errors import BadEnvironment, Diverged
from optimist.features import (
    FeatureMap,
    PerAction,
    StateFeatures,
    default_name,
    describe,
    features_named,
)

AnyFeatures = FeatureMap | StateFeatures | str

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
        self, world: Gym, features: AnyFeatures | None, variant: Variant, run: RunSettings
    ) -> None:
        env = world.make()
        self.players = Players(env)
        geometric = world.geometric
        if geometric is None:
            geometric = self.players.can_be_stopped and not self.players.limited
        self.geometric = bool(geometric)
        if self.geometric and not self.players.can_be_stopped:
            raise ValueError(
                "geometric resets break off one episode while others go on: make the vector "
                "environment with autoreset_mode=gymnasium.vector.AutoresetMode.DISABLED"
            )
        known = None
        if world.low is not None and world.high is not None:
            known = (world.low, world.high)
        elif world.reward_map is None:
            known = known_range(env)
        scale = RewardScale(known, variant.r_max, world.gamma, world.reward_map)
        if world.value_bound is not None:
            variant = variant.known(scale.value(world.value_bound))
        given = features if features is not None else world.features or None
        phi = features_of(given, self.players)
        super().__init__(phi, variant, run, scale, world)
        self.world = world
        self._under_way: list[EpisodeUnderWay | None] = []  # None where the next step begins one
        self._ended: list[tuple[EpisodeUnderWay, bool]] = []  # not learnt from yet; terminated?
        self._over: list[bool] = []  # where new episodes are to begin, if anywhere
        self._failure: BaseException | None = None

    def begin(self) -> None:
        """Begin new episodes; those under way are dropped."""
        self._drop()
        self._failure = None

    def _drop(self) -> None:
        self._under_way, self._ended, self._over = [], [], []

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
                seen = self._ask(self.players.begin, seed)
                self._under_way = [
                    self._start(*s) for s in zip(self._states_of(seen), seen, strict=True)
                ]
            while len(rows) < most and (
                not rows
                or (time.monotonic() - started < CHUNK_SECONDS and self.steps < self.step_limit)
            ):
                if self.bar.impatient:
                    raise KeyboardInterrupt
                if self._ended:
                    self._finish(rows)
                    continue
                if self._over:
                    self._restart()
                if self.memory.full:
                    self._make_room()
                self._step()
        except BaseException as error:  # of the environment, the memory, or an interruption
            self._drop()  # what the episodes under way have seen is not learnt from
            if not rows:
                raise
            self._failure = error  # once what was learnt before it is in the history
        columns = zip(*rows, strict=True)
        return {n: np.array(column) for n, column in zip(STREAM_COLUMNS, columns, strict=True)}

    def _step(self) -> None:
        """One step everywhere; the episodes that end with it are to be learnt from."""
        episodes, n = self._under_way, self.players.n
        actions = [self._act(0 if e is None else e.x) for e in episodes]
        going = [not self.geometric or self.rng.random() < self.gamma for _ in range(n)]
        step = self._ask(self.players.step, actions)
        # The last pair of an episode that is broken off is not learnt from in the pseudocode.
        # To learn from it only if it terminated would count terminations too often.
        learnt = [goes or self.variant.observe_last for goes in going]
        seen = [i for i in range(n) if learnt[i] and (self.absorbs or not step.terminated[i])]
        after = step.after if len(seen) == n else step.after[seen]  # a copy takes its time
        met = dict(zip(seen, self._states_of(after), strict=True)) if seen else {}
        ended: list[bool] = []
        for i, episode in enumerate(episodes):
            if episode is None:
                episodes[i] = self._start(met[i], step.after[i])
                ended.append(False)
                continue
            episode.absorbed = going[i] and step.terminated[i]
            self._advance(episode, actions[i], step.reward[i], met.get(i, -1), learnt[i])
            episode.observation = np.array(step.after[i])  # some environments write over theirs
            ended.append(step.terminated[i] or step.truncated[i] or not going[i])
            if self.absorbs and going[i] and step.truncated[i] and not step.terminated[i]:
                raise BadEnvironment(CUT_OFF)
        if any(ended):
            self._over = ended
            each = zip(episodes, step.terminated, ended, strict=True)
            self._ended = [(e, end) for e, end, over in each if over and e is not None]

    def _finish(self, rows: list[tuple[Any, ...]]) -> None:
        """Learn from the first of the episodes that have ended, and add its row."""
        with self.call(1):
            row = self._learn_from(*self._ended.pop(0))
        rows.append(row)
        self._check_values(row[STREAM_COLUMNS.index("sup_q")])

    def _restart(self) -> None:
        """Begin new episodes where others have ended."""
        over = [i for i, ended in enumerate(self._over) if ended]
        starts = self._ask(self.players.restart, self._over)
        fresh = [-1] * len(over) if starts is None else self._states_of(starts[over])
        for i, x in zip(over, fresh, strict=True):
            self._under_way[i] = None if starts is None else self._start(x, starts[i])
        self._over = []

    def _ask(self, ask: Callable[..., Any], *given: Any) -> Any:
        """Call the environment; a second Ctrl-C interrupts it at once."""
        self.bar.in_user_code = True
        try:
            return ask(*given)
        finally:
            self.bar.in_user_code = False

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
        below = bisect_right(self.memory.states.cumulative[x].tolist(), self.rng.random())
        return min(below, self.features.n_actions - 1)

    def _advance(
        self, episode: EpisodeUnderWay, a: int, reward: float, after: int, learnt: bool
    ) -> None:
        """Note a step of an episode; ``after`` is -1 if it has terminated."""
        x, states = episode.x, self.memory.states
        episode.pair = (episode.observation, a)
        episode.steps += 1
        episode.reward += reward
        episode.bonus += float(states.CB[x, a])
        episode.ascension += float(states.p[x, a])
        paid = self.scale(reward)
        if learnt:
            # Rewards that are known are not estimated.
            episode.transitions.append((x, a, after, paid if self.reward is None else 0.0))
            episode.x = after

    def _start(self, x: int, observation: Any) -> EpisodeUnderWay:
        return EpisodeUnderWay(x, float(self.memory.states.V[x]), np.array(observation))

    def _make_room(self) -> None:
        """Thin what is kept; the episodes under way are among those that stay."""
        under_way = [e for e in self._under_way if e is not None]
        held = {x for e in under_way for link in e.transitions for x in (link[0], link[2])}
        in_use = np.array(sorted((held | {e.x for e in under_way}) - {-1}), dtype=np.int64)
        terminal = self.scale.terminal if self.memory.ends else 0.0
        number = self.memory.make_room(self.output_rng, in_use, self.gamma, terminal)
        self._numbers.clear()
        new = {-1: -1, **{x: int(number[x]) for x in in_use.tolist()}}
        for e in under_way:
            e.x = new[e.x]
            e.transitions = [(new[x], a, new[y], paid) for x, a, y, paid in e.transitions]

    @property
    def environment(self) -> Gym:
        """The environment as it is played: how episodes end and the range of rewards resolved."""
        low, high = (None, None) if self.scale.mapped else (self.scale.low, self.scale.high)
        return replace(self.world, geometric=self.geometric, low=low, high=high)

    @property
    def fingerprint(self) -> dict[str, Any]:
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


def features_of(given: AnyFeatures | None, players: Players) -> FeatureMap:
    """The map phi, in whichever way it is given."""
    space, n_actions = players.observation_space, players.n_actions
    if given is None:
        given = default_name(space)
    if isinstance(given, str):
        return features_named(given, space, n_actions)
    phi = PerAction(given, n_actions) if isinstance(given, StateFeatures) else given
    if not isinstance(phi, FeatureMap):
        raise TypeError(
            f"features must be a FeatureMap, features of states or a name; got {given!r}"
        )
    if phi.n_actions != n_actions:
        raise ValueError(f"features must have {n_actions} actions; got {phi.n_actions}")
    return phi
