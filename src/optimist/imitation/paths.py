"""Recording whole trajectories of an expert, all of one length."""

import math
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from optimist import checks, limits
from optimist.checks import IntArray
from optimist.envs.resets import without_resets
from optimist.imitation.recording import (
    TRUNCATED,
    PolicyLike,
    Recordable,
    actor_of,
    finite_mdp,
    policy_table,
    refuse_given,
)
from optimist.imitation.simulation import Simulation

CUT = 0.02
"""The share of the discounted time, at most, that lies behind the default length."""

BYTES_A_STEP = 48
"""Memory per step of a finite world while a dataset is made: states and actions, and two copies."""


def default_length(gamma: float, cut: float = CUT) -> int:
    """T = ceil(log(1 / cut) / (1 - gamma)), so that gamma^T <= cut.

    The discounted value of a policy over T steps is within ``cut`` H of its value, for rewards in
    [0, 1].

    Examples
    --------
    >>> default_length(0.9), 0.9 ** default_length(0.9) < 0.02
    (40, True)
    """
    return math.ceil(math.log(1 / cut) / (1 - checks.discount(gamma)))


def record_paths(
    world: Recordable,
    policy: PolicyLike,
    trajectories: int,
    length: int,
    rng: np.random.Generator,
    seed: int | None = None,
    absorbing: Any = None,
) -> tuple[NDArray[Any], IntArray]:
    """States [n, T, ...] and actions [n, T] of trajectories of T steps from nu0, without resets.

    The arguments are those of `record_pairs`; ``length`` is T. A state in which an environment
    terminates is absorbing: the trajectory stays there, and the policy keeps drawing actions.

    Examples
    --------
    >>> from optimist import envs
    >>> world = envs.GridWorld("S.G", slip=0)
    >>> record_paths(world, world.mdp.optimal().policy, 1, 4, np.random.default_rng(0))[0]
    array([[0, 1, 2, 2]])
    """
    n, T = checks.count(trajectories, "trajectories"), checks.count(length, "length")
    limits.need(BYTES_A_STEP * n * T, f"{n:,} trajectories of {T:,} steps")
    checks.generator(rng)
    if isinstance(world, gymnasium.Env):
        return _play(world, policy, n, T, rng, seed, absorbing)
    mdp = finite_mdp(world)
    refuse_given(None, seed, absorbing)
    simulation = Simulation(mdp, policy_table(policy, mdp), rng)
    states, actions = np.empty((2, n, T), dtype=np.int64)
    states[:, 0] = simulation.start(n)
    actions[:, 0] = simulation.act(states[:, 0])
    for t in range(1, T):
        states[:, t] = simulation.step(states[:, t - 1], actions[:, t - 1])
        actions[:, t] = simulation.act(states[:, t])
    return states, actions


def _play(
    env: gymnasium.Env[Any, Any],
    policy: PolicyLike,
    n: int,
    T: int,
    rng: np.random.Generator,
    seed: int | None,
    absorbing: Any,
) -> tuple[NDArray[Any], IntArray]:
    """Trajectories in a Gymnasium environment, one after another."""
    act = actor_of(env, policy, rng)
    seed = int(rng.integers(2**31)) if seed is None else checks.count(seed, "seed", least=0)
    size = math.prod(env.observation_space.shape or ())
    limits.need(8 * n * T * (1 + size), f"{n:,} trajectories of {T:,} observations")
    observations, actions = [], np.empty((n, T), dtype=np.int64)
    for i in range(n):
        observation, _ = env.reset(seed=seed if i == 0 else None, options=without_resets(env))
        ended = False
        for t in range(T):
            if t and not ended:
                observation, _, ended, truncated, _ = env.step(int(actions[i, t - 1]))
                if truncated and not ended:
                    raise ValueError(TRUNCATED.format(i, t))
                if ended and absorbing is not None:
                    observation = absorbing
            observations.append(np.array(observation))  # a copy: environments may reuse the array
            actions[i, t] = act(observation)
    stacked = np.stack(observations)
    return stacked.reshape(n, T, *stacked.shape[1:]), actions
