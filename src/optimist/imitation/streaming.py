"""FRA-IL in any Gymnasium environment: a reward player that meets its features one by one."""

from typing import Any

import numpy as np

from optimist import checks
from optimist.agents import StreamHistory, Terms
from optimist.agents.configuration import Configuration
from optimist.agents.driver import Policy
from optimist.agents.learner import Episode
from optimist.agents.streaming import StreamDriver
from optimist.checks import FloatArray
from optimist.core import SoftmaxPolicy, schema
from optimist.core.memory import Epoch
from optimist.envs.players import AnyEnv
from optimist.errors import BadEnvironment
from optimist.features import (
    Concatenation,
    FeatureMap,
    OneHot,
    OneHotState,
    PerAction,
    StateOnly,
    describe,
)
from optimist.imitation.configuration import FraILConfig
from optimist.imitation.player import weights_layout
from optimist.imitation.weights import WeightClass


class StreamPlayer:
    """Weights w_k of a class W, where the reward features are met one by one.

    Their rewards phi_r . w_k lie in [-B W_max, B W_max] by Cauchy and Schwarz, and are shifted by
    B W_max into [0, R_max], R_max = 2 B W_max.
    """

    def __init__(self, lambda_E: FloatArray, phi_r: FeatureMap, weights: WeightClass) -> None:
        self.lambda_E, self.phi_r, self.weights = np.array(lambda_E), phi_r, weights
        self.B = checks.positive(phi_r.bound, "the bound of reward_features")
        self.W_max = checks.positive(weights.bound(phi_r.dim), "W_max")
        self.shift = self.B * self.W_max
        self.R_max = 2 * self.shift
        self.total = np.zeros(phi_r.dim)
        self.w = self._projected(np.zeros(phi_r.dim))  # w_0 = Pi_W(0)

    def move(self, sight: Any, action: int, step: float) -> None:
        """w_k = Pi_W(w_{k-1} + eta_r (lambda(pi_E) - phi_r(X_k, A_k)))."""
        phi = self.phi_r(sight, action)
        if np.linalg.norm(phi) > self.B * (1 + checks.RANGE_TOLERANCE):
            raise BadEnvironment(
                f"reward_features have a row of norm {np.linalg.norm(phi):.6g}, above the bound "
                f"B = {self.B:.6g} that they declare"
            )
        self.w = self._projected(self.w + step * (self.lambda_E - phi))
        self.total += self.w

    def _projected(self, w: FloatArray) -> FloatArray:
        moved = self.weights.project(w)
        return np.array(checks.real_array(moved, "the projection", shape=self.total.shape))

    @property
    def settings(self) -> dict[str, Any]:
        """The numbers that do not change."""
        name = type(self.weights).__qualname__
        return {"W": [name, *self.weights.numbers], "W_max": self.W_max, "B": self.B}


class StreamImitation(StreamDriver):
    """An environment whose rewards a player moves after each episode; those paid are not looked at.

    Episodes have geometric lengths, so that their last pairs are draws of mu(pi_k). One that
    terminates stays where it is until then, as in what `FeatureDataset.from_rollouts` records of an
    expert unless it is told otherwise. Each termination adds one step from that state to itself for
    every action; so features should tell the states in which episodes end from all others.

    Attributes
    ----------
    step
        eta_r, the step of the player.
    K
        The number of episodes it is made for, as a checkpoint says it.
    """

    CHANGING = (*StreamDriver.CHANGING, "player", "_linear")
    absorbs = True

    def __init__(
        self,
        env: AnyEnv,
        features: FeatureMap,
        config: Configuration,
        player: StreamPlayer,
        given: FraILConfig,
        seed: int,
        stride: int,
        terms: Terms,
    ) -> None:
        for name in ("reward", "reward_map", "reward_range", "value_bound"):
            if name in terms:
                raise TypeError(f"{name} is about rewards that are paid: FRA-IL looks at none")
        told: Any = {"geometric": True, **terms, "reward_map": _none, "reward": _none}
        if not told["geometric"]:
            raise ValueError("FRA-IL needs geometric resets: the last pair has to be of mu(pi_k)")
        if given.fresh:
            raise ValueError("fresh rollouts are for finite worlds; here the last pair is the draw")
        super().__init__(env, features, config, seed, stride, told)
        self.player, self.given = player, given
        self.step, self.K = 0.0, None  # type: float, int | None
        self._embed = embedding(player.phi_r, self.features)
        self._linear: FloatArray = np.zeros(self.features.dim)

    def refuse_if_broken(self) -> None:
        """There is always going on: an episode whose projection failed was not learnt from."""

    def _known_rewards(self, observations: Any) -> FloatArray:
        """The constant part of the rewards; the rest is linear in phi."""
        return np.full((len(observations), self.features.n_actions), self.player.shift)

    def _learn_from(self, episode: Episode, terminated: bool) -> tuple[Any, ...]:
        sight, a = episode.pair
        if episode.absorbed:
            # There for ever, whatever it does: each action counts as tried once, to no avail.
            x, sight, a = episode.x, episode.sight, self._act(episode.x)
            for action in range(self.features.n_actions):
                episode.source.append(x)
                episode.action.append(action)
                episode.after.append(x)
                episode.paid.append(0.0)
        self.player.move(sight, a, self.step)
        self._linear = self._embed @ self.player.w
        return super()._learn_from(episode, terminated=False)

    def _reward_weights(self, episode: Episode) -> FloatArray:
        return self._linear

    def _policy(self, epoch: Epoch, thetas: FloatArray) -> Policy:
        policy = super()._policy(epoch, thetas)
        assert isinstance(policy, SoftmaxPolicy)
        return SoftmaxPolicy(**{**vars(policy), "reward": None, "shift": self.player.shift})

    def history(self, columns: dict[str, Any], first: int) -> StreamHistory:
        return StreamHistory(**columns, first=first)

    @property
    def arrays(self) -> dict[str, Any]:
        moved = {"player.w": self.player.w, "player.total": self.player.total}
        return {**super().arrays, **moved}

    def layout(self, arrays: dict[str, Any]) -> dict[str, schema.Array]:
        w = weights_layout(self.player.w.shape, self.player.W_max)
        return {**super().layout(arrays), "player.w": w}

    def restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        super().restore(header, arrays)
        self.player.w, self.player.total = (
            np.array(arrays[f"player.{name}"]) for name in ("w", "total")
        )

    @property
    def settings(self) -> dict[str, Any]:
        return {"K": self.K, "fresh": False, **self.player.settings}


def _none(_: Any) -> float:
    """Whatever the environment pays is not looked at."""
    return 0.0


def with_rewards(phi_r: FeatureMap, phi_P: FeatureMap) -> FeatureMap:
    """The features of the linear MDP: phi_P if phi_r is known to be linear in it, else both."""
    return phi_P if _found(phi_r, phi_P) is not None else Concatenation(phi_r, phi_P)


def embedding(phi_r: FeatureMap, phi: FeatureMap) -> FloatArray:
    """The matrix E [d, d_r] with phi_r(x, a) . w = phi(x, a) . E w.

    Examples
    --------
    >>> embedding(StateOnly(OneHotState(2), n_actions=2), OneHot(2, 2))
    array([[1., 0.],
           [1., 0.],
           [0., 1.],
           [0., 1.]])
    """
    E = _found(phi_r, phi)
    if E is None:
        raise ValueError("reward_features are not known to be linear in the features")
    return E


def _found(phi_r: FeatureMap, phi: FeatureMap) -> FloatArray | None:
    identity, A = np.eye(phi_r.dim), phi.n_actions
    if _same(phi_r, phi):
        return identity
    if isinstance(phi, Concatenation):
        for part, before in ((phi.phi_r, 0), (phi.phi_P, phi.phi_r.dim)):
            inner = _found(phi_r, part)
            if inner is not None:
                after = phi.dim - before - part.dim
                return np.pad(inner, ((before, after), (0, 0)))
        return None
    if isinstance(phi_r, StateOnly) and isinstance(phi, PerAction) and _same(phi_r.psi, phi.psi):
        return np.tile(identity, (A, 1))
    told_apart = isinstance(phi_r, StateOnly) and isinstance(phi_r.psi, OneHotState)
    if told_apart and isinstance(phi, OneHot) and phi.n_states == phi_r.dim:
        return np.repeat(identity, A, axis=0)
    return None


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if isinstance(one, FeatureMap) != isinstance(other, FeatureMap):
        return False
    if isinstance(one, FeatureMap):
        return describe(one) is not None and describe(one) == describe(other)
    return _same(StateOnly(one, 1), StateOnly(other, 1))
