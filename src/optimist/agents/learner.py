"""What is learnt from episodes whose states are met one by one, whoever plays them."""

from typing import Any, ClassVar

import numpy as np

from optimist import checks, limits
from optimist.agents.configuration import Configuration
from optimist.agents.diagnostics import Beliefs, Diagnostics, Transitions, read_only
from optimist.agents.driver import AlgorithmOne, Policy
from optimist.agents.history import StreamHistory
from optimist.checks import FloatArray
from optimist.core import SoftmaxPolicy, Truncation, VarianceBonus, schema
from optimist.core.memory import Epoch, Memory, States
from optimist.core.state import EPISODES, EPOCHS, MEAN, NOVEL, PRIOR, RIDGE, STAGE, STEPS, UPDATES
from optimist.envs.reward_scale import RewardScale
from optimist.errors import BadEnvironment, MemoryFull
from optimist.features import FeatureMap

GIBIBYTE = 2.0**30

COLUMNS = (
    *("steps", "reward", "epoch", "optimistic_value", "sup_q", "bonus", "ascension"),
    *("terminated", "states"),
)
"""The columns of a history, in the order of the rows of `StreamLearner`."""


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


class StreamLearner(AlgorithmOne):
    """The memory of a run in an environment, and the policy that comes of it."""

    CHANGING: ClassVar[tuple[str, ...]] = (*("memory", "epoch", "drawn", "thetas", "drawn_thetas"),)

    def __init__(
        self,
        phi: FeatureMap,
        config: Configuration,
        seed: int,
        stride: int,
        scale: RewardScale,
        given: dict[str, Any],
    ) -> None:
        super().__init__(phi, config, checks.discount(given["gamma"]), seed, stride)
        self.scale, self.reward = scale, given.get("reward")
        self.memory = Memory(
            phi,
            config.ridge_for(phi.bound),
            given.get("memory", GIBIBYTE),
            given.get("when_full", "thin"),
            self.reward is not None,
        )
        if self.memory.limit > GIBIBYTE:  # it is given; what is left of the default grows as needed
            limits.need(self.memory.limit, f"memory = {self.memory.limit:g} bytes")
        variances = isinstance(config.bonus, VarianceBonus)
        self.epoch = _epoch(self.memory, variances)
        self.drawn = _epoch(self.memory, variances)  # holds what pi_I is made of
        self._keeps = isinstance(config.ascension, Truncation) and not np.isinf(config.eta)
        self.thetas = np.zeros((1 if self._keeps else 0, phi.dim))  # of the epoch, if they are kept
        self.drawn_thetas = self.thetas[:0].copy()
        self._numbers: dict[int, int] = {}  # of discrete observations, to save their features

    # Learning

    @property
    def episodes(self) -> int:
        return int(self.epoch.clock[EPISODES])

    @property
    def steps(self) -> int:
        return int(self.epoch.clock[STEPS])

    def _meet(self, observations: Any) -> list[int]:
        """The numbers of the states observed, which are kept if they are new."""
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
        if self.memory.n_states > known:
            from optimist.core.streaming import meet  # numba takes its time

            rule = self.rule(int(self.epoch.clock[STAGE]))
            meet(rule, self.memory.states, self.epoch, self.thetas, known, self.memory.n_states)
        if discrete:
            self._numbers.update(zip(observations.tolist(), found, strict=True))
        return found

    def _known_rewards(self, observations: Any) -> FloatArray:
        assert self.reward is not None
        shape = (len(observations), self.features.n_actions)
        r = checks.real_array(self.reward(observations), "reward", shape=shape)
        return np.array([self.scale(x) for x in r.ravel()]).reshape(shape)

    def _learn_from(self, episode: Episode, terminated: bool) -> tuple[Any, ...]:
        """Take an episode in, and update values and policy; its row of the history."""
        memory, epoch = self.memory, self.epoch
        ends = -1 in episode.after  # it has terminated, and that is learnt from
        if ends:
            self._check_terminal()
        self._reserve_thetas(int(epoch.clock[UPDATES]) + self.config.updates)
        # Episode k replaces the drawn policy with probability 1/k: then each is drawn alike.
        if self.lottery.random() * (self.episodes + 1) < 1:
            self.drawn = Epoch._make(array.copy() for array in epoch)
            self.drawn_thetas = self.thetas.copy()
        rule = self.rule(self.config.stage(self.episodes))
        memory.reserve_links(len(episode.source))
        weights, thetas, stop = self._reward_weights(episode), self.thetas, np.zeros(1, np.bool_)
        # Rewards of episodes that never terminate need not hold the 0 that termination pays.
        worth = self.scale.terminal if ends or memory.links.ended[0] >= 0 else 0.0
        learns_prior = self.learns_prior

        def call() -> float:
            """All that takes long, on nothing but what it is given."""
            from optimist.core.streaming import all_unsure, end_episode, learn, update_all

            memory.n_links = learn(
                memory.states,
                memory.links,
                memory.moments,
                rule.gamma,
                worth if ends else 0.0,
                memory.n_links,
                np.array(episode.source, dtype=np.int64),
                np.array(episode.action, dtype=np.int64),
                np.array(episode.after, dtype=np.int64),
                np.array(episode.paid),
            )
            epoch.clock[STEPS] += episode.steps
            n, terminal = memory.n_states, worth if memory.links.ended[0] >= 0 else 0.0
            state = (memory.states, memory.links, memory.moments, epoch)
            begins = end_episode(rule, *state, terminal, n, memory.n_links)
            if begins:
                if learns_prior:
                    memory.ridge = float(epoch.prior[RIDGE])
                all_unsure(rule, memory.states, epoch, n)
            if begins or not rule.lazy:
                return float(update_all(rule, *state, rule.gamma, weights, thetas, n, stop))
            return 0.0

        sup_q = self.compiled(call, stop)
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

    def _note_ridge(self) -> None:
        """Tell the memory what the ridge is, if it is learnt."""
        if self.learns_prior:
            self.memory.ridge = float(self.epoch.prior[RIDGE])

    def _check_terminal(self) -> None:
        """Refuse a bound on the values that the value of termination is above."""
        if self.gamma * self.scale.terminal > self.heaven * (1 + checks.RANGE_TOLERANCE):
            raise BadEnvironment(
                f"termination is worth {self.scale.terminal:.6g} in the units that rewards are "
                f"mapped to, so v_max = {self.heaven:.6g} bounds no values"
            )

    def _reward_weights(self, episode: Episode) -> FloatArray:
        """The weights of rewards known to be linear in phi: none, they are estimated."""
        return np.zeros(self.features.dim)

    def _reserve_thetas(self, n: int) -> None:
        """Room for the n parameters of an epoch, where truncated values need them one by one."""
        if self._keeps and n > len(self.thetas):
            if 8 * n * self.features.dim > self.memory.limit:
                raise MemoryFull(
                    f"truncated values need all {n:,} parameters of an epoch, which are more than "
                    "the memory holds: give more (memory=...), or make fewer updates"
                )
            more = np.zeros((2 * n, self.features.dim))
            more[: len(self.thetas)] = self.thetas
            self.thetas = more

    def history(self, columns: dict[str, Any], first: int) -> StreamHistory:
        return StreamHistory(**columns, first=first)

    # Acting

    @property
    def diagnostics(self) -> Diagnostics:
        s, m, n = self.memory.states, self.memory.moments, self.memory.n_states
        epoch = int(self.epoch.clock[EPOCHS])
        learnt = self.learns_prior and epoch > 0
        return Diagnostics(
            V=s.V[:n],
            pi=np.exp(s.log_pi[:n]),
            CB=s.CB[:n],
            p=s.p[:n],
            epoch=epoch,
            heaven=self.heaven,
            ridge=self.memory.ridge,
            Lambda=m.Lambda,
            inverse=1 / m.Lambda if m.Lambda.shape[1] == 1 else m.inverse,
            log_det=float(m.log_det[0]),
            b=m.paid + self.gamma * m.values,
            s=float(self.epoch.prior[NOVEL]) if learnt else None,
            v=float(self.epoch.prior[MEAN]) if learnt else None,
        )

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
        """What is believed of any observations [n, ...], met or not."""
        from optimist.core.streaming import meet, uncertainties

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
        u, now = np.empty((n, A)), self.memory.moments
        uncertainties(states, now.Lambda, now.inverse, 0, u)
        with np.errstate(divide="ignore"):  # nothing is unsure of a pair without features
            visits = np.maximum(u**-2.0 - self.memory.ridge, 0.0)
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
            bonus=c.added,
            ascension=c.ascension_in(int(epoch.clock[STAGE])),
            heaven=self.heaven,
            features=self.features,
            reward=None if self.reward is None else self._known_rewards,
            gamma=self.gamma,
            prior=epoch.prior.copy(),
            moments=np.array([epoch.first, epoch.second]),
        )

    # Stopping and going on

    @property
    def arrays(self) -> dict[str, Any]:
        epochs = {"epoch": self.epoch, "drawn": self.drawn}
        return {
            **self.memory.arrays,
            **{f"{g}.{name}": a for g, e in epochs.items() for name, a in e._asdict().items()},
            "kept.thetas": self.thetas,
            "kept.drawn_thetas": self.drawn_thetas,
        }

    clock = "epoch.clock"

    def layout(self, arrays: dict[str, Any]) -> dict[str, schema.Array]:
        n, m = (arrays[name].size if name in arrays else 0 for name in ("states.V", "links.source"))
        wanted = {name: schema.usual(name, array.shape) for name, array in self.arrays.items()}
        wanted.update(self.memory.layout(n, m))
        least = {"epoch": ("thetas", 1), "drawn": ("drawn_thetas", 0)}
        for group, (thetas, fewest) in least.items():
            name = f"kept.{thetas}"
            kept = max(fewest, *arrays[name].shape[:1]) if self._keeps and name in arrays else 0
            wanted[name] = schema.real((kept, self.features.dim))
            most = kept if self._keeps else schema.MOST
            wanted[f"{group}.clock"] = schema.clock(n_states=1, updates=most)
        return wanted

    def columns(
        self, rows: int, kept: int, first: int, arrays: dict[str, Any]
    ) -> dict[str, schema.Array]:
        return {
            **dict.fromkeys(COLUMNS, schema.real((rows,))),
            **dict.fromkeys(("steps", "epoch", "states"), schema.count((rows,))),
            "terminated": schema.truth((rows,)),
        }

    def restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.check_epoch(arrays["epoch.clock"], arrays["moments.Lambda"], arrays["epoch.prior"])
        self.check_stage(arrays["drawn.clock"])
        self.memory.restore({name: arrays[name] for name in self.memory.arrays})
        self._numbers.clear()
        self.epoch, self.drawn = (
            Epoch._make(np.array(arrays[f"{group}.{name}"]) for name in Epoch._fields)
            for group in ("epoch", "drawn")
        )
        if self.epoch.clock[EPOCHS] > 0:
            self._note_ridge()
        self.thetas, self.drawn_thetas = (
            np.array(arrays[f"kept.{name}"]) for name in ("thetas", "drawn_thetas")
        )


def _epoch(memory: Memory, variances: bool) -> Epoch:
    """Before the first epoch: no updates, so the policy is uniform."""
    m = memory.moments
    d = len(m.paid)
    clock = np.zeros(6, dtype=np.int64)
    none = np.zeros(d if variances else 0)
    return Epoch(
        Theta=np.zeros(d),
        theta=np.zeros(d),
        Lambda=m.Lambda.copy(),
        inverse=m.inverse.copy(),
        prior=np.zeros(PRIOR),
        first=none,
        second=none.copy(),
        clock=clock,
    )
