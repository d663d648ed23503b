"""FRA-IL, Algorithm 2: imitation from expert features alone, on finite worlds."""

import math
from pathlib import Path
from typing import Any, ClassVar, Self, Unpack

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv

from optimist import checks
from optimist.agents import RmaxRaviUcb, Terms, checkpoint
from optimist.agents.rmax_ravi_ucb import AnyWorld
from optimist.agents.terms import check_terms, features_of, refuse_terms
from optimist.checks import FloatArray
from optimist.core import schema, storage
from optimist.core.finite import check_features, sparse_rows
from optimist.envs import Gym, World
from optimist.envs.players import AnyEnv, Players
from optimist.errors import FileError
from optimist.features import (
    Concatenation,
    FeatureMap,
    OneHot,
    OneHotState,
    PerAction,
    StateFeatures,
    StateOnly,
)
from optimist.imitation.configuration import FraILConfig
from optimist.imitation.dataset import FeatureDataset
from optimist.imitation.finite import FiniteImitation
from optimist.imitation.player import RewardPlayer
from optimist.imitation.recording import finite_mdp
from optimist.imitation.streaming import StreamImitation, StreamPlayer, with_rewards
from optimist.mdp import FiniteMDP
from optimist.theory import imitation as theory

SPANNED = 1e-9
"""How far phi_r may be from linear in phi_P to count as linear: rounding."""


class FraIL(RmaxRaviUcb):
    """Imitation from features alone: a policy player against a player of rewards.

    The policy player is RMAX-RAVI-UCB. After each episode the reward player moves its weights
    towards what the expert shows more often than the learner (online gradient descent):

        w_k = Pi_W(w_{k-1} + eta_r (lambda(pi_E) - phi_r(X_k, A_k))),  (X_k, A_k) ~ mu(pi_k),

    and the rewards are r_k = Phi_r w_k, shifted into [0, R_max]. The world's own rewards are never
    looked at: the world is copied without them.

    Parameters
    ----------
    world
        A world, or any `FiniteMDP`: it is played, never looked into. Or a Gymnasium environment
        without a time limit, whose rewards are not looked at.
    expert
        What is known of the expert: rows phi_r(X_E, A_E) of its discounted occupancy.
    reward_features
        The map phi_r; by default phi_r(x, a) = e_x: imitation from states. In an environment it is
        the features of states that ``features`` are made of.
    features
        The map phi_P in which transitions are linear; by default one-hot. The linear MDP's features
        are (phi_r, phi_P), or phi_P alone if phi_r is linear in it, as it is if that is one-hot.
    config
        The parameters.
    K
        The number of episodes that the step eta_r = W_max / (B sqrt K) of the reward player is
        made for; by default that of the first call of `learn`.
    seed
        Seeds the run. The same seed gives the same bytes on one kind of processor.
    stride
        Every so many episodes the policy is kept, to be evaluated exactly; 0 for none.
    terms
        What has to be said of a Gymnasium environment: gamma, and the memory (see `agents.Terms`).

    Attributes
    ----------
    settings
        The parameters as they were given; ``config`` is the policy player's, scaled to R_max.
    W_max, R_max, shift
        What follows from the class of weights: ||w|| <= W_max, and r_k = Phi_r w_k + shift lies in
        [0, R_max].

    Examples
    --------
    >>> from optimist import envs
    >>> world = envs.GridWorld()
    >>> best = world.mdp.optimal().policy
    >>> states = StateOnly(OneHotState(25), n_actions=4)
    >>> il = FraIL(world, FeatureDataset.from_policy(world, best, states), seed=0)
    >>> history = il.learn(episodes=1000)
    >>> bool(il.matching_error < 0.1), int(np.argmax(il.reward_weights))   # 24 is the goal
    (True, 24)
    """

    Config: ClassVar[type[Any]] = FraILConfig

    def __init__(
        self,
        world: AnyWorld,
        expert: FeatureDataset,
        reward_features: FeatureMap | None = None,
        features: FeatureMap | None = None,
        config: FraILConfig | None = None,
        K: int | None = None,
        seed: int = 0,
        stride: int = 10,
        **terms: Unpack[Terms],
    ) -> None:
        self.settings = FraILConfig() if config is None else config
        if not isinstance(self.settings, FraILConfig):
            raise TypeError(
                f"config = {config!r} must be a FraILConfig, such as FraILConfig(weights=Ball(1.0))"
            )
        self.expert = expert
        self.K = None if K is None else checks.count(K, "K")
        self._imitation: FiniteImitation | StreamImitation
        if isinstance(world, Gym):
            raise TypeError("FraIL takes an environment: give gym.make() and gamma=gym.gamma")
        if isinstance(world, gymnasium.Env | VectorEnv):
            self._imitation = self._in_environment(
                world, reward_features, features, seed, stride, terms
            )
        else:
            refuse_terms(terms)
            self._imitation = self._in_finite_world(world, reward_features, features, seed, stride)
        self.reward_features = self._player.phi_r
        self._start(self._imitation)

    def _in_finite_world(
        self,
        world: World | FiniteMDP,
        reward_features: FeatureMap | None,
        features: FeatureMap | None,
        seed: int,
        stride: int,
    ) -> FiniteImitation:
        given = finite_mdp(world)
        n_states, n_actions = given.n_states, given.n_actions
        bare = given.with_rewards(np.zeros((n_states, n_actions)))
        if reward_features is None:
            reward_features = StateOnly(OneHotState(n_states), n_actions)
        check_features(reward_features, bare, "reward_features")
        _check_expert(self.expert, reward_features, bare.gamma)
        weights = self.settings.weights
        player = RewardPlayer(self.expert.mean, reward_features, weights, n_states)
        phi = _linear_features(features, reward_features, player, bare)
        rule = self.settings.rule(player.R_max)
        return FiniteImitation(bare, phi, rule, player, self.settings, seed, stride)

    def _in_environment(
        self,
        env: AnyEnv,
        reward_features: FeatureMap | None,
        features: FeatureMap | StateFeatures | str | None,
        seed: int,
        stride: int,
        terms: Terms,
    ) -> StreamImitation:
        players = Players(env)
        if players.n > 1:
            raise ValueError(
                "FRA-IL plays one environment: side by side the first episodes to end are short "
                "ones, and their last pairs no draws of mu(pi_k)"
            )
        phi_P = features_of(features, players)
        if reward_features is None:
            psi = phi_P.psi if isinstance(phi_P, PerAction) else None
            if isinstance(phi_P, OneHot):
                psi = OneHotState(phi_P.n_states)
            if psi is None:
                raise ValueError("give the reward_features that the expert was recorded with")
            reward_features = StateOnly(psi, phi_P.n_actions)
        if not isinstance(reward_features, FeatureMap):
            raise TypeError(f"reward_features = {reward_features!r} must be a FeatureMap")
        _check_expert(self.expert, reward_features, check_terms(terms)["gamma"])
        player = StreamPlayer(self.expert.mean, reward_features, self.settings.weights)
        phi = with_rewards(reward_features, phi_P)
        rule = self.settings.rule(player.R_max)
        return StreamImitation(env, phi, rule, player, self.settings, seed, stride, terms)

    @property
    def _player(self) -> RewardPlayer | StreamPlayer:
        return self._imitation.player

    @property
    def W_max(self) -> float:
        """A bound on the norm of the weights."""
        return self._player.W_max

    @property
    def R_max(self) -> float:
        """A bound on the rewards r_k."""
        return self._player.R_max

    @property
    def shift(self) -> float:
        """What is added to Phi_r w_k so that rewards are not negative."""
        return self._player.shift

    # What it has found

    @property
    def eta_r(self) -> float:
        """The step of the reward player, W_max / (B sqrt K)."""
        if self.K is None:
            raise ValueError("eta_r depends on K, which the first call of learn sets")
        return theory.step(self.K, self.W_max, self._player.B)

    @property
    def reward_weights(self) -> FloatArray:
        """The mean of the weights w_1, ..., w_k, [d_r]: what the expert seems to care for."""
        if not self.episodes:
            raise ValueError("nothing has been learnt yet: there are no reward weights")
        return self._player.total / self.episodes

    @property
    def last_reward_weights(self) -> FloatArray:
        """The weights w_k of the last episode, [d_r]; before the first, w_0 = Pi_W(0)."""
        return self._player.w.copy()

    @property
    def matching_error(self) -> float:
        """||lambda(pi) - lambda(pi_E)|| of the present policy, exactly, and of the expert's data.

        It is computed from the world's kernel, for the eyes of the user alone.
        """
        player = self._player
        if not isinstance(player, RewardPlayer):
            raise AttributeError(
                "nobody knows it exactly in a Gymnasium environment; "
                "FeatureDataset.from_rollouts(env, il.policy, ...).mean estimates lambda(pi)"
            )
        pi = self.policy.probabilities(np.arange(self.mdp.n_states))
        lambda_pi = self.mdp.occupancy(pi).ravel() @ player.Phi
        return float(np.linalg.norm(lambda_pi - self.expert.mean))

    def learn(self, episodes: int, show_progress: bool = True) -> Any:
        """Play and learn; the history of these episodes. Calling it again goes on.

        It is an `ImitationHistory`, or a `StreamHistory` of a Gymnasium environment. The first call
        sets K, if it was not given: going on past it keeps the step that was right for K, which is
        then larger than the theory's.
        """
        self._imitation.refuse_if_broken()
        if self.K is None:
            self.K = checks.count(episodes, "episodes")
        self._imitation.step = self.eta_r
        return super().learn(episodes, show_progress)

    # Stopping and going on

    @classmethod
    def load(  # type: ignore[override]
        cls,
        folder: str | Path,
        world: AnyWorld,
        expert: FeatureDataset,
        reward_features: FeatureMap | None = None,
        features: FeatureMap | None = None,
        config: FraILConfig | None = None,
        **terms: Unpack[Terms],
    ) -> Self:
        """The learner in a folder, which goes on as if it had never stopped, bit for bit.

        What it was made of is not saved and has to be given again; anything else is refused.
        """
        header = checkpoint.read(folder, cls.__name__).header
        seed, stride = header["seed"], header["stride"]
        il = cls(world, expert, reward_features, features, config, None, seed, stride, **terms)
        il.restore(folder)
        return il

    def restore(self, folder: str | Path) -> None:
        """Bring this learner, newly made, to where the one in a folder was when it was saved."""
        saved = checkpoint.read(folder, type(self).__name__)
        before, now = saved.header["settings"], {**self._imitation.settings, "K": self.K}
        with storage.reading(saved.path):
            schema.fields(before, dict.fromkeys(now, object), "settings")
            if before["K"] is not None:
                checks.count(before["K"], "K")
        if self.K is None:
            now["K"] = before["K"]
        others = [name for name in now if not checks.same(before.get(name), now[name])]
        if others:
            was = ", ".join(f"{name} = {before.get(name)}" for name in others)
            raise FileError(f"{saved.path} is of another run: it has {was}")
        checkpoint.restore(self, saved)
        self.K = now["K"]

    def save(self, folder: str | Path) -> None:
        """Write the whole learner into a folder; the file there is replaced at once or not at all.

        Expert, features and class of weights are not saved: give them again when loading.
        """
        self._imitation.refuse_if_broken()
        self._imitation.K = self.K
        super().save(folder)


def _check_expert(expert: FeatureDataset, phi_r: FeatureMap, gamma: float) -> None:
    """Refuse data that are of other features or of another discount factor."""
    if not isinstance(expert, FeatureDataset):
        raise TypeError(
            f"expert is a {type(expert).__name__}, and must be a FeatureDataset: "
            "FeatureDataset(rows), FeatureDataset.load(file) or "
            "FeatureDataset.from_policy(world, policy, phi_r)"
        )
    expert.check_fits(phi_r)
    if expert.gamma is not None and not math.isclose(expert.gamma, gamma, rel_tol=1e-9):
        raise ValueError(
            f"the expert was recorded with gamma = {expert.gamma:.10g}, "
            f"the world has gamma = {gamma:.10g}: their occupancies do not compare"
        )


def _linear_features(
    phi_P: FeatureMap | None, phi_r: FeatureMap, player: RewardPlayer, mdp: FiniteMDP
) -> FeatureMap:
    """The features of the linear MDP: phi_P alone if phi_r is linear in it, else both."""
    if phi_P is None:
        return OneHot(mdp.n_states, mdp.n_actions)
    check_features(phi_P, mdp)
    if isinstance(phi_P, OneHot):
        return phi_P
    # Some random combinations of the columns of Phi_r are linear in Phi_P only if all are.
    mix = np.random.default_rng(0).standard_normal((phi_r.dim, 4))
    some = player.Phi @ mix
    Phi_P = sparse_rows(phi_P, mdp.n_states).toarray()
    left = some - Phi_P @ np.linalg.lstsq(Phi_P, some)[0]
    if np.abs(left).max() <= SPANNED * np.abs(some).max():
        return phi_P
    return Concatenation(phi_r, phi_P)
