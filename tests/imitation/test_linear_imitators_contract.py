"""What ILARL and OGAIL promise beside their algorithms: seeds, files, refusals, no rewards."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference.mdps import random_mdp
from reference.refusals import assert_refuses

import optimist as opt
from optimist import envs
from optimist.errors import FileError
from optimist.features import OneHot, OneHotState, StateOnly
from optimist.imitation import (
    IMITATORS,
    Ball,
    Box,
    FeatureDataset,
    Ilarl,
    OgaIL,
    Simplex,
    TrajectoryDataset,
)

MIXTURE = envs.RandomMixture(d=3, n_states=6, n_actions=3, successors=2, gamma=0.8)
PHI = OneHot(6, 3)


def data_of(world, phi=PHI):
    return FeatureDataset.from_policy(world, world.mdp.optimal().policy, phi)


def ilarl(mdp, **more):
    return Ilarl(mdp, data_of(MIXTURE), PHI, **{"batch": 7, "K": 30, "seed": 3, **more})


def ogail(mdp, **more):
    kernels = MIXTURE.kernels
    return OgaIL(mdp, data_of(MIXTURE), PHI, kernels, **{"K": 30, "seed": 3, **more})


def table(mdp, **more):
    return OgaIL(mdp, data_of(MIXTURE), PHI, **{"table": True, "K": 30, "seed": 3, **more})


learners = pytest.mark.parametrize("make", [ilarl, ogail, table])


@learners
def test_a_seed_decides_all_and_rewards_nothing(make):
    opt.testing.check_imitator(make, MIXTURE)


@learners
def test_another_seed_plays_otherwise(make):
    one, other = (make(MIXTURE, seed=s).learn(20).steps.tolist() for s in (0, 1))
    assert one != other


@learners
def test_a_learner_that_was_saved_goes_on_bit_for_bit(make, tmp_path):
    one = make(MIXTURE, stride=1, weights=Box(-0.5, 1.0))
    one.learn(17)  # within a batch
    one.save(tmp_path)
    given = {ilarl: (), ogail: (MIXTURE.kernels,), table: ()}[make]
    other = type(one).load(tmp_path, MIXTURE, data_of(MIXTURE), PHI, *given)
    assert other.config == one.config
    assert other.K == 30
    for il in (one, other):
        il.learn(23)
    for name in ("steps", "pairs", "policies", "weights", "epoch"):
        assert_array_equal(getattr(one.history, name), getattr(other.history, name))
    assert_array_equal(one.output.table, other.output.table)
    assert_array_equal(one.reward_weights, other.reward_weights)
    for name in ("V", "CB", "Lambda", "pi"):
        assert_array_equal(getattr(one.diagnostics, name), getattr(other.diagnostics, name))


def test_a_file_of_another_world_expert_or_configuration_is_refused(tmp_path):
    one = ogail(MIXTURE)
    one.learn(5)
    one.save(tmp_path)
    other_kernels = MIXTURE.kernels[::-1]
    uniform = FeatureDataset.from_policy(MIXTURE, MIXTURE.mdp.uniform_policy, PHI)
    other = envs.RandomMixture(d=3, n_states=6, n_actions=3, successors=2, gamma=0.8, seed=1)
    for given in (
        (MIXTURE, data_of(MIXTURE), PHI, other_kernels),
        (MIXTURE, uniform, PHI, MIXTURE.kernels),
        (other, data_of(MIXTURE), PHI, MIXTURE.kernels),
    ):
        with pytest.raises(FileError):
            OgaIL.load(tmp_path, *given)
    with pytest.raises(FileError, match="K was 30, is 40"):
        OgaIL.load(tmp_path, MIXTURE, data_of(MIXTURE), PHI, MIXTURE.kernels, K=40)
    with pytest.raises(FileError, match="holds a OgaIL, not a Ilarl"):
        Ilarl.load(tmp_path, MIXTURE, data_of(MIXTURE), PHI)


@learners
def test_the_output_is_a_policy_that_was_played(make):
    il = make(MIXTURE, stride=1)
    history = il.learn(30)
    played = np.abs(history.policies - il.output.table).max(axis=(1, 2)) == 0
    assert played.any()
    assert_array_equal(history.policies[0], MIXTURE.mdp.uniform_policy)


@learners
def test_the_first_call_sets_k_and_the_step_follows_from_it(make):
    il = make(MIXTURE, K=None)
    with pytest.raises(ValueError, match="depends on the number of episodes: give K= to"):
        il.learn(steps=100)
    with pytest.raises(ValueError, match="depends on K"):
        _ = il.eta_r
    il.learn(25)
    assert (il.K, il.eta_r) == (25, 1 / 5)  # W_max = B = 1
    assert (il.W_max, il.R_max, il.shift) == (1.0, 2.0, 1.0)


@learners
def test_the_history_has_gaps_and_the_decomposition_of_the_regret(make):
    il = make(MIXTURE, stride=5)
    history, best = il.learn(30), MIXTURE.mdp.optimal().policy
    assert history.weights.shape == (6, 18)
    regret = history.regret(best, MIXTURE.mdp.r)
    gaps = history.gaps(best, MIXTURE.mdp.r)
    assert_allclose(regret.imitation, gaps, atol=1e-12)
    assert_allclose(regret.policy_player + regret.reward_player, gaps, atol=1e-12)
    first = il.eta_r * (data_of(MIXTURE).mean - PHI(*divmod(history.pairs[0], 3)))
    assert_allclose(history.weights[0], first)


def test_trajectories_are_read_by_the_view_whole():
    rng = np.random.default_rng(0)
    expert = MIXTURE.mdp.optimal().policy
    data = TrajectoryDataset.from_rollouts(MIXTURE, expert, 5, rng)
    il = Ilarl(MIXTURE, data, PHI)
    assert_array_equal(il.expert.mean, data.features(PHI).mean)
    states = OgaIL(MIXTURE, TrajectoryDataset(data.states, lengths=data.lengths))
    expected = data.features(StateOnly(OneHotState(6), 3)).mean
    assert_allclose(states.expert.mean, expected, atol=1e-15)


@learners
def test_classes_of_weights(make):
    for weights in (Ball(0.2), Box(-0.1, 0.3), Simplex(2.0)):
        il = make(MIXTURE, weights=weights, stride=1)
        history = il.learn(30)
        for w in history.weights[1:]:
            assert_allclose(weights.project(w), w, atol=1e-12)
        r = history.weights @ history.Phi.toarray().T + il.shift
        assert -1e-12 <= r.min() <= r.max() <= il.R_max + 1e-12


def test_a_table_is_the_mixture_of_its_unit_kernels():
    units = np.eye(6 * 3 * 6).reshape(-1, 6, 3, 6)
    one, other = table(MIXTURE), OgaIL(MIXTURE, data_of(MIXTURE), PHI, units, K=30, seed=3)
    histories = one.learn(30), other.learn(30)
    assert_allclose(histories[0].policies, histories[1].policies, atol=1e-10)
    assert_allclose(one.theta.ravel(), other.theta, atol=1e-10)
    assert_allclose(one.diagnostics.CB, other.diagnostics.CB, rtol=1e-8)
    assert one.theta.shape == (6, 3, 6)


def test_the_policy_of_one_action_is_that_action():
    world = envs.RandomMixture(d=2, n_states=4, n_actions=1, successors=2, gamma=0.8)
    phi = OneHot(4, 1)
    data = FeatureDataset.from_policy(world, np.ones((4, 1)), phi)
    for il in (Ilarl(world, data, phi, batch=5), OgaIL(world, data, phi)):
        il.learn(20)
        assert_array_equal(il.policy.table, 1.0)


def test_wrong_arguments_are_refused():
    mdp, data = random_mdp(gamma=0.8), data_of(MIXTURE)
    kernels = MIXTURE.kernels
    negative = kernels.copy()
    negative[0, 0, 0, :2] += (-2.0, 2.0)
    no_kernels = r"OgaIL needs known kernels P_i: world.kernels or kernels=; table=True, --table"
    cases = [
        (lambda: OgaIL(mdp, data, PHI), ValueError, no_kernels),
        (lambda: table(mdp, kernels=kernels), TypeError, "kernels must be None with table=True"),
        (lambda: table(mdp, table=1), TypeError, "table must be True or False; got 1"),
        (lambda: OgaIL(mdp, data, PHI, kernels[:, :5]), ValueError, "kernels must have shape"),
        (lambda: OgaIL(mdp, data, PHI, kernels[:0]), ValueError, "with d >= 1; got shape"),
        (lambda: OgaIL(mdp, data, PHI, negative), ValueError, r"kernels\[0, 0, 0, \d\] = .* neg"),
        (lambda: OgaIL(mdp, data, PHI, 2 * kernels), ValueError, r"must sum to at most 1; got 2"),
        (lambda: ilarl(mdp, batch=0), ValueError, "batch"),
        (lambda: ilarl(mdp, eta=-1.0), ValueError, "eta must be positive; got -1"),
        (lambda: ilarl(mdp, kapa=1.0), TypeError, "Ilarl has no parameter 'kapa'"),
        (lambda: ilarl(mdp, weights="ball"), TypeError, "weights must be a Ball, Box or Simplex"),
        (lambda: Ilarl(mdp, data, PHI, OneHot(5, 3)), ValueError, "the features have 5 states"),
        (lambda: ilarl("RiverSwim"), TypeError, "world must be a World or FiniteMDP, as Ilarl"),
        (lambda: ilarl(mdp, K=0), ValueError, "K"),
        (lambda: Ilarl(mdp, data), ValueError, "phi must have d = 18"),
        (lambda: Ilarl(mdp, [[1.0]], PHI), TypeError, "must be a FeatureDataset"),
        (
            lambda: Ilarl(mdp, dataclasses.replace(data, gamma=0.5), PHI),
            ValueError,
            "recorded with gamma = 0.5",
        ),
    ]
    assert_refuses(lambda make: make(), *cases)


def test_they_are_known_by_name():
    assert IMITATORS["Ilarl"] is Ilarl
    assert IMITATORS["OgaIL"] is OgaIL


@pytest.mark.parametrize(
    "config",
    [
        Ilarl.Config.theory(K=900, d=18, n_actions=3, gamma=0.8),
        OgaIL.Config.theory(K=900, d=3, gamma=0.8),
    ],
)
def test_constants_of_the_theory_keep_values_at_their_bound(config):
    """Bonuses of the theory exceed all values for a long time, so that policies stay uniform."""
    kind = Ilarl if isinstance(config, Ilarl.Config) else OgaIL
    il = kind(MIXTURE, data_of(MIXTURE), PHI, K=900, config=config)
    history = il.learn(60)
    assert_allclose(il.diagnostics.V, il.diagnostics.heaven, rtol=1e-9)
    assert_allclose(history.policies[-1], 1 / 3, rtol=1e-6)
