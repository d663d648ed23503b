"""MimicMD, Mobile and MbTail beyond their transcriptions: lengths, forms, phases, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference.refusals import assert_refuses

from optimist import envs
from optimist.errors import FileError, TooLarge
from optimist.features import OneHot, Table
from optimist.imitation import BehaviouralCloning, MbTail, MimicMD, Mobile, TrajectoryDataset
from optimist.mdp import timed_occupancy

WORLD = envs.ResetCliff(6)
BEST = WORLD.mdp.optimal().policy


def data(n=6, length=10, seed=0, **options):
    rng = np.random.default_rng(seed)
    return TrajectoryDataset.from_rollouts(WORLD, BEST, n, rng, length=length, **options)


def test_paths_of_different_lengths_are_weighted_by_how_many_reach_each_time():
    """Three paths of D2 leave at once, and one of them ends after one step."""
    kappa_only = [[0, 0, 0]] * 4  # D1 and D2 by the permutation of the seed
    world = envs.StandardImitation(3, gamma=0.5)
    found = set()
    for seed in range(20):
        paths = [*kappa_only, [1], [1, 1], [1, 1, 1]]
        actions = [np.zeros(len(p), dtype=int) for p in paths]
        il = MimicMD(world, TrajectoryDataset(paths, actions), seed=seed)
        il.learn()
        _, D2 = il.expert.split(np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[0]))
        if il.target.kappa[1] >= 0:
            continue  # a path of state 1 is in D1
        laws = D2.by_time(3)
        weights = 0.5 * 0.5 ** np.arange(len(laws))
        assert_allclose(il.target.outside[1, 0], weights @ laws[:, 1], atol=1e-15)
        found.add(seed)
    assert found


def test_the_policy_of_the_form_by_time_has_the_occupancy_of_its_tables():
    il = MimicMD(WORLD, data(), indexed=True)
    il.learn()
    assert il.tables.shape == (10, 6, 5)
    mdp = WORLD.mdp
    expected = timed_occupancy(mdp.P, mdp.nu0, il.tables, mdp.gamma)
    assert_allclose(mdp.occupancy(il.policy.table), expected, atol=1e-12)


def test_an_expert_by_time_is_refused_unless_the_form_is_by_time():
    paths = TrajectoryDataset([[0, 0], [0, 0]], actions=[[1, 2], [1, 2]])
    world = envs.StandardImitation(3)
    with pytest.raises(ValueError, match=r"in state 0 it plays 1 \(episode 0, t = 0\) and 2"):
        MimicMD(world, paths)
    il = MimicMD(world, paths, indexed=True)
    il.learn()
    assert_array_equal(il.target.kappa[:, 0], [1, 2])


def test_one_trajectory_is_enough_for_the_first_half():
    il = MimicMD(WORLD, data(1))
    il.learn()
    assert not il.target.outside.any()


def test_the_phases_of_mb_tail():
    il = MbTail(WORLD, data(), K=20, stride=1)
    with pytest.raises(ValueError, match="the output is known after all K episodes"):
        _ = il.output
    history = il.learn()  # all that are left
    assert il.episodes == 20
    kappa = il.target.kappa
    cloned = np.where(kappa[:, None] >= 0, np.eye(5)[kappa], 0.2)
    assert_array_equal(history.policies[:4], np.broadcast_to(cloned, (4, 6, 5)))
    assert_array_equal(history.policies[4], np.full((6, 5), 0.2))
    assert_array_equal(history.epoch, [0] * 19 + [1])
    for more in ({"episodes": 1}, {}, {"steps": 10}):
        with pytest.raises(ValueError, match="K = 20 episodes, of which 0 are left"):
            il.learn(**more)
    with pytest.raises(
        ValueError, match="K = 20 episodes, of which 20 are left; got episodes = 21"
    ):
        MbTail(WORLD, data(), K=20).learn(21)


def test_with_copied_actions_the_match_keeps_what_is_known():
    il = MbTail(WORLD, data(), K=100, copy=True)
    il.learn()
    kappa = il.target.kappa
    known = np.flatnonzero(kappa >= 0)
    assert_array_equal(il.output.table[known, kappa[known]], np.ones(len(known)))


def test_mobile_before_its_first_solution():
    il = Mobile(WORLD, data())
    assert il.certificate == np.inf
    assert_array_equal(il.output.table, WORLD.mdp.uniform_policy)


def test_cloning_in_a_world_with_views_and_features(tmp_path):
    paths = data(30)
    whole, last = (BehaviouralCloning(WORLD, paths, view=view) for view in ("whole", "last"))
    whole.learn()
    last.learn()
    assert (whole.size, last.size) == (300, 30)
    pairs = BehaviouralCloning(paths.states, paths.actions, OneHot(6, 5))
    assert_array_equal(whole.policy.table, pairs.policy.table)
    phi = Table(np.random.default_rng(0).normal(size=(6, 5, 3)))
    soft = BehaviouralCloning(WORLD, paths, phi)
    assert repr(soft) == "BehaviouralCloning(size=300, policy=None)"
    soft.learn()
    expected = BehaviouralCloning(paths.states, paths.actions, phi).policy
    assert_array_equal(soft.policy.Theta, expected.Theta)
    soft.save(tmp_path)
    loaded = BehaviouralCloning.load(tmp_path, WORLD, paths, phi)
    assert_array_equal(loaded.policy.Theta, expected.Theta)
    with pytest.raises(FileError, match="another world, or with other features"):
        BehaviouralCloning.load(tmp_path, WORLD, paths)


def test_a_clone_of_plain_pairs_has_a_policy_and_no_more(tmp_path):
    clone = BehaviouralCloning([0], [1], OneHot(1, 2))
    assert clone.output is clone.policy
    uses = {
        "learn": clone.learn, "history": lambda: clone.history, "save": lambda: clone.save(tmp_path)
    }  # fmt: skip
    for what, use in uses.items():
        with pytest.raises(ValueError, match=f"has no {what}: it was made from pairs"):
            use()
    with pytest.raises(TypeError, match="apply to a cloner in a world only"):
        BehaviouralCloning([0], [1], OneHot(1, 2), view="last")


def test_wrong_parameters_are_refused():
    assert_refuses(
        lambda given: given[0](**given[1]),
        ((MimicMD.Config, {"indexed": 1}), TypeError, "indexed must be True or False"),
        ((Mobile.Config, {"c": -1.0}), ValueError, "c must not be negative"),
        ((Mobile.Config, {"delta": 0.0}), ValueError, "delta"),
        ((MbTail.Config, {"c": -1.0}), ValueError, "c must not be negative"),
        ((MbTail.Config, {"backward": 0}), ValueError, "backward must be at least 1; got 0"),
        ((MbTail.Config, {"copy": "yes"}), TypeError, "copy must be True or False"),
        (
            (BehaviouralCloning.Config, {"view": "all"}),
            ValueError,
            "view must be 'whole' or 'last'",
        ),
    )
    with pytest.raises(TypeError, match="Mobile has no parameter 'd'"):
        Mobile(WORLD, data(), d=1)
    with pytest.raises(TypeError, match="applies to Gymnasium environments only"):
        Mobile(WORLD, data(), gamma=0.5)


def test_what_does_not_fit_into_memory_is_refused(monkeypatch):
    paths = data()
    monkeypatch.setenv("OPTIMIST_MAX_BYTES", "5000")
    for kind in (MimicMD, Mobile, MbTail):
        with pytest.raises(TooLarge, match="tables of 6 states and 5 actions"):
            kind(WORLD, paths)
    monkeypatch.setenv("OPTIMIST_MAX_BYTES", "8000")
    with pytest.raises(TooLarge, match="a linear programme of 900 variables"):
        MimicMD(WORLD, paths, indexed=True)
