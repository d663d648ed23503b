"""FRA-IL, Algorithm 2: imitation from expert features alone."""

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv

from optimist.agents import checkpoint
from optimist.agents.agent import Agent
from optimist.agents.arguments import refuse_environment, resolve
from optimist.agents.driver import RunSettings
from optimist.agents.ending import Callback
from optimist.agents.variant_agent import Environment, FiniteWorld, as_gym
from optimist.agents.watching import Watcher
from optimist.checks import FloatArray
from optimist.core import Variant
from optimist.envs import Gym, World
from optimist.features import FeatureMap, OneHotState, StateOnly
from optimist.imitation.configuration import FraILConfig
from optimist.imitation.dataset import FeatureDataset
from optimist.imitation.driver import ImitationDriver
from optimist.imitation.finite_imitation import FiniteImitation
from optimist.imitation.history import ImitationHistory
from optimist.imitation.imitator import Imitator, Place, as_features, first_call, saved_settings
from optimist.imitation.recording import finite_mdp
from optimist.imitation.reward_player import FiniteRewardPlayer, RewardPlayer
from optimist.imitation.stream_imitation import StreamImitation
from optimist.imitation.trajectories import TrajectoryDataset
from optimist.mdp import FiniteMDP


class FraIL(Agent, Imitator):
    """Imitation from features alone: a policy player against a player of rewards.

    The policy player is `Optimist` by default, or RMAX-RAVI-UCB as in the paper. After each episode
    the reward player moves its weights towards what the expert shows more often than the learner
    (online gradient descent):

        w_k = Pi_W(w_{k-1} + eta_r (lambda(pi_E) - phi_r(X_k, A_k))),  (X_k, A_k) ~ mu(pi_k),

    and the rewards are r_k = Phi_r w_k, shifted into [0, R_max]. The world is copied without its
    own rewards: the learner cannot see them.

    Parameters
    ----------
    world
        A world, or any `FiniteMDP`; or a Gymnasium environment without a time limit.
    expert
        The data of the expert: rows phi_r(X_E, A_E) of its discounted occupancy. Of trajectories
        the features of the view "whole" are taken.
    reward_features
        The map phi_r; by default phi_r(x, a) = e_x: imitation from states. In an environment it is
        the features of states that ``features`` are made of.
    features
        The map phi_P in which transitions are linear; by default one-hot. The linear MDP's features
        are (phi_r, phi_P), or phi_P alone if phi_r is linear in it, as it is if that is one-hot.
    K
        The number of episodes that the step eta_r = W_max / (B sqrt K) of the reward player is
        made for; by default that of the first call of `learn`.
    seed, stride, config, parameters
        As of `VariantAgent`; how the policy player is configured is ``config.player``.

    Examples
    --------
    >>> from optimist import envs
    >>> from optimist.features import OneHotState, StateOnly
    >>> world = envs.GridWorld()
    >>> best = world.mdp.optimal().policy
    >>> states = StateOnly(OneHotState(25), n_actions=4)
    >>> il = FraIL(world, FeatureDataset.from_policy(world, best, states), seed=0)
    >>> history = il.learn(episodes=1000)
    >>> bool(il.matching_error < 0.1), int(np.argmax(il.reward_weights))   # 24 is the goal
    (True, 24)
    """

    Config: ClassVar[type[Any]] = FraILConfig
    sees = "features"
    needs_K = True
    of_K = "the step of the reward player"

    _driver: ImitationDriver

    def __init__(
        self,
        world: FiniteWorld | Environment,
        expert: FeatureDataset | TrajectoryDataset,
        reward_features: FeatureMap | None = None,
        features: Any = None,
        *,
        K: int | None = None,
        seed: int = 0,
        stride: int = 10,
        config: FraILConfig | None = None,
        **parameters: Any,
    ) -> None:
        config, settings = resolve("FraIL", FraILConfig, config, parameters)
        K = self._read_K(K)
        if isinstance(expert, TrajectoryDataset):
            expert, reward_features = _features_of(expert, reward_features, world)
        self.expert = expert
        given = (expert, reward_features, features, RunSettings(config, seed, stride))
        driver: ImitationDriver
        place: Any
        if isinstance(world, gymnasium.Env | VectorEnv | Gym):
            place = as_gym(world, settings)
            driver = StreamImitation(place, *given)
        else:
            refuse_environment(world, settings)
            place, driver = Place.of(world), FiniteImitation(finite_mdp(world), *given)
        driver.K = K
        self._start(driver, place)
        self.reward_features = self._player.phi_r

    @property
    def _player(self) -> RewardPlayer:
        return self._driver.player

    @property
    def variant(self) -> Variant:
        """The algorithm of the policy player, scaled to R_max."""
        return self._driver.variant

    @property
    def features(self) -> FeatureMap:
        """The features of the linear MDP, phi."""
        return self._driver.features

    @property
    def K(self) -> int | None:
        """The number of episodes that the reward player is made for, once it is known."""
        return self._driver.K

    @property
    def W_max(self) -> float:
        """W_max, the bound on the norm of the weights, which their class declares."""
        return self._player.W_max

    @property
    def R_max(self) -> float:
        """The bound on the rewards r_k = Phi_r w_k + shift, which follows from that class."""
        return self._player.R_max

    @property
    def shift(self) -> float:
        """The constant added to Phi_r w_k so that rewards are not negative."""
        return self._player.shift

    # Results

    @property
    def eta_r(self) -> float:
        """The step of the reward player, W_max / (B sqrt K)."""
        return self._driver.step

    @property
    def reward_weights(self) -> FloatArray:
        """The mean of the weights w_1, ..., w_k, [d_r]: the rewards that explain the expert."""
        if not self.episodes:
            raise ValueError("there are no reward weights yet: learn first")
        return self._player.total / self.episodes

    @property
    def last_reward_weights(self) -> FloatArray:
        """The weights w_k of the last episode, [d_r]; before the first, w_0 = Pi_W(0)."""
        return self._player.w.copy()

    @property
    def matching_error(self) -> float:
        """||lambda(pi) - lambda(pi_E)|| between the present policy, exactly, and the expert's data.

        It is computed from the world's kernel, which the learner does not see.
        """
        player = self._player
        if not isinstance(player, FiniteRewardPlayer):
            raise AttributeError(
                "it is not known exactly in a Gymnasium environment; "
                "FeatureDataset.from_rollouts(env, il.policy, ...).mean estimates lambda(pi)"
            )
        pi = self.policy.probabilities(np.arange(self.mdp.n_states))
        lambda_pi = self.mdp.occupancy(pi).ravel() @ player.Phi
        return float(np.linalg.norm(lambda_pi - self.expert.mean))

    def learn(
        self,
        episodes: int | None = None,
        *,
        steps: int | None = None,
        callback: Callback | None = None,
        until: float | None = None,
        show_progress: bool = True,
        live: bool | Watcher = False,
    ) -> ImitationHistory:
        """Play and learn, as `Agent.learn` does; the history of these episodes.

        The ``episodes`` of the first call set K, if it was not given. Learning beyond it keeps the
        step for K, which is then larger than the theory's.
        """
        limits: dict[str, Any] = {"steps": steps, "callback": callback, "until": until}
        with first_call(type(self), self._driver, episodes):
            history = super().learn(episodes, **limits, show_progress=show_progress, live=live)
        assert isinstance(history, ImitationHistory)  # as the driver makes them
        return history

    @property
    def history(self) -> ImitationHistory:
        """The history of all episodes so far, or of those since it was last forgotten."""
        history = super().history
        assert isinstance(history, ImitationHistory)
        return history

    # Stopping and continuing

    @classmethod
    def _saved_config(cls, saved: checkpoint.Saved) -> dict[str, Any]:
        return {}  # given again on loading: the class of weights may be user-defined

    def _restore(self, saved: checkpoint.Saved) -> None:
        settings = saved.header["settings"], self._driver.settings
        now = saved_settings(saved.path, *settings, self.K)
        super()._restore(saved)
        self._driver.K = now["K"]


def _features_of(
    data: TrajectoryDataset, phi_r: FeatureMap | None, world: Any
) -> tuple[FeatureDataset, FeatureMap]:
    """The features phi_r of trajectories, by default e_x; in an environment phi_r must be given."""
    if isinstance(world, World | FiniteMDP):
        mdp = finite_mdp(world)
        phi_r = StateOnly(OneHotState(mdp.n_states), mdp.n_actions) if phi_r is None else phi_r
        return as_features(data, phi_r, world), phi_r
    if phi_r is None:
        raise TypeError(
            "reward_features must be given with trajectories in an environment: the expert's "
            "features are theirs"
        )
    return data.features(phi_r), phi_r
