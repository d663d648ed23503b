"""Rewards of any range enter [0, R_max] and come back, and policies keep their order."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from reference.mdps import draw_mdp, draw_policies
from reference.refusals import assert_refuses
from reference.solves import as_table

from optimist.mdp import AffineRewards, FiniteMDP, augment

P = np.array([[[0.5, 0.5], [0, 1]], [[1, 0], [0.25, 0.75]]])


def test_the_ends_of_the_range_go_to_zero_and_r_max():
    mapping = AffineRewards.onto(-3, 5, r_max=2)
    assert (mapping(-3.0), mapping(1.0), mapping(5.0)) == (0, 1, 2)
    assert (mapping.scale, mapping.shift) == (0.25, 0.75)


def test_bad_maps_are_refused():
    assert_refuses(
        lambda given: given[0](*given[1:]),
        ((AffineRewards, 0), ValueError, r"^scale must be positive; got 0$"),
        ((AffineRewards, 1, np.nan), ValueError, r"^shift must be a finite number; got nan"),
        ((AffineRewards.onto, 2, 1, 1), ValueError, r"^low must be at most high = 1.0; got 2.0$"),
        ((AffineRewards.onto, 0, 1, -1), ValueError, r"^r_max must be positive; got -1$"),
    )


def test_an_mdps_rewards_fill_the_range():
    mdp = FiniteMDP(P, [[-4, 0], [1, 4]], [1, 0], 0.5).affine(r_max=2)
    assert_array_equal(mdp.r, [[0, 1], [1.25, 2]])
    assert mdp.reward_map == AffineRewards(scale=0.25, shift=1)
    assert_array_equal(mdp.reward_map.inverse(mdp.r), [[-4, 0], [1, 4]])
    assert_array_equal(mdp.P, P)


def test_a_declared_range_is_used_whole_and_must_hold_the_rewards():
    mdp = FiniteMDP(P, [[-4, 0], [1, 4]], [1, 0], 0.5)
    assert_array_equal(mdp.affine(low=-6, high=10).r, [[0.125, 0.375], [0.4375, 0.625]])
    message = r"^rewards must lie in \[-\d.*, \d.*\]; got \[-4, 4\]$"
    too_narrow = [(-3.9, 4), (-4, 3.9), (None, 3.9), (-3.9, None)]
    assert_refuses(
        lambda ends: mdp.affine(low=ends[0], high=ends[1]),
        *((ends, ValueError, message) for ends in too_narrow),
    )


@pytest.mark.parametrize("gamma", [0.0, 0.9, 0.999])
def test_values_map_back_and_policies_keep_their_order(gamma):
    rng = np.random.default_rng(0)
    mdp = draw_mdp(rng, 6, 3, gamma).with_rewards(rng.normal(size=(6, 3)) * 10 - 50)
    mapped = mdp.affine(r_max=2)
    pi = draw_policies(rng, 30, 6, 3)
    before, after = mdp.value(pi), mapped.value(pi)
    assert_allclose(mapped.reward_map.value(before, gamma), after, rtol=1e-11, atol=0)
    assert_allclose(mapped.reward_map.inverse_value(after, gamma), before, rtol=1e-11, atol=0)
    assert_array_equal(np.argsort(before), np.argsort(after))
    gaps = mapped.reward_map.scale * mdp.suboptimality(pi)
    assert_allclose(mapped.suboptimality(pi), gaps, rtol=1e-10, atol=0)
    best = mapped.reward_map.inverse_value(mapped.optimal().value, gamma)
    assert best == pytest.approx(mdp.optimal().value, rel=1e-11)


def test_two_maps_are_recorded_as_one():
    mdp = draw_mdp(np.random.default_rng(1))
    twice = mdp.affine(r_max=3).affine(r_max=1, low=-1, high=4)
    assert_allclose(twice.reward_map(mdp.r), twice.r, rtol=0, atol=1e-15)
    assert_allclose(twice.reward_map.inverse(twice.r), mdp.r, rtol=0, atol=1e-14)


def test_constant_rewards_go_to_zero():
    mdp = FiniteMDP(P, np.full((2, 2), 7.0), [1, 0], 0.5).affine()
    assert_array_equal(mdp.r, 0)
    assert mdp.reward_map == AffineRewards(scale=1, shift=-7)
    assert mdp.reward_map.inverse_value(mdp.optimal().value, 0.5) == 14


@pytest.mark.parametrize("store", [np.asarray, lambda P: sp.csr_array(P.reshape(4, 2))])
def test_the_range_is_that_of_every_transition_and_all_are_mapped(store):
    rewards = np.zeros((2, 2, 2))
    rewards[0, 0] = -4, 4  # mean 0
    mdp = FiniteMDP(store(P), rewards, [1, 0], 0.5).affine()
    assert mdp.reward_map == AffineRewards(scale=0.125, shift=0.5)
    assert_allclose(mdp.r, 0.5, rtol=0, atol=1e-15)
    assert mdp.reward_range == (0, 1)
    whole = as_table(mdp.transition_rewards, mdp)
    assert_array_equal(whole[0, 0], [0, 1])
    assert_array_equal(whole[1, 1], 0.5)


def test_mapped_rewards_are_in_range_for_every_caller():
    for seed, r_max in itertools.product(range(100), (1.0, 0.1, 3.0)):
        rng = np.random.default_rng(seed)
        mdp = draw_mdp(rng, 3, 2).with_rewards(10 * rng.normal(size=(3, 2))).affine(r_max)
        augment(mdp, np.zeros((3, 2)), r_max)
        mdp.affine(low=0, high=r_max)
        low, high = mdp.reward_range
        assert abs(low) <= 1e-15
        assert abs(high - r_max) <= 1e-14 * r_max
