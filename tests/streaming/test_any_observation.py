"""Observations of any kind: the same world in many disguises makes the same run."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import optimist as opt
from optimist.features import Distinct

N = 90
TERMS = {"gamma": 0.9, "geometric": False}


class Ring(gymnasium.Env):
    """States in a ring, of which one pays; it shows them in some disguise."""

    def __init__(self, space, show, n=N):
        self.observation_space, self.action_space = space, spaces.Discrete(3)
        self.show, self.n = show, n

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.t = int(self.np_random.integers(3)), 0
        return self.show(self.x), {}

    def step(self, action):
        self.x = (self.x + (1, 3, 7)[action] + int(self.np_random.integers(2))) % self.n
        self.t += 1
        return self.show(self.x), float(self.x == 50), self.x == 70, self.t == 40, {}


DISGUISES = {
    "number": (spaces.Discrete(N), int),
    "tuple": (
        spaces.Tuple([spaces.Discrete(9), spaces.Discrete(10, start=5)]),
        lambda x: (x // 10, x % 10 + 5),
    ),
    "dictionary": (
        spaces.Dict(tens=spaces.Discrete(9), ones=spaces.MultiBinary(4)),
        lambda x: {
            "tens": np.int64(x // 10),
            "ones": np.array([x % 10 >> i & 1 for i in range(4)]),
        },
    ),
    "numbers": (
        spaces.MultiDiscrete([9, 10]),
        lambda x: np.array([x // 10, x % 10]),
    ),
    "image": (
        spaces.Box(0, 255, (3, 3, 2), np.uint8),
        lambda x: np.full((3, 3, 2), x, dtype=np.uint8),
    ),
    "text": (spaces.Text(10), lambda x: "x" * (x % 10) + "y" * (x // 10)),
    "mission": (
        spaces.Dict(image=spaces.Box(0, 255, (2, 2), np.uint8), mission=spaces.Text(10)),
        lambda x: {"image": np.full((2, 2), x % 10, np.uint8), "mission": "go" * (x // 10)},
    ),
}


def run(name, features):
    agent = opt.Optimist(Ring(*DISGUISES[name]), features, seed=3, **TERMS)
    agent.learn(60, show_progress=False)
    return agent


@pytest.fixture(scope="module")
def plain():
    return run("number", None)


@pytest.mark.parametrize(
    ("name", "features"),
    [
        *((name, "distinct") for name in DISGUISES),
        *((name, None) for name in DISGUISES),
    ],
)
def test_a_disguise_changes_nothing(plain, name, features):
    agent = run(name, features)
    assert agent.history.states[-1] > 64  # there was not room for all at first
    for column in ("steps", "reward", "epoch", "terminated", "states"):
        np.testing.assert_array_equal(
            agent.history.columns[column], plain.history.columns[column], column
        )
    for x in range(N):
        np.testing.assert_allclose(
            agent.policy.probabilities(DISGUISES[name][1](x)), plain.policy.probabilities(x), 1e-9
        )


def test_side_by_side():
    for name in ("mission", "tuple", "image"):
        env = SyncVectorEnv(
            [lambda name=name: Ring(*DISGUISES[name])] * 3, autoreset_mode=AutoresetMode.DISABLED
        )
        agent = opt.Optimist(env, "distinct", seed=3, **TERMS)
        history = agent.learn(30, show_progress=False)
        plain = SyncVectorEnv(
            [lambda: Ring(*DISGUISES["number"])] * 3, autoreset_mode=AutoresetMode.DISABLED
        )
        wanted = opt.Optimist(plain, seed=3, **TERMS).learn(30, show_progress=False)
        np.testing.assert_array_equal(history.reward, wanted.reward)


def test_policies_are_saved_with_what_was_met(tmp_path):
    agent = run("mission", "distinct")
    before = agent.policy
    agent.policy.save(tmp_path / "policy.safetensors")
    loaded = opt.load_policy(tmp_path / "policy.safetensors")
    show = DISGUISES["mission"][1]
    for x in range(N):
        np.testing.assert_array_equal(loaded.probabilities(show(x)), before.probabilities(show(x)))
    never = {"image": np.zeros((2, 2), np.uint8), "mission": "stay"}
    np.testing.assert_array_equal(loaded.probabilities(never), np.full(3, 1 / 3))
    agent.learn(20, show_progress=False)
    np.testing.assert_array_equal(  # learning on does not change it
        loaded.probabilities(show(60)), before.probabilities(show(60))
    )
    assert agent.output.probabilities(show(60)).shape == (3,)


@pytest.mark.parametrize("kind", [opt.Optimist, opt.RaviUcb])
def test_it_is_saved_and_continued(tmp_path, kind):
    show = DISGUISES["mission"]
    whole, part = (kind(Ring(*show), "distinct", seed=1, **TERMS) for _ in range(2))
    for agent in (whole, part):
        agent.learn(20, show_progress=False)
    part.save(tmp_path)
    again = kind.load(tmp_path, Ring(*show), "distinct", **TERMS)
    for agent in (whole, again):
        agent.learn(20, show_progress=False)
    for name, column in whole.history.columns.items():
        np.testing.assert_array_equal(again.history.columns[name], column, name)
    with pytest.raises(opt.errors.FileError, match="with other features"):
        kind.load(tmp_path, Ring(*DISGUISES["number"]), "onehot", **TERMS)


def test_memory_is_bounded():
    wide = Ring(spaces.Discrete(2000), int, n=2000)
    agent = opt.Optimist(wide, "distinct", seed=3, memory=250_000, **TERMS)
    history = agent.learn(200, show_progress=False)
    assert (np.diff(history.states) < 0).any()  # it was full, and has forgotten
    kept = agent.policy.features
    assert isinstance(kept, Distinct)
    assert kept.n_states <= history.states.max() < 300
    assert agent.diagnostics.Lambda.size <= 3 * 512
    block = agent.transitions.block[agent.transitions.source, agent.transitions.action]
    counts = np.bincount(block, agent.transitions.weight, agent.diagnostics.Lambda.size)
    ridge = agent.diagnostics.ridge
    np.testing.assert_allclose(agent.diagnostics.Lambda.ravel(), ridge + counts, 1e-9)


def test_what_an_observation_cannot_be():
    agent = opt.Optimist(Ring(spaces.Text(5), lambda x: object()), "distinct", **TERMS)
    with pytest.raises(opt.errors.BadEnvironment, match=r"features do not fit.*numbers, text"):
        agent.learn(1, show_progress=False)
    agent = opt.Optimist(Ring(DISGUISES["tuple"][0], lambda x: (x, 3)), **TERMS)
    with pytest.raises(opt.errors.BadEnvironment, match=r"must be in \[0, 9\) and \[5, 15\)"):
        agent.learn(1, show_progress=False)


def test_features_that_grow_are_refused_where_their_number_must_be_known():
    world = opt.envs.RiverSwim(5, gamma=0.9)
    states = opt.features.StateOnly(opt.features.OneHotState(5), n_actions=2)
    data = opt.imitation.FeatureDataset(np.eye(5)[[0, 1, 4]])
    with pytest.raises(TypeError, match="phi_P must have a fixed number of features"):
        opt.FraIL(world.make(), data, states, features="distinct", gamma=0.9)
    with pytest.raises(TypeError, match="Distinct, which is for environments"):
        opt.Optimist(world, Distinct(2))
