"""Algorithm 1 in any Gymnasium environment: states are met one by one, rewards as they are paid."""

import hashlib
import json
import time
from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np

from optimist import checks
from optimist.agents.configuration import Configuration
from optimist.agents.driver import Beliefs, Driver, Optimism, Policy
from optimist.agents.history import StreamHistory
from optimist.checks import FloatArray
from optimist.core import SoftmaxPolicy, Truncation
from optimist.core.memory import Epoch, Memory, States, WhenFull
from optimist.core.state import EPISODES, EPOCHS, STAGE, STEPS, UPDATES
from optimist.envs.players import AnyEnv, BadEnvironment, Players
from optimist.envs.reward_scale import Range, RewardMap, RewardScale, known_range
from optimist.features import (
    FeatureMap,
    PerAction,
    StateFeatures,
    default_name,
    describe,
    features_named,
)

CHUNK_SECONDS = 0.2
"""About how long it may take until an interruption is noticed."""

GIBIBYTE = 2.0**30

CUT_OFF = (
    "the environment cut an episode off before its geometric end, so that its last pair is no draw "
    "of the occupancy measure: remove the time limit (max_episode_steps=-1 in gymnasium.make) or "
    "whatever wrapper truncates"
)

COLUMNS = (
    *("steps", "reward", "epoch", "optimistic_value", "sup_q", "bonus", "ascension"),
    *("terminated", "states"),
)


class Terms(TypedDict, total=False):
    """What has to be said of a Gymnasium environment; everything but gamma has a default.

    Attributes
    ----------
    gamma
        The discount factor.
    reward_range
        The least and the largest reward, and 0 if episodes terminate: they are mapped onto
        [0, R_max]. By default what is known (`envs.known_range`), else [0, R_max]. A reward outside
        is an error.
    reward_map
        A map of rewards into [0, R_max] of one's own instead; it says what 0, the reward for ever
        after termination, becomes.
    reward
        The rewards as a known function of observations [n, ...], [n, A], in the environment's own
        units. By default they are estimated from those paid, by the regression that estimates the
        transitions.
    geometric
        Whether episodes are broken off after each step with probability 1 - gamma, as in the paper;
        otherwise, and by default, they are the environment's own.
    memory
        About how many bytes the states met may take; 1 GiB by default.
    when_full
        "thin" (the default) forgets transitions that others stand for (`core.memory`), "error"
        raises `MemoryFull`.
    """

    gamma: float
    reward_range: Range | None
    reward_map: RewardMap | None
    reward: Callable[[Any], Any] | None
    geometric: bool
    memory: float
    when_full: WhenFull


class Episode:
    """An episode under way: what is learnt from when it has ended."""

    def __init__(self, x: int, value: float, sight: Any) -> None:
        self.x, self.value = x, value  # where it is; what was hoped for at its start
        self.sight = sight  # the observation there
        self.source: list[int] = []
        self.action: list[int] = []
        self.after: list[int] = []
        self.paid: list[float] = []
        self.reward = self.bonus = self.ascension = 0.0
        self.steps = 0
        self.absorbed = False  # it has terminated, and was not broken off by then
        self.pair: tuple[Any, int] = (None, 0)  # the last observation it acted on, and the action


class StreamDriver(Driver):
    """A Gymnasium environment, or several side by side, played step by step.

    An episode is learnt from when it has ended. Side by side, the others go on under the policy
    that comes of it.
    """

    absorbs = False
    """Whether a state in which an episode terminates is one like others, but never left."""

    def __init__(
        self,
        env: AnyEnv,
        features: FeatureMap | StateFeatures | str | None,
        config: Configuration,
        seed: int,
        stride: int,
        terms: Terms,
    ) -> None:
        given: dict[str, Any] = dict(terms)
        unknown = set(given) - set(Terms.__annotations__)
        if unknown:
            raise TypeError(
                f"there is no {', '.join(sorted(unknown))}: of an environment one can say "
                f"{', '.join(Terms.__annotations__)}"
            )
        if "gamma" not in given:
            raise TypeError("a Gymnasium environment has no discount factor: give one as gamma=")
        self.players = Players(env)
        self.geometric = bool(given.get("geometric", False))
        if self.geometric and not self.players.can_be_stopped:
            raise ValueError(
                "geometric resets break off one episode while others go on: make the vector "
                "environment with autoreset_mode=gymnasium.vector.AutoresetMode.DISABLED"
            )
        phi = features_of(features, self.players)
        super().__init__(phi, config, checks.discount(given["gamma"]), seed, stride)
        declared, own = given.get("reward_range"), given.get("reward_map")
        known = known_range(env) if declared is None and own is None else declared
        self.scale = RewardScale(known, config.r_max, self.gamma, own)
        self.reward = given.get("reward")
        self.memory = Memory(
            phi,
            config.ridge_for(phi.bound),
            given.get("memory", GIBIBYTE),
            given.get("when_full", "thin"),
            self.reward is not None,
        )
        self.epoch = _epoch(self.memory)
        self.drawn = _epoch(self.memory)  # holds what pi_I is made of
        self._keeps = isinstance(config.ascension, Truncation) and not np.isinf(config.eta)
        self.thetas = np.zeros((1 if self._keeps else 0, phi.dim))  # of the epoch, if they are kept
        self.drawn_thetas = self.thetas[:0].copy()
        self._under_way: list[Episode | None] = []  # None where the next step begins one
        self._failure: BadEnvironment | None = None

    # Learning

    @property
    def episodes(self) -> int:
        return int(self.epoch.clock[EPISODES])

    @property
    def steps(self) -> int:
        return int(self.epoch.clock[STEPS])

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
                seen = self.players.begin(seed)
                self._under_way = [
                    self._start(*s) for s in zip(self._meet(seen), seen, strict=True)
                ]
            while len(rows) < most and (not rows or time.monotonic() - started < CHUNK_SECONDS):
                self._step(rows, most)
        except BadEnvironment as error:
            self._under_way = []  # what the episodes under way have seen is not learnt from
            if not rows:
                raise
            self._failure = error  # after what was learnt before it is in the history
        except BaseException:
            self._under_way = []
            raise
        columns = zip(*rows, strict=True)
        return {name: np.array(column) for name, column in zip(COLUMNS, columns, strict=True)}

    def _step(self, rows: list[tuple[Any, ...]], most: int) -> None:
        """One step everywhere; a row for each episode that ends with it."""
        episodes, n = self._under_way, self.players.n
        actions = [self._act(0 if e is None else e.x) for e in episodes]
        going = [not self.geometric or self.rng.random() < self.gamma for _ in range(n)]
        step = self.players.step(actions)
        # The last pair of an episode that is broken off is not learnt from in the pseudocode.
        last = self.config.observe_last
        learnt = [last or goes or over for goes, over in zip(going, step.terminated, strict=True)]
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
            episode.sight = step.after[i]
            ended.append(step.terminated[i] or step.truncated[i] or not going[i])
            if self.absorbs and going[i] and step.truncated[i] and not step.terminated[i]:
                raise BadEnvironment(CUT_OFF)
        if not any(ended):
            return
        over = [i for i in range(n) if ended[i]]
        finished = [episodes[i] for i in over]
        starts = self.players.restart(ended)
        fresh = [-1] * len(over) if starts is None else self._meet(starts[over])
        for i, x in zip(over, fresh, strict=True):
            episodes[i] = None if starts is None else self._start(x, starts[i])
        for i, episode in zip(over, finished, strict=True):
            if episode is not None and len(rows) < most:
                rows.append(self._learn_from(episode, step.terminated[i]))

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
        return Episode(x, float(self.memory.states.V[x]), sight)

    def _meet(self, observations: Any) -> list[int]:
        """The numbers of the states observed, which are kept if they are new."""
        try:
            r = None if self.reward is None else self._known_rewards(observations)
            found, known = self.memory.find(observations, r)
        except BadEnvironment:
            raise
        except (ValueError, TypeError) as error:
            raise BadEnvironment(f"an observation is not one for the features: {error}") from error
        if self.memory.n_states > known:
            from optimist.core.streaming import meet  # numba takes its time

            rule = self.rule(self.config.stage(self.episodes))
            meet(rule, self.memory.states, self.epoch, self.thetas, known, self.memory.n_states)
        return found

    def _known_rewards(self, observations: Any) -> FloatArray:
        assert self.reward is not None
        shape = (len(observations), self.features.n_actions)
        r = checks.real_array(self.reward(observations), "reward", shape=shape)
        return np.array([self.scale(x) for x in r.ravel()]).reshape(shape)

    def _learn_from(self, episode: Episode, terminated: bool) -> tuple[Any, ...]:
        """Take an episode in, and update values and policy; its row of the history."""
        from optimist.core.streaming import end_episode, learn, update_all

        memory, epoch = self.memory, self.epoch
        # Episode k replaces the drawn policy with probability 1/k: then each is drawn alike.
        if self.lottery.random() * (self.episodes + 1) < 1:
            self.drawn = Epoch._make(array.copy() for array in epoch)
            self.drawn_thetas = self.thetas.copy()
        rule = self.rule(self.config.stage(self.episodes))
        memory.reserve_links(len(episode.source))
        memory.n_links = learn(
            memory.states,
            memory.links,
            memory.moments,
            self.gamma,
            self.scale.terminal if terminated else 0.0,
            memory.n_links,
            np.array(episode.source, dtype=np.int64),
            np.array(episode.action, dtype=np.int64),
            np.array(episode.after, dtype=np.int64),
            np.array(episode.paid),
        )
        epoch.clock[STEPS] += episode.steps
        n, sup_q = memory.n_states, 0.0
        due = end_episode(rule, memory.states, memory.moments, epoch, n)
        weights = self._reward_weights(episode)
        if due:
            self._reserve_thetas(int(epoch.clock[UPDATES]) + rule.updates)
            state = (memory.states, memory.links, memory.moments, epoch)
            sup_q = update_all(rule, *state, self.gamma, weights, self.thetas, n)
        if memory.full:
            self._make_room()
        return (
            episode.steps,
            episode.reward,
            int(epoch.clock[EPOCHS]),
            episode.value,
            sup_q,
            episode.bonus / episode.steps,
            episode.ascension / episode.steps,
            terminated,
            memory.n_states,
        )

    def _reward_weights(self, episode: Episode) -> FloatArray:
        """The weights of rewards known to be linear in phi: none, they are estimated."""
        return np.zeros(self.features.dim)

    def _reserve_thetas(self, n: int) -> None:
        if self._keeps and n > len(self.thetas):
            more = np.zeros((2 * n, self.features.dim))
            more[: len(self.thetas)] = self.thetas
            self.thetas = more

    def _make_room(self) -> None:
        """Thin what is kept; the episodes under way are among those that stay."""
        under_way = [e for e in self._under_way if e is not None]
        held = [x for e in under_way for x in (e.x, *e.source, *e.after) if x >= 0]
        terminal = self.scale.terminal if self.memory.links.ended[0] >= 0 else 0.0
        in_use = np.array(held, dtype=np.int64)
        number = self.memory.make_room(self.lottery, in_use, self.gamma, terminal)
        for e in under_way:
            e.x = int(number[e.x])
            e.source = [int(number[x]) for x in e.source]
            e.after = [int(number[x]) if x >= 0 else -1 for x in e.after]

    def history(self, columns: dict[str, Any], first: int) -> StreamHistory:
        return StreamHistory(**columns, first=first)

    # Acting

    @property
    def optimism(self) -> Optimism:
        s, n = self.memory.states, self.memory.n_states
        return Optimism(s.V[:n].copy(), s.CB[:n].copy(), s.p[:n].copy())

    def believe(self, observations: Any) -> Beliefs:
        """What is believed of any observations [n, ...], met or not."""
        from optimist.core.streaming import be_unsure, meet

        rows, block = self.features.in_blocks(observations)
        n, A = block.shape
        pairs = [np.zeros((n, A)) for _ in range(6)]
        if self.reward is not None:
            pairs[4][:] = self._known_rewards(observations)
        none = np.zeros(n, dtype=np.int64)
        flat = np.ascontiguousarray(rows.reshape(-1, rows.shape[-1]))
        log_pi, cumulative, CB, p, r, rewards = pairs
        V = np.zeros(n)
        states = States(flat, block, V, log_pi, cumulative, CB, p, r, rewards, none, none.copy())
        rule = self.rule(int(self.epoch.clock[STAGE]))
        now = self.epoch._replace(
            Lambda=self.memory.moments.Lambda, inverse=self.memory.moments.inverse
        )
        be_unsure(rule._replace(beta=1.0), states, now, 0, n)
        visits = np.maximum(CB**-2.0 - self.memory.ridge, 0.0)
        meet(rule, states, self.epoch, self.thetas, 0, n)
        return Beliefs(V, CB, p, np.exp(log_pi), visits)

    @property
    def policy(self) -> Policy:
        return self._policy(self.epoch, self.thetas)

    @property
    def output(self) -> Policy:
        return self._policy(self.drawn, self.drawn_thetas)

    def _policy(self, epoch: Epoch, thetas: FloatArray) -> Policy:
        c, n = self.config, int(epoch.clock[UPDATES])
        return SoftmaxPolicy(
            Theta=thetas[:n].copy() if self._keeps and n else epoch.Theta.copy(),
            Lambda=epoch.Lambda.copy(),
            updates=n,
            eta=c.eta,
            beta=c.beta,
            ascension=c.ascension_in(int(epoch.clock[STAGE])),
            heaven=self.heaven,
            features=self.features,
            reward=None if self.reward is None else self._known_rewards,
        )

    # Stopping and going on

    @property
    def arrays(self) -> dict[str, Any]:
        m, n = self.memory, self.memory.n_states
        rows = len(m.states.rows) // max(1, len(m.states.V))
        groups: dict[str, dict[str, Any]] = {
            "states": {
                name: array[: n * rows if name == "rows" else n]
                for name, array in m.states._asdict().items()
            },
            "links": {name: array[: m.n_links] for name, array in m.links._asdict().items()},
            "moments": m.moments._asdict(),
            "epoch": self.epoch._asdict(),
            "drawn": self.drawn._asdict(),
            "kept": {"thetas": self.thetas, "drawn_thetas": self.drawn_thetas},
        }
        groups["links"]["ended"] = m.links.ended
        return {f"{g}.{name}": a for g, group in groups.items() for name, a in group.items()}

    def restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        groups: dict[str, dict[str, Any]] = {}
        for name, array in arrays.items():
            group, _, part = name.partition(".")
            groups.setdefault(group, {})[part] = np.array(array)
        self.memory.restore(groups["states"], groups["links"], groups["moments"])
        self.epoch, self.drawn = Epoch(**groups["epoch"]), Epoch(**groups["drawn"])
        self.thetas = groups["kept"]["thetas"]
        self.drawn_thetas = groups["kept"]["drawn_thetas"]

    @property
    def world(self) -> str:
        spec = self.players.env.spec
        phi = self.features
        known = {
            "id": None if spec is None else spec.id,
            "observations": str(self.players.observation_space),
            "players": self.players.n,
            "gamma": self.gamma,
            "rewards": [self.scale.low, self.scale.high],
            "geometric": self.geometric,
            "features": describe(phi) or [type(phi).__name__, phi.dim, phi.bound, phi.blocks],
        }
        return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()


def features_of(given: FeatureMap | StateFeatures | str | None, players: Players) -> FeatureMap:
    """The map phi, in whichever way it is given."""
    space, n_actions = players.observation_space, players.n_actions
    if given is None:
        given = default_name(space)
    if isinstance(given, str):
        return features_named(given, space, n_actions)
    phi = PerAction(given, n_actions) if isinstance(given, StateFeatures) else given
    if not isinstance(phi, FeatureMap):
        raise TypeError(f"features = {given!r} must be a FeatureMap, features of states or a name")
    if phi.n_actions != n_actions:
        raise ValueError(f"the features have {phi.n_actions} actions, the world has {n_actions}")
    return phi


def _epoch(memory: Memory) -> Epoch:
    """Before the first epoch: no updates, so the policy is uniform."""
    m = memory.moments
    d = len(m.paid)
    clock = np.zeros(6, dtype=np.int64)
    return Epoch(np.zeros(d), np.zeros(d), m.Lambda.copy(), m.inverse.copy(), clock)
