"""Each fast imitator equals its plain transcription, on several worlds and seeds.

Policies of linear programmes are compared up to rounding: sparse and dense sums differ in it.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from transcriptions import mb_tail, mimic_md, mobile
from transcriptions.common import record, whole
from transcriptions.worlds import random_world, reset_cliff, standard_imitation

from optimist.imitation import MbTail, MimicMD, Mobile, TrajectoryDataset
from optimist.mdp import FiniteMDP

ROUNDING = 1e-12

WORLDS = {
    "random": random_world(1, n=8),
    "large": random_world(2, n=30, n_actions=4),
    "cliff": reset_cliff(),
    "hard cliff": reset_cliff(10, m=12, seed=3),
    "absorbing": standard_imitation(),
}


def setting(name, seed, trajectories=7, length=20):
    """Arrays of a world, the world, and the expert's trajectories, as arrays and as data."""
    w = WORLDS[name]
    states, actions = record(
        w.P, w.nu0, w.expert, trajectories, length, np.random.default_rng(seed)
    )
    if name.endswith(
        "cliff"
    ):  # there the expert is uniform in the bad state, which it never visits
        assert (states < len(w.P) - 1).all()
    world = FiniteMDP(w.P, w.r, w.nu0, w.gamma)
    return w, world, (states, actions), TrajectoryDataset(states, actions)


def generator(seed):
    """The generator that a learner of this seed plays with."""
    return np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[0])


each = pytest.mark.parametrize("name", WORLDS)
seeds = pytest.mark.parametrize("seed", [0, 1])


@each
@seeds
@pytest.mark.parametrize("indexed", [False, True])
def test_mimic_md(name, seed, indexed):
    w, world, arrays, data = setting(name, seed)
    il = MimicMD(world, data, seed=seed, indexed=indexed)
    il.learn()
    plain = mimic_md.mimic_md_indexed if indexed else mimic_md.mimic_md
    other = plain(*w.world, *arrays, generator(seed))
    assert_array_equal(il.target.kappa, other.kappa)
    assert_allclose(il.target.inside, other.mu_in, atol=ROUNDING)
    assert_allclose(il.target.outside, other.mu_out, atol=ROUNDING)
    assert_allclose(il.tables, other.policy.reshape(il.tables.shape), atol=ROUNDING)
    assert_allclose(il.objective, other.matching.objective, atol=ROUNDING)


@each
@seeds
@pytest.mark.parametrize("theory", [False, True])
def test_mobile(name, seed, theory):
    w, world, (states, actions), data = setting(name, seed)
    X, A = w.shape
    config = Mobile.Config.theory(delta=0.2) if theory else Mobile.Config(c=0.2)
    il = Mobile(world, data, seed=seed, stride=1, config=config)
    il.learn(40)
    il.learn(20)
    bonus = mobile.practical_bonus(w.gamma, 0.2)
    if theory:
        bonus = mobile.theory_bonus(w.H, X, A, 0.2)
    m = whole(states, actions, X, A, w.gamma).sum(axis=1)
    other = mobile.Mobile(*w.world, m, generator(seed), bonus=bonus)
    for k in range(60):
        assert_allclose(il.history.policies[k], other.pi, atol=ROUNDING)
        other.episode()
        assert il.history.epoch[k] == len(other.solutions)
    assert il.steps == other.play.steps
    assert_allclose(il.output.table, other.output, atol=ROUNDING)
    assert_allclose(il.certificate, other.certificate, atol=ROUNDING)


@each
@seeds
@pytest.mark.parametrize("kind", ["practical", "theory", "copy"])
def test_mb_tail(name, seed, kind):
    w, world, arrays, data = setting(name, seed)
    X, A = w.shape
    config = MbTail.Config.theory(w.gamma) if kind == "theory" else MbTail.Config()
    il = MbTail(world, data, seed=seed, K=120, config=config, copy=kind == "copy")
    for n in (1, 30, 60, 29):  # within a phase, and across both
        il.learn(n)
    B = mb_tail.practical_bonus(w.H)
    if kind == "theory":
        B = mb_tail.theory_bonus(w.H, X, A)
    options = {"B": B, "steps": il.config.backward, "copy": il.config.copy}
    other = mb_tail.MbTail(*w.world, *arrays, 120, generator(seed), **options)
    assert_array_equal(il.target.kappa, other.found.kappa)
    assert_allclose(il.target.inside, other.found.mu_in, atol=ROUNDING)
    assert_allclose(il.target.outside, other.found.mu_out, atol=ROUNDING)
    assert_allclose(il.output.table, other.policy, atol=ROUNDING)
    assert_allclose(il.objective, other.found.matching.objective, atol=ROUNDING)
