"""What the tabular peers share: a finite world, played by their compiled loop."""

from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from optimist.agents import checkpoint
from optimist.agents.agent import Agent
from optimist.agents.diagnostics import Diagnostics
from optimist.agents.driver import Driver, Policy
from optimist.agents.finite import column_layout, columns_of, fingerprint, refuse_rewards
from optimist.agents.history import History
from optimist.checks import FloatArray
from optimist.core import TablePolicy, schema
from optimist.core.finite import simulator
from optimist.core.state import EPISODES, EPOCHS, STEPS, blank_record
from optimist.core.tabular import Kept, TableRule, check_counts, tables
from optimist.envs import World
from optimist.mdp import FiniteMDP

R_MAX = 1.0
"""The bound on rewards that the peers know."""

ROOM = ("work", "to", "width")
"""The tables that hold nothing between two episodes."""


class TabularConfig(Protocol):
    """The parameters of a tabular peer."""

    def rule(self, gamma: float) -> TableRule:
        """They as compiled code takes them."""
        ...


class TabularDriver(Driver):
    """A finite MDP, played by the compiled loop of the peers."""

    CHANGING = ("tables", "drawn")

    def __init__(self, mdp: FiniteMDP, config: TabularConfig, seed: int, stride: int) -> None:
        super().__init__(config, mdp.gamma, seed, stride)
        refuse_rewards(mdp.r, R_MAX)
        self.mdp, self.rule = mdp, config.rule(mdp.gamma)
        self.policy_size = mdp.r.size
        self.simulator = simulator(mdp)
        self.tables = tables(mdp, self.simulator, self.rule)
        self.drawn: FloatArray = mdp.uniform_policy.copy()

    # Learning

    @property
    def episodes(self) -> int:
        return int(self.tables.clock[EPISODES])

    @property
    def steps(self) -> int:
        return int(self.tables.clock[STEPS])

    def learn_some(self, most: int) -> dict[str, Any]:
        n = min(most, self.pace.episodes)
        with self.call(n):
            return self._play_some(n)

    def _play_some(self, n: int) -> dict[str, Any]:
        """Play n episodes; their columns of the history."""
        kept, record = self.evaluated_of_next(n), blank_record(n)  # its ascensions stay 0
        lots = self.drawn_of_next(n)
        shots = Kept(self.stride, np.zeros((len(kept), *self.mdp.r.shape)), lots, self.drawn)
        mdp = self.mdp
        state = (self.simulator, self.rule, self.tables)
        given = (*state, mdp.r.copy(), mdp.nu0.copy(), self.rng, record, shots)

        def call() -> None:
            from optimist.core.peers import run  # numba takes its time: only those who learn wait

            run(*given)

        self.compiled(call, record.stop)
        chosen = np.zeros(n, dtype=np.int64)
        columns = {**columns_of(record), "chosen": chosen}
        return {**columns, "evaluated": kept, "policies": shots.policies}

    def history(self, columns: dict[str, Any], first: int) -> History:
        return History(**columns, rewards=self.mdp.r[None], first=first, mdp=self.mdp)

    # Acting

    @property
    def diagnostics(self) -> Diagnostics:
        t = self.tables
        p, epoch = np.zeros_like(t.CB), int(t.clock[EPOCHS])
        return Diagnostics(t.V, t.pi, t.CB, p, epoch, self.rule.heaven)

    @property
    def policy(self) -> Policy:
        return TablePolicy(self.tables.pi.copy())

    @property
    def output(self) -> Policy:
        return TablePolicy(self.drawn.copy())

    # Stopping and going on

    @property
    def arrays(self) -> dict[str, Any]:
        known = self.tables._asdict().items()
        parts = {f"tables.{name}": array for name, array in known if name not in ROOM}
        return {**parts, "drawn.pi": self.drawn}

    clock = "tables.clock"

    def layout(self, arrays: dict[str, Any]) -> dict[str, schema.Array]:
        wanted = {name: schema.usual(name, array.shape) for name, array in self.arrays.items()}
        wanted["tables.clock"] = schema.clock(self.mdp.n_states)
        wanted["tables.seen"] = schema.index(self.tables.seen.shape, self.tables.seen.size)
        return wanted

    def columns(
        self, rows: int, kept: int, first: int, arrays: dict[str, Any]
    ) -> dict[str, schema.Array]:
        return column_layout(rows, kept, first, self.mdp.r.shape, 1)

    def restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        names = ("counts", "seen", "distinct", "visits")
        check_counts(self.simulator.first, *(arrays[f"tables.{name}"] for name in names))
        for name, array in self.arrays.items():
            array[...] = arrays[name]

    @property
    def world(self) -> dict[str, Any]:
        return fingerprint(self.mdp, self.simulator)


class TabularAgent(Agent):
    """An agent that keeps a table of a finite world.

    Parameters
    ----------
    world
        A world, or any `FiniteMDP` with rewards in [0, 1]: it is played, never looked into; only
        drawn states and the rewards are used, which are known as they are to `RmaxRaviUcb`.
    config
        The parameters.
    seed
        Seeds the run. The same seed gives the same bytes on one kind of processor.
    stride
        Every so many episodes the policy is kept, to be evaluated exactly; 0 for none.
    """

    _driver: TabularDriver

    def __init__(
        self,
        world: World | FiniteMDP,
        config: Any = None,
        seed: int = 0,
        stride: int = 10,
    ) -> None:
        name = type(self).__name__
        if not isinstance(world, World | FiniteMDP):
            raise TypeError(
                f"world = {world!r} is no finite one: {name} keeps a table of its states"
            )
        config = self.Config() if config is None else config
        if type(config) is not self.Config:
            raise TypeError(f"config = {config!r} must be a {self.Config.__name__}, as {name} has")
        mdp = world.mdp if isinstance(world, World) else world
        self._start(TabularDriver(mdp, config, seed, stride))

    @property
    def mdp(self) -> FiniteMDP:
        """The finite world that is played."""
        return self._driver.mdp

    @property
    def visits(self) -> FloatArray:
        """How often each pair was tried and its next state seen, [X, A]."""
        shape = self.mdp.r.shape
        return self._driver.tables.visits.reshape(shape).astype(np.float64)

    @classmethod
    def load(cls, folder: str | Path, world: World | FiniteMDP) -> Self:
        """The learner in a folder, which goes on as if it had never stopped, bit for bit."""
        saved = checkpoint.read(folder, cls.__name__)
        config = saved.config(cls.Config)
        agent = cls(world, config, saved.header["seed"], saved.header["stride"])
        checkpoint.restore(agent, saved)
        return agent
