"""Updates in rounds give the numbers of updates of all pairs, whatever is dropped on the way."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from optimist import FraIL, envs
from optimist.agents import Optimist, RmaxRaviUcb, VariantAgent, finite_driver
from optimist.core import (
    FixedBonus,
    Never,
    NoiseBonus,
    Sigmoid,
    Switching,
    Threshold,
    VarianceBonus,
    Variant,
)
from optimist.features import OneHotState, StateOnly
from optimist.imitation import FeatureDataset
from optimist.mdp import FiniteMDP

ADAPTIVE = Optimist.Config().variant()
MANY = {"updates": 40, "tolerance": 1e-6}
VARIANTS = {
    "Optimist": ADAPTIVE,
    "a bound on the values": replace(ADAPTIVE, v_max=3.0),
    "fixed bonus, novelty": replace(ADAPTIVE, bonus=FixedBonus(0.3)),
    "sigmoid": Variant(eta=10.0, bonus=FixedBonus(0.5), ascension=Sigmoid(4.0, 2.0), **MANY),
    "threshold": Variant(eta=3.0, bonus=FixedBonus(0.1), ascension=Threshold(0.5), **MANY),
    "plain bonuses": Variant(eta=30.0, bonus=FixedBonus(0.1), ascension=Never(), **MANY),
    "deviations": Variant(eta=10.0, bonus=VarianceBonus(0.1), ascension=Sigmoid(4.0, 2.0), **MANY),
    "noise": Variant(eta=10.0, bonus=NoiseBonus(0.1), ascension=Never(), **MANY),
    "lazy": replace(ADAPTIVE, lazy=True),
    "every update": replace(ADAPTIVE, tolerance=0.0, updates=30),
}
WORLDS = {
    "random": lambda: envs.RandomTabular(12, 4, gamma=0.95, seed=1),
    "lake": lambda: envs.GridWorld("S..O\n.#..\nO..G", slip=0.3, gamma=0.97),
    "sea": lambda: envs.DeepSea(6, slip=0.1, gamma=0.95),
    "dense": lambda: envs.RandomLinear(4, 13, 3, gamma=0.9),
}


@pytest.fixture(autouse=True)
def in_small_worlds(monkeypatch):
    """Rounds in worlds of few pairs too, where they do not pay."""
    monkeypatch.setattr(finite_driver, "FEW", 0)


def learnt(agent, episodes=60):
    """The columns of the history, and all arrays in the end."""
    history = agent.learn(episodes)
    columns = {name: np.asarray(column) for name, column in history.table().items()}
    known = {f"last {name}": a for name, a in vars(agent.diagnostics).items() if a is not None}
    return columns | {name: np.asarray(a) for name, a in known.items()}


def assert_same_numbers(make, monkeypatch, rtol=1e-8):
    """With rounds and without."""
    found = learnt(make())
    with monkeypatch.context() as m:
        m.setattr(finite_driver, "FEW", 10**9)
        wanted = learnt(make())
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        scale = np.abs(array[np.isfinite(array)]).max(initial=1e-3)
        np.testing.assert_allclose(found[name], array, rtol=rtol, atol=rtol * scale, err_msg=name)
    return found, wanted


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", VARIANTS)
def test_rounds_give_the_numbers_of_all_updates(name, world, monkeypatch):
    place = WORLDS[world]()
    found, _ = assert_same_numbers(
        lambda: VariantAgent(place, config=VARIANTS[name], seed=3), monkeypatch
    )
    assert found["last epoch"] > 3


@pytest.mark.parametrize(
    ("gamma", "steady", "eta", "every"),
    [
        *((0.97, 0.5, eta, 1) for eta in (0.5, 1.0, 1.5)),
        # Here it comes back after a later drop, when part of the rise is past.
        *((0.97, 0.6, 1.0, 3), (0.98, 0.5, 1.0, 2)),
    ],
)
def test_what_was_dropped_takes_part_again(gamma, steady, eta, every, monkeypatch):
    """A room whose pay comes and goes is worth less than the other one after some forty updates.

    By then the action that leads to that one has been dropped; soon it is the more likely one.
    """
    P = np.zeros((3, 2, 3))
    P[0, 0, 1] = P[0, 1, 2] = 1
    P[1, :, 1] = P[2, :, 2] = 1
    r = np.array([[[0.0, 0.0], [steady, 0.0], [pays, 0.0]] for pays in (1.0, 0.0)])
    mdp = FiniteMDP(P, r[0], [0.6, 0.2, 0.2], gamma)
    config = replace(ADAPTIVE, eta=eta, tolerance=0.0)
    make = partial(VariantAgent, mdp, config=config, rewards=Switching(r, every=every), seed=0)
    one, values = make(), []
    with monkeypatch.context() as m:
        m.setattr(finite_driver, "FEW", 10**9)
        other = make()
        for _ in range(80):
            other.learn(1)
            values.append(np.hstack([other.diagnostics.V, other.diagnostics.pi.ravel()]))
    for wanted in values:
        one.learn(1)
        found = np.hstack([one.diagnostics.V, one.diagnostics.pi.ravel()])
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-8)
    best = np.array(values)[-20:, 3:].reshape(20, 3, 2)[:, 0].argmax(axis=1)
    assert len(set(best.tolist())) == 2


@pytest.mark.parametrize("make", [envs.SixArms, partial(envs.RandomTabular, 20, 4, seed=2)])
def test_long_discounts(make, monkeypatch):
    world = make(gamma=0.99)
    assert_same_numbers(lambda: Optimist(world, seed=0), monkeypatch, rtol=1e-7)


def test_all_updates_of_the_papers_rule(monkeypatch):
    world = envs.FourRooms(gamma=0.95)
    assert_same_numbers(lambda: RmaxRaviUcb(world, updates=30, seed=1), monkeypatch)


def test_rewards_that_change(monkeypatch):
    """A chooser's, every third episode, and those of FRA-IL after each."""
    world = envs.GridWorld(gamma=0.9)
    r = np.stack([world.mdp.r, 1 - world.mdp.r, world.mdp.r / 2])
    assert_same_numbers(lambda: Optimist(world, rewards=Switching(r, every=3), seed=2), monkeypatch)
    phi_r = StateOnly(OneHotState(world.mdp.n_states), world.mdp.n_actions)
    expert = FeatureDataset.from_policy(world, world.mdp.optimal().policy, phi_r)
    assert_same_numbers(lambda: FraIL(world, expert, player=Optimist.Config(), seed=2), monkeypatch)


@pytest.mark.bits
@pytest.mark.parametrize("world", ["lake", "dense"])
def test_a_run_goes_on_byte_for_byte(world, tmp_path):
    place = WORLDS[world]()
    whole, part = Optimist(place, seed=1), Optimist(place, seed=1)
    whole.learn(50)
    for _ in range(10):
        part.learn(1)
    part.learn(20)
    part.save(tmp_path / "part")
    again = Optimist.load(tmp_path / "part", place)
    again.learn(20)
    whole.save(tmp_path / "whole")
    wanted = vars(whole.diagnostics)
    for name, found in vars(again.diagnostics).items():
        np.testing.assert_array_equal(found, wanted[name], err_msg=name)
    assert again.policy.updates == whole.policy.updates
