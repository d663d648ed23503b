"""The part that FRA-IL adds to the driver of its policy player: a player of the rewards."""

import math
from typing import Any

from optimist import checks
from optimist.agents.driver import VariantDriver
from optimist.core import schema
from optimist.core.state import Rule
from optimist.features import FeatureMap
from optimist.imitation.dataset import FeatureDataset
from optimist.imitation.reward_player import RewardPlayer
from optimist.theory import imitation as theory


class ImitationDriver(VariantDriver):
    """A world whose rewards a player moves after each episode.

    Attributes
    ----------
    player
        The reward player.
    K
        The number of episodes that its step is made for, once that is known.
    """

    player: RewardPlayer
    K: int | None = None

    @property
    def step(self) -> float:
        """eta_r = W_max / (B sqrt K), the step of the reward player."""
        if self.K is None:
            raise ValueError("eta_r depends on K, which the first call of learn sets")
        return theory.step(self.K, self.player.W_max, self.player.B)

    def rule(self, stage: int) -> Rule:
        """The parameters of the policy player, whose updates end at half of what rewards move.

        A move of the reward player changes rewards by some B^2 eta_r, so more exact values would
        not last. A tolerance of 0, and that of an evaluation (`Contraction`), stay as they are.
        """
        rule = super().rule(stage)
        if self.K is None or rule.tolerance == 0 or rule.evaluates:
            return rule
        return rule._replace(tolerance=max(rule.tolerance, self.player.B**2 * self.step / 2))

    @property
    def mean_steps(self) -> float:
        return (2 if self.config.fresh else 1) * super().mean_steps

    @property
    def no_returns(self) -> str:
        return "FRA-IL looks at no rewards"

    @property
    def state(self) -> dict[str, Any]:
        return {**super().state, "player.w": self.player.w, "player.total": self.player.total}

    def layout(self, arrays: dict[str, Any]) -> schema.Layout:
        most = self.player.W_max * (1 + checks.RANGE_TOLERANCE)
        return {**super().layout(arrays), "player.w": schema.real(self.player.w.shape, -most, most)}

    @property
    def saved_config(self) -> dict[str, Any]:
        plain: dict[str, Any] = self.config.without_weights()
        return plain

    @property
    def settings(self) -> dict[str, Any]:
        return {"K": self.K, **self.player.settings}


def check_expert(expert: FeatureDataset, phi_r: FeatureMap, gamma: float) -> None:
    """Refuse data recorded with other features or another discount factor."""
    if not isinstance(expert, FeatureDataset):
        raise TypeError(
            "expert must be a FeatureDataset, such as FeatureDataset(rows), "
            "FeatureDataset.load(file) or FeatureDataset.from_policy(world, policy, phi_r); got "
            f"{type(expert).__name__}"
        )
    expert.check_fits(phi_r)
    if expert.gamma is not None and not math.isclose(expert.gamma, gamma, rel_tol=1e-9):
        raise ValueError(
            f"the expert was recorded with gamma = {expert.gamma:.10g}, "
            f"the world has gamma = {gamma:.10g}: their occupancies do not compare"
        )
