"""What is kept of the data: each state once, counts of transitions, and sums that agree with them.

When the memory is full it is thinned, and what is left stands for the whole without bias.
"""

import re

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import optimist.core.memory
import optimist.core.streaming
from optimist import Configuration, RmaxRaviUcb
from optimist.agents.checkpoint import FILE
from optimist.core import Sigmoid, storage
from optimist.core.memory import Memory, inclusion_probabilities
from optimist.core.streaming import learn
from optimist.errors import BadEnvironment, MemoryFull
from optimist.features import RBF, OneHot, PerAction, Table, Tiles

CONFIG = Configuration(2.0, 0.3, Sigmoid(4.0, 2.0), ridge=0.5, updates=3)


class Noise(gymnasium.Env):
    """Every observation is a new one; some episodes terminate."""

    action_space = spaces.Discrete(2)
    observation_space = spaces.Box(0.0, 1.0, (1,), np.float64)

    def __init__(self, steps=10, ends=0.02):
        self.steps, self.ends = steps, ends

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return self.np_random.random(1), {}

    def step(self, action):
        self.t += 1
        over = bool(self.np_random.random() < self.ends)
        reward = self.np_random.random()
        return self.np_random.random(1), reward, over, self.t >= self.steps, {}


def learner(env, features=None, **terms):
    given = {"gamma": 0.9, "geometric": False, "reward_range": (-0.5, 1), **terms}
    seed, config = given.pop("seed", 1), given.pop("config", CONFIG)
    return RmaxRaviUcb(env, features, config, seed=seed, **given)


@pytest.fixture(autouse=True)
def _refuse_numbers_out_of_range(monkeypatch):
    """Compiled code does not look at them: numbers of states that are gone are a crash."""

    def checked(states, links, moments, gamma, terminal, known, source, *rest):
        after = rest[1]
        room = len(states.V)
        assert source.min(initial=0) >= 0
        assert source.max(initial=0) < room
        assert after.max(initial=0) < room
        return learn(states, links, moments, gamma, terminal, known, source, *rest)

    monkeypatch.setattr(optimist.core.streaming, "learn", checked)


def per_state(features):
    """How many bytes a state takes, as far as `memory` is concerned."""
    memory = Memory(features, 1.0, 1e9, "thin")
    return 1e9 / memory.most


def assert_sums_agree(agent, rtol=1e-8):
    """The sums that are kept are those over the transitions, each of which is kept once."""
    now, data = agent.diagnostics, agent.transitions
    n, X, pair = len(data.weight), len(now.V), (data.source, data.action)
    assert data.source.max() < X
    assert data.after.max() < X
    assert len(set(zip(*pair, data.after, strict=True))) == n
    blocks, size, _ = now.Lambda.shape
    phi = np.zeros((n, blocks, size))
    phi[np.arange(n), data.block[pair]] = data.phi[pair]
    Lambda = agent.config.ridge * np.eye(size)
    Lambda = Lambda + np.einsum("i,ibj,ibk->bjk", data.weight, phi, phi)
    gamma, (low, high) = agent.terms["gamma"], agent.terms["reward_range"]
    end = -low / (high - low) / (1 - gamma)  # the rewards of 0 for ever
    V = np.where(data.after >= 0, now.V[data.after], end)
    b = (data.paid + gamma * data.weight * V) @ phi.reshape(n, -1)
    np.testing.assert_allclose(now.Lambda, Lambda, rtol=rtol, atol=1e-9)
    np.testing.assert_allclose(now.b, b, rtol=rtol, atol=1e-9)
    assert now.log_det == pytest.approx(np.linalg.slogdet(Lambda)[1].sum(), rel=1e-8)
    if size > 1:
        np.testing.assert_allclose(now.inverse, np.linalg.inv(Lambda), rtol=1e-6, atol=1e-9)


# Repetition.


def test_observations_that_repeat_are_kept_once():
    agent = learner(gymnasium.make("FrozenLake-v1"), reward_range=None, gamma=0.95)
    history = agent.learn(100)
    states, weight = len(agent.diagnostics.V), agent.transitions.weight
    assert states <= 11  # but for the goal and the holes, in which episodes end
    assert len(weight) <= 11 * 4 * 4
    assert weight.sum() == history.steps.sum() == agent.steps
    assert history.states[-1] == states
    assert_sums_agree(agent)


def test_cells_of_a_tiling_are_kept_once():
    agent = learner(gymnasium.make("MountainCar-v0"), "tiles:5", reward_range=(-1, 0))
    agent.learn(15)
    assert len(agent.diagnostics.V) <= 25
    assert len(agent.transitions.weight) <= 25 * 25 * 3
    assert agent.transitions.weight.sum() == agent.steps
    assert_sums_agree(agent)


SETTINGS = {
    "one-hot": lambda: (gymnasium.make("FrozenLake-v1"), None),
    "tiles": lambda: (Noise(), "tiles:7"),
    "tilings": lambda: (Noise(), "tiles:3*2"),
    "rbf": lambda: (Noise(), "rbf:4"),
    "fourier": lambda: (Noise(), "fourier:5"),
    "not shared": lambda: (
        gymnasium.make("FrozenLake-v1"),
        Table(np.random.default_rng(0).normal(size=(16, 4, 6)) / 3),
    ),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_sums_are_those_over_the_links(name):
    env, features = SETTINGS[name]()
    agent = learner(env, features)
    for _ in range(3):
        agent.learn(15)
        assert_sums_agree(agent)


def test_weights_are_counts_and_payments_their_sums():
    agent = learner(Noise(ends=0.1), "tiles:2", reward_range=(-0.5, 1.0))
    agent.learn(60)
    links = agent.transitions
    assert len(links.weight) <= 2 * 2 * 3  # x, a, and x' or the end
    np.testing.assert_array_equal(links.weight, np.round(links.weight))
    total = (agent.history.reward.sum() + 0.5 * agent.steps) / 1.5
    assert links.paid.sum() == pytest.approx(total)
    assert links.weight[links.after < 0].sum() == agent.history.terminated.sum()


def test_states_are_told_apart_by_known_rewards():
    """Two observations with the same features are one state, unless their rewards differ."""

    def reward(x):
        return np.repeat((np.asarray(x) > 0.25).astype(float), 2, axis=1)

    agent = learner(Noise(), "tiles:2", reward=reward)
    agent.learn(20)
    assert len(agent.diagnostics.V) == 3
    agent = learner(Noise(), "tiles:2")
    agent.learn(20)
    assert len(agent.diagnostics.V) == 2


@pytest.mark.parametrize("features", ["tiles:6", "rbf:3"])
def test_states_whose_digests_coincide_are_told_apart(monkeypatch, features):
    """A state may then be kept several times, but never be taken for another."""
    usual = learner(Noise(), features)
    usual.learn(20)
    monkeypatch.setattr(optimist.core.memory, "hash", lambda key: 0, raising=False)
    agent = learner(Noise(), features)
    agent.learn(20)
    assert len(agent.diagnostics.V) > len(usual.diagnostics.V) or features == "rbf:3"
    assert_sums_agree(agent)
    x = np.linspace(0, 1, 30)[:, None]
    np.testing.assert_allclose(agent.believe(x).value, usual.believe(x).value, rtol=1e-9)
    np.testing.assert_allclose(agent.believe(x).policy, usual.believe(x).policy, rtol=1e-9)
    assert agent.history.steps.tolist() == usual.history.steps.tolist()


def test_visits_are_counted():
    agent = learner(gymnasium.make("FrozenLake-v1"), reward_range=None)
    agent.learn(50)
    links, counts = agent.transitions, np.zeros(64)
    np.add.at(counts, links.block[links.source, links.action], links.weight)
    counts = counts.reshape(16, 4)
    np.testing.assert_allclose(agent.believe(np.arange(16)).visits, counts, atol=1e-9)


# Thinning.


@pytest.mark.parametrize("features", ["rbf:4", "fourier:6"])
def test_a_full_memory_is_thinned_and_learning_goes_on(features):
    env = gymnasium.make("MountainCar-v0", max_episode_steps=40)
    phi = learner(env, features).features
    agent = learner(env, features, memory=300 * per_state(phi), reward_range=(-1, 0))
    states = [0]
    for _ in range(40):
        history = agent.learn(1)
        states.append(len(agent.diagnostics.V))
        assert history.states[0] == states[-1] <= 301  # room is made before the next step
        assert_sums_agree(agent)
        assert np.isfinite(agent.policy.Theta).all()
    thinned = (np.diff(states) < 0).sum()
    assert thinned >= 3
    assert agent.history.steps.tolist() == [40] * 40
    # What is left still stands for all that was seen.
    assert agent.transitions.weight.sum() == pytest.approx(1600, rel=0.25)


def test_a_thinned_run_is_the_same_from_the_same_seed(state_of):
    runs = []
    for _ in range(2):
        agent = learner(Noise(), "rbf:4", memory=100 * 350)
        agent.learn(60)
        runs.append(agent)
    assert runs[0].transitions.weight.max() > 1
    assert state_of(runs[0]) == state_of(runs[1])


def test_links_that_are_many_are_thinned_too():
    """Few states may have many links between them: those count as well."""
    phi = learner(Noise(), "tiles:40").features
    agent, sizes = learner(Noise(), phi, memory=60.5 * per_state(phi)), []
    for _ in range(60):
        agent.learn(1)
        sizes.append(len(agent.transitions.weight))
        assert_sums_agree(agent)
    assert max(sizes) < 120 + 10  # an episode may fill it
    assert (np.diff(sizes) < 0).any()


def a_full_memory(n_links=60, most=80, seed=3):
    """A memory with links of various weights between states of a dense feature map."""
    rng = np.random.default_rng(seed)
    phi = PerAction(RBF(([0.0], [1.0]), 3), 2)
    memory = Memory(phi, 0.5, most * per_state(phi), "thin")
    x = rng.random((most, 1))
    found, _ = memory.find(x, None)
    memory.states.V[:most] = rng.random(most)
    memory.states.head[:most] = -1
    memory.states.left[:most] = 0
    memory.reserve_links(10 * n_links)
    for _ in range(4):
        source = rng.integers(0, 20, size=n_links // 4)
        after = rng.integers(-1, most, size=n_links // 4)
        times = rng.integers(1, 6, size=n_links // 4)
        source, after = np.repeat(source, times), np.repeat(after, times)
        memory.n_links = learn(
            memory.states, memory.links, memory.moments, 0.9, 3.0, memory.n_links,
            source, rng.integers(0, 2, size=len(source)), after, rng.random(len(source)),
        )  # fmt: skip
    assert found == list(range(most))
    return memory


def test_thinned_sums_are_unbiased():
    """Over many thinnings of one memory, the means of all sums are those of the whole."""
    whole = a_full_memory()
    names = ("Lambda", "paid", "values")
    sums, mass, n = {name: [] for name in names}, [], 800
    in_use = np.zeros(0, dtype=np.int64)
    for seed in range(n):
        memory = a_copy(whole)
        memory.make_room(np.random.default_rng(seed), in_use, 0.9, 3.0)
        for name in names:
            sums[name].append(getattr(memory.moments, name).copy())
        mass.append(memory.links.weight[: memory.n_links].sum())
    for name in names:
        found = np.array(sums[name])
        error = found.std(axis=0) / np.sqrt(n) + 1e-12
        assert (np.abs(found.mean(axis=0) - getattr(whole.moments, name)) < 5 * error).all(), name
        assert found.std(axis=0).max() > 1e-3  # they were thinned
    total = whole.links.weight[: whole.n_links].sum()
    assert abs(np.mean(mass) - total) < 5 * np.std(mass) / np.sqrt(n)


def a_copy(memory):
    copy = Memory(memory.features, memory.ridge, memory.most * 1000, memory.when_full)
    copy.most = memory.most
    copy.restore(memory.arrays)
    return copy


def test_a_link_is_kept_with_the_probability_of_its_leverage():
    memory = a_full_memory()
    n = memory.n_links
    expected = memory.most // 4
    assert n > expected
    source, action = memory.links.source[:n], memory.links.action[:n]
    Lambda = memory.moments.Lambda
    score = np.array(
        [
            memory.links.weight[i]
            * memory.states.rows[source[i]]
            @ np.linalg.solve(Lambda[action[i]], memory.states.rows[source[i]])
            for i in range(n)
        ]
    )
    np.testing.assert_allclose(memory.links.weight[:n] * memory.leverage(), score, rtol=1e-9)
    q = inclusion_probabilities(score, expected)
    assert q.sum() == pytest.approx(expected)
    kept = np.zeros(n)
    for seed in range(300):
        copy = a_copy(memory)
        copy.make_room(np.random.default_rng(seed), np.zeros(0, dtype=np.int64), 0.9, 3.0)
        kept[np.random.default_rng(seed).random(n) < q] += 1
        assert copy.n_links == (np.random.default_rng(seed).random(n) < q).sum()
    assert (np.abs(kept / 300 - q) < 5 * np.sqrt(q * (1 - q) / 300) + 1e-9).all()


@pytest.mark.parametrize("expected", [1, 5, 30, 99])
@pytest.mark.parametrize("spread", [0.1, 3.0])
def test_probabilities_are_proportional_to_scores_up_to_1(expected, spread):
    scores = np.exp(spread * np.random.default_rng(0).normal(size=100))
    q = inclusion_probabilities(scores, expected)
    assert q.sum() == pytest.approx(expected)
    assert (q > 0).all()
    assert (q <= 1).all()
    some = q < 1
    np.testing.assert_allclose(q[some] / scores[some], (q[some] / scores[some])[0])
    if some.all():
        return
    assert scores[~some].min() >= scores[some].max()


def test_probabilities_of_few_or_equal_scores():
    np.testing.assert_array_equal(inclusion_probabilities(np.array([1.0, 9.0]), 2), [1.0, 1.0])
    np.testing.assert_array_equal(inclusion_probabilities(np.ones(4), 2), np.full(4, 0.5))
    np.testing.assert_array_equal(inclusion_probabilities(np.array([0.0, 0.0, 5.0]), 2)[2], 1.0)
    assert inclusion_probabilities(np.array([1e-300, 1.0, 1e300]), 2).sum() == pytest.approx(2)


def test_states_in_use_survive_with_their_new_numbers():
    memory = a_full_memory()
    rows, V = memory.states.rows.copy(), memory.states.V.copy()
    in_use = np.array([79, 41, 60, 41])
    number = memory.make_room(np.random.default_rng(0), in_use, 0.9, 3.0)
    assert memory.n_states < 80
    assert (number[in_use] >= 0).all()
    stay = np.flatnonzero(number >= 0)
    np.testing.assert_array_equal(memory.states.rows[number[stay]], rows[stay])
    np.testing.assert_array_equal(memory.states.V[number[stay]], V[stay])
    assert sorted(number[stay]) == list(range(memory.n_states))
    used = set(memory.links.source.tolist()) | set(memory.links.after.tolist()) - {-1}
    assert used | set(number[in_use].tolist()) == set(range(memory.n_states))


def test_an_epoch_has_grown_as_much_after_thinning_as_before():
    """How far the determinant is from having doubled is not changed by what is forgotten."""
    memory = a_full_memory()
    m = memory.moments
    m.log_det[1] = m.log_det[0] - 0.3
    memory.make_room(np.random.default_rng(0), np.zeros(0, dtype=np.int64), 0.9, 3.0)
    assert m.log_det[0] == pytest.approx(np.linalg.slogdet(m.Lambda)[1].sum())
    assert m.log_det[0] - m.log_det[1] == pytest.approx(0.3)


def test_states_are_found_again_after_thinning():
    memory = a_full_memory()
    x = np.random.default_rng(3).random((80, 1))  # those that it was made of
    number = memory.make_room(np.random.default_rng(0), np.array([70]), 0.9, 3.0)
    stay = np.flatnonzero(number >= 0)
    found, known = memory.find(x[stay], None)
    assert found == number[stay].tolist()
    assert memory.n_states == known


@pytest.mark.parametrize("mode", AutoresetMode)
def test_episodes_under_way_go_on_through_a_thinning(mode):
    """Episodes of several lengths: while one ends, others are half way."""
    makers = [lambda n=n: Noise(n, ends=0.0) for n in (5, 8, 13)]
    agent = learner(SyncVectorEnv(makers, autoreset_mode=mode), "rbf:4", memory=150 * 350)
    history = agent.learn(120)
    assert_sums_agree(agent)
    assert (np.diff(history.states) < 0).any()
    total = agent.transitions.weight.sum()
    assert total == pytest.approx(history.steps.sum(), rel=0.3)


@pytest.mark.parametrize("mode", AutoresetMode)
def test_episodes_that_end_together_go_on_through_a_thinning(mode):
    """The memory may be thinned after the first of several that end in the same step."""
    env = SyncVectorEnv([lambda: Noise(10, ends=0.0)] * 3, autoreset_mode=mode)
    agent = learner(env, "rbf:4", memory=200 * 350)
    history = agent.learn(90)
    assert_sums_agree(agent)
    assert (np.diff(history.states) < 0).any()
    assert history.steps.tolist() == [10] * 90


def test_transitions_go_from_where_they_did_after_a_thinning():
    """An observation tells where it came from: x' = x + 1/1000, whatever was thinned meanwhile."""

    class Ramp(Noise):
        def reset(self, *, seed=None, options=None):
            gymnasium.Env.reset(self, seed=seed)
            self.t, self.x = 0, self.np_random.random() / 2
            return np.array([self.x]), {}

        def step(self, action):
            self.t += 1
            self.x += 1e-3
            return np.array([self.x]), 0.5, False, self.t >= self.steps, {}

    class Position(Tiles):
        """Tells observations apart by a feature that is their number, and a constant."""

        def __init__(self):
            Tiles.__init__(self, ([0.0], [1.0]), 2)
            self.dim, self.blocks, self.bound = 2, 1, 2.0

        def in_blocks(self, observations):
            rows = self(observations)
            return rows, np.zeros(rows.shape[:-1], dtype=np.int64)

        def __call__(self, observations):
            x = np.asarray(observations, dtype=np.float64)
            return np.concatenate([x, np.ones_like(x)], axis=-1)

    env = SyncVectorEnv([lambda n=n: Ramp(n) for n in (4, 7, 7, 11)], autoreset_mode="SameStep")
    phi = PerAction(Position(), 2)
    agent = learner(env, phi, memory=120 * per_state(phi), reward_range=(0, 1))
    history = agent.learn(150)
    assert (np.diff(history.states) < 0).any()
    data = agent.transitions
    x = data.phi[:, 0, 0]
    np.testing.assert_allclose(x[data.after] - x[data.source], 1e-3, atol=1e-12)


# Limits.


def test_a_full_memory_may_be_an_error(tmp_path):
    agent = learner(Noise(), "rbf:4", memory=100 * 350, when_full="error")
    with pytest.raises(MemoryFull, match=r"holds 1?\d\d states and is full: give more \(memory="):
        agent.learn(100)
    assert 5 <= agent.episodes <= 15
    assert agent.policy.probabilities([0.5]).sum() == pytest.approx(1.0)
    assert agent.predict([0.5]) in (0, 1)
    agent.save(tmp_path)
    again = RmaxRaviUcb.load(
        tmp_path, Noise(), "rbf:4", gamma=0.9, geometric=False, reward_range=(-0.5, 1)
    )
    assert again.episodes == agent.episodes
    again.learn(3)  # with more memory
    assert len(agent.history.steps) == agent.episodes  # the one that filled it was learnt from too
    assert agent.history.steps.sum() == agent.steps


def test_a_memory_in_which_nothing_can_be_forgotten():
    """One long episode at a time, of which all states are in use side by side."""
    makers = [lambda: Noise(10**6, ends=0.0), lambda: Noise(3, ends=0.0)]
    agent = learner(SyncVectorEnv(makers), "rbf:4", memory=40 * 350)
    with pytest.raises(MemoryFull, match="too few of them can stand for others"):
        agent.learn(100)
    assert agent.predict([0.5]) in (0, 1)
    assert agent.episodes == len(agent.history.steps) > 3


def test_the_memory_advised_is_more_than_the_memory_given():
    makers = [lambda: Noise(10**6, ends=0.0), lambda: Noise(3, ends=0.0)]
    agent = learner(SyncVectorEnv(makers), "rbf:4", memory=40 * 350)
    with pytest.raises(MemoryFull) as refusal:
        agent.learn(100)
    advised = float(re.search(r"memory=([\d.e+]+)", str(refusal.value))[1])
    assert advised >= 40 * 350


def test_a_memory_that_is_too_small():
    with pytest.raises(ValueError, match=r"memory = 100 bytes is less than two states take: \d+"):
        learner(Noise(), "rbf:4", memory=100)
    for bad in (0, -1, np.nan):
        with pytest.raises(ValueError, match="memory"):
            learner(Noise(), "rbf:4", memory=bad)


def test_the_bytes_taken_are_about_those_allowed(tmp_path):
    limit = 400_000
    agent = learner(Noise(50), "fourier:20", memory=limit)
    agent.learn(40)
    assert len(agent.diagnostics.V) <= limit / per_state(agent.features)
    agent.save(tmp_path)
    _, arrays = storage.read(tmp_path / FILE)
    taken = sum(a.nbytes for name, a in arrays.items() if name.startswith(("states.", "links.")))
    assert 0.1 * limit < taken < limit


def test_a_memory_of_one_hot_features_is_never_full():
    features = OneHot(16, 4)
    env = gymnasium.make("FrozenLake-v1")
    agent = learner(env, features, memory=1e5, when_full="error", reward_range=None)
    assert len(agent.learn(50).steps) == 50


def test_a_state_whose_episode_was_dropped_does_no_harm():
    class Breaks(Noise):
        breaks = False

        def step(self, action):
            if self.breaks and self.t == 3:
                raise RuntimeError("broken")
            return super().step(action)

    env = Breaks()
    agent = learner(env, "rbf:4")
    agent.learn(2)
    before, env.breaks = len(agent.diagnostics.V), True
    with pytest.raises(BadEnvironment, match="broken"):
        agent.learn(1)
    env.breaks = False
    assert len(agent.diagnostics.V) == before + 4
    agent.learn(2)
    assert_sums_agree(agent)
