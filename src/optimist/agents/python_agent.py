"""Plays an algorithm written in plain Python, with exact regret, returns, saving and loading."""

import time
from typing import Any

import numpy as np

from optimist import checks, registry
from optimist.agents import checkpoint
from optimist.agents.agent import Agent
from optimist.agents.algorithm import Algorithm
from optimist.agents.algorithm_policy import AlgorithmPolicy
from optimist.agents.diagnostics import Diagnostics
from optimist.agents.driver import Driver, Policy, RunSettings
from optimist.agents.episodes import EnvironmentEpisodes, Episodes, FiniteEpisodes
from optimist.agents.finite_driver import fingerprint
from optimist.agents.history import History
from optimist.agents.interruption import CALL_SECONDS
from optimist.agents.variant_agent import Environment, FiniteWorld, as_gym
from optimist.checks import FloatArray
from optimist.core import TablePolicy, schema
from optimist.core.arrays import simulator
from optimist.core.state import CLOCK, blank_clock
from optimist.envs import Gym, World
from optimist.mdp import FiniteMDP
from optimist.parameters import to_plain

GROUP = "algorithm."
"""The prefix of the names of an algorithm's own arrays in a checkpoint."""


class PythonDriver(Driver):
    """Plays an algorithm, one episode after the other."""

    CLOCK = "clock"
    GROUPS = ()

    def __init__(self, world: Any, run: RunSettings) -> None:
        self.source: Episodes = (
            EnvironmentEpisodes(world) if isinstance(world, Gym) else FiniteEpisodes(world)
        )
        self.world, self.problem = world, self.source.problem
        if isinstance(self.source, EnvironmentEpisodes):
            self.env = self.source.players.env
        super().__init__(run, self.problem.gamma)
        if isinstance(world, FiniteMDP):
            self.mdp, self.policy_size = world, world.r.size
        self.algorithm: Algorithm = run.config.fresh()
        self.algorithm.start(self.problem)
        self.counters = blank_clock()
        self.drawn: FloatArray = np.zeros((0, 0))

    @property
    def saved_config(self) -> dict[str, Any]:
        return {"algorithm": registry.origin(type(self.algorithm)), **to_plain(self.config)}

    @property
    def clock(self) -> Any:
        return self.counters[0]

    # Learning

    def begin(self) -> None:
        entropy = np.random.SeedSequence([self.seed, self.episodes])
        self.source.begin(int(entropy.generate_state(1)[0]))

    def learn_some(self, most: int) -> dict[str, Any]:
        before = {name: array.copy() for name, array in self.arrays.items()}
        rng = self.rng.bit_generator.state
        drawn = self.output_rng.bit_generator.state
        rows: list[tuple[Any, ...]] = []
        evaluated: list[int] = []
        policies: list[FloatArray] = []
        until = time.monotonic() + CALL_SECONDS
        try:
            while len(rows) < most and (
                not rows or (time.monotonic() < until and self.steps < self.step_limit)
            ):
                if self.mdp and self.stride and self.episodes % self.stride == 0:
                    evaluated.append(self.episodes)
                    policies.append(self.table)
                if self.mdp and self.drawn_of_next(1)[0]:
                    self.drawn = self.table
                rows.append(self._episode())
        except BaseException:  # whatever this call has learnt is dropped
            self.restore({}, before)
            self.rng.bit_generator.state, self.output_rng.bit_generator.state = rng, drawn
            self.begin()
            raise
        steps, reward, terminated = (np.array(column) for column in zip(*rows, strict=True))
        columns: dict[str, Any] = {"steps": steps, "reward": reward}
        if self.mdp is None:
            return {**columns, "terminated": terminated}
        columns["chosen"] = np.zeros(len(rows), dtype=np.int64)
        shape = (len(evaluated), *self.mdp.r.shape)
        columns["policies"] = np.array(policies).reshape(shape)
        return {**columns, "evaluated": np.array(evaluated, dtype=np.int64)}

    def _episode(self) -> tuple[int, float, bool]:
        """One episode: its steps, the sum of its rewards, whether it terminated."""
        world, algorithm, rng = self.source, self.algorithm, self.rng
        n_actions, n = self.problem.n_actions, 0
        total, terminated, over = 0.0, False, False
        self.bar.in_user_code = True
        try:
            state = world.first(rng)
            while not over:
                if self.bar.impatient:
                    raise KeyboardInterrupt
                action = algorithm.act(state, rng)
                if not isinstance(action, int | np.integer) or not 0 <= action < n_actions:
                    name = type(algorithm).__name__
                    raise ValueError(
                        f"{name}.act must return an action in 0, ..., {n_actions - 1}; got "
                        f"{action!r}"
                    )
                action = int(action)
                reward, after, terminated, over = world.step(action, rng)
                n, total = n + 1, total + reward
                if after is not None:
                    algorithm.observe(state, action, reward, after, terminated)
                    state = after
            algorithm.end_episode()
            world.end(rng)
        finally:
            self.bar.in_user_code = False
        self.clock["episodes"] += 1
        self.clock["steps"] += n
        self.clock["state"] = world.state
        return n, total, terminated

    def history(self, columns: dict[str, Any], first: int) -> History:
        return History(columns, first, self.mdp, None if self.mdp is None else self.mdp.r[None])

    # Acting

    @property
    def table(self) -> FloatArray:
        """The policy of the algorithm, [X, A]."""
        pi, X = self.algorithm.policy(), self.problem.n_states
        name = type(self.algorithm).__name__
        if pi is None or X is None:
            raise ValueError(
                f"{name}.policy must return an array [X, A], in a world whose states are numbered; "
                f"elsewhere {name}.probabilities gives the policy"
            )
        try:
            return checks.policies(np.array(pi, dtype=np.float64), X, self.problem.n_actions)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name}.policy: {error}") from error

    @property
    def diagnostics(self) -> Diagnostics:
        pi = self.table
        unknown = np.full(pi.shape, np.nan)
        return Diagnostics(unknown[:, 0], pi, unknown, unknown, epoch=0, heaven=np.nan)

    @property
    def policy(self) -> Policy:
        own = type(self.algorithm).probabilities is not Algorithm.probabilities
        if self.problem.n_states is None and own:
            return AlgorithmPolicy(self.algorithm, self.problem)
        return TablePolicy(self.table)

    @property
    def output(self) -> Policy:
        return TablePolicy(self.drawn) if self.drawn.size else self.policy

    # Stopping and continuing

    @property
    def state(self) -> dict[str, Any]:
        """The counters and the state of the endings; `Algorithm.arrays` has the rest."""
        clock = {f"clock.{name}": self.counters[name] for name in CLOCK.names or ()}
        return clock | (
            {} if self.source.endings is None else {"endings": self.source.endings.flags}
        )

    @property
    def arrays(self) -> dict[str, Any]:
        own = {f"{GROUP}{name}": array for name, array in self.algorithm.arrays.items()}
        return {**own, **self.state, "drawn": self.drawn}

    def layout(self, arrays: dict[str, Any]) -> schema.Layout:
        wanted = schema.clock("clock", self.mdp.n_states if self.mdp else 0)
        drawn = self.mdp.r.shape if self.mdp and arrays.get("drawn", self.drawn).size else (0, 0)
        wanted["drawn"] = schema.policy(drawn)
        if self.source.endings is not None:
            wanted["endings"] = schema.truth((2,))
        for name, array in self.algorithm.arrays.items():  # of any size: they may have grown
            found = arrays.get(f"{GROUP}{name}", array)
            shape = found.shape if found.ndim == array.ndim else array.shape
            wanted[f"{GROUP}{name}"] = schema.anything(array.dtype.type, shape)
        return wanted

    def columns(self, rows: int, kept: int, first: int, arrays: dict[str, Any]) -> schema.Layout:
        wanted = {"steps": schema.count((rows,)), "reward": schema.real((rows,))}
        if self.mdp is None:
            return {**wanted, "terminated": schema.truth((rows,))}
        return {
            **wanted,
            "chosen": schema.index((rows,), 1),
            "evaluated": schema.index((kept,), first + rows, first),
            "policies": schema.policy((kept, *self.mdp.r.shape)),
        }

    def restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        own = {n.removeprefix(GROUP): a for n, a in arrays.items() if n.startswith(GROUP)}
        self.algorithm.restore(own)
        super().restore(header, arrays)
        self.source.state = int(self.clock["state"])
        self.drawn = arrays["drawn"].copy()

    @property
    def fingerprint(self) -> dict[str, Any]:
        if self.mdp is not None:
            return fingerprint(self.mdp, simulator(self.mdp))
        return {
            "id": self.world.name,
            "observations": str(self.problem.observation_space),
            "gamma": self.gamma,
        }


class PythonAgent(Agent):
    """An agent whose algorithm is written in plain Python (see `Algorithm`).

    Parameters
    ----------
    world
        A world, any `FiniteMDP`, a Gymnasium environment, or `envs.Gym`.
    algorithm
        The algorithm, or its class for its default parameters. It is not changed: the agent plays
        a copy.
    seed
        Seeds the run. The same seed gives the same bytes on one kind of processor.
    stride
        In a finite world, keep the policy of every ``stride``-th episode for exact evaluation; 0
        keeps none.
    settings
        Fields of `envs.Gym` for a Gymnasium environment, ``gamma`` above all.
    """

    Config = Algorithm

    _driver: PythonDriver

    def __init__(
        self,
        world: FiniteWorld | Environment,
        algorithm: Algorithm | type[Algorithm],
        *,
        seed: int = 0,
        stride: int = 10,
        **settings: Any,
    ) -> None:
        if isinstance(algorithm, type) and issubclass(algorithm, Algorithm):
            algorithm = algorithm()
        if not isinstance(algorithm, Algorithm):
            raise TypeError(f"algorithm must be an Algorithm; got {algorithm!r}")
        finite = world.mdp if isinstance(world, World) else world
        if not isinstance(finite, FiniteMDP):
            finite = as_gym(finite, settings)
        elif settings:
            names = ", ".join(f"{name}=" for name in settings)
            raise TypeError(f"{names} applies to Gymnasium environments only")
        self._start(PythonDriver(finite, RunSettings(algorithm, seed, stride)), world)

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm that plays, in its present state."""
        return self._driver.algorithm

    @property
    def tabular(self) -> bool:
        """Whether states are numbered, so that the policy is a table."""
        return self._driver.problem.n_states is not None

    @classmethod
    def _saved_config(cls, saved: checkpoint.Saved) -> dict[str, Any]:
        return {}  # the algorithm is given again
