"""What every imitator keeps: bytes that follow from the seed, files, and sentences of refusal."""

import numpy as np
import pytest
from reference.experts import imitator

from optimist import envs
from optimist.core import TimedPolicy
from optimist.errors import FileError
from optimist.features import OneHot
from optimist.imitation import IMITATORS, FeatureDataset, Imitator, TrajectoryDataset
from optimist.mdp import FiniteMDP
from optimist.testing import check_imitator

K = 30
WORLD = envs.ResetCliff(6)
BEST = WORLD.mdp.optimal().policy


def trajectories(world, policy, actions=True, n=8, seed=0):
    rng = np.random.default_rng(seed)
    return TrajectoryDataset.from_rollouts(world, policy, n, rng, length=15, actions=actions)


EXPERT = trajectories(WORLD, BEST)
every = pytest.mark.parametrize("kind", IMITATORS.values(), ids=IMITATORS)


def kinds(wanted):
    """The imitators of which something holds."""
    chosen = {name: kind for name, kind in IMITATORS.items() if wanted(kind)}
    assert chosen
    return pytest.mark.parametrize("kind", chosen.values(), ids=chosen)


def taught(kind, world=WORLD, expert=EXPERT, episodes=K, seed=3, **parameters):
    """An imitator that has learnt."""
    il = imitator(kind, world, expert, K=K, seed=seed, stride=4, **parameters)
    il.learn(episodes) if kind.plays else il.learn()
    return il


def probabilities(policy):
    """[X, A], or [T, X, A] if it depends on the time."""
    if isinstance(policy, TimedPolicy):
        return policy.tables
    return policy.probabilities(np.arange(WORLD.mdp.n_states))


def saved(il, folder):
    il.save(folder)
    return (folder / "agent.safetensors").read_bytes()


@every
def test_they_keep_the_contract_of_imitators(kind):
    assert issubclass(kind, Imitator)
    check_imitator(lambda mdp: imitator(kind, mdp, EXPERT, K=K, seed=3), WORLD)


@every
def test_the_same_seed_gives_the_same_bytes(kind, tmp_path):
    first, again = (saved(taught(kind), tmp_path / name) for name in ("first", "again"))
    assert first == again


@kinds(lambda kind: kind.plays)
def test_another_seed_plays_other_episodes(kind):
    one, other = (taught(kind, seed=seed).history.steps for seed in (3, 4))
    assert (one != other).any()


@every
def test_rewards_change_no_byte(kind, tmp_path):
    mdp = WORLD.mdp
    worlds = [FiniteMDP(mdp.P, r, mdp.nu0, mdp.gamma) for r in (mdp.r, 1 - mdp.r, 1e300 * mdp.r)]
    files = [saved(taught(kind, w), tmp_path / str(i)) for i, w in enumerate(worlds)]
    assert files == [files[0]] * 3


@every
def test_a_learner_that_is_loaded_is_the_one_that_was_saved(kind, tmp_path):
    whole = taught(kind)
    il = taught(kind, episodes=K // 3)
    il.save(tmp_path / "early")
    loaded = kind.load(tmp_path / "early", WORLD, EXPERT)
    assert type(loaded) is kind
    if kind.plays:
        loaded.learn(K - K // 3)
    for name in ("policy", "output"):
        one, other = (probabilities(getattr(a, name)) for a in (whole, loaded))
        np.testing.assert_array_equal(one, other)
    assert saved(whole, tmp_path / "a") == saved(loaded, tmp_path / "b")
    assert set(whole.history.columns) == set(loaded.history.columns)


@every
def test_a_file_of_another_expert_world_or_seed_is_refused(kind, tmp_path):
    taught(kind).save(tmp_path)
    other = trajectories(WORLD, BEST, seed=1)
    with pytest.raises(FileError, match="another world, or with other"):
        kind.load(tmp_path, WORLD, other)
    elsewhere = envs.ResetCliff(6, seed=1)
    with pytest.raises(FileError, match="another world, or with other"):
        kind.load(tmp_path, elsewhere, EXPERT)
    with pytest.raises(FileError, match="seed was 3, is 5"):
        kind.load(tmp_path, WORLD, EXPERT, seed=5)
    with pytest.raises(FileError, match=f"K was {K}, is 31"):
        kind.load(tmp_path, WORLD, EXPERT, K=31)


@every
def test_the_history_has_policies_and_no_rewards(kind):
    history = taught(kind).history
    assert "reward" not in history.columns
    assert history.policies.shape == (8 if kind.plays else 1, *WORLD.mdp.r.shape)
    assert len(history.steps) == (K if kind.plays else 0)


# What is refused


@kinds(lambda kind: kind.needs_actions)
def test_data_without_actions_are_refused(kind):
    with pytest.raises(ValueError, match=f"must have actions, as {kind.__name__} learns from them"):
        imitator(kind, WORLD, trajectories(WORLD, BEST, actions=False))


@kinds(lambda kind: not kind.needs_actions)
def test_others_do_not_look_at_actions_in_vain(kind):
    if kind.sees == "states":
        one, other = (taught(kind, expert=trajectories(WORLD, BEST, a)) for a in (True, False))
        np.testing.assert_array_equal(probabilities(one.policy), probabilities(other.policy))
    else:
        taught(kind, expert=trajectories(WORLD, BEST, actions=False))


@kinds(lambda kind: kind.needs_deterministic)
def test_an_expert_that_is_not_deterministic_is_refused(kind):
    data = trajectories(WORLD, WORLD.mdp.uniform_policy)
    with pytest.raises(ValueError, match="expert must be deterministic; in state"):
        imitator(kind, WORLD, data, K=K)


@kinds(lambda kind: kind.sees != "features")
def test_features_of_the_expert_and_other_things_are_refused(kind):
    mdp = WORLD.mdp
    features = FeatureDataset.from_policy(WORLD, BEST, OneHot(mdp.n_states, mdp.n_actions))
    for wrong in (features, None, [[0, 1]]):
        with pytest.raises(TypeError, match=r"TrajectoryDataset|cannot even start"):
            imitator(kind, WORLD, wrong, K=K)


@kinds(lambda kind: kind.sees != "features")
def test_trajectories_that_do_not_fit_the_world_are_refused(kind):
    with pytest.raises(ValueError, match=r"outside {0, \.\.\., 2}"):
        imitator(kind, envs.ResetCliff(3), EXPERT, K=K)
    data = TrajectoryDataset([[0, 1]], [[0, 0]], gamma=0.5)
    with pytest.raises(ValueError, match="gamma must be that of the world"):
        imitator(kind, WORLD, data, K=K)


@kinds(lambda kind: kind.needs_kernel)
def test_a_world_whose_kernel_is_unknown_is_refused(kind):
    with pytest.raises(TypeError, match=f"as {kind.__name__} must know P; got "):
        imitator(kind, WORLD.make(), EXPERT)


@kinds(lambda kind: kind.needs_K)
def test_the_number_of_episodes_must_be_known_before_the_first(kind, tmp_path):
    il = imitator(kind, WORLD, EXPERT)
    with pytest.raises(ValueError, match=f"give K= to {kind.__name__}, or episodes= to the first"):
        il.learn(steps=100)
    assert il.K is None
    il.learn(K)
    assert il.K == K
    il.save(tmp_path)
    assert kind.load(tmp_path, WORLD, EXPERT).K == K
    with pytest.raises(ValueError, match="K must be at least 1; got 0"):
        imitator(kind, WORLD, EXPERT, K=0)


@kinds(lambda kind: not kind.plays)
def test_those_without_episodes_learn_once(kind):
    il = imitator(kind, WORLD, EXPERT)
    with pytest.raises(ValueError, match="there is no policy yet: call learn"):
        _ = il.policy
    with pytest.raises(ValueError, match="plays no episodes: call learn"):
        il.learn(10)
    il.learn()
    assert il.episodes == 0
    with pytest.raises(ValueError, match=r"learn\(\) is called once"):
        il.learn()


@kinds(lambda kind: kind.plays)
def test_memory_does_not_grow_with_the_episodes(kind, tmp_path):
    def size(il):
        il.forget()
        il.save(tmp_path)
        return sum(file.stat().st_size for file in tmp_path.iterdir())

    il = imitator(kind, WORLD, EXPERT, K=300, stride=0)
    il.learn(20)
    before = size(il)
    il.learn(280)
    assert abs(size(il) - before) < 200  # the header has more digits; an episode takes 8 bytes
