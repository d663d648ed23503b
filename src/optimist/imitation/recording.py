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
from optimist.core.finite import simulator
from optimist.envs import World
from optimist.features import FeatureMap, OneHot, Table
from optimist.mdp import FiniteMDP

PLAIN_SPACES = (spaces.Box, spaces.Discrete, spaces.MultiBinary, spaces.MultiDiscrete)
"""The spaces whose elements are arrays."""

NUMBERS_AT_ONCE = 2**21
"""How many numbers of feature rows are held while they are summed up."""

BYTES_A_PAIR = 120
"""About what a pair takes while it is drawn."""


@runtime_checkable
class Policy(Protocol):
    """Whatever says how likely it is to play each action."""

    def probabilities(self, states: Any, /) -> FloatArray:
        """pi(. | x) for one state, [A], or a batch, [..., A]."""


PolicyLike: TypeAlias = ArrayLike | Policy
AnyWorld: TypeAlias = World | FiniteMDP | gymnasium.Env[Any, Any]


# Worlds and policies as arrays


def finite_mdp(world: AnyWorld) -> FiniteMDP:
    """The MDP of a world, or the MDP itself."""
    if isinstance(world, World):
        return world.mdp
    if not isinstance(world, FiniteMDP):
        raise TypeError(f"world = {world!r} must be a World or a FiniteMDP, whose arrays are known")
    return world


def policy_table(policy: PolicyLike, mdp: FiniteMDP) -> FloatArray:
    """The probabilities [X, A] of a policy on a finite MDP, whichever way it is given."""
    if isinstance(policy, Policy):
        states = policy_states(policy)
        if states not in (None, mdp.n_states):
            raise ValueError(
                f"the policy is of another world: it has {states} states, this one {mdp.n_states}"
            )
        policy = policy.probabilities(np.arange(mdp.n_states))
    table = checks.policies(policy, mdp.n_states, mdp.n_actions)
    if table.ndim != 2:
        raise ValueError(f"policy holds a batch of {len(table)} policies; an expert is one of them")
    return table


def policy_states(policy: Policy) -> int | None:
    """How many states a policy knows, if it tells."""
    if isinstance(policy, TablePolicy):
        return len(policy.table)
    features = getattr(policy, "features", None)
    return features.n_states if isinstance(features, OneHot | Table) else None


def check_map(phi: object, world: AnyWorld | None = None) -> None:
    """Refuse what is no feature map, or one for other actions than those of the world."""
    if not isinstance(phi, FeatureMap):
        raise TypeError(f"phi = {phi!r} must be a FeatureMap, such as OneHot or StateOnly")
    if isinstance(world, (World, FiniteMDP)):
        n_actions = finite_mdp(world).n_actions
        if phi.n_actions != n_actions:
            raise ValueError(f"phi has {phi.n_actions} actions, and the world has {n_actions}")


# lambda(pi), exactly


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


# Pairs drawn from mu(pi)


def record_pairs(
    world: AnyWorld,
    policy: PolicyLike,
    samples: int,
    rng: np.random.Generator,
    gamma: float | None = None,
    seed: int | None = None,
    absorbing: Any = None,
) -> tuple[NDArray[Any], IntArray]:
    """States and actions drawn independently from the discounted occupancy measure mu(pi).

    Each is the last pair of a rollout of its own, which starts from nu0 and stops after each step
    with probability 1 - gamma. Rewards are not looked at.

    Parameters
    ----------
    world
        A world, a `FiniteMDP`, or any Gymnasium environment without a time limit. A state in which
        an environment terminates counts as absorbing: it is kept until the rollout stops, and the
        policy goes on drawing actions there.
    policy
        An array [X, A], or an object with ``probabilities(states)``.
    samples
        How many pairs to draw.
    rng
        Draws the lengths and the actions, and the states of a world.
    gamma
        The discount factor, for a Gymnasium environment only: a world has its own.
    seed
        The seed of a Gymnasium environment; drawn from ``rng`` if it is not given.

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
        if gamma is None:
            raise TypeError("a Gymnasium environment has no discount factor: give one as gamma=")
        return _play(world, policy, n, rng, checks.discount(gamma), seed, absorbing)
    mdp = finite_mdp(world)
    if gamma is not None or seed is not None or absorbing is not None:
        raise TypeError(
            "gamma, seed and absorbing are for Gymnasium environments: a world has its own "
            "discount factor, all that is random in it is drawn from rng, and it does not end"
        )
    return _roll_out(mdp, policy_table(policy, mdp), n, rng)


def _roll_out(
    mdp: FiniteMDP, pi: FloatArray, n: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """The last pairs of n rollouts of a finite MDP, which are played side by side."""
    X, A = pi.shape
    entries, pi_sums = simulator(mdp), np.cumsum(pi, axis=1).ravel()

    def act(x: IntArray) -> IntArray:
        first = x * A
        return np.asarray(_draw(pi_sums, first, first + A - 1, rng) - first)

    # Stopping after each step with probability 1 - gamma takes a geometric number of them.
    steps = rng.geometric(1 - mdp.gamma, size=n)
    none = np.zeros(n, dtype=np.int64)
    states = _draw(np.cumsum(mdp.nu0), none, none + X - 1, rng)
    actions = act(states)
    taken, going = 1, np.flatnonzero(steps > 1)
    while going.size:
        pair = states[going] * A + actions[going]
        entry = _draw(entries.cumulative, entries.first[pair], entries.first[pair + 1] - 1, rng)
        states[going] = entries.after[entry]
        actions[going] = act(states[going])
        taken += 1
        going = going[steps[going] > taken]
    return states, actions


def _draw(
    cumulative: FloatArray, first: IntArray, last: IntArray, rng: np.random.Generator
) -> IntArray:
    """For each range of entries one of them, by bisection of its cumulative probabilities."""
    # Scaled by the sum, which is 1 only up to rounding; impossible entries are never drawn.
    goal = rng.random(first.size) * cumulative[last]
    low, high = first, last
    while (low < high).any():
        middle = (low + high) // 2
        beyond = cumulative[middle] <= goal  # never at the last entry, so low stays within
        low, high = np.where(beyond, middle + 1, low), np.where(beyond, high, middle)
    return low


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
    act = _actor(env, policy, rng)
    seed = int(rng.integers(2**31)) if seed is None else checks.count(seed, "seed", least=0)
    observations, actions = [], np.empty(n, dtype=np.int64)
    for i, steps in enumerate(rng.geometric(1 - gamma, size=n)):
        observation, _ = env.reset(seed=seed if i == 0 else None)
        for t in range(1, steps):
            observation, _, terminated, truncated, _ = env.step(act(observation))
            if terminated:  # absorbed: all later states are this one
                observation = observation if absorbing is None else absorbing
                break
            if truncated:
                raise ValueError(
                    f"the environment cut rollout {i} off after {t} steps, before its geometric "
                    "stop, which would bias the sample: remove the time limit (max_episode_steps="
                    "-1 in gymnasium.make) or whatever wrapper truncates"
                )
        observations.append(np.array(observation))  # a copy: some environments write over theirs
        actions[i] = act(observation)
    return np.stack(observations), actions


def _actor(
    env: gymnasium.Env[Any, Any], policy: PolicyLike, rng: np.random.Generator
) -> Callable[[Any], int]:
    """The function that draws an action, once spaces and policy are known to be right for it."""
    if not isinstance(env.observation_space, PLAIN_SPACES):
        raise TypeError(f"observations must be arrays; the space is {env.observation_space}")
    space = env.action_space
    if not isinstance(space, spaces.Discrete) or space.start != 0:
        raise TypeError(f"actions must be 0, ..., A - 1; the space is {space}")
    A = int(space.n)
    if not isinstance(policy, Policy):
        table = checks.real_array(policy, "policy", shape=(None, A))
        policy = TablePolicy(checks.policies(table, len(table), A))

    def act(observation: Any) -> int:
        pi = checks.distribution(policy.probabilities(observation), "pi(. | x)", A)
        return int(rng.choice(A, p=pi))

    return act
