"""The parameters of FRA-IL in one place."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimist.agents.cfpo import CfpoConfig
from optimist.agents.optimist import OptimistConfig
from optimist.agents.rmax_ravi_ucb import RmaxRaviUcbConfig
from optimist.core import Variant
from optimist.imitation.weights import Ball, Box, Simplex, WeightClass
from optimist.parameters import plain_value

UNIT_BALL = Ball(1.0)
OPTIMIST = OptimistConfig()

PlayerConfig = OptimistConfig | RmaxRaviUcbConfig | CfpoConfig


@dataclass(frozen=True)
class FraILConfig:
    """The parameters of FRA-IL.

    Attributes
    ----------
    weights
        The class W of reward weights; it should hold the true ones.
    player
        The policy player, for rewards in [0, 1]. Its parameters are scaled to [0, R_max], which
        makes the same run. The paper's is `RmaxRaviUcb.Config`; its ridge should be small (0.01),
        because rewards that were shifted make all values large, and a ridge of 1 would shrink those
        of pairs seen n times by a factor n / (n + 1), by more than practical bonuses make up for.
    fresh
        Whether the reward player draws (X_k, A_k) by a rollout of its own, as the pseudocode says,
        instead of taking the last pair of the episode, which is as good a draw of mu(pi_k).
    """

    weights: Ball | Box | Simplex | WeightClass = UNIT_BALL
    player: PlayerConfig = OPTIMIST
    fresh: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.weights, WeightClass):
            raise TypeError(
                f"weights must be a WeightClass, such as Ball(1.0); got {self.weights!r}"
            )
        if not hasattr(self.player, "variant") or isinstance(self.player, type):
            raise TypeError(
                "player must be the configuration of an agent, such as Optimist.Config(); got "
                f"{self.player!r}"
            )
        if self.player.variant().r_max != 1:
            raise ValueError(f"player must have r_max = 1; got {self.player.variant().r_max:g}")
        if not isinstance(self.fresh, bool | np.bool_):
            raise TypeError(f"fresh must be True or False; got {self.fresh!r}")
        object.__setattr__(self, "fresh", bool(self.fresh))

    def variant(self, R_max: float) -> Variant:
        """The policy player's algorithm for rewards in [0, R_max].

        Examples
        --------
        >>> FraILConfig().variant(R_max=2.0).eta
        5.0
        """
        return self.player.variant().scaled(R_max)

    def without_weights(self) -> dict[str, Any]:
        """The parameters as plain data, without the weights: a user-defined class may have any."""
        return {"player": plain_value(self.player, PlayerConfig), "fresh": self.fresh}

    @classmethod
    def theory(
        cls,
        weights: WeightClass,
        K: int,
        d: int,
        n_actions: int,
        gamma: float,
        B: float,
        W_max: float,
        R_max: float,
        delta: float = 0.1,
    ) -> "FraILConfig":
        """The parameters of Algorithm 2, which are those of the main theorem.

        d and B are those of the features of the linear MDP, `FraIL.features`; W_max bounds the
        weights of the shifted rewards r_k in them (R_max sqrt(X A) does if they are one-hot); and
        R_max is `FraIL.R_max`.
        """
        c = RmaxRaviUcbConfig.theory(K, d, n_actions, gamma, B, W_max, R_max, delta)
        player = RmaxRaviUcbConfig(
            beta=c.beta / R_max, eta=c.eta * R_max, alpha=c.alpha * R_max, omega=c.omega, updates=1
        )
        return cls(weights=weights, player=player)
