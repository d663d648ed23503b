"""Resuming equals not having stopped, bit for bit."""

import itertools

import numba
import numpy as np
import pytest
from reference.variants import VARIANTS

from optimist import FiniteMDP, OptimisticVI, RaviUcb, Rmax, envs
from optimist.agents import Optimist, VariantAgent
from optimist.agents.checkpoint import FILE
from optimist.core import finite
from optimist.errors import FileError
from optimist.features import OneHot, Table


def reload(agent, folder):
    agent.save(folder)
    return type(agent).load(folder, agent.mdp, agent.features)


@pytest.mark.parametrize(
    ("name", "stride"), list(zip(VARIANTS, itertools.cycle([3, 1, 0, 10]), strict=False))
)
def test_resuming_is_not_having_stopped(setting, make, same, name, stride, tmp_path):
    """Before the first episode, after it, and in the middle of an epoch."""
    whole, parts = (make(setting, VARIANTS[name], seed=5, stride=stride) for _ in range(2))
    within_an_epoch = False
    for episodes in (1, 2, 40, 7, 250):
        parts = reload(parts, tmp_path)
        before = parts.diagnostics.epoch
        later = [agent.learn(episodes) for agent in (whole, parts)]
        within_an_epoch |= later[0].epoch[0] == before
        assert later[0].first == later[1].first
        for column, found in later[0].table().items():
            assert found.tobytes() == later[1].table()[column].tobytes(), column
        same(whole, parts)
    assert within_an_epoch
    states = np.arange(whole.mdp.n_states)
    for kind in ("policy", "output"):
        found = [getattr(agent, kind).probabilities(states) for agent in (whole, parts)]
        assert found[0].tobytes() == found[1].tobytes()
    if stride:
        np.testing.assert_array_equal(whole.history.regrets(), parts.history.regrets())


@pytest.mark.parametrize("kind", [RaviUcb, OptimisticVI, Rmax, Optimist])
def test_every_learner_is_restored_exactly(same, kind, tmp_path):
    world, folder = envs.RiverSwim(5, gamma=0.9), str(tmp_path / "a" / "new" / "folder")
    whole, first = (kind(world, seed=4, stride=2) for _ in range(2))
    whole.learn(100)
    first.learn(37)
    first.save(folder)
    again = kind.load(folder, world)
    assert type(again) is kind
    again.learn(63)
    same(whole, again)
    with pytest.raises(FileError, match=f"holds a {kind.__name__}, not a VariantAgent"):
        VariantAgent.load(folder, world)


def test_a_saved_learner_is_not_bound_to_the_one_that_goes_on(setting, make, state_of, tmp_path):
    agent = make(setting, episodes=20)
    before = state_of(agent)
    agent.save(tmp_path)
    assert state_of(agent) == before
    agent.learn(20)
    assert state_of(VariantAgent.load(tmp_path, *setting)) == before
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
