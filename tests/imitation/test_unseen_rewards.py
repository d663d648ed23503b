"""The true rewards are out of a learner's reach."""

from dataclasses import dataclass

import numpy as np
import pytest
from reference.experts import imitator, optimal_expert, states
from reference.mdps import random_mdp

import optimist as opt
from optimist import envs
from optimist.features import OneHot, OneHotState, StateOnly
from optimist.imitation import IMITATORS, FeatureDataset, FraIL, TrajectoryDataset
from optimist.mdp import FiniteMDP, LinearMDP


class Guarded:
    """Rewards that may not be looked at."""

    armed = False

    def __getattribute__(self, name):
        poison = ("r", "w", "W_max", "transition_rewards", "reward_range", "reward_map", "optimal")
        if name in poison and type(self).armed:
            raise AssertionError(f"somebody looked at {name}")
        return super().__getattribute__(name)


class Poisoned(Guarded, FiniteMDP):
    """An MDP with such rewards."""


@pytest.mark.parametrize(
    ("phi", "given"),
    [
        (OneHot(6, 3), {}),
        (StateOnly(OneHotState(6), 3), {"fresh": True}),
        (StateOnly(OneHotState(6), 3), {"player": opt.Cfpo.Config()}),
    ],
)
def test_the_true_rewards_are_never_looked_at(phi, given, tmp_path):
    mdp = random_mdp()
    expert = optimal_expert(mdp, phi)
    poisoned = Poisoned(mdp.P, mdp.r, mdp.nu0, mdp.gamma)
    Poisoned.armed = True
    try:
        with pytest.raises(AssertionError, match="somebody looked at r"):
            opt.Optimist(poisoned)  # the poison works
        il = FraIL(poisoned, expert, phi, **given, seed=2)
        il.learn(100)
        _ = il.policy, il.output, il.matching_error, il.history.matching_errors(), il.diagnostics
        il.save(tmp_path)
        FraIL.load(tmp_path, poisoned, expert, phi, **given).learn(10)
        recorded = FeatureDataset.from_policy(poisoned, mdp.uniform_policy, phi)
        recorded = FeatureDataset.from_rollouts(
            poisoned, mdp.uniform_policy, phi, 10, np.random.default_rng(0)
        )
        FraIL(poisoned, recorded, phi).learn(10)
    finally:
        Poisoned.armed = False


@pytest.mark.parametrize("kind", IMITATORS.values(), ids=IMITATORS)
def test_no_imitator_looks_at_the_rewards(kind, tmp_path):
    mdp = random_mdp()
    data = recorded(mdp)
    poisoned = Poisoned(mdp.P, mdp.r, mdp.nu0, mdp.gamma)
    Poisoned.armed = True
    try:
        il = imitator(kind, poisoned, data, K=40, seed=2)
        il.learn(*([20] if kind.plays else []))
        il.save(tmp_path)
        il = kind.load(tmp_path, poisoned, data)
        if kind.plays:
            il.learn(20)
        _ = il.policy, il.output, il.history, repr(il)
    finally:
        Poisoned.armed = False


def recorded(mdp, n=6):
    """Trajectories of a deterministic expert."""
    expert = np.eye(mdp.n_actions)[np.arange(mdp.n_states) % mdp.n_actions]
    return TrajectoryDataset.from_rollouts(mdp, expert, n, np.random.default_rng(0), length=20)


def test_worlds_that_differ_in_their_rewards_alone_give_the_same_bytes(tmp_path):
    mdp = random_mdp()
    phi, expert = states(mdp), optimal_expert(mdp)
    for i, r in enumerate((mdp.r, 1 - mdp.r, np.full((6, 3), 1e300))):
        il = FraIL(FiniteMDP(mdp.P, r, mdp.nu0, mdp.gamma), expert, phi, seed=5)
        il.learn(80)
        il.save(tmp_path / str(i))
    first, *others = [(tmp_path / str(i) / "agent.safetensors").read_bytes() for i in range(3)]
    assert others == [first, first]


class Linear(Guarded, LinearMDP):
    """A linear MDP whose rewards, and weights of rewards, may not be looked at."""


@dataclass(frozen=True)
class LinearWorld(envs.World):
    """A world with such an MDP."""

    def build(self):
        plain = envs.RandomLinear(4, 12, 3, gamma=0.9).mdp
        return Linear(plain.Phi, plain.M, plain.w, plain.nu0, plain.gamma)


def test_the_rewards_of_a_linear_world_are_never_looked_at():
    world = LinearWorld()
    phi = world.features
    expert = FeatureDataset.from_policy(world, world.mdp.uniform_policy, phi)
    Linear.armed = True
    try:
        for features in (phi, None):
            FraIL(world, expert, phi, features).learn(50)
    finally:
        Linear.armed = False


def reachable(thing, seen):
    """All objects of ours, and all arrays, that an object leads to."""
    if id(thing) in seen or isinstance(thing, str | int | float | type(None) | type):
        return
    seen[id(thing)] = thing
    if isinstance(thing, dict):
        parts = thing.values()
    elif isinstance(thing, list | tuple):
        parts = thing
    else:
        parts = getattr(thing, "__dict__", {}).values()
    for part in parts:
        reachable(part, seen)


WORLDS = (envs.RandomLinear(4, 12, 3), envs.FourRooms(), envs.LowerK())


@pytest.mark.parametrize("world", WORLDS)
def test_nothing_that_a_learner_holds_knows_the_rewards(world):
    il = FraIL(world, optimal_expert(world.mdp), states(world.mdp), world.features)
    il.learn(20)
    refuse_secrets(il, world)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("kind", IMITATORS.values(), ids=IMITATORS)
def test_nothing_that_an_imitator_holds_knows_the_rewards(kind, world):
    il = imitator(kind, world, recorded(world.mdp), K=20)
    il.learn(*([20] if kind.plays else []))
    refuse_secrets(il, world)


def refuse_secrets(il, world):
    """Refuse a learner that holds the world, or an array that equals its rewards."""
    seen = {}
    reachable(il, seen)
    held = list(seen.values())
    assert len(held) > (50 if isinstance(il, FraIL) else 20)
    assert not [thing for thing in held if isinstance(thing, envs.World | LinearMDP)]
    secrets = [world.mdp.r, getattr(world.mdp, "w", world.mdp.r)]
    for array in (thing for thing in held if isinstance(thing, np.ndarray)):
        for secret in secrets:
            assert array.size != secret.size or not np.array_equal(array.ravel(), secret.ravel())
