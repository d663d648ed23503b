"""Resuming equals not having stopped, bit for bit."""

import numba
import numpy as np
import pytest

from optimist import Configuration, FiniteMDP, OptimisticVI, RaviUcb, Rmax, RmaxRaviUcb, envs
from optimist.agents.checkpoint import FILE
from optimist.core import (
    Adversary,
    Drifting,
    Sigmoid,
    Switching,
    Threshold,
    Truncation,
    engine,
)
from optimist.errors import FileError
from optimist.features import OneHot, Table

INFINITY = float("inf")

CONFIGURATIONS = {
    "sigmoid": Configuration(eta=0.1, beta=0.3, ascension=Sigmoid(4.1, 2.3), updates=2),
    "truncation": Configuration(eta=0.1, beta=1.0, ascension=Truncation()),
    "threshold": Configuration(eta=0.1, beta=0.1, ascension=Threshold(0.3), ridge=0.3),
    "greedy": Configuration(eta=INFINITY, beta=1 / 3, ascension=Sigmoid(INFINITY, 2.3)),
    "adaptive": Configuration.adaptive(),
    "anytime": Configuration(eta=0.1, beta=0.3, ascension=Sigmoid(4, 2), anytime=True),
    "options": Configuration(
        eta=10, beta=1, ascension=Sigmoid(4, 2), r_max=3, ridge=None, observe_last=True
    ),
}


def reload(agent, folder, rewards=None):
    agent.save(folder)
    return type(agent).load(folder, agent.mdp, agent.features, rewards)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_resuming_is_not_having_stopped(setting, make, same, name, tmp_path):
    whole = make(setting, CONFIGURATIONS[name], seed=5, stride=3)
    parts = make(setting, CONFIGURATIONS[name], seed=5, stride=3)
    for episodes in (1, 2, 40, 7, 250):
        parts = reload(parts, tmp_path)
        same.check(whole, parts)
        later = [agent.learn(episodes) for agent in (whole, parts)]
        for column in (*same.columns, "evaluated", "policies"):
            assert getattr(later[0], column).tobytes() == getattr(later[1], column).tobytes()
        assert later[0].first == later[1].first
        same.check(whole, parts)
    states = np.arange(whole.mdp.n_states)
    for kind in ("policy", "output"):
        found = [getattr(agent, kind).probabilities(states) for agent in (whole, parts)]
        assert found[0].tobytes() == found[1].tobytes()
    np.testing.assert_array_equal(whole.history.regrets(), parts.history.regrets())


def test_an_epoch_goes_on_where_it_was(setting, make, same, tmp_path):
    agent = make(setting, episodes=60)
    while agent.learn(1).epoch[-1] != agent.history.epoch[-2]:
        pass
    assert agent.policy.updates > agent.config.updates
    again = reload(agent, tmp_path)
    assert again.policy.updates == agent.policy.updates
    assert (again.learn(1).epoch == agent.learn(1).epoch).all()
    same.check(agent, again)


def test_a_saved_learner_is_not_bound_to_the_one_that_goes_on(setting, make, same, tmp_path):
    agent = make(setting, episodes=20)
    before = same.state(agent)
    agent.save(tmp_path)
    assert same.state(agent) == before
    agent.learn(20)
    again = RmaxRaviUcb.load(tmp_path, *setting)
    assert same.state(again) == before
    again.learn(20)
    same.check(agent, again)


def test_a_loaded_learner_goes_on_without_compiling_anew(setting, make, tmp_path, monkeypatch):
    """The compiled loop is called with arrays of the same types as before."""
    agent, types = make(setting, episodes=5), []
    again = reload(agent, tmp_path)
    usual = engine.run
    monkeypatch.setattr(
        engine, "run", lambda *a: (types.append([numba.typeof(x) for x in a]), usual(*a))
    )
    agent.learn(5)
    again.learn(5)
    assert len(types) >= 2
    assert all(found == types[0] for found in types)


def test_the_last_save_counts(setting, make, same, tmp_path):
    agent = make(setting)
    for _ in range(4):
        agent.learn(3)
        agent.save(tmp_path)
    assert RmaxRaviUcb.load(tmp_path, *setting).episodes == 12
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("stride", [0, 1, 10])
def test_any_stride_is_kept(setting, make, same, stride, tmp_path):
    agent = make(setting, episodes=25, stride=stride)
    again = reload(agent, tmp_path)
    same.check(agent, again)
    agent.learn(25)
    again.learn(25)
    same.check(agent, again)


def conflicting(mdp):
    """Three rewards, each for one action."""
    one_action = np.broadcast_to(np.eye(3)[:, None], (3, *mdp.r.shape))
    return one_action * (0.5 + 0.5 * mdp.r)


def choosers(mdp):
    candidates = conflicting(mdp)
    return {
        "switching": lambda: Switching(candidates, every=7),
        "drifting": lambda: Drifting(candidates[0], candidates[1], episodes=50),
        "adversary": lambda: Adversary(mdp, candidates),
        "patient adversary": lambda: Adversary(mdp, candidates, every=7),
    }


@pytest.mark.parametrize("name", ["switching", "drifting", "adversary", "patient adversary"])
@pytest.mark.parametrize("anytime", [False, True])
def test_changing_rewards_are_given_again(setting, make, same, name, anytime, tmp_path):
    config = Configuration(eta=0.3, beta=0.3, ascension=Sigmoid(4.0, 2.0), anytime=anytime)
    chooser = choosers(setting[0])[name]
    whole = make(setting, config, rewards=chooser(), stride=1)
    parts = make(setting, config, rewards=chooser(), stride=1)
    whole.learn(90)
    for episodes in (10, 3, 47, 30):
        parts.learn(episodes)
        parts = reload(parts, tmp_path, chooser())
    same.check(whole, parts)
    assert len(whole.history.rewards) > 2
    np.testing.assert_array_equal(whole.history.regrets(), parts.history.regrets())


LEARNERS = {
    "ravi": lambda mdp: RaviUcb(
        mdp, config=RaviUcb.Config(beta=0.3, eta=2.0, updates=3), seed=4, stride=2
    ),
    "optimistic": lambda mdp: OptimisticVI(
        mdp, config=OptimisticVI.Config(beta=2.0, updates=3), seed=4, stride=2
    ),
    "rmax": lambda mdp: Rmax(mdp, config=Rmax.Config(visits=3, updates=20), seed=4, stride=2),
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
    with pytest.raises(FileError, match=f"holds a {type(first).__name__}, not a RmaxRaviUcb"):
        RmaxRaviUcb.load(tmp_path, mdp)


def test_a_world_does_as_well_as_its_mdp(same, tmp_path):
    world = envs.RiverSwim(5, gamma=0.9)
    agent = RmaxRaviUcb(world)
    agent.learn(20)
    agent.save(str(tmp_path / "a" / "new" / "folder"))
    same.check(agent, RmaxRaviUcb.load(str(tmp_path / "a" / "new" / "folder"), world))


def other_worlds(mdp):
    P = mdp.P.copy()
    P[2, 1] = P[2, 1][::-1]
    yield FiniteMDP(P, mdp.r, mdp.nu0, mdp.gamma)
    yield FiniteMDP(mdp.P, mdp.r, mdp.nu0[::-1], mdp.gamma)
    yield FiniteMDP(mdp.P, mdp.r, mdp.nu0, np.nextafter(mdp.gamma, 1))
    yield FiniteMDP(mdp.P, mdp.r[::-1], mdp.nu0, mdp.gamma)
    yield envs.RiverSwim(6)


@pytest.mark.parametrize("which", range(5))
def test_another_world_is_refused(mdp, which, tmp_path):
    agent = RmaxRaviUcb(mdp)
    agent.learn(5)
    agent.save(tmp_path)
    with pytest.raises(FileError, match="another world"):
        RmaxRaviUcb.load(tmp_path, list(other_worlds(mdp))[which])


@pytest.mark.parametrize("name", LEARNERS)
def test_a_world_of_another_processor_is_the_same(mdp, name, tmp_path):
    """Its numbers may differ by roundings, and no more."""
    agent = LEARNERS[name](mdp)
    agent.learn(5)
    agent.save(tmp_path)
    for step, refused in ((1e-15, False), (1e-6, True)):
        P, r = mdp.P.copy(), mdp.r * (1 + step)
        P[0, 0, :2] += step * np.array([1, -1])
        there = FiniteMDP(P, mdp.r, mdp.nu0, mdp.gamma), FiniteMDP(mdp.P, r, mdp.nu0, mdp.gamma)
        for world in there:
            if refused:
                with pytest.raises(FileError, match="another world"):
                    type(agent).load(tmp_path, world)
            else:
                assert type(agent).load(tmp_path, world).episodes == 5


def test_other_features_are_refused(make, settings, mdp, tmp_path):
    Phi = np.random.default_rng(0).normal(size=(6, 3, 18))
    make((mdp, Table(Phi)), episodes=5).save(tmp_path)
    assert RmaxRaviUcb.load(tmp_path, mdp, Table(Phi)).episodes == 5
    for features in (None, Table(Phi[::-1]), Table(2 * Phi), OneHot(6, 3), settings["blocks"]()[1]):
        with pytest.raises(FileError, match="with other features"):
            RmaxRaviUcb.load(tmp_path, mdp, features)
