"""Base class of ILARL and OGAIL: imitation from features, with a reward player as in FRA-IL."""

from abc import abstractmethod
from typing import Any

import numpy as np

from optimist import checks
from optimist.agents.arguments import refuse_environment, resolve
from optimist.agents.diagnostics import Diagnostics
from optimist.agents.driver import RunSettings
from optimist.agents.finite_driver import fingerprint
from optimist.checks import FloatArray
from optimist.core import schema
from optimist.core.arrays import check_features
from optimist.core.tabular import KeptTables
from optimist.envs import World
from optimist.features import FeatureMap, OneHotState, StateOnly
from optimist.imitation.dataset import FeatureDataset
from optimist.imitation.driver import check_expert
from optimist.imitation.history import ImitationHistory
from optimist.imitation.imitator import as_features
from optimist.imitation.imitator_driver import ImitatorDriver, Played
from optimist.imitation.imitator_history import ImitatorHistory
from optimist.imitation.reward_player import FiniteRewardPlayer
from optimist.imitation.tabular import TabularImitator
from optimist.imitation.trajectories import TrajectoryDataset
from optimist.imitation.weights import Ball, Box, Simplex
from optimist.mdp import FiniteMDP
from optimist.theory import imitation as theory

CompiledWeights = Ball | Box | Simplex
"""The classes of weights whose projections are compiled."""

UNIT_BALL = Ball(1.0)


def check_weights(weights: object) -> None:
    """Refuse a class of weights whose projection is not compiled."""
    if not isinstance(weights, CompiledWeights):
        raise TypeError(
            f"weights must be a Ball, Box or Simplex; got {weights!r}. FraIL takes any WeightClass"
        )


class FeatureHistory(ImitationHistory, ImitatorHistory):
    """The history of an imitation from features: that of `FraIL`, and the gaps of an imitator."""


class FeatureDriver(ImitatorDriver):
    """A finite world without its rewards, an expert's features, and the reward player.

    A learner implements `play_against`.
    """

    OTHERS = ("drawn", "player")
    expert: Any  # a FeatureDataset, where the other imitators have trajectories

    def __init__(
        self,
        mdp: FiniteMDP,
        expert: FeatureDataset,
        phi_r: FeatureMap,
        K: int | None,
        run: RunSettings,
    ) -> None:
        data: Any = expert
        super().__init__(mdp, data, K, run)
        self.player = FiniteRewardPlayer(expert.mean, phi_r, run.config.weights, mdp.n_states)
        self.top = self.player.R_max / (1 - mdp.gamma)

    @property
    def step(self) -> float:
        """W_max / (B sqrt K), the step of the reward player."""
        if self.K is None:
            raise ValueError("the step depends on K, which the first call of learn sets")
        return theory.step(self.K, self.player.W_max, self.player.B)

    def learn_some(self, most: int) -> dict[str, Any]:
        columns = super().learn_some(most)
        rollouts = np.zeros(len(columns["steps"]), dtype=np.int64)  # the last pairs are used
        return {**columns, "rollouts": rollouts, "weights": self.kept_weights}

    def play(self, record: Played, kept: KeptTables) -> None:
        player = self.player.state(self.step, False, len(record.steps), len(kept.policies))
        self.play_against(player, record, kept)
        record.last[:] = player.pairs
        self.kept_weights = player.kept

    @abstractmethod
    def play_against(self, player: Any, record: Played, kept: KeptTables) -> None:
        """As `play`, against the reward player, a `optimist.imitation.loop.Player`.

        The weights of the policies that are kept go to ``player.kept``, the last pairs of all
        episodes to ``player.pairs``.
        """

    def history(self, columns: dict[str, Any], first: int) -> FeatureHistory:
        player = self.player
        return FeatureHistory(columns, first, player.lambda_E, self.mdp, player.Phi)

    def diagnose(self, V: FloatArray, CB: FloatArray, **more: Any) -> Diagnostics:
        """The diagnostics of these values and bonuses."""
        epoch = int(self.clock["epochs"])
        return Diagnostics(V, self.playing.pi, CB, np.zeros_like(CB), epoch, self.top, **more)

    # Stopping and continuing

    @property
    def state(self) -> dict[str, Any]:
        return {**super().state, "player.w": self.player.w, "player.total": self.player.total}

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, **self.player.settings}

    @property
    def most(self) -> float:
        """The largest weight that a file may hold."""
        return self.player.W_max * (1 + checks.RANGE_TOLERANCE)

    def layout(self, arrays: dict[str, Any]) -> schema.Layout:
        slack = checks.RANGE_TOLERANCE * self.top
        values = schema.real((self.mdp.n_states,), -slack, self.top + slack)
        weights = schema.real(self.player.w.shape, -self.most, self.most)
        V = f"{self.GROUPS[1]}.V"  # the second group is what is learnt
        return {**super().layout(arrays), "player.w": weights, V: values}

    def columns(self, rows: int, kept: int, first: int, arrays: dict[str, Any]) -> schema.Layout:
        return {
            **super().columns(rows, kept, first, arrays),
            "rollouts": schema.count((rows,)),
            "weights": schema.real((kept, self.player.w.size)),
        }

    @property
    def fingerprint(self) -> dict[str, Any]:
        return fingerprint(self.mdp, self.simulator, *self.player.given, *self.given)


class FeatureImitator(TabularImitator):
    """An imitator from features; a player moves its rewards r_k = Phi_r w_k + shift.

    Parameters
    ----------
    world
        A world, or any `FiniteMDP`. It is copied without its rewards.
    expert
        Features of the expert, or its trajectories: those are read by the view "whole", and
        ``trajectories.features(phi_r, "last", rng)`` has the other.
    reward_features
        The map phi_r; by default phi_r(x, a) = e_x: imitation from states.
    K
        The number of episodes that the steps are made for; by default that of the first call of
        `learn`. Learning beyond it keeps the steps for K.
    seed, stride, config, parameters
        As of `VariantAgent`.
    """

    sees = "features"
    needs_K = True
    of_K = "the step of the reward player"
    expert: Any  # a FeatureDataset, where the other imitators have trajectories
    _driver: FeatureDriver

    def _read(
        self,
        world: World | FiniteMDP,
        expert: FeatureDataset | TrajectoryDataset,
        reward_features: FeatureMap | None,
        config: Any,
        parameters: dict[str, Any],
    ) -> tuple[FiniteMDP, Any]:
        """The world without its rewards and the configuration; sets the expert's features."""
        config, settings = resolve(type(self).__name__, self.Config, config, parameters)
        mdp = self._read_world(world)
        refuse_environment(world, settings)
        phi_r = reward_features
        if phi_r is None:
            phi_r = StateOnly(OneHotState(mdp.n_states), mdp.n_actions)
        check_features(phi_r, mdp, "reward_features")
        data = as_features(expert, phi_r, world)
        check_expert(data, phi_r, mdp.gamma)
        self.expert, self.reward_features = data, phi_r
        return mdp, config

    @property
    def W_max(self) -> float:
        """W_max, the bound on the norm of the weights, which their class declares."""
        return self._driver.player.W_max

    @property
    def R_max(self) -> float:
        """The bound on the rewards r_k = Phi_r w_k + shift, which follows from that class."""
        return self._driver.player.R_max

    @property
    def shift(self) -> float:
        """The constant added to Phi_r w_k so that rewards are not negative."""
        return self._driver.player.shift

    @property
    def eta_r(self) -> float:
        """The step of the reward player, W_max / (B sqrt K)."""
        return self._driver.step

    @property
    def reward_weights(self) -> FloatArray:
        """The mean of the weights w_1, ..., w_k, [d_r]: the rewards that explain the expert."""
        if not self.episodes:
            raise ValueError("there are no reward weights yet: learn first")
        return self._driver.player.total / self.episodes

    @property
    def last_reward_weights(self) -> FloatArray:
        """The weights w_k of the last episode, [d_r]; before the first, w_0 = Pi_W(0)."""
        return self._driver.player.w.copy()
