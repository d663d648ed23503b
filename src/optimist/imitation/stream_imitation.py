"""FRA-IL in any Gymnasium environment."""

from dataclasses import replace
from typing import Any

import numpy as np

from optimist.agents.driver import Policy
from optimist.agents.stream_driver import StreamDriver
from optimist.agents.stream_learner import EpisodeUnderWay
from optimist.checks import FloatArray
from optimist.core import SoftmaxPolicy, Variant, schema
from optimist.core.state import Epoch
from optimist.envs import Gym
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
from optimist.imitation.history import ImitationHistory
from optimist.imitation.reward_player import StreamRewardPlayer, weights_layout


class StreamImitation(StreamDriver):
    """An environment whose rewards a player moves after each episode; those paid are not looked at.

    Episodes have geometric lengths, so that their last pairs are draws of mu(pi_k). An episode that
    terminates stays in its last state until then, as `FeatureDataset.from_rollouts` records experts
    by default. Each termination adds one step from that state to itself for every action; so
    features should tell the states in which episodes end from all others.

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
        world: Gym,
        features: FeatureMap,
        config: FraILConfig,
        variant: Variant,
        player: StreamRewardPlayer,
        seed: int,
        stride: int,
    ) -> None:
        for name in ("reward", "reward_map", "low", "value_bound"):
            if getattr(world, name) is not None:
                raise TypeError(f"{name}= is about rewards that are paid: FRA-IL looks at none")
        if world.geometric is False:
            raise ValueError("FRA-IL needs geometric resets: the last pair has to be of mu(pi_k)")
        if config.fresh:
            raise ValueError("fresh rollouts are for finite worlds; here the last pair is the draw")
        bare = replace(world, geometric=True, reward_map=_nothing, reward=_nothing)
        super().__init__(bare, features, config, variant, seed, stride)
        self.player = player
        self.step, self.K = 0.0, None  # type: float, int | None
        self._embed = embedding(player.phi_r, self.features)
        self._linear: FloatArray = np.zeros(self.features.dim)

    def refuse_if_broken(self) -> None:
        """It never breaks: an episode whose projection failed was not learnt from."""

    def _known_rewards(self, observations: Any) -> FloatArray:
        """The constant part of the rewards; the rest is linear in phi."""
        return np.full((len(observations), self.features.n_actions), self.player.shift)

    def _learn_from(self, episode: EpisodeUnderWay, terminated: bool) -> tuple[Any, ...]:
        observation, a = episode.pair
        if episode.absorbed:
            # It stays there for ever: each action counts as tried once, without effect.
            x, observation, a = episode.x, episode.observation, self._act(episode.x)
            for action in range(self.features.n_actions):
                episode.source.append(x)
                episode.action.append(action)
                episode.after.append(x)
                episode.paid.append(0.0)
        self.player.move(observation, a, self.step)
        self._linear = self._embed @ self.player.w
        return super()._learn_from(episode, terminated=False)

    def _reward_weights(self) -> FloatArray:
        return self._linear

    def _policy(self, epoch: Epoch, thetas: FloatArray) -> Policy:
        policy = super()._policy(epoch, thetas)
        assert isinstance(policy, SoftmaxPolicy)
        return SoftmaxPolicy(**{**vars(policy), "reward": None, "shift": self.player.shift})

    def history(self, columns: dict[str, Any], first: int) -> ImitationHistory:
        return ImitationHistory(columns, first, self.player.lambda_E)

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
    def saved_config(self) -> dict[str, Any]:
        config: FraILConfig = self.config
        return config.without_weights()

    @property
    def settings(self) -> dict[str, Any]:
        return {"K": self.K, **self.player.settings}


def _nothing(_: Any) -> float:
    """In the place of what the environment pays, which is not looked at."""
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
