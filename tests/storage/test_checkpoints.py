"""Resuming equals not having stopped, bit for bit."""

import math

import numba
import numpy as np
import pytest

from optimist import FiniteMDP, OptimisticVI, RaviUcb, Rmax, envs
from optimist.agents import Optimist, VariantAgent
from optimist.agents.checkpoint import FILE
from optimist.core import FixedBonus, Sigmoid, Threshold, Truncation, Variant, finite
from optimist.errors import FileError
from optimist.features import OneHot, Table

CONFIGURATIONS = {  # each with a stride
    "sigmoid": (3, Variant(eta=0.1, bonus=FixedBonus(0.3), ascension=Sigmoid(4.1, 2.3), updates=2)),
    "truncation": (1, Variant(eta=0.1, bonus=FixedBonus(1.0), ascension=Truncation())),
    "threshold": (
        0, Variant(eta=0.1, bonus=FixedBonus(0.1), ascension=Threshold(0.3), ridge=0.3),
    ),
    "greedy": (
        3, Variant(eta=math.inf, bonus=FixedBonus(1 / 3), ascension=Sigmoid(math.inf, 2.3)),
    ),
    "adaptive": (10, Optimist.Config().variant()),
    "anytime": (3, Variant(eta=0.1, bonus=FixedBonus(0.3), ascension=Sigmoid(4, 2), anytime=True)),
    "options": (
        3,
        Variant(
            eta=10, bonus=FixedBonus(1), ascension=Sigmoid(4, 2), r_max=3, ridge=None,
            observe_last=True,
        ),
    ),
}  # fmt: skip


def reload(agent, folder):
    agent.save(folder)
    return type(agent).load(folder, agent.mdp, agent.features)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_resuming_is_not_having_stopped(setting, make, same, name, tmp_path):
    """Before the first episode, after it, and in the middle of an epoch."""
    stride, config = CONFIGURATIONS[name]
    whole, parts = (make(setting, config, seed=5, stride=stride) for _ in range(2))
    within_an_epoch = False
    for episodes in (1, 2, 40, 7, 250):
        parts = reload(parts, tmp_path)
        same.check(whole, parts)
        before = parts.diagnostics.epoch
        later = [agent.learn(episodes) for agent in (whole, parts)]
        within_an_epoch |= later[0].epoch[0] == before
        for column in (*same.columns, "evaluated", "policies"):
            assert getattr(later[0], column).tobytes() == getattr(later[1], column).tobytes()
        assert later[0].first == later[1].first
        same.check(whole, parts)
    assert within_an_epoch
    states = np.arange(whole.mdp.n_states)
    for kind in ("policy", "output"):
        found = [getattr(agent, kind).probabilities(states) for agent in (whole, parts)]
        assert found[0].tobytes() == found[1].tobytes()
    if stride:
        np.testing.assert_array_equal(whole.history.regrets(), parts.history.regrets())


def test_a_saved_learner_is_not_bound_to_the_one_that_goes_on(setting, make, same, tmp_path):
    agent = make(setting, episodes=20)
    before = same.state(agent)
    agent.save(tmp_path)
    assert same.state(agent) == before
    agent.learn(20)
    again = VariantAgent.load(tmp_path, *setting)
    assert same.state(again) == before
    agent.save(tmp_path)  # the last save counts
    assert VariantAgent.load(tmp_path, *setting).episodes == 40
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_a_loaded_learner_goes_on_without_compiling_anew(setting, make, tmp_path, monkeypatch):
    """The compiled loop is called with arrays of the same types as before."""
    agent, types = make(setting, episodes=5), []
    again = reload(agent, tmp_path)
    usual = finite.run_finite
    monkeypatch.setattr(
        finite, "run_finite", lambda *a: (types.append([numba.typeof(x) for x in a]), usual(*a))
    )
    agent.learn(5)
    again.learn(5)
    assert len(types) >= 2
    assert all(found == types[0] for found in types)


LEARNERS = {
    "ravi": lambda mdp: RaviUcb(mdp, beta=0.3, eta=2.0, updates=3, seed=4, stride=2),
    "optimistic": lambda mdp: OptimisticVI(mdp, beta=2.0, updates=3, seed=4, stride=2),
    "rmax": lambda mdp: Rmax(mdp, visits=3, updates=20, seed=4, stride=2),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_comes_back_as_what_it_is(mdp, same, name, tmp_path):
    whole, first = LEARNERS[name](mdp), LEARNERS[name](mdp)
    whole.learn(100)
    first.learn(37)
    first.save(tmp_path)
    again = type(first).load(tmp_path, mdp)
    assert type(again) is type(first)
    again.learn(63)
    same.check(whole, again)
    with pytest.raises(FileError, match=f"holds a {type(first).__name__}, not a VariantAgent"):
        VariantAgent.load(tmp_path, mdp)


def test_a_world_does_as_well_as_its_mdp(same, tmp_path):
    world, folder = envs.RiverSwim(5, gamma=0.9), str(tmp_path / "a" / "new" / "folder")
    agent = Optimist(world)
    agent.learn(20)
    agent.save(folder)
    same.check(agent, Optimist.load(folder, world))


def test_another_world_is_refused_unless_it_differs_by_rounding(mdp, tmp_path):
    agent = Optimist(mdp)
    agent.learn(5)
    agent.save(tmp_path)
    P = mdp.P.copy()
    P[2, 1] = P[2, 1][::-1]
    others = [
        FiniteMDP(P, mdp.r, mdp.nu0, mdp.gamma),
        FiniteMDP(mdp.P, mdp.r, mdp.nu0[::-1], mdp.gamma),
        FiniteMDP(mdp.P, mdp.r, mdp.nu0, np.nextafter(mdp.gamma, 1)),
        FiniteMDP(mdp.P, mdp.r[::-1], mdp.nu0, mdp.gamma),
        envs.RiverSwim(6),
    ]
    alike = []
    for step, worlds in ((1e-15, alike), (1e-6, others)):  # as of another processor, or too far
        P, r = mdp.P.copy(), mdp.r * (1 + step)
        P[0, 0, :2] += step * np.array([1, -1])
        worlds += [
            FiniteMDP(P, mdp.r, mdp.nu0, mdp.gamma), FiniteMDP(mdp.P, r, mdp.nu0, mdp.gamma),
        ]  # fmt: skip
    for world in others:
        with pytest.raises(FileError, match="another world"):
            Optimist.load(tmp_path, world)
    for world in alike:
        assert Optimist.load(tmp_path, world).episodes == 5


def test_other_features_are_refused(make, settings, mdp, tmp_path):
    Phi = np.random.default_rng(0).normal(size=(6, 3, 18))
    make((mdp, Table(Phi)), episodes=5).save(tmp_path)
    assert VariantAgent.load(tmp_path, mdp, Table(Phi)).episodes == 5
    for features in (None, Table(Phi[::-1]), Table(2 * Phi), OneHot(6, 3), settings["blocks"]()[1]):
        with pytest.raises(FileError, match="with other features"):
            VariantAgent.load(tmp_path, mdp, features)
