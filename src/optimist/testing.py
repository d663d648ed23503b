"""Checks that a user-defined world, feature map, agent or imitator keeps its contract.

Each raises an `AssertionError` that says what is wrong, and returns nothing if all is well.
"""

import tempfile
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import scipy.sparse as sp
from gymnasium.utils.env_checker import check_env

from optimist.agents import Agent, Algorithm, PythonAgent
from optimist.checks import RANGE_TOLERANCE
from optimist.core import TimedPolicy
from optimist.envs import World
from optimist.features import FeatureMap, StateFeatures
from optimist.features.base import split
from optimist.mdp import FiniteMDP
from optimist.parameters import from_plain, to_plain

STEPS = 200
"""How many steps of a world are compared with its arrays."""

EPISODES = 30
"""How many episodes agents are compared over."""


def check_world(world: World) -> None:
    """Check that a world is what its arrays say, as an environment and as data.

    Examples
    --------
    >>> from optimist import envs
    >>> check_world(envs.RiverSwim(6))
    """
    mdp, name = world.mdp, type(world).__name__
    _require(from_plain(type(world), to_plain(world)) == world, f"{name} is not made of its fields")
    least, most = mdp.reward_range
    _require(least >= -RANGE_TOLERANCE and most <= 1 + RANGE_TOLERANCE, "rewards must be in [0, 1]")
    _require(_equal(type(world)(**vars_of(world)).mdp, mdp), "build() must give the same MDP again")
    Phi = world.features.all_actions(np.arange(mdp.n_states))
    _require(
        Phi.shape[:2] == mdp.r.shape, f"features must be of {mdp.r.shape}; got {Phi.shape[:2]}"
    )
    env, rng = world.make(), np.random.default_rng(0)
    check_env(env.unwrapped, skip_render_check=True)
    x, _ = env.reset(seed=0)
    _require(mdp.nu0[x] > 0, f"reset() must draw from nu0; got state {x}")
    P = sp.csr_array(mdp.kernel).toarray().reshape(*mdp.r.shape, mdp.n_states)
    for _ in range(STEPS):
        a = int(rng.integers(mdp.n_actions))
        y, reward, terminated, _, _ = env.step(a)
        _require(P[x, a, y] > 0, f"step({a}) in {x} must draw from P; got state {y}")
        paid = _paid(mdp, x, a, y)
        _require(
            bool(np.isclose(reward, paid)),
            f"step({a}) from {x} to {y} pays {paid:g}; got {reward:g}",
        )
        _require(not terminated, "a world never terminates: geometric resets end its episodes")
        x = y
    rows = len(world.board)
    for state in range(mdp.n_states):
        row, column = world.position(state)
        on_board = 0 <= row < rows and 0 <= column < len(world.board[row])
        _require(on_board, f"position({state}) must be on the board; got {row, column}")


def _paid(mdp: FiniteMDP, x: int, a: int, y: int) -> float:
    """The reward r(x, a, x') of a step."""
    whole = mdp.transition_rewards
    if whole is None:
        return float(mdp.r[x, a])
    return float(
        whole[x, a, y] if isinstance(whole, np.ndarray) else whole[x * mdp.n_actions + a, y]
    )


def check_features(phi: FeatureMap | StateFeatures, observations: Any) -> None:
    """Check that features keep what they declare, on a batch [n, ...] of observations.

    Examples
    --------
    >>> from optimist.features import OneHot, Tiles
    >>> check_features(OneHot(5, n_actions=2), np.arange(5))
    >>> check_features(Tiles(([0.0], [1.0]), bins=4), np.linspace(0, 1, 9)[:, None])
    """
    batch = np.asarray(observations)
    before = batch.copy()
    all_of: Callable[[Any], Any] = phi if isinstance(phi, StateFeatures) else phi.all_actions
    whole, wanted = all_of(batch), (len(batch), phi.dim)
    if isinstance(phi, FeatureMap):
        wanted = (len(batch), phi.n_actions, phi.dim)  # type: ignore[assignment]
        for a in range(phi.n_actions):
            _require(_close(phi(batch, np.full(len(batch), a)), whole[:, a]),
                  f"phi(x, {a}) must be row {a} of all_actions(x)")  # fmt: skip
    _require(whole.shape == wanted, f"features must have the shape {wanted}; got {whole.shape}")
    _require(whole.dtype == np.float64, f"features must be float64; got {whole.dtype}")
    _require(bool(np.isfinite(whole).all()), "features must be finite")
    longest = float(np.linalg.norm(whole, axis=-1).max())
    within = longest <= phi.bound * (1 + 1e-9)
    _require(within, f"bound must be at least {longest:g}; got {phi.bound:g}")
    _require(all(_close(all_of(batch[i]), whole[i]) for i in range(len(batch))), "a batch differs")
    rows, block = phi.in_blocks(batch)
    plain_rows, plain_block = split(whole, phi.blocks)
    _require(_close(np.broadcast_to(rows, plain_rows.shape), plain_rows), "in_blocks: wrong rows")
    _require(bool((block == plain_block).all()), "in_blocks: wrong blocks")
    outside = (whole != 0).sum(axis=-1) > (plain_rows != 0).sum(axis=-1)
    _require(not outside.any(), f"features must be non-zero in one of {phi.blocks} blocks only")
    whole[...] = 99.0
    _require(
        np.array_equal(batch, before), "features must be new arrays: observations were changed"
    )
    _require(not (all_of(batch) == 99.0).all(), "features must be new arrays at each call")


def check_agent(kind: type[Agent | Algorithm], world: Any, **parameters: Any) -> None:
    """Check an agent or algorithm in a world: determinism, pieces, saving, policy, parameters.

    Examples
    --------
    >>> from optimist import Rmax, envs
    >>> check_agent(Rmax, envs.RiverSwim(4, gamma=0.9), visits=3)
    """
    how: Any = {"seed": 3, "stride": 5}

    def make(**more: Any) -> Any:
        given = {**parameters, **more}
        if issubclass(kind, Algorithm):
            return PythonAgent(world, kind(**given), **how)
        return kind(world, **how, **given)  # type: ignore[call-arg]

    def load(folder: str) -> Any:
        if issubclass(kind, Algorithm):
            return PythonAgent.load(folder, world, kind(**parameters))
        return kind.load(folder, world)

    _check_learner(make, load)
    config = make().config
    _require(
        from_plain(kind.Config, to_plain(config)) == config, "Config must survive as plain data"
    )
    for field in fields(kind.Config):
        same = make(**{field.name: getattr(config, field.name)})
        _require(same.config == config, f"{field.name} at its own value must change nothing")
    try:
        make(there_is_no_such_parameter=1)
    except TypeError as error:
        _require("there_is_no_such_parameter" in str(error), "the wrong name must be in the error")
    else:
        raise AssertionError("a parameter that is not in Config must be refused")


def check_imitator(make: Callable[[FiniteMDP], Any], world: World) -> None:
    """Check a learner that ``make(mdp)`` makes: as an agent, and that it cannot see the rewards.

    Examples
    --------
    >>> from optimist import FraIL, envs, imitation
    >>> world = envs.RiverSwim(4, gamma=0.9)
    >>> expert = world.mdp.optimal().policy
    >>> data = imitation.FeatureDataset.from_policy(world, expert, world.features)
    >>> check_imitator(lambda mdp: FraIL(mdp, data, world.features, K=30, seed=3), world)
    """
    mdp = world.mdp
    poisoned = mdp.with_rewards(1 - mdp.r)
    one, other = make(mdp), make(poisoned)
    plays = getattr(one, "plays", True)
    for learner in (one, other):
        learner.learn(EPISODES, show_progress=False) if plays else learner.learn()
    _require(_same_run(one, other), "other rewards must change nothing: the learner sees them")
    if plays:
        _check_learner(lambda: make(mdp), None)
    else:
        with tempfile.TemporaryDirectory() as folder:
            one.save(folder)
            restored = make(mdp)
            restored.restore(folder)
        _require(_same_run(one, restored), "restore must give the same bytes as learn")
        _check_policies(one)


def _check_learner(make: Callable[[], Any], load: Callable[[str], Any] | None) -> None:
    """Check that the seed determines the result, however a run is divided into calls."""
    whole, again, pieces = make(), make(), make()
    for learner in (whole, again):
        learner.learn(EPISODES, show_progress=False)
    _require(
        whole.episodes == EPISODES, f"learn({EPISODES}) must play so many; got {whole.episodes}"
    )
    _require(_same_run(whole, again), "one seed must give the same bytes twice")
    pieces.learn(EPISODES // 3, show_progress=False)
    with tempfile.TemporaryDirectory() as folder:
        pieces.save(folder)
        restored = make()
        restored.restore(folder)
        learners = {"learning in pieces": pieces, "restore": restored}
        if load is not None:
            learners["load"] = load(folder)
    for how, learner in learners.items():
        learner.learn(EPISODES - EPISODES // 3, show_progress=False)
        _require(_same_run(whole, learner), f"{how} must give the same bytes as one call of learn")
    _check_policies(whole)


def _check_policies(learner: Any) -> None:
    for policy in (learner.policy, learner.output):
        pi, shape = _probabilities(policy, learner.mdp), learner.mdp.r.shape
        _require(pi.shape[-2:] == shape, f"a policy must have the shape {shape}; got {pi.shape}")
        _require(
            bool((pi >= 0).all()) and np.allclose(pi.sum(axis=-1), 1), "a policy must sum to 1"
        )


def _probabilities(policy: Any, mdp: FiniteMDP) -> Any:
    """pi(a|x), [X, A]; one table for each time if it depends on the time, [T, X, A]."""
    if isinstance(policy, TimedPolicy):
        return policy.tables
    return policy.probabilities(np.arange(mdp.n_states))


def _same_run(one: Any, other: Any) -> bool:
    """Whether two learners have the same history and the same policy, to the last bit."""
    tables = one.history.table(), other.history.table()
    policies = (_probabilities(learner.policy, learner.mdp) for learner in (one, other))
    same = all(np.array_equal(tables[0][name], tables[1][name]) for name in tables[0])
    return same and np.array_equal(*policies)


def vars_of(instance: Any) -> dict[str, Any]:
    """The fields of a dataclass by name."""
    return {field.name: getattr(instance, field.name) for field in fields(instance)}


def _equal(one: FiniteMDP, other: FiniteMDP) -> bool:
    apart = abs(sp.csr_array(one.kernel) - sp.csr_array(other.kernel)).max()
    rest = np.array_equal(one.r, other.r) and np.array_equal(one.nu0, other.nu0)
    return bool(apart == 0) and rest and one.gamma == other.gamma


def _close(one: Any, other: Any) -> bool:
    return bool(np.allclose(one, other, rtol=0.0, atol=1e-12))


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message)
