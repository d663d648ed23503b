"""Streaming least-squares learner, independent of how episodes are collected."""

from typing import Any, ClassVar

import numpy as np

from optimist import checks, limits
from optimist.agents.diagnostics import Beliefs, Transitions, read_only
from optimist.agents.driver import Policy, RunSettings, VariantDriver
from optimist.agents.history import COLUMNS, History
from optimist.checks import FloatArray, IntArray
from optimist.core import Confidence, NoiseBonus, Variant, schema
from optimist.core.memory import Memory, refitted
from optimist.core.optimism import KNOWN, played
from optimist.core.state import Epoch, Regression, States, copied
from optimist.envs import Gym
from optimist.envs.gym_world import GIBIBYTE
from optimist.envs.reward_scale import RewardScale
from optimist.errors import BadEnvironment, MemoryFull
from optimist.features import Distinct, FeatureMap
from optimist.features.numbering import DIGEST_BYTES

NONE = np.zeros(0, dtype=np.int64)

STREAM_COLUMNS = (*COLUMNS, "terminated", "states")
"""The columns of a history, in the order of the rows of `StreamLearner`."""


class EpisodeUnderWay:
    """The transitions of an episode, kept until the learner uses them."""

    def __init__(self, x: int, value: float, observation: Any) -> None:
        self.x, self.value = x, value  # its present state; V_k at its start
        self.observation = observation  # of the present state
        self.transitions: list[tuple[int, int, int, float]] = []  # x, a, x' or -1, reward: unlearnt
        self.tried: dict[int, int] = {}  # how often features were active in those
        self.counted = 0  # steps that the learner has used
        self.reward = self.bonus = self.ascension = 0.0
        self.steps = 0
        self.absorbed = False  # whether it has terminated before it was broken off
        self.pair: tuple[Any, int] = (None, 0)  # the last observation it acted on, and the action
        self.points: list[Any] = []  # its observations, where they can be drawn on a map


class StreamLearner(VariantDriver):
    """The memory of a run in an environment, and the policy that it yields."""

    GROUPS = ("epoch", "drawn")
    OTHERS: ClassVar[tuple[str, ...]] = ("memory", "thetas", "drawn_thetas")

    def __init__(
        self, phi: FeatureMap, variant: Variant, run: RunSettings, scale: RewardScale, world: Gym
    ) -> None:
        if isinstance(variant.bonus, NoiseBonus):
            raise TypeError("random bonuses are drawn for all states of a finite world")
        if isinstance(variant.ascension, Confidence):
            raise TypeError("delta applies to finite worlds, whose rewards are known")
        super().__init__(phi, variant, world.gamma, run)
        self.scale, self.reward = scale, world.reward
        known = self.reward is not None
        self.memory = Memory(phi, self.ridge, world.memory, world.when_full, known)
        if world.memory > GIBIBYTE:  # given by the user; the default grows as needed
            limits.need(world.memory, f"memory = {world.memory:g} bytes")
        regression = self.memory.regression
        self.epoch = self.blank_epoch(regression, met_later=True, estimates=not known)
        self.drawn = copied(self.epoch)  # of pi_I
        # Of all updates of the epoch, where values that are cut off need them one by one.
        self.thetas = np.zeros((1 if self.truncates else 0, phi.dim))
        self.drawn_thetas = self.thetas[:0].copy()
        self._numbers: dict[int, int] = {}  # of discrete observations, to save their features

    # Learning

    @property
    def _present_rule(self) -> Any:
        """The rule of this epoch."""
        return self.rule(int(self.epoch.clock[0]["stage"]))

    def _states_of(self, observations: Any) -> list[int]:
        """The numbers of the states observed; new ones are added to the memory."""
        discrete = observations.ndim == 1 and observations.dtype.kind in "iu"
        if discrete:
            numbers = [self._numbers.get(x, -1) for x in observations.tolist()]
            if -1 not in numbers:
                return numbers
        try:
            r = None if self.reward is None else self._known_rewards(observations)
            found, known = self.memory.find(observations, r)
        except BadEnvironment:
            raise
        except (ValueError, TypeError) as error:
            raise BadEnvironment(f"features do not fit an observation: {error}") from error
        if self.features.dim > self.epoch.Theta.size:
            self._refit(self.features)
        if self.memory.n_states > known:
            from optimist.core.streaming import initialise  # numba is slow to import

            given = (self._present_rule, self.memory.states, self.epoch, self.thetas)
            initialise(*given, known, self.memory.n_states)
        if discrete:
            self._numbers.update(zip(observations.tolist(), found, strict=True))
        return found

    def _refit(self, features: FeatureMap, kept: IntArray | None = None) -> None:
        """Make room for more features, or keep some alone."""
        self.features, frozen = features, self.memory.ridge  # that of the epoch, too
        self.memory.refit(features, kept)
        self.epoch, self.drawn = (
            refitted(epoch, features.dim, kept, frozen) for epoch in (self.epoch, self.drawn)
        )
        for name in ("thetas", "drawn_thetas"):
            before = getattr(self, name)
            after = np.zeros((len(before), features.dim))
            part = before if kept is None else before[:, kept]
            after[:, : part.shape[1]] = part
            setattr(self, name, after)

    def _notice(self, reward: float) -> None:
        """Widen a learnt range of rewards, and map all rewards paid so far anew.

        Values are mapped along. Their regression is made again when the episode ends, in a new
        epoch; a state first met until then is valued in the former units.
        """
        scale = self.scale
        low, width = scale.low, scale.high - scale.low
        if not scale.notice(reward):
            return
        after = scale.high - scale.low
        factor, shift = width / after, (low - scale.low) / after * scale.r_max
        memory = self.memory
        if self.clock["epochs"] > 0:  # before the first V = 0, in whichever units
            V = memory.states.V[: memory.n_states]
            V[:] = factor * V + shift * scale.horizon
        memory.rescale(factor, shift, self.gamma, scale.terminal if memory.ends else 0.0)
        memory.end_epoch()
        self._map_again(factor, shift)

    def _map_again(self, factor: float, shift: float) -> None:
        """Map the rewards of episodes under way."""

    def _known_rewards(self, observations: Any) -> FloatArray:
        assert self.reward is not None
        shape = (len(observations), self.features.n_actions)
        r = checks.real_array(self.reward(observations), "reward", shape=shape)
        return np.array([self.scale(x) for x in r.ravel()]).reshape(shape)

    def _learn_from(self, episode: EpisodeUnderWay, terminated: bool) -> tuple[Any, ...]:
        """Learn from an episode that has ended; its row of the history."""
        if self.drawn_of_next(1)[0]:
            self.drawn, self.drawn_thetas = copied(self.epoch), self.thetas.copy()
        sup_q = self._learn(episode, whole=True)
        return (
            episode.steps,
            episode.reward,
            int(self.epoch.clock[0]["epochs"]),
            episode.value,
            sup_q,
            episode.bonus / episode.steps,
            episode.ascension / episode.steps,
            terminated,
            self.memory.n_states,
        )

    def _learn(self, episode: EpisodeUnderWay, whole: bool) -> float:
        """Learn from the transitions of an episode, which goes on unless it is ``whole``.

        Returns the largest |Q|.
        """
        memory, epoch = self.memory, self.epoch
        paid = np.array([reward for *_, reward in episode.transitions])
        numbers = [link[:3] for link in episode.transitions]
        source, action, after = np.array(numbers, dtype=np.int64).reshape(-1, 3).T.copy()
        ends = any(y < 0 for _, _, y in numbers[-1:])  # it has terminated, and that is learnt from
        if ends:
            self._check_terminal()
        self._reserve_thetas(int(epoch.clock[0]["updates"]) + int(self.variant.updates))
        rule = self.rule(self.variant.stage(self.episodes))
        memory.reserve_links(len(source))
        weights, thetas, stop = self._reward_weights(), self.thetas, np.zeros(1, np.bool_)
        # Rewards of episodes that never terminate need not hold the 0 that termination pays.
        worth = self.scale.terminal if ends or memory.ends else 0.0
        steps = episode.steps - episode.counted

        def call() -> float:
            """The slow part, which reads and writes its arguments only."""
            from optimist.core import links, streaming

            stream = memory.stream(rule, epoch)
            terminal = rule.gamma * worth if ends else 0.0
            memory.n_links = links.add_transitions(
                stream, terminal, memory.n_links, source, action, after, paid
            )
            epoch.clock[0]["steps"] += steps
            n, terminal = memory.n_states, worth if memory.ends else 0.0
            begins = streaming.end_episode(stream, terminal, n, memory.n_links, whole)
            if begins:
                streaming.refresh_optimism(rule, memory.states, epoch, n)
            if not begins and rule.lazy:
                return 0.0
            return float(streaming.update_all(stream, weights, thetas, n, stop))

        sup_q: float = self.compiled(stop, call)
        return sup_q

    def _check_terminal(self) -> None:
        """Refuse a bound on the values that is below the value of termination."""
        if self.gamma * self.scale.terminal > self.heaven * (1 + checks.RANGE_TOLERANCE):
            raise BadEnvironment(
                f"termination is worth {self.scale.terminal:.6g} in the units that rewards are "
                f"mapped to, so v_max = {self.heaven:.6g} bounds no values"
            )

    def _reward_weights(self) -> FloatArray:
        """The weights of rewards known to be linear in phi: none, they are estimated."""
        return np.zeros(self.features.dim)

    def _reserve_thetas(self, n: int) -> None:
        """Room for the n parameters of an epoch, if they are kept."""
        if self.truncates and n > len(self.thetas):
            if 8 * n * self.features.dim > self.memory.limit:
                raise MemoryFull(
                    f"truncated values need all {n:,} parameters of an epoch, which are more than "
                    "the memory holds: give more (memory=...), or make fewer updates"
                )
            more = np.zeros((2 * n, self.features.dim))
            more[: len(self.thetas)] = self.thetas
            self.thetas = more

    def history(self, columns: dict[str, Any], first: int) -> History:
        return History(columns, first)

    # Acting

    @property
    def statistics(self) -> tuple[States, int, Regression]:
        return self.memory.states, self.memory.n_states, self.memory.regression

    @property
    def targets(self) -> FloatArray:
        return self.memory.sums.paid + self.gamma * self.memory.sums.values

    @property
    def transitions(self) -> Transitions:
        """The states and transitions that are kept."""
        memory = self.memory
        s, links, n, m = memory.states, memory.links, memory.n_states, memory.n_links
        A = self.features.n_actions
        rows = s.rows.reshape(len(s.V), -1, s.rows.shape[1])[:n]  # one if all actions share it
        found = (
            *(np.broadcast_to(rows, (n, A, rows.shape[2])), s.block[:n]),
            *(array[:m] for array in (links.source, links.action, links.after)),
            *(links.weight[:m], links.paid[:m]),
        )
        return Transitions._make(map(read_only, found))

    def believe(self, observations: Any) -> Beliefs:
        """Values, optimism and policy of any observations [n, ...], met or not."""
        from optimist.core.streaming import current_uncertainties, initialise

        rows, block = self.features.in_blocks(observations)
        n, A = block.shape
        log_pi, cumulative, CB, p, r, rewards = (np.zeros((n, A)) for _ in range(6))
        if self.reward is not None:
            r[:] = self._known_rewards(observations)
        flat, V = np.ascontiguousarray(rows.reshape(-1, rows.shape[-1])), np.zeros(n)
        standing = np.full((n, A), KNOWN)
        states = States(flat, block, V, log_pi, cumulative, CB, p, standing, r, rewards)
        u = np.empty((n, A))
        current_uncertainties(states, self.memory.regression, u)
        with np.errstate(divide="ignore"):  # a pair without features has no uncertainty
            visits = np.maximum(u**-2.0 - self.memory.ridge, 0.0)
        initialise(self._present_rule, states, self.epoch, self.thetas, 0, n)
        return Beliefs(V, CB, p, played(log_pi, standing), visits)

    @property
    def policy(self) -> Policy:
        return self._policy(self.epoch, self.thetas)

    @property
    def output(self) -> Policy:
        return self._policy(self.drawn, self.drawn_thetas)

    def _policy(self, epoch: Epoch, thetas: FloatArray) -> Policy:
        n = int(epoch.clock[0]["updates"])
        extra: dict[str, Any] = {"Theta": thetas[:n].copy()} if self.truncates and n else {}
        if isinstance(self.features, Distinct):
            extra["features"] = self.features.snapshot()
        return self.softmax_policy(epoch, **extra, **self._rewards_of_policy())

    def _rewards_of_policy(self) -> dict[str, Any]:
        """The rewards that a policy needs if they are known instead of estimated."""
        return {} if self.reward is None else {"reward": self._known_rewards}

    # Stopping and continuing

    @property
    def arrays(self) -> dict[str, Any]:
        kept = {
            "kept.thetas": self.thetas,
            "kept.drawn_thetas": self.drawn_thetas,
            "kept.rewards": np.array(self.scale.seen),
            "kept.digests": _digests(self.features),
        }
        return {**self.memory.arrays, **self.state, **kept}

    def layout(self, arrays: dict[str, Any]) -> schema.Layout:
        self._adopt(arrays)
        n, m = (arrays[name].size if name in arrays else 0 for name in ("states.V", "links.source"))
        wanted = {**self.memory.layout(n, m), **super().layout(arrays)}
        least = {"epoch": ("thetas", 1), "drawn": ("drawn_thetas", 0)}
        for group, (thetas, fewest) in least.items():
            name = f"kept.{thetas}"
            kept = max(fewest, *arrays[name].shape[:1]) if self.truncates and name in arrays else 0
            wanted[name] = schema.real((kept, self.features.dim))
            most = kept if self.truncates else checks.MOST - 1
            wanted.update(schema.clock(f"{group}.clock", n_states=1, updates=most))
        wanted["kept.rewards"] = schema.real((2,))
        wanted["kept.digests"] = schema.anything(np.uint8, _digests(self.features).shape)
        return wanted

    def _adopt(self, arrays: dict[str, Any]) -> None:
        """Meet the observations of a checkpoint first: their number gives all sizes."""
        found = arrays.get("kept.digests")
        if isinstance(self.features, Distinct) and found is not None and found.ndim == 2:
            A, axes = self.features.n_actions, self.features.axes
            self._refit(Distinct(A, axes, found.astype(np.uint8).tobytes().hex()), NONE)

    def columns(self, rows: int, kept: int, first: int, arrays: dict[str, Any]) -> schema.Layout:
        return {
            **dict.fromkeys(COLUMNS, schema.real((rows,))),
            **dict.fromkeys(("steps", "epoch", "states"), schema.count((rows,))),
            "terminated": schema.truth((rows,)),
        }

    def restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.check_epoch(arrays)
        self.memory.restore({name: arrays[name] for name in self.memory.arrays})
        self._numbers.clear()
        super().restore(header, arrays)
        least, most = arrays["kept.rewards"].tolist()
        if not least <= 0 <= most:
            raise ValueError(f"kept.rewards must hold 0, which ends pay; got {least}, {most}")
        self.scale.notice(least, most)
        self.thetas, self.drawn_thetas = (
            np.array(arrays[f"kept.{name}"]) for name in ("thetas", "drawn_thetas")
        )


def _digests(features: FeatureMap) -> Any:
    """The observations that features were met with, [n, 16]."""
    digests = features.digests if isinstance(features, Distinct) else ""
    return np.frombuffer(bytes.fromhex(digests), np.uint8).reshape(-1, DIGEST_BYTES)
