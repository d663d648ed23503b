"""FRA-IL in any Gymnasium environment."""

from dataclasses import replace
from typing import Any

import numpy as np

from optimist.agents.driver import RunSettings
from optimist.agents.stream_driver import AnyFeatures, StreamDriver, features_of
from optimist.agents.stream_learner import EpisodeUnderWay
from optimist.checks import FloatArray
from optimist.envs import Gym
from optimist.envs.players import Players
from optimist.features import (
    Concatenation,
    FeatureMap,
    OneHot,
    OneHotState,
    PerAction,
    StateOnly,
    describe,
)
from optimist.imitation.dataset import FeatureDataset
from optimist.imitation.driver import ImitationDriver, check_expert
from optimist.imitation.history import ImitationHistory
from optimist.imitation.reward_player import RewardPlayer


class StreamImitation(ImitationDriver, StreamDriver):
    """An environment whose own rewards are ignored.

    Episodes have geometric lengths, so that their last pairs are draws of mu(pi_k). An episode that
    terminates stays in its last state until then, as `FeatureDataset.from_rollouts` records experts
    by default. Each termination adds one step from that state to itself for every action; so
    features should distinguish the states in which episodes end from all others.
    """

    OTHERS = (*StreamDriver.OTHERS, "player")
    absorbs = True

    def __init__(
        self,
        world: Gym,
        expert: FeatureDataset,
        phi_r: FeatureMap | None,
        features: AnyFeatures | None,
        run: RunSettings,
    ) -> None:
        # One environment, made once, whichever way it was given.
        world = replace(world, id=world.make(), repeat=1, options="", parallel=1)
        players = Players(world.make())
        if players.n > 1:
            raise ValueError(
                "FRA-IL plays one environment: side by side the first episodes to end are short "
                "ones, and their last pairs no draws of mu(pi_k)"
            )
        phi_P = features_of(world.features or None if features is None else features, players)
        phi_r = _features_of_states(phi_P) if phi_r is None else phi_r
        if not isinstance(phi_r, FeatureMap):
            raise TypeError(f"reward_features must be a FeatureMap; got {phi_r!r}")
        check_expert(expert, phi_r, world.gamma)
        player = RewardPlayer(expert.mean, phi_r, run.config.weights)
        variant = run.config.variant(player.R_max)
        for name in ("reward", "reward_map", "low", "value_bound"):
            if getattr(world, name) is not None:
                raise TypeError(f"{name}= must not be given: FRA-IL ignores the rewards")
        if world.geometric is False:
            raise ValueError(
                "FRA-IL needs geometric resets: the last pair must be a draw of mu(pi_k)"
            )
        if run.config.fresh:
            raise ValueError("fresh rollouts are for finite worlds; here the last pair is the draw")
        bare = replace(world, geometric=True, reward_map=_nothing, reward=_nothing)
        super().__init__(bare, with_rewards(phi_r, phi_P), variant, run)
        self.player = player
        self._embed = embedding(phi_r, self.features)

    def _known_rewards(self, observations: Any) -> FloatArray:
        """The constant part of the rewards; the rest is linear in phi."""
        return np.full((len(observations), self.features.n_actions), self.player.shift)

    def _learn_from(self, episode: EpisodeUnderWay, terminated: bool) -> tuple[Any, ...]:
        observation, a = episode.pair
        if episode.absorbed:
            # It stays there for ever: each action counts as tried once, without effect.
            x, observation, a = episode.x, episode.observation, self._draw(episode.x)
            every = range(self.features.n_actions)
            episode.transitions += [(x, action, x, 0.0) for action in every]
        self.player.move(observation, a, self.step)
        return super()._learn_from(episode, terminated=False)

    def _reward_weights(self) -> FloatArray:
        return self._embed @ self.player.w

    def _rewards_of_policy(self) -> dict[str, Any]:
        return {"shift": self.player.shift}

    def history(self, columns: dict[str, Any], first: int) -> ImitationHistory:
        return ImitationHistory(columns, first, self.player.lambda_E)


def _nothing(_: Any) -> float:
    """Zeros in the place of the environment's rewards, which are ignored."""
    return 0.0


def _features_of_states(phi_P: FeatureMap) -> FeatureMap:
    """The features of states that phi_P is made of."""
    if isinstance(phi_P, OneHot):
        return StateOnly(OneHotState(phi_P.n_states), phi_P.n_actions)
    if isinstance(phi_P, PerAction):
        return StateOnly(phi_P.psi, phi_P.n_actions)
    raise ValueError("give the reward_features that the expert was recorded with")


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
