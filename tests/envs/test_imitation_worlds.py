"""ResetCliff, StandardImitation and RandomMixture: arrays, and the losses they are made for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference.solves import as_table

from optimist.envs import RandomMixture, ResetCliff, StandardImitation
from optimist.features import OneHot
from optimist.imitation import BehaviouralCloning

CLIFFS = [
    ResetCliff(),
    ResetCliff(7, 3, m=5, seed=2, gamma=0.5),
    ResetCliff(9, 2, m=40, pairs=True, seed=1, gamma=0.97),
    ResetCliff(2, 4, pairs=True),
]


@pytest.mark.parametrize("world", CLIFFS, ids=repr)
def test_the_arrays_of_a_cliff(world):
    X, A, best = world.n, world.n_actions, world.special_actions
    P, r = np.zeros((X, A, X)), np.zeros((X, A))
    P[..., -1] = 1
    for x in range(X - 1):
        P[x, best[x]] = world.rho
        r[x] = np.arange(A) == best[x] if world.pairs else 1
    mdp = world.mdp
    assert_array_equal(as_table(mdp.kernel, mdp), P)
    assert_array_equal(mdp.r, r)
    assert_array_equal(mdp.nu0, world.rho)
    assert_array_equal(world.expert.argmax(axis=1), best)


def test_rho_is_uniform_or_hard_for_m_pairs():
    assert_allclose(ResetCliff(5, 2).rho, [0.25] * 4 + [0], rtol=0, atol=1e-15)
    assert_allclose(ResetCliff(5, 2, m=3).rho, [0.25] * 4 + [0], rtol=0, atol=1e-15)
    assert_allclose(ResetCliff(5, 2, m=9).rho, [0.7, 0.1, 0.1, 0.1, 0], rtol=0, atol=1e-15)
    for m in (1, 2):
        with pytest.raises(ValueError, match=f"m must be 0 or at least n - 2 = 3; got {m}"):
            ResetCliff(5, 2, m=m)


@pytest.mark.parametrize("world", CLIFFS, ids=repr)
def test_what_cloning_loses_on_a_cliff(world):
    """It errs in unseen states with probability 1 - 1/A, and after an error all is lost."""
    gamma, H = world.gamma, world.mdp.horizon
    assert world.mdp.value(world.expert) == pytest.approx(H, rel=1e-13)
    assert world.mdp.optimal().value == pytest.approx(H, rel=1e-13)
    rng = np.random.default_rng(0)
    for size in (0, 1, 3, 10):
        seen = np.zeros(world.n, bool)
        seen[rng.choice(world.n, size, p=world.rho)] = True
        clone = np.where(seen[:, None], world.expert, 1 / world.n_actions)
        if size:
            x = np.flatnonzero(seen)
            pairs = BehaviouralCloning(x, world.special_actions[x], world.features)
            assert_array_equal(pairs.policy.table, clone)
        q = (1 - 1 / world.n_actions) * world.rho[~seen].sum()
        lost = (1 if world.pairs else gamma) * q * H**2 / (1 + gamma * q * H)
        assert H - world.mdp.value(clone) == pytest.approx(lost, rel=1e-12, abs=1e-12)


def test_what_cloning_loses_in_the_mean_on_the_hard_cliff():
    """Close to gamma H^2 q / (1 + gamma H q) and below it, as the loss is concave in q."""
    m, world = 1000, ResetCliff(20, 5, m=1000)
    rho, gamma, H, rng = world.rho, world.gamma, world.mdp.horizon, np.random.default_rng(0)
    unseen = rng.multinomial(m, rho, size=4000) == 0
    q = 0.8 * unseen @ rho
    lost = gamma * q * H**2 / (1 + gamma * q * H)
    mean_q = 0.8 * (rho * (1 - rho) ** m).sum()
    bound = gamma * H**2 * mean_q / (1 + gamma * H * mean_q)
    error = 4.5 * lost.std() / np.sqrt(4000)
    assert 0.97 * bound - error < lost.mean() < bound + error
    limit = gamma * H**2 * 0.8 * 18 / (np.e * m)
    assert (bound, limit) == (pytest.approx(0.455, abs=5e-4), pytest.approx(0.477, abs=5e-4))


def test_standard_imitation_matches_its_description():
    world = StandardImitation(6, 3, seed=4, gamma=0.8)
    mdp = world.mdp
    table = np.repeat(np.eye(6)[:, None], 3, axis=1)
    assert_array_equal(as_table(mdp.kernel, mdp), table)
    assert_array_equal(mdp.r, np.arange(3) == world.special_actions[:, None])
    assert_allclose(mdp.nu0, 1 / 6, rtol=1e-15)
    assert mdp.value(world.expert) == pytest.approx(5, rel=1e-13)
    clone = np.where(np.arange(6)[:, None] < 4, world.expert, 1 / 3)  # two states were not seen
    assert 5 - mdp.value(clone) == pytest.approx(5 * (1 - 1 / 3) * 2 / 6, rel=1e-13)


def test_minimisers_of_matching_lose_up_to_the_frequencies_that_are_missing():
    """The least distance is that of the marginals; the expert and a worse policy attain it."""
    world, m = StandardImitation(20, 5), 50
    mdp, rho, H = world.mdp, world.mdp.nu0, world.mdp.horizon
    rng, worst = np.random.default_rng(0), []
    for _ in range(400):
        found = rng.multinomial(m, rho) / m
        kept = np.minimum(found / rho, 1)[:, None]
        wrong = np.roll(world.expert, 1, axis=1)
        policy = kept * world.expert + (1 - kept) * wrong
        target = found[:, None] * world.expert
        for pi in (policy, world.expert):
            distance = np.abs(mdp.occupancy(pi) - target).sum()
            assert distance == pytest.approx(np.abs(rho - found).sum(), rel=1e-12)
        worst.append(H - mdp.value(policy))
        assert worst[-1] == pytest.approx(H * np.maximum(rho - found, 0).sum(), rel=1e-9)
    assert np.mean(worst) == pytest.approx(H * np.sqrt(20 / (2 * np.pi * m)), rel=0.1)


@pytest.mark.parametrize("kind", [ResetCliff, StandardImitation])
def test_special_actions_are_scattered_by_the_seed(kind):
    world = kind(200, 5, seed=3)
    assert_array_equal(kind(200, 5, seed=3).special_actions, world.special_actions)
    assert (kind(200, 5, seed=4).special_actions != world.special_actions).mean() > 0.6
    assert np.bincount(world.special_actions).min() > 20


def test_a_mixture_is_one_of_its_kernels():
    world = RandomMixture(3, 12, 2, successors=4, paying=0.25, seed=5, gamma=0.8)
    theta, kernels = world.theta, world.kernels
    assert kernels.shape == (3, 12, 2, 12)
    assert ((kernels > 0).sum(axis=-1) == 4).all()
    assert_allclose(kernels.sum(axis=-1), 1, rtol=0, atol=1e-12)
    assert theta.min() > 0
    assert theta.sum() == pytest.approx(1, rel=1e-14)
    P = sum(weight * kernel for weight, kernel in zip(theta, kernels, strict=True))
    assert_allclose(world.mdp.P, P, rtol=0, atol=1e-15)
    assert (world.mdp.r.max(axis=1) > 0).sum() == 3
    assert isinstance(world.features, OneHot)
    for array in (theta, kernels):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_the_seed_of_a_mixture_determines_all_of_it():
    first, again, other = (RandomMixture(2, 9, 2, seed=seed) for seed in (1, 1, 2))
    for name in ("theta", "kernels"):
        assert_array_equal(getattr(first, name), getattr(again, name))
        assert (getattr(first, name) != getattr(other, name)).any()
    assert (first.kernels[0] != first.kernels[1]).any()
    assert_array_equal(RandomMixture(1, 9, 2).mdp.P, RandomMixture(1, 9, 2).kernels[0])
