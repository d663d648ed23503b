"""A learner of an environment on disk goes on as if it had never stopped."""

from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from reference.features import CarFeatures
from reference.variants import variant

from optimist import OptimisticVI, RaviUcb, Rmax
from optimist.agents import Optimist, VariantAgent
from optimist.agents.checkpoint import FILE
from optimist.errors import FileError
from optimist.features import OneHot, PerAction


def lake(**options):
    return gymnasium.make("FrozenLake-v1", **options)


def car():
    return gymnasium.make("MountainCar-v0", max_episode_steps=25)


def lakes(mode=AutoresetMode.DISABLED):
    return SyncVectorEnv([lake] * 3, autoreset_mode=mode)


def by_place(x):
    return np.tile(np.asarray(x)[:, None] / 16, (1, 4))


TERMS = {"gamma": 0.9, "geometric": False}
Plain = partial(VariantAgent, config=variant(2.0, updates=2))
KINDS = {
    "one-hot": (Plain, lake, None, {}),
    "anytime": (partial(VariantAgent, config=variant(anytime=True)), lake, None, {}),
    "geometric": (Plain, lake, None, {"geometric": True}),
    "known rewards": (Plain, lake, None, {"reward": by_place}),
    "next step": (Plain, partial(lakes, AutoresetMode.NEXT_STEP), None, {}),
    "same step": (Plain, partial(lakes, AutoresetMode.SAME_STEP), None, {}),
    "side by side": (Plain, lakes, None, {}),
    "tiles": (Plain, car, "tiles:6", {}),
    "rbf": (Plain, car, "rbf:4", {}),
    "own": (Plain, car, CarFeatures(), {}),
    "adaptive": (Optimist, lake, None, {}),
    "adaptive tiles": (Optimist, car, "tiles:6", {}),
    "adaptive rbf": (Optimist, car, "rbf:4", {"memory": 1.5e5}),
    "thinned": (Plain, car, "rbf:4", {"memory": 1.5e5}),
    "truncated": (RaviUcb, lake, None, {}),
    "greedy": (OptimisticVI, car, "fourier:7", {}),
    "R-max": (Rmax, lake, None, {}),
}


def new(kind, seed=5):
    make, env, features, terms = KINDS[kind]
    return make(env(), features, seed=seed, **{**TERMS, **terms})


def load(agent, kind, folder, **other):
    _, env, features, terms = KINDS[kind]
    return type(agent).load(folder, env(), features, **{**TERMS, **terms, **other})


def learnt(kind, folder, episodes=3):
    """A learner that was saved."""
    agent = new(kind)
    agent.learn(episodes)
    agent.save(folder)
    return agent


@pytest.mark.parametrize("kind", KINDS)
def test_it_goes_on_as_if_it_had_never_stopped(kind, tmp_path, same):
    """Every call of learn begins an episode, seeded by the seed and how many came before.

    Side by side it is saved while episodes are under way: those are dropped, here and there.
    """
    whole, part = new(kind), new(kind)
    part.save(tmp_path)
    part = load(part, kind, tmp_path)
    assert part.episodes == 0
    for agent in (whole, part):
        agent.learn(12)
    part.save(tmp_path)
    again, restored = load(part, kind, tmp_path), new(kind)
    restored.restore(tmp_path)
    same(part, again)
    for agent in (whole, again, restored):
        agent.learn(9)
        agent.learn(4)
    same(whole, again)
    same(whole, restored)
    if kind == "thinned":
        assert (np.diff(whole.history.states) < 0).any()


def test_a_forgotten_history_stays_forgotten(tmp_path):
    agent = new("one-hot")
    agent.learn(8)
    agent.forget()
    agent.learn(3)
    agent.save(tmp_path)
    again = load(agent, "one-hot", tmp_path)
    assert again.history.first == 8
    assert len(again.history.steps) == 3
    assert again.episodes == 11


def test_a_file_holds_numbers_alone(tmp_path):
    learnt("rbf", tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [FILE]
    data = (tmp_path / FILE).read_bytes()
    for name in (b"optimist.", b"cnumpy", b"gymnasium"):  # of modules, which pickles hold
        assert name not in data


def test_the_memory_may_be_another_size(tmp_path):
    """It says how much may be kept, and nothing of what was learnt."""
    again = load(learnt("thinned", tmp_path, 10), "thinned", tmp_path, memory=1e6)
    again.learn(60)
    assert len(again.diagnostics.V) > 600


class Renamed(gymnasium.Env):
    """Looks like the lake, but is none."""

    observation_space, action_space = spaces.Discrete(16), spaces.Discrete(4)


def test_another_environment_is_refused(tmp_path):
    learnt("one-hot", tmp_path)
    for env, features, terms in (
        (Renamed(), None, {}),
        (lake(map_name="8x8"), None, {}),
        (lake(), None, {"gamma": 0.8}),
        (lake(), None, {"low": -1.0, "high": 1.0}),
        (lake(), None, {"geometric": True}),
        (lakes(), None, {}),
        (lake(), PerAction(CarFeatures(), 4), {}),
        (lake(), None, {"reward": by_place}),
        (lake(), None, {"reward_map": lambda r: r / 2}),
    ):
        with pytest.raises(FileError, match="saved in another world, or with other features, than"):
            VariantAgent.load(tmp_path, env, features, **{**TERMS, **terms})
    assert VariantAgent.load(tmp_path, lake(), OneHot(16, 4), **TERMS).episodes == 3  # by hand
    learnt("known rewards", tmp_path)
    with pytest.raises(FileError, match="saved in another world"):
        VariantAgent.load(tmp_path, lake(), **TERMS)
    learnt("tiles", tmp_path)
    for features in ("tiles:7", "rbf:4", "tiles:6*2"):
        with pytest.raises(FileError, match="other features"):
            VariantAgent.load(tmp_path, car(), features, **TERMS)


def test_what_is_played_depends_on_the_seed(same):
    one, again, other = (new("one-hot", seed) for seed in (5, 5, 6))
    for agent in (one, again, other):
        agent.learn(20)
    same(one, again)
    assert one.history.steps.tolist() != other.history.steps.tolist()
