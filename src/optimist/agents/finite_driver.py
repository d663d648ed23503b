"""Algorithm 1 on finite worlds: whole episodes in compiled code."""

import math
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from optimist import checks
from optimist.agents.certificate import Seen
from optimist.agents.coming import ComingEpisode
from optimist.agents.driver import Policy, RunSettings, VariantDriver
from optimist.agents.history import COLUMNS, History
from optimist.agents.snapshot import Snapshot
from optimist.checks import FloatArray, IntArray
from optimist.core import (
    Confidence,
    Fixed,
    NoiseBonus,
    Rewards,
    TablePolicy,
    Truncation,
    Variant,
    schema,
)
from optimist.core.arrays import (
    check_features,
    check_size,
    front_of,
    kinds_of,
    learning_arrays,
    simulator,
    whole_front,
)
from optimist.core.rewards import FOR_EVER
from optimist.core.rooms import Rounds, room_for_rounds
from optimist.core.state import (
    FRONT_FUNCTIONS,
    NO_STAGE,
    NOISE_FUNCTIONS,
    PRIOR_FUNCTIONS,
    ROUND_FUNCTIONS,
    SHARED_FUNCTIONS,
    Epoch,
    Front,
    Kept,
    Learner,
    Record,
    Regression,
    Rule,
    Simulator,
    States,
    blank_record,
    copied,
)
from optimist.digests import digest
from optimist.features import FeatureMap, OneHot, Table
from optimist.mdp import FiniteMDP, LinearMDP

LINEAR = 1e-9
"""How far rewards may be from linear in the features to count as linear: rounding."""

SMALL = 1000
"""In worlds of fewer states all take part in updates."""

FEW = 40
"""In worlds of fewer pairs rounds save less than their compilation takes."""

MANY = 20
"""Rounds pay where so many updates may follow an episode."""

GOLDEN = (math.sqrt(5) - 1) / 2
"""Irrational, so that every position in `fingerprint` gets its own weight."""


def column_layout(
    rows: int, kept: int, first: int, shape: tuple[int, int], n_rewards: int
) -> schema.Layout:
    """The declarations of the columns of a saved `History` in a world of this shape [X, A]."""
    whole = dict.fromkeys(("steps", "epoch"), schema.count((rows,)))
    return {
        **dict.fromkeys(COLUMNS, schema.real((rows,))),
        **whole,
        "chosen": schema.index((rows,), n_rewards),
        "evaluated": schema.index((kept,), first + rows, first),
        "policies": schema.policy((kept, *shape)),
    }


def columns_of(record: Record) -> dict[str, Any]:
    """The record of each episode, by the names of the columns."""
    return dict(zip(COLUMNS, record[: len(COLUMNS)], strict=True))


class FiniteDriver(VariantDriver):
    """A finite MDP, played by the compiled loop."""

    mdp: FiniteMDP

    GROUPS = ("states", "data", "regression", "epoch", "drawn")
    OTHERS: ClassVar[tuple[str, ...]] = ("drawn_rewards", "drawn_log_pi")
    UNSAVED = (
        *("states.rows", "states.block", "data.pair", "data.seen", "data.n_seen"),
        *("data.visits", "data.met", "data.b", "data.W", "data.place", "data.Q"),
    )
    knows_rewards = True

    def __init__(
        self,
        mdp: FiniteMDP,
        features: FeatureMap | None,
        variant: Variant,
        run: RunSettings,
        rewards: Rewards | None = None,
    ) -> None:
        features = default_features(mdp) if features is None else features
        check_features(features, mdp)
        super().__init__(features, variant, mdp.gamma, run)
        check_size(mdp, features)
        self.mdp, self.policy_size = mdp, mdp.r.size
        self.rewards = Fixed(mdp.r) if rewards is None else rewards
        self.simulator = simulator(mdp)
        self.states, self.data, self.regression = learning_arrays(
            mdp, self.simulator, features, self.ridge, variant.learns_prior
        )
        if isinstance(variant.ascension, Confidence) and not self.data.own:
            raise ValueError("delta needs one-hot features: its bounds are of single pairs")
        self.epoch = self.blank_epoch(self.regression, met_later=False, estimates=False)
        self.drawn = copied(self.epoch)  # of pi_I, and likewise:
        self.drawn_rewards = self.states.rewards.copy()
        self.drawn_log_pi = self.states.log_pi.copy()
        self.chosen: list[FloatArray] = []  # the reward functions so far

    @property
    def learns_heaven(self) -> bool:
        return super().learns_heaven and isinstance(self.rewards, Fixed)

    # Learning

    def learn_some(self, most: int) -> dict[str, Any]:
        most = self.before_step_limit(most)
        hold = self._choose_rewards(most)
        stage = self.variant.stage(self.episodes)
        n = min(most, hold, self.pace.episodes, stage - self.episodes if stage else most)
        with self.call(n):
            evaluated, record = self.evaluated_of_next(n), blank_record(n)
            kept = Kept(
                stride=self.stride,
                log_policies=np.zeros((len(evaluated), *self.mdp.r.shape)),
                draw=self.drawn_of_next(n),
                epoch=self.drawn,
                rewards=self.drawn_rewards,
                log_pi=self.drawn_log_pi,
            )
            columns = self._play(self.rule(stage), record, kept)
        # By NumPy, as the policies of `_policy` are: compiled code may round exp differently.
        policies = np.exp(kept.log_policies, out=kept.log_policies)
        return {**columns, "evaluated": evaluated, "policies": policies}

    def _choose_rewards(self, most: int) -> int:
        """Ask for rewards if they are due; the number of episodes for which they hold."""
        if isinstance(self.rewards, Fixed):  # whatever the policy is
            self._set_rewards(self.rewards.r)
            return most
        if self.episodes >= self.until:
            r, hold = self.rewards.choose(self.episodes, self.pi)
            checks.count(hold, "the number of episodes for which rewards hold")
            self._set_rewards(r)
            # Rewards that hold for ever are requested at every call, which costs nothing.
            self.until = self.episodes + hold if hold < FOR_EVER else 0
        return self.until - self.episodes if self.until else most

    def _play(self, rule: Rule, record: Record, kept: Kept) -> dict[str, Any]:
        """Play and learn under the chosen rewards; the columns of the history."""
        me = self.learner(rule)
        self._front = None  # an interrupted call would leave it midway
        self.compiled(record.stop, "optimist.core.finite:run_finite", me, self.rng, record, kept)
        self._front = me.front
        chosen = np.full(len(record.steps), len(self.chosen) - 1)
        return {**columns_of(record), "chosen": chosen}

    def learner(self, rule: Rule) -> Learner:
        """The argument of every function of the compiled loop."""
        world, states, data = self.simulator, self.states, self.data
        if data.seen.size:  # an interrupted call has added to them what it then dropped
            seen = np.flatnonzero(data.counts)
            data.n_seen[0], data.seen[: seen.size] = seen.size, seen
        front, functions = self.front, {}  # type: Front, dict[str, str]
        for named, called in (
            (FRONT_FUNCTIONS, front.kind.size > 0),
            (SHARED_FUNCTIONS, not data.own),
            (PRIOR_FUNCTIONS, self.variant.learns_prior),
            (NOISE_FUNCTIONS, isinstance(self.variant.bonus, NoiseBonus)),
            (ROUND_FUNCTIONS, self.rounds.total.size > 0),
        ):
            if called:
                functions |= named
        reg, epoch, rounds = self.regression, self.epoch, self.rounds
        return Learner(world, rule, states, data, reg, epoch, front, rounds, **functions)

    @cached_property
    def rounds(self) -> Rounds:
        """Room for updates in rounds, where V is a soft maximum of what is linear in the V's."""
        v, shape = self.variant, self.mdp.r.shape
        linear = not isinstance(v.ascension, Truncation | Confidence) and not v.evaluates
        pays = self.data.own and self.mdp.r.size >= FEW and v.updates >= MANY
        if pays and linear and math.isfinite(v.eta):
            return room_for_rounds(shape, self.simulator.after.size)
        return room_for_rounds((0, 0), 0)

    @property
    def front(self) -> Front:
        """The states that take part in updates.

        States without data are alike where each pair has its own feature, rewards are fixed and
        bonuses are not drawn. In small worlds all states take part.
        """
        if self._front is not None:
            return self._front
        if self._kinds is None:
            return whole_front(self.simulator)
        return front_of(self._kinds, self.data.counts, self.simulator)

    _front: Front | None = None
    """The one that the last call has left, if it fits the statistics."""

    @cached_property
    def _kinds(self) -> IntArray | None:
        alike = self.data.own and isinstance(self.rewards, Fixed) and self.knows_rewards
        if isinstance(self.variant.bonus, NoiseBonus) or self.mdp.n_states < SMALL or not alike:
            return None
        return kinds_of(self.states)

    def _set_rewards(self, r: FloatArray) -> None:
        """Store rewards if they are new; refuse any outside [0, r_max]."""
        if not self.chosen or not (r is self.chosen[-1] or np.array_equal(r, self.chosen[-1])):
            r = checks.real_array(r, "rewards", shape=self.mdp.r.shape)
            refuse_rewards(r, self.variant.r_max)
            if self.epoch.prior[0]["pays"]:  # an epoch in which heaven pays has one reward function
                self.epoch.clock[0]["stage"] = NO_STAGE
            self.chosen.append(checks.frozen(r))
        self.states.r[:] = self.chosen[-1]

    def history(self, columns: dict[str, Any], first: int) -> History:
        return History(columns, first, self.mdp, np.array(self.chosen))

    def forget(self) -> None:
        del self.chosen[:-1]

    @property
    def evidence(self) -> Seen:
        if not isinstance(self.rewards, Fixed) or not self.knows_rewards:
            raise ValueError("rewards must not change for a certificate; this learner's do")
        if not self.data.counts.size:
            return super().evidence
        return Seen(self.data.counts, self.data.starts, self.rewards.r)

    # Acting

    @property
    def coming_episode(self) -> ComingEpisode | None:  # type: ignore[override]
        return ComingEpisode(
            self.simulator,
            self.states.cumulative.copy(),
            int(self.clock["state"]),
            self.rng.bit_generator.state,
            self.variant.observe_last,
        )

    @property
    def snapshot(self) -> Snapshot:
        s, visits = self.states, None
        if isinstance(self.features, OneHot):
            visits = (self.regression.Lambda[:, 0, 0] - self.ridge).reshape(s.r.shape)
        V, CB, p, log_pi = s.V.copy(), s.CB.copy(), s.p.copy(), s.log_pi.copy()
        return Snapshot(V, CB, p, log_pi, s.standing.copy(), visits)

    @property
    def statistics(self) -> tuple[States, int, Regression]:
        return self.states, self.mdp.n_states, self.regression

    @property
    def targets(self) -> FloatArray:
        """gamma sum_D phi(x, a) V(x'), as rewards are known."""
        s, data, world = self.states, self.data, self.simulator
        if s.rows.shape[1] > 1:
            return np.asarray(self.gamma * (s.V @ data.sums))
        pair = np.repeat(np.arange(len(s.rows)), np.diff(world.first))
        sums = data.counts * s.V[world.after] * s.rows[pair, 0]
        followed = np.bincount(s.block.ravel()[pair], sums, minlength=self.features.dim)
        return np.asarray(self.gamma * followed)

    @property
    def policy(self) -> Policy:
        return self._policy(self.epoch, self.states.rewards, self.states.log_pi)

    @property
    def output(self) -> Policy:
        return self._policy(self.drawn, self.drawn_rewards, self.drawn_log_pi)

    def _policy(self, epoch: Epoch, rewards: FloatArray, log_pi: FloatArray) -> Policy:
        if self.truncates or isinstance(self.variant.bonus, NoiseBonus):  # no closed form
            return TablePolicy(np.exp(log_pi))
        w, prior, n = self._linear_weights(rewards), epoch.prior[0], int(epoch.clock[0]["updates"])
        if prior["pays"]:
            paid = {"heaven": float(prior["worths"]) / max(n, 1), "heaven_pays": True}
            known = {"rewards": rewards.copy()} if w is None else {"weights": w.copy()}
            return self.softmax_policy(epoch, **paid, **known)
        if w is None:
            return self.softmax_policy(epoch, rewards=rewards.copy())
        return self.softmax_policy(epoch, Theta=epoch.Theta + w)

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

    # Stopping and continuing

    @property
    def arrays(self) -> dict[str, Any]:
        return {**self.state, **({"chosen": np.array(self.chosen)} if self.chosen else {})}

    @property
    def state(self) -> dict[str, Any]:
        drawn = {"drawn.rewards": self.drawn_rewards, "drawn.log_pi": self.drawn_log_pi}
        return {**super().state, **drawn}

    def layout(self, arrays: dict[str, Any]) -> schema.Layout:
        X, A = self.mdp.r.shape
        r_max = self.variant.r_max
        slack = checks.ROW_SUM_TOLERANCE * r_max
        wanted = super().layout(arrays)
        wanted["states.r"] = schema.real((X, A), -slack, r_max + slack)
        for group in ("epoch", "drawn"):
            wanted.update(schema.clock(f"{group}.clock", X))
        if "chosen" in arrays:
            shape = (max(1, *arrays["chosen"].shape[:1]), X, A)
            wanted["chosen"] = schema.real(shape, -slack, r_max + slack)
        return wanted

    def columns(self, rows: int, kept: int, first: int, arrays: dict[str, Any]) -> schema.Layout:
        return column_layout(rows, kept, first, self.mdp.r.shape, len(arrays.get("chosen", ())))

    def restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.check_epoch(arrays)
        if header["until"] > arrays[f"{self.CLOCK}.episodes"][0] and "chosen" not in arrays:
            raise ValueError(f"chosen must hold the rewards until episode {header['until']}")
        super().restore(header, arrays)
        self.until, self._front = header["until"], None
        self.chosen = [checks.frozen(r) for r in arrays.get("chosen", ())]

    @property
    def fingerprint(self) -> dict[str, Any]:
        s = self.states
        return fingerprint(self.mdp, self.simulator, s.rows, s.block, *self._given)

    @property
    def _given(self) -> tuple[Any, ...]:
        """Arrays besides the world and the features that must be given again when loading."""
        return ()


def refuse_rewards(r: FloatArray, r_max: float) -> None:
    """Refuse rewards outside [0, r_max], and say how to map them there."""
    slack = checks.ROW_SUM_TOLERANCE * r_max
    bad = (r < -slack) | (r > r_max + slack)
    if bad.any():
        where = checks.first(bad)
        raise ValueError(
            f"{checks.entry('rewards', where)} must be in [0, r_max] = [0, {r_max:g}]; got "
            f"{r[where]:.6g}. FiniteMDP.affine(r_max) maps rewards there"
        )


def fingerprint(mdp: FiniteMDP, world: Simulator, *given: Any) -> dict[str, Any]:
    """Plain data that identify a world, and the arrays that an agent is given besides.

    Gamma and whole numbers have a digest. Fractions, which another processor may have rounded
    differently, have sums with a weight for every place; no two entries cancel.
    """
    parts, sums = [str((mdp.gamma, mdp.r.shape))], []  # type: list[Any], list[float]
    for array in (world.first, world.after, world.cumulative, mdp.r, mdp.nu0, *given):
        flat = np.ravel(array)
        if flat.dtype.kind == "f":
            weights = 1 + np.arange(flat.size) * GOLDEN % 1
            sums.append(float((weights * (2 * np.abs(flat) + flat)).sum()))
        else:
            parts.append(flat)
    return {"digest": digest(*parts), "sums": sums}


def default_features(mdp: FiniteMDP) -> FeatureMap:
    """A linear MDP's own features, otherwise one-hot."""
    if isinstance(mdp, LinearMDP):
        return Table(mdp.Phi)
    return OneHot(mdp.n_states, mdp.n_actions)
