"""Recording an expert: its feature expectations, or pairs drawn from its occupancy measure."""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, runtime_checkable

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from optimist import checks, limits
from optimist.checks import FloatArray, IntArray
from optimist.core import TablePolicy
from optimist.envs import World
from optimist.envs.resets import without_resets
from optimist.features import FeatureMap, OneHot, Table
from optimist.imitation.simulation import Simulation
from optimist.mdp import FiniteMDP

PLAIN_SPACES = (spaces.Box, spaces.Discrete, spaces.MultiBinary, spaces.MultiDiscrete)
"""The spaces whose elements are arrays."""

NUMBERS_AT_ONCE = 2**21
"""Size of the blocks of feature rows that are summed at a time, in numbers."""

BYTES_A_PAIR = 120
"""Approximate memory per pair while pairs are drawn."""


TRUNCATED = (
    "the environment truncated rollout {} after {} steps, which would bias the sample: remove the "
    "time limit (max_episode_steps=-1 in gymnasium.make) or the wrapper that truncates"
)


@runtime_checkable
class Policy(Protocol):
    """An object with the probabilities of actions."""

    def probabilities(self, states: Any, /) -> FloatArray:
        """pi(. | x) for one state, [A], or a batch, [..., A]."""


PolicyLike: TypeAlias = ArrayLike | Policy
Recordable: TypeAlias = World | FiniteMDP | gymnasium.Env[Any, Any]


# Worlds and policies as arrays


def finite_mdp(world: Recordable) -> FiniteMDP:
    """The MDP of a world, or the MDP itself."""
    if isinstance(world, World):
        return world.mdp
    if not isinstance(world, FiniteMDP):
        raise TypeError(f"world must be a World or a FiniteMDP; got {world!r}")
    return world


def policy_table(policy: PolicyLike, mdp: FiniteMDP) -> FloatArray:
    """The probabilities [X, A] of a policy on a finite MDP."""
    if isinstance(policy, Policy):
        states = policy_states(policy)
        if states not in (None, mdp.n_states):
            raise ValueError(
                f"policy must have the world's {mdp.n_states} states; got {states} states"
            )
        policy = policy.probabilities(np.arange(mdp.n_states))
    table = checks.policies(policy, mdp.n_states, mdp.n_actions)
    if table.ndim != 2:
        raise ValueError(f"policy must be one policy [X, A]; got a batch of {len(table)}")
    return table


def policy_states(policy: Policy) -> int | None:
    """The number of states of a policy, if it is known."""
    if isinstance(policy, TablePolicy):
        return len(policy.table)
    features = getattr(policy, "features", None)
    return features.n_states if isinstance(features, OneHot | Table) else None


def check_map(phi: object, world: Recordable | None = None) -> None:
    """Refuse anything but a feature map for the actions of the world."""
    if not isinstance(phi, FeatureMap):
        raise TypeError(f"phi must be a FeatureMap, such as OneHot or StateOnly; got {phi!r}")
    if isinstance(world, (World, FiniteMDP)):
        n_actions = finite_mdp(world).n_actions
        if phi.n_actions != n_actions:
            raise ValueError(f"phi must have the world's {n_actions} actions; got {phi.n_actions}")


# Exact feature expectations


def expected_features(world: World | FiniteMDP, policy: PolicyLike, phi: FeatureMap) -> FloatArray:
    """The feature expectations lambda(pi) = sum mu(pi) phi, [d], of one policy.

    Examples
    --------
    >>> from optimist import envs
    >>> world = envs.GridWorld("S.G", slip=0, gamma=0.5)
    >>> always_right = np.eye(4)[[1, 1, 1]]
    >>> expected_features(world, always_right, world.features).reshape(3, 4)[:, 1]
    array([0.5 , 0.25, 0.25])
    """
    mdp = finite_mdp(world)
    check_map(phi, world)
    mu = mdp.occupancy(policy_table(policy, mdp))
    mean = np.zeros(phi.dim)
    chunk = max(1, NUMBERS_AT_ONCE // (phi.n_actions * phi.dim))
    for i in range(0, mdp.n_states, chunk):
        states = np.arange(i, min(i + chunk, mdp.n_states))
        mean += np.tensordot(mu[states], phi.all_actions(states), axes=2)
    return mean


# Pairs drawn from the occupancy measure


def record_pairs(
    world: Recordable,
    policy: PolicyLike,
    samples: int,
    rng: np.random.Generator,
    gamma: float | None = None,
    seed: int | None = None,
    absorbing: Any = None,
) -> tuple[NDArray[Any], IntArray]:
    """States and actions drawn independently from the discounted occupancy measure mu(pi).

    Each is the last pair of its own rollout, which starts from nu0 and stops after each step with
    probability 1 - gamma. Rewards are not used.

    Parameters
    ----------
    world
        A world, a `FiniteMDP`, or a Gymnasium environment without a time limit. A state in which an
        environment terminates is absorbing: the rollout stays there until it stops, and the policy
        keeps drawing actions. Its `GeometricReset`, if it has one, is turned off.
    policy
        An array [X, A], or an object with ``probabilities(states)``.
    samples
        The number of pairs.
    rng
        Draws the lengths, the actions, and the states of a world.
    gamma
        The discount factor of a Gymnasium environment; not for worlds.
    seed
        The seed of a Gymnasium environment, by default drawn from ``rng``; not for worlds.
    absorbing
        The observation in which a terminated environment stays, by default its last one.

    Returns
    -------
    states
        The states or observations, [samples, ...].
    actions
        The actions, [samples].

    Examples
    --------
    >>> from optimist import envs
    >>> world = envs.RiverSwim(3, gamma=0.5)
    >>> x, a = record_pairs(world, world.mdp.uniform_policy, 10_000, np.random.default_rng(0))
    >>> np.bincount(x) / 10_000
    array([0.83 , 0.153, 0.017])
    >>> world.mdp.state_occupancy(world.mdp.uniform_policy).round(4)
    array([0.8311, 0.1532, 0.0158])
    """
    n = checks.count(samples, "samples")
    limits.need(BYTES_A_PAIR * n, f"drawing {n:,} pairs")
    checks.generator(rng)
    if isinstance(world, gymnasium.Env):
        known = discount_of(world, gamma)
        return _play(world, policy, n, rng, known, seed, absorbing)
    mdp = finite_mdp(world)
    refuse_given(gamma, seed, absorbing)
    return _roll_out(mdp, policy_table(policy, mdp), n, rng)


def discount_of(world: Recordable, gamma: float | None) -> float:
    """The discount factor of a world, or the given one of a Gymnasium environment."""
    if not isinstance(world, gymnasium.Env):
        return finite_mdp(world).gamma
    if gamma is None:
        raise TypeError("a Gymnasium environment has no discount factor: give gamma=")
    return checks.discount(gamma)


def refuse_given(gamma: float | None, seed: int | None, absorbing: Any) -> None:
    """Refuse arguments that apply to Gymnasium environments only, if the world is finite."""
    if gamma is not None or seed is not None or absorbing is not None:
        raise TypeError(
            "gamma, seed and absorbing apply to Gymnasium environments only: a world defines its "
            "gamma, draws from rng, and does not terminate"
        )


def _roll_out(
    mdp: FiniteMDP, pi: FloatArray, n: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """The last pairs of n rollouts of a finite MDP."""
    simulation = Simulation(mdp, pi, rng)
    # Stopping after each step with probability 1 - gamma makes the number of steps geometric.
    steps = rng.geometric(1 - mdp.gamma, size=n)
    states = simulation.start(n)
    actions = simulation.act(states)
    taken, going = 1, np.flatnonzero(steps > 1)
    while going.size:
        states[going] = simulation.step(states[going], actions[going])
        actions[going] = simulation.act(states[going])
        taken += 1
        going = going[steps[going] > taken]
    return states, actions


def _play(
    env: gymnasium.Env[Any, Any],
    policy: PolicyLike,
    n: int,
    rng: np.random.Generator,
    gamma: float,
    seed: int | None,
    absorbing: Any,
) -> tuple[NDArray[Any], IntArray]:
    """The last pairs of n rollouts of a Gymnasium environment, one after another."""
    act = actor_of(env, policy, rng)
    seed = int(rng.integers(2**31)) if seed is None else checks.count(seed, "seed", least=0)
    observations, actions = [], np.empty(n, dtype=np.int64)
    for i, steps in enumerate(rng.geometric(1 - gamma, size=n)):
        observation, _ = env.reset(seed=seed if i == 0 else None, options=without_resets(env))
        for t in range(1, steps):
            observation, _, terminated, truncated, _ = env.step(act(observation))
            if terminated:  # all later states are this one
                observation = observation if absorbing is None else absorbing
                break
            if truncated:
                raise ValueError(TRUNCATED.format(i, t))
        observations.append(np.array(observation))  # a copy: environments may reuse the array
        actions[i] = act(observation)
    return np.stack(observations), actions


def actor_of(
    env: gymnasium.Env[Any, Any], policy: PolicyLike, rng: np.random.Generator
) -> Callable[[Any], int]:
    """Check spaces and policy; the function that draws an action."""
    if not isinstance(env.observation_space, PLAIN_SPACES):
        raise TypeError(f"observations must be arrays; got the space {env.observation_space}")
    space = env.action_space
    if not isinstance(space, spaces.Discrete) or space.start != 0:
        raise TypeError(f"actions must be 0, ..., A - 1; got the space {space}")
    A = int(space.n)
    if not isinstance(policy, Policy):
        table = checks.real_array(policy, "policy", shape=(None, A))
        policy = TablePolicy(checks.policies(table, len(table), A))

    def act(observation: Any) -> int:
        pi = checks.distribution(policy.probabilities(observation), "pi(. | x)", A)
        return int(rng.choice(A, p=pi))

    return act
