"""Properties of CFPO, a policy player that shrinks uncertain features, of both its forms."""

import numpy as np
import pytest
from as_transcriptions import LibraryCfpo
from numpy.testing import assert_allclose
from reference.mdps import draw_policies
from transcriptions.cfpo import Cfpo, contraction, theory_constants
from transcriptions.common import gap, occupancy
from transcriptions.worlds import random_world, reset_cliff

import optimist as opt

cfpos = pytest.mark.parametrize("learner", [Cfpo, LibraryCfpo])


def one_hot(X, A):
    return np.eye(X * A).reshape(X, A, -1)


def new_cfpo(learner, w, **options):
    standard = {"K": 200, "beta_b": 0.05 * w.H, "beta_w": 0.3 * w.H, "eta": 0.5, "R_max": 2.0}
    Phi, rng = one_hot(*w.shape), np.random.default_rng(0)
    return learner(*w.world, Phi, lambda k: 2 * w.r * (k % 3) / 2, rng, **(standard | options))


def counts(mine, shape):
    """N of the transitions that the last Q was evaluated with."""
    N = np.zeros((*shape, shape[0]))
    for transition in mine.known:
        N[transition] += 1
    return N


@cfpos
@pytest.mark.parametrize("ridge", [1e-12, 0.5])
def test_9a_it_is_rmax_ravi_ucb_with_heaven_at_the_top_and_a_ridge_towards_it(learner, ridge):
    w = random_world(0)
    mine = new_cfpo(learner, w, ridge=ridge, tolerance=1e-13)
    for _ in range(25):
        mine.episode()
        N = counts(mine, w.shape)
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
def test_9b_contracted_values_are_one_solve_and_below_those_without_contraction(learner):
    """In the model P^ = N / (n + ridge), of which the ridge takes a part that costs nothing."""
    w = random_world(1)
    mine = new_cfpo(learner, w, tolerance=1e-14, most=5000)
    for _ in range(40):
        mine.episode()
        N = counts(mine, w.shape)
        model = N / (N.sum(axis=2, keepdims=True) + 1.0)

        def solve(rho, losses, model=model):
            system = np.eye(5) - w.gamma * np.einsum("xa,xay->xy", mine.pi * rho, model)
            return np.linalg.solve(system, (mine.pi * rho * losses).sum(axis=1))

        assert_allclose(mine.V, solve(mine.rho, mine.l - mine.beta_b * mine.u), rtol=0, atol=1e-9)
        whole = solve(1.0, mine.l)
        assert (whole - mine.V).min() >= -1e-9
    assert (whole - mine.V).max() > 0.1


def test_9b_contracted_values_are_below_the_true_ones_for_every_rho():
    rng = np.random.default_rng(0)

    class Told(Cfpo):
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


@cfpos
def test_9c_so_they_have_in_a_run(learner):
    w = random_world(2)
    mine, longest = new_cfpo(learner, w, beta_w=2.0 * w.H), 0.0
    for _ in range(30):
        mine.episode()
        shrunk = mine.u * mine.rho * 2.0 * w.H / (2 * np.log(np.e * 200))
        longest = max(longest, shrunk.max())
    assert 0.1 < longest <= 1


def test_9_the_constants_of_theory():
    beta_b, beta_w, eta = theory_constants(d=12, H=10, A=2, K=2000)
    assert beta_w == pytest.approx(775_000, rel=1e-3)
    assert beta_w / beta_b == pytest.approx(4 * np.log(np.e * 2000), rel=1e-12)
    assert eta == pytest.approx(np.sqrt(0.9 * np.log(4000) * np.log(2) / 2000), rel=1e-12)
    for R_max in (1.0, 3.0):
        c = opt.Cfpo.Config.theory(K=2000, d=12, n_actions=2, gamma=0.9, R_max=R_max)
        found = (c.beta / R_max, c.alpha * c.beta, c.eta * R_max, c.omega, c.r_max / R_max)
        assert_allclose(found, (beta_b, beta_w, eta, np.log(2000), 1.0), rtol=1e-12)


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


# That the library's are the transcription


def seeded(seed):
    """The generator of an agent of this seed."""
    return np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[0])


DENSE = np.random.default_rng(5).dirichlet(np.ones(7), (5, 3))


@pytest.mark.parametrize(("Phi", "ridge"), [(one_hot(5, 3), 1.0), (DENSE, 0.05)])
def test_the_agent_is_its_transcription(Phi, ridge):
    w = random_world(3)
    given = {"K": 300, "beta_b": 0.03 * w.H, "beta_w": 0.2 * w.H, "eta": 0.7, "R_max": 2.0}
    given |= {"ridge": ridge, "tolerance": 1e-13}

    def rewards(k):
        return 2 * w.r * (k % 3) / 2

    mine = LibraryCfpo(*w.world, Phi, rewards, np.random.default_rng(4), **given)
    other = Cfpo(*w.world, Phi, rewards, seeded(mine.agent.seed), **given, ahead=True)
    for _ in range(40):
        mine.episode()
        other.episode()
        assert mine.history.steps[0] == other.steps
        assert mine.history.epoch[0] == other.e
        assert_allclose(mine.policies[-1], other.policies[-1], rtol=0, atol=1e-9)
        for name in ("u", "rho", "V", "Q"):
            assert_allclose(getattr(mine, name), getattr(other, name), rtol=0, atol=1e-8)
    assert 3 < other.e < 40
    saved = mine.agent.policy.probabilities(np.arange(5))  # from the closed form
    assert_allclose(saved, mine.agent.diagnostics.pi, rtol=0, atol=1e-9)


def test_as_the_player_of_fra_il_it_is_its_transcription_on_those_rewards(grid):
    world, _, expert = grid
    player = opt.Cfpo.Config(eta=2.0, tolerance=1e-13)
    il = opt.FraIL(world, expert, player=player, K=40, seed=6, stride=1)
    history, c = il.learn(40, show_progress=False), il.variant
    mdp, (X, A) = world.mdp, world.mdp.r.shape
    other = Cfpo(
        mdp.P, mdp.nu0, mdp.gamma, one_hot(X, A),
        lambda k: np.repeat(history.weights[k - 1][:, None], A, axis=1) + il.shift, seeded(6),
        K=np.exp(c.ascension.omega), beta_b=c.bonus.beta, beta_w=c.bonus.beta * c.ascension.alpha,
        eta=c.eta, ridge=c.ridge, R_max=il.R_max, tolerance=1e-13, ahead=True,
    )  # fmt: skip
    for _ in range(40):
        other.episode()
    assert_allclose(history.policies, other.policies, rtol=0, atol=1e-8)
