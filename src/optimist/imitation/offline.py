"""Imitators that play no episodes: they learn from the expert's data and P alone."""

from abc import abstractmethod
from typing import Any

import numpy as np

from optimist.agents.driver import Policy
from optimist.agents.ending import Callback
from optimist.agents.watching import Watcher
from optimist.core import schema
from optimist.core.tabular import KeptTables
from optimist.imitation.imitator_driver import ImitatorDriver, Played
from optimist.imitation.imitator_history import ImitatorHistory
from optimist.imitation.tabular import TabularImitator


class OfflineDriver(ImitatorDriver):
    """Learns once, by `solve`, which sets ``playing.pi``."""

    @abstractmethod
    def solve(self) -> None:
        """Set the policy from the data."""

    @property
    def solved(self) -> bool:
        """Whether the policy has been learnt."""
        return bool(self.clock["epochs"])

    def play(self, record: Played, kept: KeptTables) -> None:
        raise NotImplementedError("no episodes are played")

    def finish(self) -> dict[str, Any]:
        """Mark it as solved; the columns of a history of no episodes and one policy."""
        self.clock["epochs"] = 1
        none = np.zeros(0, dtype=np.int64)
        return {
            **dict.fromkeys(("steps", "epoch", "pairs"), none),
            "evaluated": np.zeros(1, dtype=np.int64),
            "policies": self.playing.pi.copy()[None],
        }

    @property
    def policy(self) -> Policy:
        if not self.solved:
            raise ValueError("there is no policy yet: call learn() first")
        return super().policy

    @property
    def output(self) -> Policy:
        return self.policy

    def columns(self, rows: int, kept: int, first: int, arrays: dict[str, Any]) -> schema.Layout:
        wanted = super().columns(0, 1, 0, arrays)
        return {**wanted, "evaluated": schema.index((1,), 1)}

    def layout(self, arrays: dict[str, Any]) -> schema.Layout:
        epochs = {f"{self.CLOCK}.epochs": schema.index((1,), 2)}
        return {**super().layout(arrays), **epochs}


class OfflineImitator(TabularImitator):
    """An imitator without episodes: `learn` takes none, and is called once.

    Parameters
    ----------
    world, expert, seed, config, parameters
        As of `TabularImitator`.
    K, stride
        Not used: there are no episodes.
    """

    plays = False
    _driver: OfflineDriver

    def learn(
        self,
        episodes: int | None = None,
        *,
        steps: int | None = None,
        callback: Callback | None = None,
        until: float | None = None,
        show_progress: bool = True,
        live: bool | Watcher = False,
    ) -> ImitatorHistory:
        """Learn from the data: no limits are given, and a second call is refused.

        Returns a history of no episodes, with the policy that was learnt.
        """
        name = type(self).__name__
        if any(x is not None for x in (episodes, steps, callback, until, live or None)):
            raise ValueError(f"{name} plays no episodes: call learn() without limits")
        if self._driver.solved:
            raise ValueError(f"{name} learns in one call: learn() was called before")
        self._solve()
        self._chunks = [self._driver.finish()]
        return self.history

    def _solve(self) -> None:
        """Learn the policy."""
        self._driver.solve()
