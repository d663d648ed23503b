"""Algorithm 1 on finite worlds: whole episodes in compiled code."""

import hashlib
import math
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from optimist import checks
from optimist.agents.configuration import Configuration
from optimist.agents.diagnostics import Diagnostics
from optimist.agents.driver import NO_STAGE, AlgorithmOne, Policy
from optimist.agents.history import History
from optimist.checks import FloatArray
from optimist.core import (
    Fixed,
    Rewards,
    SoftmaxPolicy,
    TablePolicy,
    Truncation,
    VarianceBonus,
    schema,
)
from optimist.core.finite import check_features, check_size, iterate, simulator, statistics
from optimist.core.rewards import FOR_EVER
from optimist.core.state import (
    EPISODES,
    EPOCHS,
    MEAN,
    NOVEL,
    PAYS,
    RIDGE,
    STAGE,
    STEPS,
    UPDATES,
    WHOLE,
    WORTH,
    WORTHS,
    Iterate,
    Player,
    Record,
    Rule,
    Simulator,
    Snapshots,
    blank_record,
    nobody,
)
from optimist.features import FeatureMap, OneHot, Table
from optimist.mdp import FiniteMDP, LinearMDP

LINEAR = 1e-9
"""How far rewards may be from linear in the features to count as linear: rounding."""

UNSAVED = ("phi", "block", "pair", "visits", "met", "work", "W", "MV", "PV")
"""Arrays of the engine that are given with the world, or hold nothing between two calls."""

GOLDEN = (math.sqrt(5) - 1) / 2
"""The fractional parts of its multiples are all different."""

COLUMNS = ("steps", "reward", "epoch", "optimistic_value", "sup_q", "bonus", "ascension")
"""The columns of a history, in the order of the engine's record."""


def column_layout(
    rows: int, kept: int, first: int, shape: tuple[int, int], n_rewards: int
) -> dict[str, schema.Array]:
    """What the columns of a saved `History` must be, in a world of this shape [X, A]."""
    whole = dict.fromkeys(("steps", "epoch"), schema.count((rows,)))
    return {
        **dict.fromkeys(COLUMNS, schema.real((rows,))),
        **whole,
        "chosen": schema.index((rows,), n_rewards),
        "evaluated": schema.index((kept,), first + rows, first),
        "policies": schema.policy((kept, *shape)),
    }


def columns_of(record: Record) -> dict[str, Any]:
    """What the engine has noted of each episode, by the names of the columns."""
    return dict(zip(COLUMNS, record[: len(COLUMNS)], strict=True))


class FiniteDriver(AlgorithmOne):
    """A finite MDP, played by the compiled loop."""

    CHANGING: ClassVar[tuple[str, ...]] = ("stats", "iterate", "drawn")
    knows_rewards = True

    def __init__(
        self,
        mdp: FiniteMDP,
        features: FeatureMap | None,
        config: Configuration,
        rewards: Rewards | None,
        seed: int,
        stride: int,
    ) -> None:
        features = _default_features(mdp) if features is None else features
        check_features(features, mdp)
        super().__init__(features, config, mdp.gamma, seed, stride)
        check_size(mdp, features)
        self.mdp, self.policy_size = mdp, mdp.r.size
        self.rewards = Fixed(mdp.r) if rewards is None else rewards
        self.simulator = simulator(mdp)
        self.stats = statistics(
            mdp,
            self.simulator,
            features,
            config.ridge_for(features.bound),
            self.learns_prior,
        )
        moments = self.learns_prior or isinstance(config.bonus, VarianceBonus)
        self.iterate = iterate(mdp, self.stats, moments)
        self.drawn = iterate(mdp, self.stats, moments)  # holds what pi_I is made of
        self.chosen: list[FloatArray] = []  # the reward functions so far

    @property
    def learns_heaven(self) -> bool:
        return super().learns_heaven and isinstance(self.rewards, Fixed)

    # Learning

    @property
    def episodes(self) -> int:
        return int(self.iterate.clock[EPISODES])

    @property
    def steps(self) -> int:
        return int(self.iterate.clock[STEPS])

    def learn_some(self, most: int) -> dict[str, Any]:
        hold = self._choose_rewards(most)
        stage = self.config.stage(self.episodes)
        n = min(most, hold, self.pace.episodes, stage - self.episodes if stage else most)
        with self.call(n):
            return self._play_some(n, stage)

    def _play_some(self, n: int, stage: int) -> dict[str, Any]:
        """Play n episodes; their columns of the history."""
        kept, record = self.evaluated_of_next(n), blank_record(n)
        shots = Snapshots(
            stride=self.stride,
            log_policies=np.zeros((len(kept), *self.mdp.r.shape)),
            draw=self.drawn_of_next(n),
            Theta=self.drawn.Theta,
            rewards=self.drawn.rewards,
            Lambda=self.drawn.Lambda,
            prior=self.drawn.prior,
            first=self.drawn.first,
            second=self.drawn.second,
            log_pi=self.drawn.log_pi,
            clock=self.drawn.clock,
        )
        columns = self._play(self.rule(stage), record, shots)
        # By NumPy, as the policies of `_policy` are: compiled code may round exp differently.
        policies = np.exp(shots.log_policies, out=shots.log_policies)
        return {**columns, "evaluated": kept, "policies": policies}

    def _choose_rewards(self, most: int) -> int:
        """Ask for rewards if it is time to, and for how many episodes they hold."""
        if self.episodes >= self.until:
            r, hold = self.rewards.choose(self.episodes, np.exp(self.iterate.log_pi))
            checks.count(hold, "the number of episodes for which rewards hold")
            self._check_rewards(r)
            # What holds for ever is asked for at every call, which costs nothing.
            self.until = self.episodes + hold if hold < FOR_EVER else 0
        return self.until - self.episodes if self.until else most

    def _play(self, rule: Rule, record: Record, shots: Snapshots) -> dict[str, Any]:
        """Play and learn under the rewards that were chosen; the columns of the history."""
        self._run(rule, self.chosen[-1].copy(), record, shots, nobody(), WHOLE)
        chosen = np.full(len(record.steps), len(self.chosen) - 1)
        return {**columns_of(record), "chosen": chosen}

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
        state = (self.simulator, rule, self.stats, self.iterate)
        given = (*state, r, self.mdp.nu0, self.rng, record, shots, player, part)

        def call() -> None:
            from optimist.core.engine import run  # numba takes its time: only those who learn wait

            run(*given)

        self.compiled(call, record.stop)

    def _check_rewards(self, r: FloatArray) -> FloatArray:
        """Remember the rewards if they are new, and refuse any outside [0, r_max]."""
        if self.chosen and (r is self.chosen[-1] or np.array_equal(r, self.chosen[-1])):
            return self.chosen[-1]
        r = checks.real_array(r, "rewards", shape=self.mdp.r.shape)
        refuse_rewards(r, self.config.r_max)
        if self.iterate.prior[PAYS] > 0:  # an epoch in which heaven pays has one reward function
            self.iterate.clock[STAGE] = NO_STAGE
        self.chosen.append(checks.frozen(r))
        return self.chosen[-1]

    def history(self, columns: dict[str, Any], first: int) -> Any:
        return History(**columns, rewards=np.array(self.chosen), first=first, mdp=self.mdp)

    def forget(self) -> None:
        del self.chosen[:-1]

    # Acting

    @property
    def diagnostics(self) -> Diagnostics:
        it, stats, prior = self.iterate, self.stats, self.iterate.prior
        learnt = self.learns_prior and it.clock[EPOCHS] > 0
        return Diagnostics(
            V=it.V,
            pi=np.exp(it.log_pi),
            CB=it.CB,
            p=it.p,
            epoch=int(it.clock[EPOCHS]),
            heaven=float(prior[WORTH]) if prior[PAYS] > 0 else self.heaven,
            ridge=float(prior[RIDGE]) if learnt else self.config.ridge_for(self.features.bound),
            Lambda=stats.Lambda,
            inverse=1 / stats.Lambda if stats.diagonal else stats.inverse,
            log_det=float(stats.log_det[0]),
            b=self.gamma * self._followed_by(it.V),
            s=float(prior[NOVEL]) if learnt else None,
            v=float(prior[MEAN]) if learnt else None,
        )

    def _followed_by(self, V: FloatArray) -> FloatArray:
        """sum_D phi(x, a) V(x'), [d]."""
        stats, world = self.stats, self.simulator
        if not stats.diagonal:
            return np.asarray(V @ stats.sums)
        pair = np.repeat(np.arange(len(stats.phi)), np.diff(world.first))
        sums = stats.counts * V[world.after] * stats.phi[pair, 0]
        return np.asarray(
            np.bincount(stats.block[pair], sums, minlength=self.features.dim), dtype=np.float64
        )

    @property
    def policy(self) -> Policy:
        return self._policy(self.iterate)

    @property
    def output(self) -> Policy:
        return self._policy(self.drawn)

    def _policy(self, it: Iterate) -> Policy:
        c = self.config
        if isinstance(c.ascension, Truncation) and not math.isinf(c.eta):
            return TablePolicy(np.exp(it.log_pi))
        w, learnt, n = self._linear_weights(it.rewards), it.prior[PAYS] > 0, it.clock[UPDATES]
        return SoftmaxPolicy(
            Theta=it.Theta.copy() if w is None or learnt else it.Theta + w,
            Lambda=it.Lambda.copy(),
            updates=int(n),
            eta=c.eta,
            bonus=c.added,
            gamma=self.gamma,
            ascension=c.ascension_in(int(it.clock[STAGE])),
            heaven=it.prior[WORTHS] / max(n, 1) if learnt else self.heaven,
            heaven_pays=bool(learnt),
            features=self.features,
            rewards=it.rewards.copy() if w is None else None,
            weights=w.copy() if learnt and w is not None else None,
            prior=it.prior.copy(),
            moments=np.array([it.first, it.second]),
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

    @property
    def arrays(self) -> dict[str, Any]:
        parts = {f"{group}.{name}": array for group, name, array in self._state()}
        return {**parts, "chosen": np.array(self.chosen)} if self.chosen else parts

    clock = "iterate.clock"

    def layout(self, arrays: dict[str, Any]) -> dict[str, schema.Array]:
        X, A = self.mdp.r.shape
        wanted = {
            f"{group}.{name}": schema.usual(name, array.shape)
            for group, name, array in self._state()
        }
        wanted["iterate.clock"] = wanted["drawn.clock"] = schema.clock(X)
        if "chosen" in arrays:
            slack = checks.ROW_SUM_TOLERANCE * self.config.r_max
            shape = (max(1, *arrays["chosen"].shape[:1]), X, A)
            wanted["chosen"] = schema.real(shape, -slack, self.config.r_max + slack)
        return wanted

    def columns(
        self, rows: int, kept: int, first: int, arrays: dict[str, Any]
    ) -> dict[str, schema.Array]:
        return column_layout(rows, kept, first, self.mdp.r.shape, len(arrays.get("chosen", ())))

    def restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        clock = arrays["iterate.clock"]
        self.check_epoch(clock, arrays["stats.Lambda"], arrays["iterate.prior"])
        self.check_stage(arrays["drawn.clock"])
        if header["until"] > clock[EPISODES] and "chosen" not in arrays:
            raise ValueError(f"chosen must hold the rewards until episode {header['until']}")
        for group, name, array in self._state():
            array[...] = arrays[f"{group}.{name}"]
        self.until = header["until"]
        self.chosen = [checks.frozen(r) for r in arrays.get("chosen", ())]

    def _state(self) -> list[tuple[str, str, Any]]:
        """Every array that changes while learning, with its group and its name."""
        return [
            (group, name, array)
            for group, values in self._groups.items()
            for name, array in values.items()
            if isinstance(array, np.ndarray) and name not in UNSAVED
        ]

    @property
    def _groups(self) -> dict[str, dict[str, Any]]:
        return {
            "stats": self.stats._asdict(),
            "iterate": self.iterate._asdict(),
            "drawn": self.drawn._asdict(),
        }

    @property
    def world(self) -> dict[str, Any]:
        return fingerprint(self.mdp, self.simulator, self.stats.phi, self.stats.block, *self._given)

    @property
    def _given(self) -> tuple[Any, ...]:
        """Arrays that, besides world and features, have to be given again when loading."""
        return ()


def refuse_rewards(r: FloatArray, r_max: float) -> None:
    """Refuse rewards outside [0, r_max], and say how to map them there."""
    slack = checks.ROW_SUM_TOLERANCE * r_max
    bad = (r < -slack) | (r > r_max + slack)
    if bad.any():
        where = checks.first(bad)
        raise ValueError(
            f"{checks.entry('rewards', where)} = {r[where]:.6g} is outside [0, r_max] = "
            f"[0, {r_max:g}]; FiniteMDP.affine(r_max) maps rewards there"
        )


def fingerprint(mdp: FiniteMDP, world: Simulator, *given: Any) -> dict[str, Any]:
    """By what a world, and the arrays that an agent is given besides, are known again.

    Gamma and whole numbers have a digest. Arrays of fractions, which another processor may have
    computed with other roundings, have sums with a weight for every place; no two entries cancel.
    """
    sha, sums = hashlib.sha256(str((mdp.gamma, mdp.r.shape)).encode()), []
    for array in (world.first, world.after, world.cumulative, mdp.r, mdp.nu0, *given):
        flat = np.ravel(array)
        if flat.dtype.kind == "f":
            weights = 1 + np.arange(flat.size) * GOLDEN % 1
            sums.append(float((weights * (2 * np.abs(flat) + flat)).sum()))
        else:
            sha.update(flat.tobytes())
    return {"digest": sha.hexdigest(), "sums": sums}


def _default_features(mdp: FiniteMDP) -> FeatureMap:
    """A linear MDP's own features, otherwise one-hot."""
    if isinstance(mdp, LinearMDP):
        return Table(mdp.Phi)
    return OneHot(mdp.n_states, mdp.n_actions)
