"""What the tabular peers share: a finite world, played by their compiled loop."""

from pathlib import Path
from typing import Any, Self

import numpy as np

from optimist.agents import checkpoint
from optimist.agents.agent import Agent
from optimist.agents.arguments import refuse_environment, resolve, split
from optimist.agents.diagnostics import Diagnostics
from optimist.agents.driver import Driver, Policy
from optimist.agents.finite_driver import column_layout, columns_of, fingerprint, refuse_rewards
from optimist.agents.history import History
from optimist.checks import FloatArray
from optimist.core import TablePolicy, schema
from optimist.core.arrays import simulator
from optimist.core.state import arrays_of, blank_record
from optimist.core.tabular import KeptTables, check_counts, tables
from optimist.envs import World
from optimist.mdp import FiniteMDP

R_MAX = 1.0
"""The bound on rewards that the peers know."""

ROOM = ("tables.work", "tables.to", "tables.width")
"""The tables that hold nothing between two episodes."""


class TabularDriver(Driver):
    """A finite MDP, played by the compiled loop of the peers."""

    CHANGING = ("tables", "drawn")

    def __init__(self, mdp: FiniteMDP, config: Any, seed: int, stride: int) -> None:
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
        return int(self.tables.clock[0]["episodes"])

    @property
    def steps(self) -> int:
        return int(self.tables.clock[0]["steps"])

    def learn_some(self, most: int) -> dict[str, Any]:
        n = min(most, self.pace.episodes)
        with self.call(n):
            return self._play_some(n)

    def _play_some(self, n: int) -> dict[str, Any]:
        """Play n episodes; their columns of the history."""
        kept, record = self.evaluated_of_next(n), blank_record(n)  # its ascensions stay 0
        draw = self.drawn_of_next(n)
        tables_kept = KeptTables(
            self.stride, np.zeros((len(kept), *self.mdp.r.shape)), draw, self.drawn
        )
        state = (self.simulator, self.rule, self.tables)
        given = (*state, self.mdp.r.copy(), self.rng, record, tables_kept)

        def call() -> None:
            from optimist.core.peers import run_tabular  # numba takes its time

            run_tabular(*given)

        self.compiled(call, record.stop)
        chosen = np.zeros(n, dtype=np.int64)
        columns = {**columns_of(record), "chosen": chosen}
        return {**columns, "evaluated": kept, "policies": tables_kept.policies}

    def history(self, columns: dict[str, Any], first: int) -> History:
        return History(columns, first, self.mdp, self.mdp.r[None])

    # Acting

    @property
    def diagnostics(self) -> Diagnostics:
        t = self.tables
        p, epoch = np.zeros_like(t.CB), int(t.clock[0]["epochs"])
        return Diagnostics(t.V, t.pi, t.CB, p, epoch, self.rule.heaven)

    @property
    def policy(self) -> Policy:
        return TablePolicy(self.tables.pi.copy())

    @property
    def output(self) -> Policy:
        return TablePolicy(self.drawn.copy())

    # Stopping and continuing

    @property
    def arrays(self) -> dict[str, Any]:
        parts = arrays_of("tables", self.tables).items()
        kept = {name: array for name, array in parts if name not in ROOM}
        return {**kept, "drawn.pi": self.drawn}

    episodes_array = "tables.clock.episodes"

    def layout(self, arrays: dict[str, Any]) -> dict[str, schema.Array]:
        wanted = {name: schema.usual(name, array.shape) for name, array in self.arrays.items()}
        wanted.update(schema.clock("tables.clock", self.mdp.n_states))
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
    def fingerprint(self) -> dict[str, Any]:
        return fingerprint(self.mdp, self.simulator)


class TabularAgent(Agent):
    """An agent that keeps a table of a finite world.

    Parameters
    ----------
    world
        A world, or any `FiniteMDP` with rewards in [0, 1]: the agent sees drawn states and the
        rewards, which are known as they are to `RmaxRaviUcb`.
    features
        None: a table needs no features.
    seed
        Seeds the run. The same seed gives the same bytes on one kind of processor.
    stride
        Every so many episodes the policy is kept, to be evaluated exactly; 0 for none.
    config
        The parameters as an instance of ``Config``; by default all have their default values.
    parameters
        Fields of ``Config`` by name.
    """

    _driver: TabularDriver

    def __init__(
        self,
        world: World | FiniteMDP,
        features: None = None,
        *,
        seed: int = 0,
        stride: int = 10,
        config: Any = None,
        **parameters: Any,
    ) -> None:
        name, kind = type(self).__name__, type(world).__name__
        if not isinstance(world, World | FiniteMDP):
            raise TypeError(
                f"world must be a World or FiniteMDP, as {name} keeps a table; got {kind}"
            )
        if features is not None:
            raise TypeError(f"features must be None: {name} keeps a table of all pairs")
        own, told = split(name, self.Config, parameters)
        refuse_environment(world, told)
        mdp = world.mdp if isinstance(world, World) else world
        config = resolve(name, self.Config, config, own)
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
        """The learner in a folder, which continues as if it had never stopped, bit for bit."""
        saved = checkpoint.read(folder, cls.__name__)
        seed, stride = saved.header["seed"], saved.header["stride"]
        agent = cls(world, seed=seed, stride=stride, config=saved.config(cls.Config))
        checkpoint.restore(agent, saved)
        return agent
