"""FRA-IL on finite worlds: the compiled loop, with a reward player in it."""

from typing import Any

from optimist.agents.configuration import Configuration
from optimist.agents.finite import FiniteDriver, column_layout, columns_of
from optimist.core import schema
from optimist.core.state import OTHER, PLAY, UPDATE, WHOLE, Record, Rule, Snapshots
from optimist.features import FeatureMap
from optimist.imitation.configuration import FraILConfig
from optimist.imitation.history import ImitationHistory
from optimist.imitation.player import RewardPlayer
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
        config: Configuration,
        player: RewardPlayer,
        given: FraILConfig,
        seed: int,
        stride: int,
    ) -> None:
        super().__init__(mdp, features, config, None, seed, stride)
        self.player, self.given = player, given
        self.step, self.K = 0.0, None  # type: float, int | None
        self._broken = ""

    def refuse_if_broken(self) -> None:
        """Raise an error if there is no going on."""
        if self._broken:
            raise ValueError(self._broken)

    def _choose_rewards(self, most: int) -> int:
        """The reward player moves in compiled code, or after each episode if it is not known."""
        return 1 if self.given.weights.code == OTHER else most

    def _play(self, rule: Rule, record: Record, shots: Snapshots) -> dict[str, Any]:
        sizes = len(record.steps), len(shots.log_policies)
        player, r = self.player.state(self.step, self.given.fresh, *sizes), self.player.r
        if player.kind == OTHER:
            self._run(rule, r, record, shots, player, PLAY)
            self._move(int(player.pairs[0]))
            player.kept[:] = player.w
            self._run(rule, r, record, shots, player, UPDATE)
        else:
            self._run(rule, r, record, shots, player, WHOLE)
        columns = columns_of(record)
        del columns["reward"]  # it was paid before r_k was known
        seen = {"pairs": player.pairs, "rollouts": player.rollouts}
        return {**columns, **seen, "weights": player.kept}

    def _move(self, pair: int) -> None:
        """Let the reward player move in a class of somebody's own, which may fail."""
        try:
            self.player.move(pair, self.step)
        except BaseException as error:
            # Whatever it was, an interruption too: the episode was played and its update was not
            # made, so there is no going on from here.
            self._broken = (
                f"the projection failed after episode {self.episodes} ({error}): "
                "load the learner as it was saved before"
            )
            raise

    def history(self, columns: dict[str, Any], first: int) -> ImitationHistory:
        return ImitationHistory(
            **columns,
            Phi=self.player.Phi,
            expert=self.player.lambda_E,
            first=first,
            mdp=self.mdp,
        )

    @property
    def _groups(self) -> dict[str, dict[str, Any]]:
        return {**super()._groups, "player": self.player.arrays}

    def layout(self, arrays: dict[str, Any]) -> dict[str, schema.Array]:
        return {**super().layout(arrays), **self.player.layout}

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
    def settings(self) -> dict[str, Any]:
        return {"K": self.K, "fresh": self.given.fresh, **self.player.settings}
