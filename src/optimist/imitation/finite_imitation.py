"""FRA-IL on finite worlds."""

from typing import Any

import numpy as np

from optimist.agents.driver import RunSettings
from optimist.agents.finite_driver import FiniteDriver, column_layout, columns_of
from optimist.core import schema
from optimist.core.arrays import check_features, sparse_rows
from optimist.core.state import Kept, Record, Rule
from optimist.features import Concatenation, FeatureMap, OneHot, OneHotState, StateOnly
from optimist.imitation.dataset import FeatureDataset
from optimist.imitation.driver import ImitationDriver, check_expert
from optimist.imitation.history import ImitationHistory
from optimist.imitation.reward_player import FiniteRewardPlayer
from optimist.imitation.weights import WeightKind
from optimist.mdp import FiniteMDP

SPANNED = 1e-9
"""How far phi_r may be from linear in phi_P to count as linear: rounding."""


class FiniteImitation(ImitationDriver, FiniteDriver):
    """A finite MDP, without its own rewards."""

    OTHERS = (*FiniteDriver.OTHERS, "player")
    knows_rewards = False  # the player chooses those of the next episode
    player: FiniteRewardPlayer

    def __init__(
        self,
        world: FiniteMDP,
        expert: FeatureDataset,
        phi_r: FeatureMap | None,
        phi_P: FeatureMap | None,
        run: RunSettings,
    ) -> None:
        mdp = world.with_rewards(np.zeros((world.n_states, world.n_actions)))
        if phi_r is None:
            phi_r = StateOnly(OneHotState(mdp.n_states), mdp.n_actions)
        check_features(phi_r, mdp, "reward_features")
        check_expert(expert, phi_r, mdp.gamma)
        player = FiniteRewardPlayer(expert.mean, phi_r, run.config.weights, mdp.n_states)
        phi = _linear_features(phi_P, player, mdp)
        super().__init__(mdp, phi, run.config.variant(player.R_max), run)
        self.player = player
        self.states.r[:] = player.rewards

    @property
    def _moves_between_calls(self) -> bool:
        """Whether the projection of the class of weights is not compiled."""
        return bool(self.config.weights.kind == WeightKind.OTHER)

    def _choose_rewards(self, most: int) -> int:
        return 1 if self._moves_between_calls else most

    coming_episode = None  # a rollout may be drawn before it

    def _play(self, rule: Rule, record: Record, kept: Kept) -> dict[str, Any]:
        sizes = len(record.steps), len(kept.log_policies)
        player = self.player.state(self.step, self.config.fresh, *sizes)
        given = (self.learner(rule), self.rng, record, kept, player)
        if self._moves_between_calls:
            self.compiled(record.stop, "optimist.imitation.loop:play_one_and_draw", *given)
            self._move(int(player.pairs[0]))
            player.kept[:] = player.w
            self.compiled(record.stop, "optimist.core.finite:learn_one", *given[:3])
        else:
            self.compiled(record.stop, "optimist.imitation.loop:run_imitation", *given)
        columns = columns_of(record)
        del columns["reward"]  # it was paid before r_k was known
        seen = {"pairs": player.pairs, "rollouts": player.rollouts}
        return {**columns, **seen, "weights": player.kept}

    def _move(self, pair: int) -> None:
        """Let the reward player move in a user-defined class, which may fail."""
        try:
            self.player.move(*divmod(pair, self.mdp.n_actions), self.step)
        except BaseException as error:
            # Even on an interruption: the episode was played and its update was not made, so the
            # learner cannot continue.
            self.broken = (
                f"the projection failed after episode {self.episodes} ({error}): "
                "load the learner as it was saved before"
            )
            raise
        self.states.r[:] = self.player.rewards

    def history(self, columns: dict[str, Any], first: int) -> ImitationHistory:
        player = self.player
        return ImitationHistory(columns, first, player.lambda_E, self.mdp, player.Phi)

    def columns(self, rows: int, kept: int, first: int, arrays: dict[str, Any]) -> schema.Layout:
        wanted = column_layout(rows, kept, first, self.mdp.r.shape, 1)
        del wanted["reward"], wanted["chosen"]
        return {
            **wanted,
            "pairs": schema.index((rows,), self.mdp.r.size),
            "rollouts": schema.count((rows,)),
            "weights": schema.real((kept, self.player.w.size)),
        }

    @property
    def _given(self) -> tuple[Any, ...]:
        return self.player.given


def _linear_features(
    phi_P: FeatureMap | None, player: FiniteRewardPlayer, mdp: FiniteMDP
) -> FeatureMap:
    """The features of the linear MDP: phi_P alone if phi_r is linear in it, else both."""
    if phi_P is None:
        return OneHot(mdp.n_states, mdp.n_actions)
    check_features(phi_P, mdp)
    if isinstance(phi_P, OneHot):
        return phi_P
    # Some random combinations of the columns of Phi_r are linear in Phi_P only if all are.
    some = player.Phi @ np.random.default_rng(0).standard_normal((player.phi_r.dim, 4))
    Phi_P = sparse_rows(phi_P, mdp.n_states).toarray()
    left = some - Phi_P @ np.linalg.lstsq(Phi_P, some)[0]
    if np.abs(left).max() <= SPANNED * np.abs(some).max():
        return phi_P
    return Concatenation(player.phi_r, phi_P)
