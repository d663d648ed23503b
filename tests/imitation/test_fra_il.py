"""What a person with expert features does with FRA-IL, and what it may not see."""

import numpy as np
import pytest
from reference.comparison import assert_close
from reference.experts import dense
from reference.mdps import random_mdp
from reference.refusals import assert_refuses

import optimist as opt
from optimist.agents.driver import RunSettings
from optimist.errors import FileError
from optimist.features import Concatenation, OneHot, OneHotState, StateOnly, Table
from optimist.imitation import Box, FeatureDataset, FraIL, FraILConfig, Simplex
from optimist.imitation.finite_imitation import FiniteImitation

# It learns, from states alone and without rewards


def test_it_imitates_an_optimal_expert_of_which_it_sees_states_alone(grid):
    world, best, expert = grid
    il = FraIL(world, expert, seed=0)
    gaps = il.learn(2000).regret(best, world.mdp.r).imitation / world.mdp.optimal().value
    assert gaps[0] > 0.5
    assert gaps[-50:].mean() < 0.05
    assert il.matching_error < 0.1
    assert int(np.argmax(il.reward_weights)) == 7  # the goal


@pytest.mark.parametrize("fresh", [False, True])
def test_it_imitates_an_expert_that_is_not_optimal_for_anything(fresh):
    """The uniform policy is matched by a mixture of policies, though by none that is greedy.

    The frequency of each pair in 20,000 draws is within 4.5 standard deviations of the occupancies.
    """
    mdp, phi, K = random_mdp(), OneHot(6, 3), 20_000
    expert = FeatureDataset.from_policy(mdp, mdp.uniform_policy, phi)
    history = FraIL(mdp, expert, phi, fresh=fresh, seed=3, stride=1).learn(K)
    mixture = history.feature_expectations[2000:10_000].mean(axis=0)
    assert np.linalg.norm(mixture - expert.mean) < 0.015
    assert history.estimated_matching_error(last=2000) < 0.05
    mean = history.feature_expectations.mean(axis=0)
    seen = np.bincount(history.pairs, minlength=18) / K
    assert (np.abs(seen - mean) <= 4.5 * np.sqrt(mean * (1 - mean) / K)).all()


# What it shows of itself


def test_the_regrets_of_the_players_add_up_to_that_of_the_imitation(settings):
    for mdp, phi_r, phi_P, expert in settings.values():
        il = FraIL(mdp, expert, phi_r, phi_P, seed=0, stride=1)
        history = il.learn(50)
        best = mdp.optimal().policy
        parts = history.regret(best, mdp.r)
        expected = mdp.optimal().value - mdp.value(history.policies)
        assert_close(parts.imitation, expected)
        assert_close(parts.policy_player + parts.reward_player, parts.imitation)
        # The first is the regret of the policy player against the expert, for its rewards r_k.
        Phi = phi_r.all_actions(np.arange(mdp.n_states))
        for k in (0, 17, 49):
            own = mdp.with_rewards(Phi @ history.weights[k] + il.shift)
            gap = own.value(best) - own.value(history.policies[k])
            assert parts.policy_player[k] == pytest.approx(gap, abs=1e-9)


def test_the_reward_players_regret_is_that_of_its_weights():
    """H <lambda(pi_k) - lambda(pi_E), w_k - w_true>, where r_true = Phi_r w_true."""
    mdp = random_mdp()
    phi, w_true = dense(mdp), np.array([0.3, -0.2, 0.5])
    Phi = phi.all_actions(np.arange(6))
    true = mdp.with_rewards(Phi @ w_true)
    best = true.optimal().policy
    expert = FeatureDataset.from_policy(mdp, best, phi)
    history = FraIL(mdp, expert, phi, stride=3).learn(40)
    found = history.regret(best, true.r).reward_player
    lambdas = np.array([mdp.feature_expectations(pi, Phi) for pi in history.policies])
    assert_close(history.feature_expectations, lambdas, atol=1e-12)
    expected = ((lambdas - expert.mean) * (history.weights - w_true)).sum(axis=1) * mdp.horizon
    assert_close(found, expected)


def test_matching_errors_are_exact_or_estimated_by_the_draws(settings, grid):
    for mdp, phi_r, phi_P, expert in settings.values():
        il = FraIL(mdp, expert, phi_r, phi_P, seed=0, stride=5)
        history = il.learn(30)
        Phi = phi_r.all_actions(np.arange(mdp.n_states))
        last = il.policy.probabilities(np.arange(mdp.n_states))
        expected = np.linalg.norm(mdp.feature_expectations(last, Phi) - expert.mean)
        assert il.matching_error == pytest.approx(expected, abs=1e-10)
        elsewhere = np.full(phi_r.dim, 0.1)
        lambdas = np.array([mdp.feature_expectations(pi, Phi) for pi in history.policies])
        errors = np.linalg.norm(lambdas - elsewhere, axis=1)
        assert_close(history.matching_errors(elsewhere), errors, atol=1e-10)
        for given in (expert, expert.mean):
            np.testing.assert_array_equal(history.matching_errors(given), history.matching_errors())
    world, _, expert = grid
    history = FraIL(world, expert, seed=0).learn(200)
    frequencies = np.bincount(history.pairs[-50:] // 4, minlength=8) / 50
    expected = np.linalg.norm(frequencies - expert.mean)
    assert history.estimated_matching_error(last=50) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("fresh", [False, True])
def test_the_draws_follow_the_occupancy_of_the_policies(fresh):
    """The frequency of each pair in 20,000 draws is within 4.5 standard deviations."""
    mdp, phi = random_mdp(n_states=6, n_actions=3), OneHot(6, 3)
    expert = FeatureDataset.from_policy(mdp, mdp.uniform_policy, phi)
    history = FraIL(mdp, expert, phi, fresh=fresh, seed=3, stride=1).learn(20_000)
    mean = history.feature_expectations.mean(axis=0)
    seen = np.bincount(history.pairs, minlength=18) / 20_000
    assert (np.abs(seen - mean) <= 4.5 * np.sqrt(mean * (1 - mean) / 20_000)).all()


def test_a_rollout_of_its_own_is_counted_and_otherwise_there_is_none(grid):
    world, _, expert = grid
    assert not FraIL(world, expert).learn(50).rollouts.any()
    rollouts = FraIL(world, expert, fresh=True).learn(4000).rollouts
    assert rollouts.min() == 1
    spread = np.sqrt(world.mdp.gamma) * world.mdp.horizon  # of a geometric length
    assert rollouts.mean() == pytest.approx(world.mdp.horizon, abs=4.5 * spread / np.sqrt(4000))


def test_weights_policies_and_the_table_of_a_run(grid, tmp_path):
    world, _, expert = grid
    il, x = FraIL(world, expert, seed=1, stride=1), np.arange(8)
    with pytest.raises(ValueError, match="there are no reward weights yet"):
        _ = il.reward_weights
    history = il.learn(40)
    assert_close(il.reward_weights, history.weights.mean(axis=0), atol=1e-12)
    np.testing.assert_array_equal(il.last_reward_weights, history.weights[-1])
    # The output is one of the policies played, and the policy is what would be played next.
    drawn = il.output.probabilities(x)
    assert (np.abs(history.policies - drawn).max(axis=(1, 2)) < 1e-9).any()
    assert_close(il.policy.probabilities(x), il.diagnostics.pi)
    # A policy is saved without the rewards.
    il.policy.save(tmp_path / "p.safetensors")
    loaded = opt.load_policy(tmp_path / "p.safetensors")
    np.testing.assert_array_equal(loaded.probabilities(x), il.policy.probabilities(x))
    assert {len(column) for column in history.table().values()} == {40}
    assert "reward" not in history.table()


# Its parameters


def test_the_step_is_that_of_the_theory_for_the_first_call_or_a_given_k(grid):
    world, _, expert = grid
    il = FraIL(world, expert)
    with pytest.raises(ValueError, match="K, which the first call of learn sets"):
        _ = il.eta_r
    il.learn(16)
    il.learn(9)
    assert (il.K, il.eta_r) == (16, 0.25)
    il = FraIL(world, expert, K=100, weights=Simplex(2.0))
    il.learn(16)
    assert il.eta_r == pytest.approx(2 / 10)


def test_the_scale_of_the_class_does_not_matter(grid):
    """Simplex(7) has all rewards seven times as large: the same run."""
    world, _, expert = grid
    one, seven = (
        FraIL(world, expert, weights=Simplex(total), seed=4, stride=3) for total in (1.0, 7.0)
    )
    a, b = one.learn(150), seven.learn(150)
    np.testing.assert_array_equal(a.pairs, b.pairs)
    assert_close(7 * a.weights, b.weights)
    assert_close(a.policies, b.policies, atol=1e-6)


def test_the_theorems_parameters():
    numbers = {"K": 1000, "d": 12, "n_actions": 2, "gamma": 0.9, "B": 1, "W_max": 1, "R_max": 2}
    found = FraILConfig.theory(Box(0, 1), **numbers).variant(2.0)
    wanted = opt.RmaxRaviUcb.Config.theory(**numbers).variant()
    assert found.bonus.beta == pytest.approx(wanted.bonus.beta)
    assert found.eta == pytest.approx(wanted.eta)
    assert found.ascension.alpha == pytest.approx(wanted.ascension.alpha)
    assert found.ascension.omega == wanted.ascension.omega
    assert (found.r_max, found.ridge, found.updates) == (2.0, 1.0, 1)


def test_the_features_are_those_of_the_linear_mdp():
    mdp = random_mdp()
    phi_r, phi_P = dense(mdp), dense(mdp, 5, seed=7)
    expert = FeatureDataset.from_policy(mdp, mdp.uniform_policy, phi_r)
    assert isinstance(FraIL(mdp, expert, phi_r).features, OneHot)
    both = FraIL(mdp, expert, phi_r, phi_P).features
    assert isinstance(both, Concatenation)
    assert (both.phi_r, both.phi_P) == (phi_r, phi_P)
    wider = Table(np.concatenate([phi_P.all_actions(range(6)), phi_r.all_actions(range(6))], 2))
    assert FraIL(mdp, expert, phi_r, wider).features is wider
    literal = Concatenation(phi_r, OneHot(6, 3))
    assert FraIL(mdp, expert, phi_r, literal).features is literal


@pytest.mark.parametrize("setting", ["states", "pairs", "dense", "both dense", "grid"])
def test_stopping_and_going_on_changes_no_byte(settings, setting, same, tmp_path):
    mdp, phi_r, phi_P, expert = settings[setting]
    options = {"K": 60, "seed": 6, "stride": 7}
    through, turns, stopped = (FraIL(mdp, expert, phi_r, phi_P, **options) for _ in range(3))
    through.learn(60)
    for _ in range(60):
        turns.learn(1)
    stopped.learn(25)
    stopped.save(tmp_path)
    again = FraIL.load(tmp_path, mdp, expert, phi_r, phi_P)
    again.learn(35)
    same(through, turns, again)
    np.testing.assert_array_equal(again.reward_weights, through.reward_weights)
    assert again.K == 60


def test_a_learner_of_something_else_is_refused(grid, tmp_path):
    world, _, expert = grid
    il = FraIL(world, expert, K=20, seed=1)
    il.learn(20)
    il.save(tmp_path)
    phi, wider = il.reward_features, StateOnly(OneHotState(8), 4)
    wider.bound = 4.0
    other = FeatureDataset.from_policy(world, world.mdp.uniform_policy, phi)

    def load(changes):
        FraIL.load(**{"folder": tmp_path, "world": world, "expert": expert, **changes})

    ball, simplex = r"W was \['Ball', 1.0, 0.0\]", r"is \['Simplex', 2.0, 0.0\], W_max"
    paper = opt.RmaxRaviUcb.Config()
    assert_refuses(
        load,
        ({"expert": other}, FileError, "another world, or with other features"),
        ({"weights": Simplex(2.0)}, FileError, f"{ball}, {simplex}"),
        ({"fresh": True}, FileError, "fresh was False, is True$"),
        ({"player": paper}, FileError, "player was .*Optimist.*, is .*RmaxRaviUcb"),
        ({"reward_features": wider}, FileError, "B was 1.0, is 4.0"),
    )
    with pytest.raises(FileError, match=r"K was 20, is 21$"):
        FraIL(world, expert, K=21, seed=1).restore(tmp_path)
    with pytest.raises(FileError, match="holds a FraIL, not a RmaxRaviUcb"):
        opt.RmaxRaviUcb.load(tmp_path, world)


class Longer(OneHot):
    """Features that are longer than they say."""

    def __init__(self):
        super().__init__(8, 4)
        self.bound = 0.5


def test_a_mistake_gives_a_one_line_error(grid):
    world, _, expert = grid
    nothing = {"expert": FeatureDataset([[0.0]]), "reward_features": Table(np.zeros((8, 4, 1)))}
    both = Concatenation(OneHot(30, 4), OneHot(8, 4))
    longer = {"expert": FeatureDataset(np.zeros((1, 32))), "reward_features": Longer()}
    variant = opt.RmaxRaviUcb.Config().variant()
    table = [
        ({"expert": FeatureDataset(np.eye(5))}, ValueError, "phi must have d = 5"),
        ({"expert": FeatureDataset(expert.mean[None], gamma=0.5)}, ValueError, "gamma = 0.5, the"),
        (
            {"expert": np.eye(8)},
            TypeError,
            r"must be a FeatureDataset, such as FeatureDataset\(rows\)",
        ),
        ({"world": "GridWorld"}, TypeError, "must be a World or a FiniteMDP"),
        ({"reward_features": OneHot(9, 4)}, ValueError, "the features have 9 states"),
        ({"reward_features": OneHotState(8)}, TypeError, "reward_features .*must be a FeatureMap"),
        ({"reward_features": FraILConfig()}, TypeError, "reward_features .*FraILConfig"),
        (nothing, ValueError, "reward_features must not all be zero"),
        (longer, ValueError, "a row of norm 1, above the bound B = 0.5"),
        (
            {"features": OneHotState(8)},
            TypeError,
            "features .*must be a FeatureMap; got .*; StateOnly",
        ),
        ({"features": both}, ValueError, "the features have 30 states"),
        ({"config": variant}, TypeError, "config must be a FraILConfig"),
        ({"config": FraILConfig}, TypeError, "config must be a FraILConfig"),
        ({"weights": "ball"}, TypeError, "weights must be a WeightClass"),
        ({"weights": Box}, TypeError, "weights must be a WeightClass"),
        ({"fresh": "no"}, TypeError, "fresh must be True or False; got 'no'"),
        ({"player": opt.Optimist}, TypeError, "player must be the configuration of an agent"),
        ({"player": opt.Optimist.Config}, TypeError, "player must be the configuration"),
        ({"wieghts": Box()}, TypeError, "did you mean 'weights'"),
        ({"K": 0}, ValueError, "K must be at least 1; got 0"),
    ]
    assert_refuses(lambda given: FraIL(**{"world": world, "expert": expert, **given}), *table)
    with pytest.raises(ValueError, match="the stride was 0"):
        FraIL(world, expert, stride=0).learn(3).matching_errors()


def test_worlds_and_experts_may_be_given_as_objects(grid, same):
    world, best, expert = grid
    by_world, by_mdp = (FraIL(w, expert, seed=2, stride=2) for w in (world, world.mdp))
    history = by_world.learn(20)
    by_mdp.learn(20)
    same(by_world, by_mdp)
    table = opt.core.TablePolicy(best)
    by_table, by_array = history.regret(table, world.mdp.r), history.regret(best, world.mdp.r)
    np.testing.assert_array_equal(by_table.imitation, by_array.imitation)
    with pytest.raises(ValueError, match=r"one policy .*a batch of 2"):
        history.regret(np.stack([best, best]), world.mdp.r)


def test_players_that_cannot_be_scaled_are_refused(settings):
    mdp, phi_r, _, data = settings["states"]
    with pytest.raises(ValueError, match="player must have r_max = 1; got 2"):
        FraIL(mdp, data, phi_r, player=opt.RmaxRaviUcb.Config(r_max=2.0))
    with pytest.raises(ValueError, match="anytime must be False"):
        FraIL(mdp, data, phi_r, player=opt.RmaxRaviUcb.Config(anytime=True))
    scaled = opt.Rlsvi.Config(sigma=0.5).variant().scaled(4.0)
    assert (scaled.bonus.sigma, scaled.r_max) == (2.0, 4.0)


@pytest.mark.parametrize("name", ["Optimist", "RmaxRaviUcb", "Cfpo"])
def test_updates_end_at_half_of_what_rewards_move_if_at_a_tolerance(grid, name):
    """A policy that is evaluated is evaluated as exactly as ever."""
    world, _, expert = grid
    config = FraILConfig(player=getattr(opt, name).Config())
    driver = FiniteImitation(world.mdp, expert, None, None, RunSettings(config, 0, 0))
    own = driver.rule(0).tolerance
    driver.K = 400
    player = driver.player
    half = player.B**2 * (player.W_max / (player.B * 20)) / 2
    assert own < half
    assert driver.rule(0).tolerance == (pytest.approx(half) if name == "Optimist" else own)
    driver.K = 10**12
    assert driver.rule(0).tolerance == own
