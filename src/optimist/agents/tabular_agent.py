"""Base class of the tabular peers: a finite world, played by their compiled loop."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from optimist import checks
from optimist.agents.arguments import refuse_environment, resolve
from optimist.agents.certificate import Seen
from optimist.agents.certified_agent import CertifiedAgent
from optimist.agents.coming import ComingEpisode
from optimist.agents.diagnostics import Diagnostics
from optimist.agents.driver import Driver, Policy, RunSettings
from optimist.agents.finite_driver import column_layout, columns_of, fingerprint, refuse_rewards
from optimist.agents.history import History
from optimist.agents.snapshot import Snapshot
from optimist.checks import FloatArray
from optimist.core import TablePolicy, schema
from optimist.core.arrays import simulator
from optimist.core.state import blank_record
from optimist.core.tabular import KeptTables, Peer, TableRule, check_counts, tables
from optimist.envs import World
from optimist.mdp import FiniteMDP

R_MAX = 1.0
"""The bound on rewards that the peers know."""


def _scale(value: object, name: str) -> float:
    number = checks.real_number(value, name)
    if number < 0:
        raise ValueError(f"{name} must not be negative; got {number:g}")
    return number


def _rate(value: object, name: str) -> float:
    return checks.positive(checks.probability(value, name), name)


@dataclass(frozen=True)
class TabularConfig:
    """The parameters of a peer, checked by their names and kept as plain numbers."""

    kind: ClassVar[Peer]
    tolerance: ClassVar[float] = 0.0
    """At which a plan counts as made."""

    CHECKS: ClassVar[dict[str, Callable[[Any, str], Any]]] = {
        "alpha": checks.positive,
        "c": _scale,
        "epsilon": checks.probability,
        "power": checks.probability,
        "step": _rate,
        "updates": partial(checks.count, below=checks.MOST),
    }

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name in self.CHECKS:
                object.__setattr__(self, name, self.CHECKS[name](value, name))

    def rule(self, gamma: float) -> TableRule:
        """The parameters as compiled code takes them."""
        own = {name: value for name, value in vars(self).items() if name in TableRule._fields}
        return TableRule(
            kind=self.kind,
            heaven=R_MAX / (1 - gamma),
            every=not getattr(self, "lazy", False),
            sweeps=getattr(self, "updates", 0),
            tolerance=self.tolerance,
            **own,
        )


class TabularDriver(Driver):
    """A finite MDP, played by the compiled loop of the peers."""

    mdp: FiniteMDP

    GROUPS = ("tables",)
    OTHERS = ("drawn",)
    UNSAVED = ("tables.work", "tables.to", "tables.width")
    CLOCK = "tables.clock"

    def __init__(self, mdp: FiniteMDP, run: RunSettings) -> None:
        super().__init__(run, mdp.gamma)
        refuse_rewards(mdp.r, R_MAX)
        self.mdp, self.rule = mdp, self.config.rule(mdp.gamma)
        self.policy_size = mdp.r.size
        self.simulator = simulator(mdp)
        self.tables = tables(mdp, self.simulator, self.rule)
        self.drawn: FloatArray = mdp.uniform_policy.copy()

    # Learning

    @property
    def clock(self) -> Any:
        return self.tables.clock[0]

    def learn_some(self, most: int) -> dict[str, Any]:
        n = min(self.before_step_limit(most), self.pace.episodes)
        with self.call(n):
            evaluated, record = self.evaluated_of_next(n), blank_record(n)  # its ascensions stay 0
            policies = np.zeros((len(evaluated), *self.mdp.r.shape))
            kept = KeptTables(self.stride, policies, self.drawn_of_next(n), self.drawn)
            state = (self.simulator, self.rule, self.tables, self.mdp.r.copy(), self.rng)
            self.compiled(record.stop, "optimist.core.peers:run_tabular", *state, record, kept)
        chosen = {"chosen": np.zeros(n, dtype=np.int64)}
        return {**columns_of(record), **chosen, "evaluated": evaluated, "policies": policies}

    def history(self, columns: dict[str, Any], first: int) -> History:
        return History(columns, first, self.mdp, self.mdp.r[None])

    @property
    def evidence(self) -> Seen:
        return Seen(self.tables.counts, self.tables.starts, self.mdp.r)

    # Acting

    @property
    def coming_episode(self) -> ComingEpisode | None:  # type: ignore[override]
        if self.rule.kind not in (Peer.UCBVI, Peer.PSRL):  # the others learn at every step
            return None
        policy, generator = self.tables.cumulative.copy(), self.rng.bit_generator.state
        return ComingEpisode(self.simulator, policy, int(self.clock["state"]), generator)

    @property
    def diagnostics(self) -> Diagnostics:
        t = self.tables
        p, epoch = np.zeros_like(t.CB), int(t.clock[0]["epochs"])
        return Diagnostics(t.V, t.pi, t.CB, p, epoch, self.rule.heaven)

    @property
    def snapshot(self) -> Snapshot:
        t = self.tables
        visits = t.visits.reshape(t.CB.shape).copy()
        return Snapshot(t.V.copy(), t.CB.copy(), np.zeros_like(t.CB), t.pi.copy(), visits=visits)

    @property
    def policy(self) -> Policy:
        return TablePolicy(self.tables.pi.copy())

    @property
    def output(self) -> Policy:
        return TablePolicy(self.drawn.copy())

    # Stopping and continuing

    @property
    def state(self) -> dict[str, Any]:
        return {**super().state, "drawn.pi": self.drawn}

    def layout(self, arrays: dict[str, Any]) -> schema.Layout:
        clock = schema.clock(self.CLOCK, self.mdp.n_states)
        seen = schema.index(self.tables.seen.shape, self.tables.seen.size)
        return {**super().layout(arrays), **clock, "tables.seen": seen}

    def columns(self, rows: int, kept: int, first: int, arrays: dict[str, Any]) -> schema.Layout:
        return column_layout(rows, kept, first, self.mdp.r.shape, 1)

    def restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        names = ("counts", "seen", "distinct", "visits")
        check_counts(self.simulator.first, *(arrays[f"tables.{name}"] for name in names))
        super().restore(header, arrays)

    @property
    def fingerprint(self) -> dict[str, Any]:
        return fingerprint(self.mdp, self.simulator)


class TabularAgent(CertifiedAgent):
    """An agent that keeps a table of a finite world.

    Parameters
    ----------
    world
        A world, or any `FiniteMDP` with rewards in [0, 1]: the agent sees drawn states and the
        rewards, which are known as they are to `RmaxRaviUcb`.
    features
        None: a table needs no features.
    seed, stride, config, parameters
        As of `VariantAgent`.
    """

    Driver: ClassVar[type[TabularDriver]] = TabularDriver

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
        config, settings = resolve(name, self.Config, config, parameters)
        refuse_environment(world, settings)
        mdp = world.mdp if isinstance(world, World) else world
        self._start(self.Driver(mdp, RunSettings(config, seed, stride)), world)

    @property
    def visits(self) -> FloatArray:
        """How often each pair was tried and its next state seen, [X, A]."""
        shape = self.mdp.r.shape
        return self._driver.tables.visits.reshape(shape).astype(np.float64)
