"""FRA-IL on finite worlds."""

from typing import Any

from optimist.agents.finite_driver import FiniteDriver, column_layout, columns_of
from optimist.core import Variant, schema
from optimist.core.state import Kept, Record, Rule
from optimist.features import FeatureMap
from optimist.imitation.configuration import FraILConfig
from optimist.imitation.history import ImitationHistory
from optimist.imitation.reward_player import RewardPlayer, weights_layout
from optimist.imitation.weights import WeightKind
from optimist.mdp import FiniteMDP


class FiniteImitation(FiniteDriver):
    """A finite MDP whose rewards a player moves after each episode.

    Attributes
    ----------
    step
        eta_r, the step of the player.
    K
        The number of episodes it is made for, as a checkpoint says it.
    """

    CHANGING = (*FiniteDriver.CHANGING, "player")
    knows_rewards = False  # those of the next episode are the player's to choose

    def __init__(
        self,
        mdp: FiniteMDP,
        features: FeatureMap,
        config: FraILConfig,
        variant: Variant,
        player: RewardPlayer,
        seed: int,
        stride: int,
    ) -> None:
        super().__init__(mdp, features, config, variant, None, seed, stride)
        self.player = player
        self.states.r[:] = player.first_rewards
        self.step, self.K = 0.0, None  # type: float, int | None
        self._broken = ""

    def refuse_if_broken(self) -> None:
        """Raise an error if there is no going on."""
        if self._broken:
            raise ValueError(self._broken)

    @property
    def _moves_between_calls(self) -> bool:
        """Whether the projection of the class of weights is not compiled."""
        return bool(self.config.weights.kind == WeightKind.OTHER)

    def _choose_rewards(self, most: int) -> int:
        return 1 if self._moves_between_calls else most

    def _play(self, rule: Rule, record: Record, kept: Kept) -> dict[str, Any]:
        sizes = len(record.steps), len(kept.log_policies)
        player = self.player.state(self.step, self.config.fresh, *sizes)
        learner = self.learner(rule)
        given = (learner, self.rng, record, kept, player)
        later = (learner, self.rng, record)

        def whole() -> None:
            from optimist.imitation.loop import run_imitation  # numba takes its time

            run_imitation(*given)

        def first_half() -> None:
            from optimist.imitation.loop import play_one_and_draw

            play_one_and_draw(*given)

        def second_half() -> None:
            from optimist.core.finite import learn_one

            learn_one(*later)

        if self._moves_between_calls:
            self.compiled(first_half, record.stop)
            self._move(int(player.pairs[0]))
            player.kept[:] = player.w
            self.compiled(second_half, record.stop)
        else:
            self.compiled(whole, record.stop)
        columns = columns_of(record)
        del columns["reward"]  # it was paid before r_k was known
        seen = {"pairs": player.pairs, "rollouts": player.rollouts}
        return {**columns, **seen, "weights": player.kept}

    def _move(self, pair: int) -> None:
        """Let the reward player move in a class of the user's own, which may fail."""
        try:
            self.states.r[:] = self.player.move(pair, self.step)
        except BaseException as error:
            # Even on an interruption: the episode was played and its update was not made, so the
            # learner cannot continue.
            self._broken = (
                f"the projection failed after episode {self.episodes} ({error}): "
                "load the learner as it was saved before"
            )
            raise

    def history(self, columns: dict[str, Any], first: int) -> ImitationHistory:
        player = self.player
        return ImitationHistory(columns, first, player.lambda_E, self.mdp, player.Phi)

    @property
    def _state(self) -> dict[str, Any]:
        return {**super()._state, **self.player.arrays}

    def layout(self, arrays: dict[str, Any]) -> dict[str, schema.Array]:
        w = weights_layout(self.player.w.shape, self.player.W_max)
        return {**super().layout(arrays), "player.w": w}

    def columns(
        self, rows: int, kept: int, first: int, arrays: dict[str, Any]
    ) -> dict[str, schema.Array]:
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

    @property
    def saved_config(self) -> dict[str, Any]:
        config: FraILConfig = self.config
        return config.without_weights()

    @property
    def settings(self) -> dict[str, Any]:
        return {"K": self.K, **self.player.settings}
