"""FAIL equals its transcription, and keeps what all imitators keep."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from transcriptions import fail
from transcriptions.common import record
from transcriptions.worlds import random_world, reset_cliff

from optimist import envs
from optimist.core import TimedPolicy, load_policy, storage
from optimist.errors import FileError
from optimist.imitation import ForwardAIL, TrajectoryDataset
from optimist.imitation.forward_ail import ForwardAILConfig, schedule
from optimist.mdp import FiniteMDP, timed_occupancy

WORLDS = {
    "dense": random_world(0, kind="dense"),
    "mixed": random_world(1, n=8, gamma=0.8, deterministic=False),
    "cliff": reset_cliff(5, 3, 0.7, seed=2),
    "myopic": random_world(3, gamma=0.1),
}


def setting(name="mixed", seed=0, trajectories=9, length=12):
    w = WORLDS[name]
    rng = np.random.default_rng(seed)
    states, actions = record(w.P, w.nu0, w.expert, trajectories, length, rng)
    data = TrajectoryDataset(states, actions)
    return w, FiniteMDP(w.P, w.r, w.nu0, w.gamma), states, data


def generator(seed):
    return np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[0])


@pytest.mark.parametrize("K", [3, 40, 300])
@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("name", WORLDS)
def test_it_equals_its_transcription(name, literal, K):
    w, world, states, data = setting(name)
    il = ForwardAIL(world, data, K=K, seed=4, literal=literal, cut=1e-60)
    parts = (1, K // 3, K - 1 - K // 3)
    for n in parts:
        if n:
            il.learn(n)
    wanted = fail.fail(*w.world, states, K, generator(4), literal=literal)
    assert_array_equal(il.output.tables, wanted)
    assert il.episodes == K
    assert il.steps == il.history.steps.sum()


@pytest.mark.parametrize(("K", "T", "gamma"), [(1, 40, 0.9), (1000, 7, 0.5), (77, 300, 0.99)])
def test_the_schedule_is_that_of_the_transcription(K, T, gamma):
    assert_array_equal(schedule(K, T, gamma), fail.schedule(K, T, gamma))


def test_games_end_where_the_cut_says_or_the_data():
    _, world, _, data = setting(length=100)
    for cut, T in ((0.02, 20), (0.5, 4)):  # log(1 / cut) H is 19.6 and 3.5
        il = ForwardAIL(world, data, cut=cut)
        il.learn(50)
        assert len(il.output.tables) == T
    il = ForwardAIL(world, TrajectoryDataset([data.states[:3], data.states[100:102]]))
    il.learn(50)
    assert len(il.output.tables) == 2


def test_the_policy_is_what_is_played_and_in_the_end_the_output():
    _, world, _, data = setting()
    il = ForwardAIL(world, data, K=100, stride=1)
    ends = np.cumsum(schedule(100, 11, world.gamma))
    uniform = world.uniform_policy
    assert_array_equal(il.policy.tables, uniform[None])
    tables = []
    for _ in range(100):
        tables.append(il.policy.tables)
        il.learn(1)
    final = il.output.tables
    assert final.shape == (11, *uniform.shape)
    for k, played in enumerate(tables):
        t = np.searchsorted(ends, k, side="right")
        assert_array_equal(played, [*final[:t], uniform])
        mu = timed_occupancy(world.P, world.nu0, played, world.gamma)
        assert_allclose(world.occupancy(il.history.policies[k]), mu, rtol=0, atol=1e-12)
    wanted = np.searchsorted(ends, np.arange(1, 101), side="right")
    assert_array_equal(il.history.epoch, wanted)


def test_how_episodes_are_divided_into_calls_changes_nothing(tmp_path):
    _, world, _, data = setting()
    at_once, saved = (ForwardAIL(world, data, K=120, seed=3, stride=7) for _ in range(2))
    at_once.learn(120)
    for n in (1, 30, 20):
        saved.learn(n)
        saved.save(tmp_path)
        saved = ForwardAIL.load(tmp_path, world, data)
    saved.learn(69)
    assert_array_equal(saved.output.tables, at_once.output.tables)
    for name in ("steps", "epoch", "pairs", "evaluated", "policies"):
        assert_array_equal(getattr(saved.history, name), getattr(at_once.history, name))


def test_the_output_is_saved_and_loaded_as_a_policy(tmp_path):
    _, world, _, data = setting()
    il = ForwardAIL(world, data)
    il.learn(60)
    il.output.save(tmp_path / "p")
    found = load_policy(tmp_path / "p")
    assert isinstance(found, TimedPolicy)
    assert_array_equal(found.tables, il.output.tables)
    with pytest.raises(ValueError, match="time must be given"):
        il.predict(0)


def test_invalid_arguments_are_refused(tmp_path):
    _, world, _, data = setting()
    il = ForwardAIL(world, data, K=20)
    with pytest.raises(ValueError, match="known after all K episodes"):
        _ = il.output
    with pytest.raises(
        ValueError, match="K = 20 episodes, of which 20 are left; got episodes = 21"
    ):
        il.learn(21)
    il.learn(3)
    il.learn()
    assert il.episodes == 20
    for n in (5, None):
        with pytest.raises(ValueError, match=f"of which 0 are left; got episodes = {n or 0}"):
            il.learn(n)
    with pytest.raises(
        ValueError, match=r"number of episodes of each game depends on .*give K= to"
    ):
        ForwardAIL(world, data).learn(steps=100)
    with pytest.raises(ValueError, match="expert must have a trajectory of at least 2 steps"):
        ForwardAIL(world, TrajectoryDataset([[0], [1]]))
    with pytest.raises(TypeError, match="literal must be True or False; got 1"):
        ForwardAILConfig(literal=1)
    for cut in (0, 1):
        with pytest.raises(ValueError, match="cut"):
            ForwardAILConfig(cut=cut)
    il.save(tmp_path)
    with pytest.raises(FileError, match="another configuration: K was 20, is 30"):
        ForwardAIL.load(tmp_path, world, data, K=30)


def test_states_without_actions_are_enough():
    _, world, _, data = setting()
    tables = []
    for given in (data, TrajectoryDataset(data.states, lengths=data.lengths)):
        il = ForwardAIL(world, given, seed=1)
        il.learn(80)
        tables.append(il.output.tables)
    assert_array_equal(*tables)


def test_it_learns_on_a_world_of_the_library():
    world = envs.ResetCliff(4, 2, gamma=0.7)
    best, rng = world.mdp.optimal().policy, np.random.default_rng(0)
    il = ForwardAIL(world, TrajectoryDataset.from_rollouts(world, best, 1000, rng, actions=False))
    gaps = il.learn(4000).gaps(best, world.mdp.r)
    found = world.mdp.suboptimality(il.output.stationary_in(world.mdp).table)
    assert found < 0.2 * gaps[0]


def test_worlds_that_differ_in_their_rewards_alone_give_the_same_bytes(tmp_path):
    w, _, _, data = setting()
    for i, r in enumerate((w.r, 1 - w.r)):
        il = ForwardAIL(FiniteMDP(w.P, r, w.nu0, w.gamma), data, seed=5)
        il.learn(40)
        il.save(tmp_path / str(i))
    one, other = ((tmp_path / str(i) / "agent.safetensors").read_bytes() for i in range(2))
    assert one == other


def test_files_of_others_whose_games_do_not_fit_their_episodes_are_refused(tmp_path):
    _, world, _, data = setting()
    il = ForwardAIL(world, data, K=60)
    il.learn(30)
    il.save(tmp_path)
    path = tmp_path / "agent.safetensors"
    header, arrays = storage.read(path)
    told = {name: value for name, value in header.items() if name not in ("kind", "format")}
    games = int(arrays["playing.clock.epochs"][0])
    for change in ({"playing.clock.epochs": games + 1}, {"playing.clock.episodes": 61}):
        changed = {name: np.full(1, number) for name, number in change.items()}
        storage.write(path, header["kind"], told, {**arrays, **changed})
        with pytest.raises(FileError, match="must have"):
            ForwardAIL.load(tmp_path, world, data)
    bad = np.array(arrays["games.tables"])
    bad[0, 0, 0] += 0.5
    storage.write(path, header["kind"], told, {**arrays, "games.tables": bad})
    with pytest.raises(
        FileError, match=r"games.tables\[0, 0\] must sum to 1 within 1e-08; got 1.5"
    ):
        ForwardAIL.load(tmp_path, world, data)
