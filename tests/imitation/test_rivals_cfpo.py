"""Properties of CFPO, a policy player that shrinks uncertain features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference.mdps import draw_policies
from transcriptions.cfpo import Cfpo, contraction, theory_constants
from transcriptions.common import gap, occupancy
from transcriptions.worlds import random_world, reset_cliff

cfpos = pytest.mark.parametrize("learner", [Cfpo])


def one_hot(X, A):
    return np.eye(X * A).reshape(X, A, -1)


def new_cfpo(learner, w, **options):
    standard = {"K": 200, "beta_b": 0.05 * w.H, "beta_w": 0.3 * w.H, "eta": 0.5, "R_max": 2.0}
    Phi, rng = one_hot(*w.shape), np.random.default_rng(0)
    return learner(*w.world, Phi, lambda k: 2 * w.r * (k % 3) / 2, rng, **(standard | options))


@cfpos
@pytest.mark.parametrize("ridge", [1e-12, 0.5])
def test_9a_it_is_rmax_ravi_ucb_with_heaven_at_the_top_and_a_ridge_towards_it(learner, ridge):
    w = random_world(0)
    mine = new_cfpo(learner, w, ridge=ridge, tolerance=1e-13)
    for _ in range(25):
        N = np.zeros((5, 3, 5))
        for transition in mine.D:
            N[transition] += 1
        mine.episode()
        n = N.sum(axis=2)
        top = 2.0 * w.H
        r, V_r, CB, p = 2.0 - mine.l, top - mine.V, mine.beta_b * mine.u, 1 - mine.rho
        PV = N @ V_r / (n + ridge)
        heaven = (1 - p) * (r + w.gamma * PV + CB) + p * top
        more = mine.rho * w.gamma * top * ridge / (n + ridge)
        # where CB is of the order 1 / sqrt(ridge), rounding is relative to rho CB
        scale = 1e-9 * (1 + np.abs(mine.rho * CB))
        assert (np.abs(top - mine.Q - heaven - more) <= scale).all()
    assert mine.rho.max() > 0.1


@cfpos
def test_9b_contracted_values_are_below_the_true_ones_and_one_solve(learner):
    rng = np.random.default_rng(0)

    class Told(learner):
        def estimate(self, V):
            return w.P @ V

    for seed in range(10):
        w = random_world(seed)
        mine = new_cfpo(Told, w, beta_b=0.0, tolerance=1e-14)
        mine.l, mine.u, mine.rho = rng.random((5, 3)), np.zeros((5, 3)), rng.random((5, 3))
        mine.pi = draw_policies(rng, 1, 5, 3)[0]
        mine.evaluate()

        def solve(rho, w=w, mine=mine):
            system = np.eye(5) - w.gamma * np.einsum("xa,xay->xy", mine.pi * rho, w.P)
            return np.linalg.solve(system, (mine.pi * rho * mine.l).sum(axis=1))

        assert_allclose(mine.V, solve(mine.rho), rtol=0, atol=1e-10)
        true = solve(np.ones((5, 3)))
        assert (true - mine.V).min() >= -1e-10
        assert (true - mine.V).max() > 0.1


def test_9c_shrunk_features_have_small_norms():
    for K in (1, 10, 10**3, 10**6):
        for beta_w in (0.1, 1.0, 100.0, 1e5):
            y = np.linspace(0, 60 / beta_w, 2001)
            assert (y * contraction(K, beta_w, y) <= 2 * np.log(np.e * K) / beta_w).all()


def test_9_the_constants_of_theory():
    beta_b, beta_w, eta = theory_constants(d=12, H=10, A=2, K=2000)
    assert beta_w == pytest.approx(775_000, rel=1e-3)
    assert beta_w / beta_b == pytest.approx(4 * np.log(np.e * 2000), rel=1e-12)
    assert eta == pytest.approx(np.sqrt(0.9 * np.log(4000) * np.log(2) / 2000), rel=1e-12)


@cfpos
def test_9_it_learns_on_the_reset_cliff(learner):
    w = reset_cliff(5, 2, 0.8, seed=1)
    mine = learner(
        *w.world, one_hot(5, 2), lambda k: w.r, np.random.default_rng(0), K=200, beta_b=0.03 * w.H,
        beta_w=0.1 * w.H, eta=1.0, ridge=0.01,
    )  # fmt: skip
    for _ in range(200):
        mine.episode()
    gaps = [gap(*w.world, w.r, occupancy(*w.world, w.expert), pi) for pi in mine.policies]
    assert np.mean(gaps[-30:]) < 0.3 * gaps[0]
