"""A learner of an environment on disk goes on as if it had never stopped."""

from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from optimist import Configuration, OptimisticVI, RaviUcb, Rmax, RmaxRaviUcb
from optimist.agents.checkpoint import FILE
from optimist.core import Sigmoid
from optimist.errors import FileError
from optimist.features import OneHot, PerAction, StateFeatures

CONFIG = Configuration(2.0, 0.3, Sigmoid(4.0, 2.0), updates=2)


def lake(**options):
    return gymnasium.make("FrozenLake-v1", **options)


def car():
    return gymnasium.make("MountainCar-v0", max_episode_steps=25)


def lakes(mode):
    return SyncVectorEnv([lake] * 3, autoreset_mode=mode)


class Own(StateFeatures):
    """Features of one's own of the car."""

    def __init__(self):
        super().__init__(dim=3, bound=2.0, blocks=1)

    def __call__(self, observations):
        x = np.asarray(observations, dtype=np.float64)
        return np.stack([np.ones(x.shape[:-1]), x[..., 0], 10 * x[..., 1]], axis=-1)


TERMS = {"gamma": 0.9, "geometric": False}
KINDS = {
    "one-hot": (RmaxRaviUcb, lake, None, {"config": CONFIG}),
    "anytime": (
        RmaxRaviUcb,
        lake,
        None,
        {"config": Configuration(2.0, 0.3, Sigmoid(4.0, 2.0), anytime=True)},
    ),
    "geometric": (RmaxRaviUcb, lake, None, {"config": CONFIG, "geometric": True}),
    "known rewards": (
        RmaxRaviUcb,
        lake,
        None,
        {"config": CONFIG, "reward": lambda x: np.tile(np.asarray(x)[:, None] / 16, (1, 4))},
    ),
    "tiles": (RmaxRaviUcb, car, "tiles:6", {"config": CONFIG}),
    "rbf": (RmaxRaviUcb, car, "rbf:4", {"config": CONFIG}),
    "fourier": (RmaxRaviUcb, car, "fourier:7", {"config": CONFIG}),
    "own": (RmaxRaviUcb, car, Own(), {"config": CONFIG}),
    "adaptive": (RmaxRaviUcb, lake, None, {}),
    "adaptive tiles": (RmaxRaviUcb, car, "tiles:6", {}),
    "adaptive rbf": (RmaxRaviUcb, car, "rbf:4", {"memory": 1.5e5}),
    "thinned": (RmaxRaviUcb, car, "rbf:4", {"config": CONFIG, "memory": 1.5e5}),
    "truncated": (RaviUcb, lake, None, {}),
    "greedy": (OptimisticVI, car, "rbf:4", {}),
    "R-max": (Rmax, lake, None, {}),
}


def new(kind, seed=5):
    agent, make, features, terms = KINDS[kind]
    return agent(make(), features=features, seed=seed, **{**TERMS, **terms})


def load(kind, folder, env=None):
    agent, make, features, terms = KINDS[kind]
    terms = {k: v for k, v in {**TERMS, **terms}.items() if k != "config"}
    return agent.load(folder, env or make(), features, **terms)


@pytest.fixture
def assert_same(state_of):
    return partial(compare, state_of)


def compare(state_of, one, other):
    first, second = state_of(one), state_of(other)
    for name in first:
        assert first[name] == second[name], name
    for name, column in one.history.table().items():
        found = other.history.table()[name]
        assert column.dtype == found.dtype, name
        np.testing.assert_array_equal(column, found, err_msg=name)
    for policies in ((one.policy, other.policy), (one.output, other.output)):
        assert policies[0].Theta.tobytes() == policies[1].Theta.tobytes()
        assert policies[0].Lambda.tobytes() == policies[1].Lambda.tobytes()
    assert (one.episodes, one.steps) == (other.episodes, other.steps)


@pytest.mark.parametrize("kind", KINDS)
def test_it_goes_on_as_if_it_had_never_stopped(kind, tmp_path, assert_same):
    """Every call of learn begins an episode, seeded by the seed and how many came before."""
    whole, part = new(kind), new(kind)
    for agent in (whole, part):
        agent.learn(12)
    part.save(tmp_path)
    again = load(kind, tmp_path)
    assert_same(part, again)
    for agent in (whole, again):
        agent.learn(9)
        agent.learn(4)
    assert_same(whole, again)
    if kind == "thinned":
        assert (np.diff(whole.history.states) < 0).any()


@pytest.mark.parametrize("mode", AutoresetMode)
def test_several_side_by_side_go_on_alike(mode, tmp_path, assert_same):
    """Saved while episodes were under way: those are dropped, here and there."""
    agents = [RmaxRaviUcb(lakes(mode), config=CONFIG, seed=5, **TERMS) for _ in range(2)]
    for agent in agents:
        agent.learn(7)
    agents[0].save(tmp_path)
    again = RmaxRaviUcb.load(tmp_path, lakes(mode), **TERMS)
    for agent in (*agents, again):
        agent.learn(11)
    assert_same(agents[0], agents[1])  # saving changes nothing
    assert_same(agents[1], again)


def test_it_goes_on_many_times(tmp_path, assert_same):
    whole, part = new("rbf"), new("rbf")
    for i in range(4):
        whole.learn(5)
        part.learn(5)
        part.save(tmp_path / str(i))
        part = load("rbf", tmp_path / str(i))
    assert_same(whole, part)


def test_a_learner_may_be_saved_before_it_has_learnt(tmp_path, assert_same):
    fresh, whole = new("rbf"), new("rbf")
    fresh.save(tmp_path)
    again = load("rbf", tmp_path)
    assert again.episodes == 0
    for agent in (again, whole):
        agent.learn(6)
    assert_same(whole, again)


def test_restoring_into_a_new_learner(tmp_path, assert_same):
    agent, other = new("tiles"), new("tiles")
    agent.learn(8)
    agent.save(tmp_path)
    other.restore(tmp_path)
    for a in (agent, other):
        a.learn(8)
    assert_same(agent, other)


def test_a_forgotten_history_stays_forgotten(tmp_path):
    agent = new("one-hot")
    agent.learn(8)
    agent.forget()
    agent.learn(3)
    agent.save(tmp_path)
    again = load("one-hot", tmp_path)
    assert again.history.first == 8
    assert len(again.history.steps) == 3
    assert again.episodes == 11


def test_a_file_holds_numbers_alone(tmp_path):
    agent = new("rbf")
    agent.learn(5)
    agent.save(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [FILE]
    data = (tmp_path / FILE).read_bytes()
    assert b"optimist." not in data  # the names of modules, which pickles hold
    assert b"cnumpy" not in data
    assert b"gymnasium" not in data


def test_the_memory_may_be_another_size(tmp_path):
    """It says how much may be kept, and nothing of what was learnt."""
    agent = new("thinned")
    agent.learn(10)
    agent.save(tmp_path)
    again = RmaxRaviUcb.load(tmp_path, car(), "rbf:4", **TERMS, memory=1e6)
    again.learn(60)
    assert len(again.diagnostics.V) > 600


class Renamed(gymnasium.Env):
    """Looks like the lake, but is none."""

    observation_space, action_space = spaces.Discrete(16), spaces.Discrete(4)


def one_saved(folder, **terms):
    agent = RmaxRaviUcb(lake(), config=CONFIG, seed=5, **{**TERMS, **terms})
    agent.learn(3)
    agent.save(folder)


OTHERS = {
    "environment": lambda: (Renamed(), None, TERMS),
    "observations": lambda: (lake(map_name="8x8"), None, TERMS),
    "gamma": lambda: (lake(), None, {**TERMS, "gamma": 0.8}),
    "range": lambda: (lake(), None, {**TERMS, "reward_range": (-1.0, 1.0)}),
    "resets": lambda: (lake(), None, {**TERMS, "geometric": True}),
    "players": lambda: (lakes(AutoresetMode.DISABLED), None, TERMS),
    "features": lambda: (lake(), PerAction(Own(), 4), TERMS),
    "known rewards": lambda: (
        lake(),
        None,
        {**TERMS, "reward": lambda x: np.zeros((len(x), 4))},
    ),
    "map of rewards": lambda: (lake(), None, {**TERMS, "reward_map": lambda r: r / 2}),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_environment_is_refused(name, tmp_path):
    one_saved(tmp_path)
    env, features, terms = OTHERS[name]()
    with pytest.raises(FileError, match="saved in another world, or with other features, than"):
        RmaxRaviUcb.load(tmp_path, env, features, **terms)


def test_known_rewards_have_to_be_given_again(tmp_path):
    one_saved(tmp_path, reward=lambda x: np.zeros((len(x), 4)))
    with pytest.raises(FileError, match="saved in another world"):
        RmaxRaviUcb.load(tmp_path, lake(), **TERMS)


def test_the_same_features_by_name_or_by_hand(tmp_path):
    one_saved(tmp_path)
    assert RmaxRaviUcb.load(tmp_path, lake(), OneHot(16, 4), **TERMS).episodes == 3
    agent = new("tiles")
    agent.learn(2)
    agent.save(tmp_path)
    for other in ("tiles:7", "rbf:4", "tiles:6*2"):
        with pytest.raises(FileError, match="other features"):
            RmaxRaviUcb.load(tmp_path, car(), other, **TERMS)


def test_one_kind_of_learner_is_not_another(tmp_path):
    one_saved(tmp_path)
    with pytest.raises(FileError, match="holds a RmaxRaviUcb, not a RaviUcb"):
        RaviUcb.load(tmp_path, lake(), **TERMS)


def test_a_damaged_file_is_refused(tmp_path):
    one_saved(tmp_path)
    data = bytearray((tmp_path / FILE).read_bytes())
    data[-9] ^= 1
    (tmp_path / FILE).write_bytes(data)
    with pytest.raises(FileError, match="was altered"):
        RmaxRaviUcb.load(tmp_path, lake(), **TERMS)


def test_what_is_played_depends_on_the_seed(assert_same):
    one, same, other = (new("one-hot", seed) for seed in (5, 5, 6))
    for agent in (one, same, other):
        agent.learn(20)
    assert_same(one, same)
    assert one.history.steps.tolist() != other.history.steps.tolist()
