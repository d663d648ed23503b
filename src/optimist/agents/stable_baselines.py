"""Agents of Stable-Baselines3 with the interface of ours; they learn in its own code."""

import copy
import random
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, SupportsFloat

import gymnasium
import numpy as np
from numpy.typing import ArrayLike

from optimist import checks
from optimist.agents.agent import Agent
from optimist.agents.diagnostics import Diagnostics
from optimist.agents.driver import Driver, Policy, RunSettings
from optimist.agents.history import History
from optimist.agents.paused import Paused
from optimist.agents.progress import Bar
from optimist.agents.stable_baselines_config import StableBaselinesConfig, algorithm_class
from optimist.agents.variant_agent import Environment, FiniteWorld, as_gym
from optimist.checks import FloatArray
from optimist.core import schema
from optimist.core.acting import ActingPolicy
from optimist.core.state import blank_clock
from optimist.envs import ArrayWorld, GeometricReset, Gym, World
from optimist.envs.players import Players
from optimist.mdp import FiniteMDP

NO_FILE = (
    "a model of Stable-Baselines3 is pickled data, which our files never hold: save it with "
    "agent.model.save(path), and play it again as TrainedModel(DQN.load(path))"
)


class NotedEpisodes(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Notes the steps, the return and the termination of every episode that ends."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self.ended: list[tuple[int, float, bool]] = []
        self.bar = Bar()
        self._steps, self._return = 0, 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        self._steps, self._return = 0, 0.0
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        if self.bar.impatient:
            raise KeyboardInterrupt
        after, reward, terminated, truncated, info = super().step(action)
        self._steps, self._return = self._steps + 1, self._return + float(reward)
        if terminated or truncated:
            self.ended.append((self._steps, self._return, bool(terminated)))
        return after, reward, terminated, truncated, info


class StableBaselinesPolicy(ActingPolicy):
    """The policy of a model at one time: its distribution, or its deterministic actions."""

    def __init__(self, policy: Any, n_actions: int) -> None:
        self.policy, self.n_actions = copy.deepcopy(policy), n_actions

    def probabilities(self, states: ArrayLike) -> FloatArray:
        """pi(. | x) for one observation, [A], or a batch, [n, A]."""
        if not hasattr(self.policy, "get_distribution"):
            actions, _ = self.policy.predict(states, deterministic=True)
            return np.asarray(np.eye(self.n_actions)[np.asarray(actions)])
        observations, is_batch = self.policy.obs_to_tensor(np.asarray(states))
        found = self.policy.get_distribution(observations).distribution.probs.detach()
        pi = np.asarray(found.cpu().numpy(), dtype=np.float64)
        pi /= pi.sum(axis=-1, keepdims=True)  # they are float32
        return pi if is_batch else np.asarray(pi[0])

    def save(self, path: str | Path) -> None:
        """Not possible: see `StableBaselines.save`."""
        raise ValueError(NO_FILE)


class StableBaselinesDriver(Driver):
    """Runs a model in its own loop, which pauses after every episode."""

    CLOCK = "clock"
    GROUPS = ()

    def __init__(self, world: Gym, kind: type[Any], run: RunSettings, total: int) -> None:
        super().__init__(run, world.gamma)
        self.total_timesteps = total
        env = world.make()
        players = Players(env)
        if not isinstance(env, gymnasium.Env):
            raise ValueError(f"StableBaselines plays one environment; got {players.n}")
        if not players.limited if world.geometric is None else world.geometric:
            env = GeometricReset(env, world.gamma)
        self.env, self.n_actions = NotedEpisodes(env), players.n_actions
        self.counters = blank_clock()
        given = {"gamma": world.gamma, "policy": _policy_name(env), **run.config.hyperparameters}
        seed = int(np.random.SeedSequence(self.seed).generate_state(1)[0])  # NumPy wants 32 bits
        self._random = _random_state()
        with self._own_random_numbers():
            self.model = kind(env=self.env, seed=seed, **given)
        self._run: Paused | None = None

    @property
    def clock(self) -> Any:
        return self.counters[0]

    # Learning

    def learn_some(self, most: int) -> dict[str, Any]:
        """One episode; the model's loop pauses at its end."""
        self.env.bar = self.bar
        if self._run is None:
            self._run = Paused(_training(self.model, self.env, self.total_timesteps))
            weakref.finalize(self, self._run.close).atexit = False
        try:
            with self._own_random_numbers():
                self._run.resume()
        except BaseException:  # it has ended; the next call begins a new episode
            self._run = None
            raise
        steps, reward, terminated = self.env.ended.pop()
        self.clock["episodes"] += 1
        self.clock["steps"] += steps
        return {
            "steps": np.array([steps]),
            "reward": np.array([reward]),
            "terminated": np.array([terminated]),
        }

    @contextmanager
    def _own_random_numbers(self) -> Iterator[None]:
        """Set the global generators, from which the model draws, and restore them afterwards.

        Sums depend on the number of threads of torch, which is 1 meanwhile.
        """
        import torch

        others, threads = _random_state(), torch.get_num_threads()
        _set_random_state(self._random)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            self._random = _random_state()
            _set_random_state(others)
            torch.set_num_threads(threads)

    def history(self, columns: dict[str, Any], first: int) -> History:
        return History(columns, first)

    # Acting

    @property
    def diagnostics(self) -> Diagnostics:
        raise AttributeError(
            "diagnostics are not available for models of Stable-Baselines3: use agent.model"
        )

    @property
    def policy(self) -> Policy:
        return StableBaselinesPolicy(self.model.policy, self.n_actions)

    @property
    def output(self) -> Policy:
        raise AttributeError(
            "policies of earlier episodes of Stable-Baselines3 are not kept: use agent.policy"
        )

    # Stopping and continuing

    @property
    def fingerprint(self) -> dict[str, Any]:
        raise ValueError(NO_FILE)

    def columns(self, rows: int, kept: int, first: int, arrays: dict[str, Any]) -> schema.Layout:
        raise ValueError(NO_FILE)


class StableBaselines(Agent):
    """An agent of Stable-Baselines3 with the interface of ours; it learns in its own code.

    The same seed gives the same run on one kind of processor. The model draws from the global
    generators of NumPy and torch; the agent sets and restores them, so other random numbers do not
    change. It learns in a thread that pauses between two episodes, so the division of a run into
    calls of `learn` changes nothing; torch uses one thread for it.

    It cannot be saved, so a run of it in a study, which must be by steps, begins again after an
    interruption. There it is ``StableBaselines.Config("PPO", n_steps=256)``.

    It needs the package: ``pip install 'optimist[sb3]'``.

    Parameters
    ----------
    world
        A Gymnasium environment with discrete actions, `envs.Gym`, a world or a `FiniteMDP`.
    algorithm
        "DQN", "PPO" or "A2C", or a class with their protocol.
    seed
        Seeds the run.
    gamma
        The discount factor of a Gymnasium environment.
    total_timesteps
        The number of steps that the schedules of the model are made for (the exploration of DQN,
        for example), as that of its own ``learn``. Learning may go on after them.
    hyperparameters
        Those of the algorithm, by the names of Stable-Baselines3.
    """

    Config = StableBaselinesConfig
    can_be_saved = False

    _driver: StableBaselinesDriver

    def __init__(
        self,
        world: FiniteWorld | Environment,
        algorithm: str | type[Any] = "DQN",
        *,
        seed: int = 0,
        gamma: float | None = None,
        total_timesteps: int = 100_000,
        **hyperparameters: Any,
    ) -> None:
        kind = algorithm_class(algorithm)
        settings = {} if gamma is None else {"gamma": gamma}
        if isinstance(world, World | FiniteMDP):
            if settings:
                raise TypeError("gamma= applies to Gymnasium environments only")
            finite = ArrayWorld(world) if isinstance(world, FiniteMDP) else world
            world, settings = finite.make(), {"gamma": finite.mdp.gamma}
        steps = checks.count(total_timesteps, "total_timesteps")
        config = StableBaselinesConfig(kind.__name__, hyperparameters)
        run = RunSettings(config, seed, stride=0)
        self._start(StableBaselinesDriver(as_gym(world, settings), kind, run, steps), world)

    @property
    def model(self) -> Any:
        """The model of Stable-Baselines3."""
        return self._driver.model

    def save(self, folder: str | Path) -> NoReturn:
        """Not possible: use ``agent.model.save(path)``, which pickles."""
        raise ValueError(NO_FILE)

    @classmethod
    def load(cls, folder: str | Path, world: Any, *given: Any, **settings: Any) -> NoReturn:
        """Not possible: use the ``load`` of the model's class, if you trust the file."""
        raise ValueError(NO_FILE)

    def restore(self, folder: str | Path) -> NoReturn:
        """Not possible: see `load`."""
        raise ValueError(NO_FILE)


def _policy_name(env: gymnasium.Env[Any, Any]) -> str:
    """The kind of network for the observations, by its name in Stable-Baselines3."""
    is_dict = isinstance(env.observation_space, gymnasium.spaces.Dict)
    return "MultiInputPolicy" if is_dict else "MlpPolicy"


def _training(model: Any, env: NotedEpisodes, steps: int) -> Callable[[Callable[[], None]], None]:
    """The loop of a model, which pauses when an episode has ended."""

    def train(pause: Callable[[], None]) -> None:
        def on_step(*_: Any) -> bool:
            if env.ended:
                pause()
            return True

        model.set_env(model.get_env())  # to begin with an episode
        while True:
            model.learn(steps, callback=on_step, reset_num_timesteps=False)

    return train


def _random_state() -> tuple[Any, ...]:
    """The state of the global generators that Stable-Baselines3 seeds and draws from."""
    import torch

    return random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002


def _set_random_state(state: tuple[Any, ...]) -> None:
    import torch

    random.setstate(state[0])
    np.random.set_state(state[1])  # noqa: NPY002
    torch.set_rng_state(state[2])
