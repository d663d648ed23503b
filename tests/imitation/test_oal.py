"""OAL equals its transcription, and keeps what all imitators keep."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from transcriptions import oal
from transcriptions.common import record, whole
from transcriptions.worlds import chain_of_shani, random_world, reset_cliff

from optimist.core import mirror
from optimist.errors import FileError
from optimist.imitation import Oal, TrajectoryDataset
from optimist.mdp import FiniteMDP

WORLDS = {
    "dense": random_world(0, kind="dense"),
    "mixed": random_world(1, n=8, deterministic=False),
    "large": random_world(2, n=260, n_actions=2),  # above `mirror.DENSE`
    "cliff": reset_cliff(),
    "chain": chain_of_shani(),
    "myopic": random_world(3, gamma=0.0),
    "one action": random_world(4, n_actions=1),
}
K = 60


def setting(name, seed=0):
    w = WORLDS[name]
    rng = np.random.default_rng(seed)
    states, actions = record(w.P, w.nu0, w.expert, 7, 20, rng)
    world = FiniteMDP(w.P, w.r, w.nu0, w.gamma)
    return w, world, TrajectoryDataset(states, actions), whole(states, actions, *w.shape, w.gamma)


def transcription(w, mu_E, seed, config):
    t_pi, t_c = oal.theory_steps(w.H, *w.shape, K)
    return oal.Oal(
        *w.world, mu_E, np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[0]),
        t_pi=config.policy_step * t_pi, t_c=config.cost_step * t_c,
        bonus=oal.practical_bonus(w.H, config.bonus),
    )  # fmt: skip


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("theory", [False, True])
@pytest.mark.parametrize("name", WORLDS)
def test_it_equals_its_transcription(name, theory, seed):
    w, world, data, mu_E = setting(name, seed)
    assert (len(w.P) > mirror.DENSE) == (name == "large")
    config = Oal.Config(bonus=0.2, policy_step=20.0, cost_step=2.0)
    if theory:
        config = Oal.Config.theory(K, *w.shape, w.gamma)
    il = Oal(world, data, K=K, seed=seed, stride=1, config=config)
    il.learn(25)
    il.learn(K - 25)
    other = transcription(w, mu_E, seed, config)
    for k in range(K):
        assert_allclose(il.history.policies[k], other.pi, rtol=0, atol=1e-9)
        assert_allclose(il.history.costs[k], other.c, rtol=0, atol=1e-9)
        other.episode()
    assert il.steps == other.play.steps
    assert_array_equal(il.visits, other.counts.n)
    assert_allclose(il.costs, other.c, rtol=0, atol=1e-9)
    assert_allclose(il.policy.table, other.pi, rtol=0, atol=1e-9)
    assert_allclose(il.diagnostics.V, other.V, rtol=0, atol=1e-9)
    assert_allclose(il.diagnostics.CB, other.model()[1], rtol=1e-12)


def test_the_constants_of_the_theory_are_those_of_the_paper():
    config = Oal.Config.theory(500, 6, 3, 0.9, delta=0.05)
    n = np.array([1, 7, 400])
    wanted = oal.theory_bonus(10.0, 6, 3, 500, delta=0.05)(n)
    assert_allclose(config.bonus * 10.0 / np.sqrt(n), wanted, rtol=1e-12)
    assert_allclose(config.steps(500, 6, 3, 0.9), oal.theory_steps(10.0, 6, 3, 500), rtol=1e-12)


def test_the_output_is_the_policy_of_an_episode_drawn_uniformly():
    _, world, data, _ = setting("cliff")
    drawn, runs = [], 400
    for seed in range(runs):
        il = Oal(world, data, seed=seed, stride=1)
        history = il.learn(5, show_progress=False)
        same = (history.policies == il.output.table).all(axis=(1, 2))
        drawn.append(max(np.flatnonzero(same)[0], 1))  # the first two may both be uniform
    shares = np.bincount(drawn, minlength=5) / runs
    assert_allclose(shares, [0, 0.4, 0.2, 0.2, 0.2], atol=0.08)


def test_the_parts_of_the_players_add_up_to_the_gap():
    w, world, data, _ = setting("mixed")
    il = Oal(world, data, seed=0, stride=1)
    history = il.learn(40)
    parts = history.regret(w.expert, w.r)
    assert_allclose(parts.imitation, history.gaps(w.expert, w.r), rtol=0, atol=1e-12)
    assert_allclose(parts.policy_player + parts.reward_player, parts.imitation, rtol=0, atol=1e-12)
    ahead = world.occupancy(w.expert) - world.occupancy(history.policies)
    wanted = -w.H * (ahead * history.costs).sum(axis=(1, 2))
    assert_allclose(parts.policy_player, wanted, rtol=0, atol=1e-12)
    assert np.ptp(history.costs[-1]) > 0


@pytest.mark.parametrize("name", ["mixed", "large"])
def test_it_continues_as_if_it_had_never_stopped(name, tmp_path):
    _, world, data, _ = setting(name)
    whole_run, first = (Oal(world, data, K=50, seed=3, stride=5) for _ in range(2))
    whole_run.learn(50)
    first.learn(20)
    first.save(tmp_path)
    then = Oal.load(tmp_path, world, data)
    assert then.K == 50
    then.learn(30)
    for one, other in (
        (then.policy.table, whole_run.policy.table),
        (then.output.table, whole_run.output.table),
        (then.costs, whole_run.costs),
        (then.history.policies, whole_run.history.policies),
        (then.history.costs, whole_run.history.costs),
    ):
        assert_array_equal(one, other)


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    w, world, data, _ = setting("mixed")
    il = Oal(world, data, seed=0)
    il.learn(10)
    il.save(tmp_path)
    with pytest.raises(FileError, match="another configuration: K was 10, is 20"):
        Oal.load(tmp_path, world, data, K=20)
    other = TrajectoryDataset(*record(w.P, w.nu0, w.expert, 7, 20, np.random.default_rng(9)))
    with pytest.raises(FileError):
        Oal.load(tmp_path, world, other)


def test_invalid_arguments_are_refused():
    _, world, data, _ = setting("mixed")
    with pytest.raises(ValueError, match="expert must have actions, as Oal learns from them"):
        Oal(world, TrajectoryDataset(data.states, lengths=data.lengths))
    with pytest.raises(ValueError, match=r"the step of each player depends on .*: give K= to Oal"):
        Oal(world, data).learn(steps=100)
    for name in ("policy_step", "cost_step"):
        with pytest.raises(ValueError, match=f"{name} must be positive; got 0"):
            Oal(world, data, **{name: 0})
    with pytest.raises(ValueError, match="bonus must not be negative; got -1"):
        Oal(world, data, bonus=-1)
    with pytest.raises(TypeError, match="Oal has no parameter 'bonsu': did you mean"):
        Oal(world, data, bonsu=1)


def test_worlds_that_differ_in_their_rewards_alone_give_the_same_bytes(tmp_path):
    w, _, data, _ = setting("mixed")
    for i, r in enumerate((w.r, 1 - w.r)):
        il = Oal(FiniteMDP(w.P, r, w.nu0, w.gamma), data, seed=5)
        il.learn(40)
        il.save(tmp_path / str(i))
    one, other = ((tmp_path / str(i) / "agent.safetensors").read_bytes() for i in range(2))
    assert one == other


def test_a_callback_sees_every_episode_and_changes_nothing():
    _, world, data, _ = setting("mixed")
    plain, watched = (Oal(world, data, K=30, seed=2) for _ in range(2))
    plain.learn(30)
    seen = []
    watched.learn(30, callback=lambda il: seen.append(il.episodes))
    assert seen == list(range(1, 31))
    assert_array_equal(plain.policy.table, watched.policy.table)


def test_the_file_of_a_run_does_not_grow_with_its_episodes(tmp_path):
    _, world, data, _ = setting("cliff")
    il = Oal(world, data, K=4000, stride=0)
    sizes = []
    for i in range(2):
        il.learn(2000)
        il.forget()
        il.save(tmp_path / str(i))
        sizes.append((tmp_path / str(i) / "agent.safetensors").stat().st_size)
    assert abs(sizes[1] - sizes[0]) < 100  # the header has numbers of more digits
