"""ILARL and OGAIL equal their plain transcriptions, on several worlds and features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference.algorithm_2 import project_ball, project_box
from transcriptions.common import occupancy
from transcriptions.ilarl import Ilarl as PlainIlarl
from transcriptions.ogail import Ogail as PlainOgail
from transcriptions.worlds import random_mixture, random_world, reset_cliff

from optimist.features import OneHot, OneHotState, PerAction, StateFeatures, StateOnly, Table
from optimist.imitation import Ball, Box, FeatureDataset, Ilarl, OgaIL
from optimist.mdp import FiniteMDP
from optimist.theory.imitation import step

WORLDS = {
    "random": random_world(1, n=6),
    "stochastic expert": random_world(2, n=5, deterministic=False),
    "cliff": reset_cliff(),
}


class Angle(StateFeatures):
    """The states on a circle, so that each action has a block of size two."""

    def __init__(self):
        super().__init__(dim=2, bound=1.0, blocks=1)

    def __call__(self, observations):
        x = np.asarray(observations)
        return np.stack([np.cos(x), np.sin(x)], axis=-1)


def generator(seed):
    """The generator that a learner of this seed plays with."""
    return np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[0])


def feature_map(kind, X, A):
    if kind == "states":
        return StateOnly(OneHotState(X), A)
    if kind == "pairs":
        return OneHot(X, A)
    if kind == "blocks":
        return PerAction(Angle(), A)
    return Table(np.random.default_rng(5).uniform(-1, 1, (X, A, 4)) / 2)


def setting(w, kind):
    """A world, reward features, and the expert's features with their mean."""
    world = FiniteMDP(w.P, w.r, w.nu0, w.gamma)
    phi_r = feature_map(kind, *w.shape)
    Phi_r = phi_r.all_actions(np.arange(len(w.P)))
    mean = np.einsum("xa,xai->i", occupancy(*w.world, w.expert), Phi_r)
    return world, phi_r, Phi_r, FeatureDataset(mean[None], bound=phi_r.bound, exact=True)


kinds = pytest.mark.parametrize("kind", ["states", "pairs", "dense"])


@pytest.mark.parametrize("name", WORLDS)
@kinds
@pytest.mark.parametrize("transitions", ["pairs", "dense", "blocks"])
@pytest.mark.parametrize("batch", [1, 8])
def test_ilarl(name, kind, transitions, batch):
    w, K, seed = WORLDS[name], 50, 3
    world, phi_r, Phi_r, data = setting(w, kind)
    phi = feature_map(transitions, *w.shape)
    il = Ilarl(
        world, data, phi_r, phi, K=K, seed=seed, stride=1, batch=batch, eta=3.0, beta=0.1,
        ridge=0.1, weights=Ball(0.7),
    )  # fmt: skip
    for n in (3, 20, 27):  # within a batch, and across some
        il.learn(n)
    other = PlainIlarl(
        *w.world, phi.all_actions(np.arange(len(w.P))), Phi_r, data.mean, generator(seed),
        batch=batch, alpha=step(K, 0.7, phi_r.bound), eta=3.0 / il.R_max, beta=0.1 * il.R_max * w.H,
        ridge=0.1, shift=il.shift, R_max=il.R_max, radius=0.7,
    )  # fmt: skip
    for _ in range(K // batch):
        other.learn_batch()
    J, now, history = K // batch, il.diagnostics, il.history
    assert_allclose(history.policies[: J * batch : batch], other.policies, atol=1e-10)
    once = history.policies[: J * batch : batch]
    assert_array_equal(history.policies[: J * batch], np.repeat(once, batch, axis=0))
    assert_allclose(history.weights[: J * batch], other.weights, atol=1e-12)
    assert history.steps[: J * batch].sum() == other.play.steps
    assert_allclose(il.value_sum, other.S, rtol=1e-10)
    assert_allclose(now.V, other.V, rtol=1e-10)
    total = np.zeros((phi.dim, phi.dim))
    s = phi.dim // phi.blocks
    for b in range(phi.blocks):
        total[b * s : (b + 1) * s, b * s : (b + 1) * s] = now.Lambda[b]
    assert_allclose(total, other.Lambda, atol=1e-10)
    norms = np.einsum("xai,ij,xaj->xa", other.Phi, np.linalg.inv(other.Lambda), other.Phi)
    assert_allclose(now.CB, other.beta * np.sqrt(norms), rtol=1e-9)
    assert now.epoch == J
    assert np.ptp(other.S) > 0.1


def unit_kernels(X, A):
    """The d = X^2 A kernels of a table; each has one triple and is zero elsewhere."""
    return np.eye(X * A * X).reshape(-1, X, A, X)


def plain_ogail(w, kernels, Phi_r, data, il, seed, project):
    c, top = il.config, il.R_max * w.H
    A = w.shape[1]
    return PlainOgail(
        *w.world, kernels, Phi_r, data.mean, generator(seed), project=project, eta_r=il.eta_r,
        shift=il.shift, R_max=il.R_max, t_pi=c.policy_step * np.sqrt(2 * np.log(A) / il.K) / top,
        kappa=c.kappa * top, ridge=c.ridge, tolerance=c.tolerance, most=c.sweeps,
    )  # fmt: skip


def follow(il, other, K):
    """Play both side by side."""
    for _ in range(K):
        other.episode()
    history = il.history
    assert history.steps.sum() == other.play.steps
    assert_allclose(history.policies, other.policies, atol=1e-8)
    assert_allclose(il.last_reward_weights, other.w, atol=1e-12)
    assert_allclose(il.diagnostics.V, other.V, rtol=1e-8)
    assert_allclose(il.value_sum, other.Q_sum, rtol=1e-8)
    f, inverse = other.features(other.V), np.linalg.inv(other.Lambda)
    CB = other.kappa * np.sqrt(np.einsum("xai,ij,xaj->xa", f, inverse, f))
    assert_allclose(il.diagnostics.CB, CB, rtol=1e-6)
    assert_allclose(il.theta.ravel(), other.theta, atol=1e-8)
    assert np.abs(history.policies[-1] - history.policies[0]).max() > 0.01


@kinds
@pytest.mark.parametrize(
    ("weights", "project"),
    [(Ball(0.5), lambda w: project_ball(w, 0.5)), (Box(0, 1), lambda w: project_box(w, 0, 1))],
)
@pytest.mark.parametrize("d", [1, 3])
def test_ogail(kind, weights, project, d):
    w, kernels, _ = random_mixture(4, d=d)
    world, phi_r, Phi_r, data = setting(w, kind)
    il = OgaIL(world, data, phi_r, kernels, K=60, seed=2, stride=1, weights=weights)
    for n in (1, 25, 34):
        il.learn(n)
    follow(il, plain_ogail(w, kernels, Phi_r, data, il, 2, project), 60)


@pytest.mark.parametrize("name", WORLDS)
def test_ogail_of_a_table(name):
    w = WORLDS[name]
    world, _, Phi_r, data = setting(w, "states")
    il = OgaIL(world, data, table=True, K=40, seed=1, stride=1, sweeps=30)
    il.learn(40)
    other = plain_ogail(w, unit_kernels(*w.shape), Phi_r, data, il, 1, lambda w: project_ball(w, 1))
    follow(il, other, 40)
