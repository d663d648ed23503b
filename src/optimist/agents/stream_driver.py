"""Plays Gymnasium environments step by step, and learns from each episode when it has ended."""

import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from optimist.agents.driver import RunSettings
from optimist.agents.stream_learner import STREAM_COLUMNS, EpisodeUnderWay, StreamLearner
from optimist.core import Variant, schema
from optimist.core.optimism import EDGE
from optimist.envs import Gym
from optimist.envs.endings import Endings
from optimist.envs.players import Players
from optimist.envs.reward_scale import RewardScale, known_range
from optimist.errors import BadEnvironment, Diverged
from optimist.features import (
    Distinct,
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

EACH = 100
"""The most values that an update may compute for each step; it computes those of all states met."""

CUT_OFF = (
    "the environment cut an episode off before its geometric end, so that its last pair is no draw "
    "of the occupancy measure: remove the time limit (max_episode_steps=-1 in gymnasium.make) or "
    "whatever wrapper truncates"
)

DIVERGED = 1e6
"""How many times what heaven is worth is beyond doubt too much."""


class StreamDriver(StreamLearner):
    """A Gymnasium environment, or several side by side, played step by step.

    The learner updates when an episode has ended. Side by side, the other episodes continue under
    the new policy.
    """

    absorbs = False
    """Whether a state in which an episode terminates is one like others, but never left."""

    def __init__(
        self, world: Gym, features: AnyFeatures | None, variant: Variant, run: RunSettings
    ) -> None:
        env = world.make()
        self.players, self.env = Players(env), env
        self.endings = Endings(world, self.players)
        known = None
        if world.low is not None and world.high is not None:
            known = (world.low, world.high)
        elif world.reward_map is None:
            known = known_range(env)
        # A bound on values needs a range that does not change.
        learns = world.reward is None and world.value_bound is None and variant.v_max is None
        scale = RewardScale(known, variant.r_max, world.gamma, world.reward_map, learns)
        if world.value_bound is not None:
            variant = variant.known(scale.value(world.value_bound))
        given = features if features is not None else world.features or None
        phi = features_of(given, self.players)
        self._features_name = given if isinstance(given, str) else type(phi).__name__
        if given is None:
            self._features_name = default_name(self.players.observation_space)
        super().__init__(phi, variant, run, scale, world)
        self.world = world
        self._under_way: list[EpisodeUnderWay | None] = []  # None where the next step begins one
        self._ended: list[tuple[EpisodeUnderWay, bool]] = []  # not learnt from yet; terminated?
        self._over: list[bool] = []  # where new episodes must begin, if anywhere
        self._failure: BaseException | None = None
        self._plane = self.players.observation_space.shape == (2,)

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
                seen = self._call_environment(self.players.begin, seed)
                self._under_way = [
                    self._start(*s) for s in zip(self._states_of(seen), seen, strict=True)
                ]
            going = True
            while going:
                if self.bar.impatient:
                    raise KeyboardInterrupt
                if self._ended:  # the call may end only now: it learnt from parts of episodes
                    self._finish(rows)
                    soon = time.monotonic() - started < CHUNK_SECONDS
                    going = soon and len(rows) < most and self.steps < self.step_limit
                    continue
                if self._over:
                    self._restart()
                if self.memory.full:
                    self._make_room()
                self._step()
        except BaseException as error:  # of the environment, the memory, or an interruption
            self._drop()  # the transitions of the episodes under way are dropped
            if not rows:
                raise
            self._failure = error  # raised once the history has these episodes
        columns = zip(*rows, strict=True)
        return {n: np.array(column) for n, column in zip(STREAM_COLUMNS, columns, strict=True)}

    def _step(self) -> None:
        """One step in every environment; the episodes that end with it are queued for learning."""
        episodes, n = self._under_way, self.players.n
        actions = [self._draw(0) if e is None else self._act(e) for e in episodes]
        going = [self.endings.continues(self.rng) for _ in range(n)]
        step = self._call_environment(self.players.step, actions)
        # The last pair of an episode that is broken off is not learnt from in the pseudocode.
        # To learn from it only if it terminated would count terminations too often.
        learnt = [goes or self.variant.observe_last for goes in going]
        seen = [i for i in range(n) if learnt[i] and (self.absorbs or not step.terminated[i])]
        after = step.after if len(seen) == n else step.after[seen]  # a copy is slow
        met = dict(zip(seen, self._states_of(after), strict=True)) if seen else {}
        ended: list[bool] = []
        for i, episode in enumerate(episodes):
            if episode is None:
                episodes[i] = self._start(met[i], step.after[i])
                ended.append(False)
                continue
            episode.absorbed = going[i] and step.terminated[i]
            self._advance(episode, actions[i], step.reward[i], met.get(i, -1), learnt[i])
            if self._plane:
                episode.points.append(np.array(step.after[i]))
            if self.absorbs:  # some environments overwrite the observations that they returned
                episode.observation = np.array(step.after[i])
            if step.truncated[i]:
                self.endings.cut_off()
            over = step.terminated[i] or step.truncated[i] or not going[i]
            ended.append(over or self.endings.exceeds_patience(episode.steps))
            if self.absorbs and going[i] and step.truncated[i] and not step.terminated[i]:
                raise BadEnvironment(CUT_OFF)
        if any(ended):
            self._over = ended
            each = zip(episodes, step.terminated, ended, strict=True)
            self._ended = [(e, end) for e, end, over in each if over and e is not None]

    def _finish(self, rows: list[tuple[Any, ...]]) -> None:
        """Learn from the first of the episodes that have ended, and add its row."""
        episode, terminated = self._ended.pop(0)
        with self.call(1):
            row = self._learn_from(episode, terminated)
        rows.append(row)
        if self._plane:
            self.latest_path = np.array(episode.points)
        self._check_values(row[STREAM_COLUMNS.index("sup_q")])

    def _restart(self) -> None:
        """Begin new episodes where others have ended."""
        over = [i for i, ended in enumerate(self._over) if ended]
        starts = self._call_environment(self.players.restart, self._over)
        fresh = [-1] * len(over) if starts is None else self._states_of(starts[over])
        for i, x in zip(over, fresh, strict=True):
            self._under_way[i] = None if starts is None else self._start(x, starts[i])
        self._over = []

    def _call_environment(self, function: Callable[..., Any], *given: Any) -> Any:
        """Call the environment; a second Ctrl-C interrupts it at once."""
        self.bar.in_user_code = True
        try:
            return function(*given)
        finally:
            self.bar.in_user_code = False

    def _check_values(self, largest: float) -> None:
        """Refuse values far above heaven: with wrong features they can grow without bound."""
        if not largest < DIVERGED * self.heaven:
            raise Diverged(
                f"a value of {largest:.3g} is far above heaven, {self.heaven:.3g}: transitions are "
                "not linear in these features, and their errors add up. One tiling (tiles:N) "
                "cannot diverge, nor can truncated values (RaviUcb) upwards"
            )

    def _act(self, episode: EpisodeUnderWay) -> int:
        """An action of the policy; first it learns from the episode so far if an update is due."""
        a = self._draw(episode.x)
        if self._midway and self._is_outdated(episode, a):
            with self.call(0):
                self._check_values(self._learn(episode, whole=False))
            episode.transitions, episode.tried, episode.counted = [], {}, episode.steps
            a = self._draw(episode.x)
        return a

    def _draw(self, x: int) -> int:
        """An action drawn from the policy."""
        below = bisect_right(self.memory.states.cumulative[x].tolist(), self.rng.random())
        return min(below, self.features.n_actions - 1)

    def _is_outdated(self, episode: EpisodeUnderWay, a: int) -> bool:
        """Whether a pair was tried as often since the last update as before, at least once."""
        b = self.memory.states.block.item(episode.x, a)
        tried = episode.tried.get(b, 0)
        if EACH * (episode.steps - episode.counted) < self.memory.n_states:
            return False
        before = self.memory.regression.Lambda.item(b) - self.memory.ridge
        return tried > 0 and tried * EDGE >= before

    @property
    def _midway(self) -> bool:
        """Whether to learn from episodes before they end (`Variant`)."""
        counts = self.features.bound == 1 and self.features.blocks == self.features.dim
        return self.variant.midway and counts and not self.endings.geometric

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
        self._notice(reward)
        paid = self.scale(reward)
        if learnt:
            # Rewards that are known are not estimated.
            episode.transitions.append((x, a, after, paid if self.reward is None else 0.0))
            episode.x = after
            b = states.block.item(x, a)
            episode.tried[b] = episode.tried.get(b, 0) + 1

    def _start(self, x: int, observation: Any) -> EpisodeUnderWay:
        kept = np.array(observation) if self.absorbs else None
        episode = EpisodeUnderWay(x, float(self.memory.states.V[x]), kept)
        if self._plane:
            episode.points.append(np.array(observation))
        return episode

    def _map_again(self, factor: float, shift: float) -> None:
        for e in self._under_way:
            if e is not None:
                e.transitions = [
                    (x, a, y, factor * paid + shift) for x, a, y, paid in e.transitions
                ]

    def _make_room(self) -> None:
        """Thin the memory; the states of the episodes under way stay."""
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
        if isinstance(self.features, Distinct):
            pairs = self.memory.states.block[: self.memory.n_states]
            kept = self.features.only(pairs[:, 0] // self.features.n_actions)
            self._refit(kept, pairs.ravel())
        for e in under_way:
            blocks = [self.memory.states.block.item(x, a) for x, a, *_ in e.transitions]
            e.tried = dict(Counter(blocks))

    @property
    def environment(self) -> Gym:
        """The environment as it is played: how episodes end and the range of rewards resolved."""
        low, high = (None, None) if self.scale.mapped else (self.scale.low, self.scale.high)
        return replace(self.world, geometric=self.endings.geometric, low=low, high=high)

    @property
    def played(self) -> str:
        """The settings with which the environment is played, in words."""
        scale = self.scale
        how = "learnt" if scale.learns else "declared" if self.world.low is not None else "known"
        paid = f"rewards in [{scale.low + 0.0:g}, {scale.high:g}] ({how})"  # no minus zero
        return "; ".join(
            (
                f"features {self.world.features or self._features_name}",
                "rewards mapped by your own function" if scale.mapped else paid,
                str(self.endings),
            )
        )

    @property
    def state(self) -> dict[str, Any]:
        return {**super().state, "endings": self.endings.flags}

    def layout(self, arrays: dict[str, Any]) -> schema.Layout:
        return {**super().layout(arrays), "endings": schema.truth((2,))}

    @property
    def fingerprint(self) -> dict[str, Any]:
        spec = self.players.env.spec
        phi = self.features
        return {
            "id": None if spec is None else spec.id,
            "observations": str(self.players.observation_space),
            "players": self.players.n,
            "gamma": self.gamma,
            "rewards": None if self.scale.learns else [self.scale.low, self.scale.high],
            "mapped": self.scale.mapped,
            "geometric": self.world.geometric,
            "known": self.reward is not None,
            "features": (not isinstance(phi, Distinct) and describe(phi))
            or [type(phi).__name__, phi.bound, phi.n_actions],
        }


def features_of(given: AnyFeatures | None, players: Players) -> FeatureMap:
    """The map phi from any form in which it may be given."""
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
