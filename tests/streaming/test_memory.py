"""What is kept of the data: each state once, counts of transitions, and sums that agree with them.

When the memory is full pairs are forgotten, and what is left is a smaller set of data.
"""

import itertools

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from reference.comparison import assert_sums_agree
from reference.environments import Episodic
from reference.variants import variant

import optimist.core.links
import optimist.core.memory
from optimist.agents import VariantAgent
from optimist.agents.checkpoint import FILE
from optimist.core import storage
from optimist.core.links import add_transitions
from optimist.core.memory import Memory
from optimist.core.state import blank_epoch
from optimist.core.thinning import inclusion_probabilities
from optimist.errors import BadEnvironment, MemoryFull
from optimist.features import RBF, PerAction, StateFeatures, Table

CONFIG = variant(2.0, ridge=0.5, updates=3)
TERMS = {"gamma": 0.9, "geometric": False, "low": -0.5, "high": 1}


class Noise(Episodic):
    """Every observation is a new one; some episodes terminate."""

    n_states, box = 1, True

    def __init__(self, steps=10, ends=0.02):
        self.steps, self.ends = steps, ends

    def start(self):
        return self.np_random.random() - 0.5

    def move(self, action):
        over, reward = bool(self.np_random.random() < self.ends), self.np_random.random()
        self.x = self.np_random.random() - 0.5
        return reward, over, self.t >= self.steps


def learner(env, features=None, **terms):
    return VariantAgent(env, features, config=CONFIG, seed=1, **{**TERMS, **terms})


@pytest.fixture(autouse=True)
def _refuse_numbers_out_of_range(monkeypatch):
    """Compiled code does not look at them: numbers of states that are gone are a crash."""

    def checked(stream, *given):
        source, _, after, _ = given[-4:]
        assert source.min(initial=0) >= 0
        assert max(source.max(initial=0), after.max(initial=0)) < len(stream.states.V)
        return add_transitions(stream, *given)

    monkeypatch.setattr(optimist.core.links, "add_transitions", checked)


def per_state(features):
    """How many bytes a state takes, as far as `memory` is concerned."""
    memory = Memory(features, 1.0, 1e9, "thin")
    return 1e9 / memory.most


# Repetition.


def test_observations_and_cells_that_repeat_are_kept_once():
    """A memory of one-hot features is never full."""
    lake, car = gymnasium.make("FrozenLake-v1"), gymnasium.make("MountainCar-v0")
    for agent, states, links in (
        # episodes end in the goal and the holes
        (learner(lake, gamma=0.95, memory=1e5, when_full="error"), 11, 11 * 4 * 4),
        (learner(car, "tiles:5", low=-1, high=0), 25, 25 * 25 * 3),
    ):
        history = agent.learn(40)
        weight = agent.transitions.weight
        assert history.states[-1] == len(agent.diagnostics.V) <= states
        assert len(weight) <= links
        assert weight.sum() == history.steps.sum() == agent.steps
        assert_sums_agree(agent)


FEATURES = {
    "one-hot": None,
    "tiles": "tiles:7",
    "tilings": "tiles:3*2",
    "rbf": "rbf:4",
    "fourier": "fourier:5",
    "not shared": Table(np.random.default_rng(0).normal(size=(16, 4, 6)) / 3),
}


@pytest.mark.parametrize("name", FEATURES)
def test_sums_are_those_over_the_links(name):
    discrete = name in ("one-hot", "not shared")
    agent = learner(gymnasium.make("FrozenLake-v1") if discrete else Noise(), FEATURES[name])
    for _ in range(3):
        agent.learn(15)
        assert_sums_agree(agent)


def test_states_are_told_apart_by_known_rewards():
    """Two observations with the same features are one state, unless their rewards differ."""

    def reward(x):
        return np.repeat((np.asarray(x) > 0.25).astype(float), 2, axis=1)

    for told, states in (({"reward": reward}, 3), ({}, 2)):
        agent = learner(Noise(), "tiles:2", **told)
        agent.learn(20)
        assert len(agent.diagnostics.V) == states


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


# Thinning.


@pytest.mark.parametrize("features", ["rbf:4", "fourier:6"])
def test_a_full_memory_is_thinned_and_learning_goes_on(features):
    env = gymnasium.make("MountainCar-v0", max_episode_steps=40)
    phi = learner(env, features).features
    agent = learner(env, features, memory=300 * per_state(phi), low=-1, high=0)
    states = [0]
    for _ in range(40):
        history = agent.learn(1)
        states.append(len(agent.diagnostics.V))
        assert history.states[0] == states[-1] <= 301  # room is made before the next step
        assert_sums_agree(agent)
        assert np.isfinite(agent.policy.Theta).all()
        # Bonuses are never of data that are forgotten.
        since = agent.diagnostics.Lambda - agent.policy.Lambda
        assert np.linalg.eigvalsh(since).min() > -1e-9
    thinned = (np.diff(states) < 0).sum()
    assert thinned >= 3
    assert agent.history.steps.tolist() == [40] * 40
    np.testing.assert_array_equal(agent.transitions.weight, 1.0)  # each was seen once


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


GAMMA, END = 0.9, 3.0  # what termination is worth


def a_full_memory(n_links=60, most=80):
    """A memory with links of various weights between states of a dense feature map."""
    rng = np.random.default_rng(3)
    phi = PerAction(RBF(([0.0], [1.0]), 3), 2)
    memory = Memory(phi, 0.5, most * per_state(phi), "thin")
    x = rng.random((most, 1))
    found, _ = memory.find(x, None)
    memory.states.V[:most] = rng.random(most)
    for _ in range(4):
        source = rng.integers(0, 20, size=n_links // 4)
        after = rng.integers(-1, most, size=n_links // 4)
        times = rng.integers(1, 6, size=n_links // 4)
        source, after = np.repeat(source, times), np.repeat(after, times)
        add(memory, source, rng.integers(0, 2, size=len(source)), after, rng.random(len(source)))
    assert found == list(range(most))
    return memory


def add(memory, source, action, after, paid):
    """Add transitions to a memory."""
    epoch = blank_epoch(memory.regression, moments=False, met_later=True)
    memory.reserve_links(len(source))
    stream = memory.stream(CONFIG.rule(GAMMA, memory.features.bound, 0, False), epoch)
    given = (GAMMA * END, memory.n_links, source, action, after, paid)
    memory.n_links = add_transitions(stream, *given)


def thinned(memory, seed=0, in_use=()):
    """A copy of a memory, thinned, and the new numbers of its states."""
    copy = Memory(memory.features, memory.ridge, memory.limit, memory.when_full)
    copy.restore(memory.arrays)
    rng, in_use = np.random.default_rng(seed), np.array(in_use, dtype=np.int64)
    return copy, copy.make_room(rng, in_use, GAMMA, END)


def test_errors_after_a_thinning_are_within_their_uncertainty():
    """The mean square of phi . theta over u, where V(x') is noise of variance 1, is at most 1.

    With weights of 1 / q in the sums and in Lambda it would be 2 here.
    """
    rng, most, n = np.random.default_rng(5), 400, 200
    phi = PerAction(RBF(([0.0], [2.0]), 4), 2)
    memory = Memory(phi, 1e-3, most * per_state(phi), "thin")
    x = np.concatenate([rng.random(most - n) ** 2, 1 + rng.random(n)])[:, None]
    memory.find(x, None)
    after = np.arange(most - n, most)
    add(memory, np.arange(n), rng.integers(0, 2, size=n), after, np.zeros(n))
    squares = []
    for seed in range(300):
        memory.states.V[:most] = rng.normal(size=most)
        kept = thinned(memory, seed)[0]
        m, values = kept.regression, kept.sums.values.reshape(2, -1)
        np.testing.assert_array_equal(kept.links.weight, 1.0)
        inverse = np.linalg.inv(m.Lambda)
        psi = memory.states.rows[: most - n : 5]
        error = np.einsum("ni,aij,aj->na", psi, inverse, values)
        squares.append(error**2 / np.einsum("ni,aij,nj->na", psi, inverse, psi))
    mean = np.mean(squares, axis=0)
    assert kept.n_links < n / 2
    assert (mean < 1 + 5 * np.std(squares, axis=0) / len(squares) ** 0.5).all()
    assert mean.mean() == pytest.approx(1, abs=0.05)  # nor is it far too large


def test_a_pair_stays_with_all_its_transitions_with_the_probability_of_its_leverage():
    memory = a_full_memory()
    n, expected, links = memory.n_links, memory.most // 4, memory.links
    assert n > expected
    pairs = links.source[:n] * 2 + links.action[:n]
    each = np.unique(pairs)
    inverse, phi = np.linalg.inv(memory.regression.Lambda), memory.states.rows[each // 2]
    leverage = np.einsum("ni,nij,nj->n", phi, inverse[each % 2], phi)
    np.testing.assert_allclose(memory.leverage(), leverage[np.searchsorted(each, pairs)], rtol=1e-9)
    visits = np.array([links.weight[:n][pairs == pair].sum() for pair in each])
    sizes = np.array([(pairs == pair).sum() for pair in each])
    assert sizes.max() > 1
    q = inclusion_probabilities(visits * leverage, sizes, expected)
    assert q @ sizes == pytest.approx(expected)
    for seed in range(50):
        stays = np.random.default_rng(seed).random(len(each)) < q
        kept, found = thinned(memory, seed)[0].links, np.isin(pairs, each[stays])
        for name in ("action", "weight", "paid"):
            np.testing.assert_array_equal(getattr(kept, name), getattr(links, name)[:n][found])


def test_a_thinning_that_leaves_too_many_states_is_made_again():
    """A few pairs lead to nearly all states, and may stay together by chance."""
    phi = PerAction(RBF(([0.0], [1.0]), 3), 2)
    most = 120
    memory = Memory(phi, 0.5, most * per_state(phi), "thin")
    memory.find(np.linspace(0, 1, most)[:, None], None)
    source = np.repeat([0, 1], most // 2)
    add(memory, source, source, np.arange(most), np.zeros(most))
    for seed in range(40):
        assert thinned(memory, seed)[0].n_states <= 0.75 * most


def test_probabilities_are_proportional_to_scores_up_to_1():
    for expected, spread in itertools.product([1, 5, 30, 99], [0.1, 3.0]):
        scores = np.exp(spread * np.random.default_rng(0).normal(size=100))
        sizes = np.random.default_rng(1).integers(1, 4, size=100)
        q = inclusion_probabilities(scores, sizes, expected)
        assert q @ sizes == pytest.approx(expected)
        assert (q > 0).all()
        assert (q <= 1).all()
        some = q < 1
        np.testing.assert_allclose(q[some] / scores[some], (q[some] / scores[some])[0])
        assert scores[~some].min(initial=np.inf) >= scores[some].max()
    for scores, expected, q in (
        ([1.0, 9.0], 2, [1.0, 1.0]),
        ([1.0] * 4, 2, [0.5] * 4),
        ([0.0, 0.0, 5.0], 2, [0.0, 0.0, 1.0]),
        ([1.0, 9.0], 0, [0.0, 0.0]),
    ):
        found = inclusion_probabilities(np.array(scores), np.ones(len(scores), int), expected)
        np.testing.assert_array_equal(found, q)
    found = inclusion_probabilities(np.array([1e-300, 1.0, 1e300]), np.ones(3, int), 2)
    assert found.sum() == pytest.approx(2)


def test_states_in_use_survive_with_their_new_numbers():
    whole, in_use = a_full_memory(), [79, 41, 60, 41]
    memory, number = thinned(whole, in_use=in_use)
    assert memory.n_states < 80
    assert (number[in_use] >= 0).all()
    stay = np.flatnonzero(number >= 0)
    for name in ("rows", "V"):
        before, after = getattr(whole.states, name), getattr(memory.states, name)
        np.testing.assert_array_equal(after[number[stay]], before[stay])
    assert sorted(number[stay]) == list(range(memory.n_states))
    used = set(memory.links.source.tolist()) | set(memory.links.after.tolist()) - {-1}
    assert used | set(number[in_use].tolist()) == set(range(memory.n_states))
    rng = np.random.default_rng(3)  # it was made of its numbers, and they are found again
    found, known = memory.find(rng.random((80, 1))[stay], None)
    assert found == number[stay].tolist()
    assert memory.n_states == known


def test_an_epoch_begins_after_a_thinning():
    """The bonuses of the present one are of data that are forgotten."""
    whole = a_full_memory()
    m = thinned(whole)[0].regression
    assert m.log_det[0] == pytest.approx(np.linalg.slogdet(m.Lambda)[1].sum())
    assert m.log_det[0] - m.log_det[1] > np.log(2)


@pytest.mark.parametrize("mode", AutoresetMode)
def test_episodes_go_on_through_a_thinning(mode):
    """While one ends, others are half way; or it ends together with others, after the first."""
    for lengths, room in (((5, 8, 13), 150), ((10, 10, 10), 200)):
        makers = [lambda n=n: Noise(n, ends=0.0) for n in lengths]
        agent = learner(SyncVectorEnv(makers, autoreset_mode=mode), "rbf:4", memory=room * 350)
        history = agent.learn(120)
        assert_sums_agree(agent)
        assert (np.diff(history.states) < 0).any()
        assert agent.transitions.weight.sum() < history.steps.sum()
        assert set(history.steps) == set(lengths)


class Ramp(Noise):
    """An observation tells where it came from: x' = x + 1/1000."""

    def start(self):
        return self.np_random.random() / 2

    def move(self, action):
        self.x += 1e-3
        return 0.5, False, self.t >= self.steps


class Position(StateFeatures):
    """Tells observations apart by a feature that is their number, and a constant."""

    def __init__(self):
        super().__init__(dim=2, bound=2.0, blocks=1)

    def __call__(self, observations):
        x = np.asarray(observations, dtype=np.float64)
        return np.concatenate([x, np.ones_like(x)], axis=-1)


def test_transitions_go_from_where_they_did_after_a_thinning():
    env = SyncVectorEnv([lambda n=n: Ramp(n) for n in (4, 7, 7, 11)], autoreset_mode="SameStep")
    phi = PerAction(Position(), 2)
    agent = learner(env, phi, memory=120 * per_state(phi), low=0, high=1)
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
    again = VariantAgent.load(tmp_path, Noise(), "rbf:4", **TERMS)
    assert again.episodes == agent.episodes
    again.learn(3)  # with more memory
    assert len(agent.history.steps) == agent.episodes  # the one that filled it was learnt from too
    assert agent.history.steps.sum() == agent.steps


def test_a_memory_in_which_nothing_can_be_forgotten():
    """One long episode at a time, of which all states are in use side by side."""
    makers = [lambda: Noise(10**6, ends=0.0), lambda: Noise(3, ends=0.0)]
    agent = learner(SyncVectorEnv(makers), "rbf:4", memory=40 * 350)
    with pytest.raises(MemoryFull, match=r"too few of them .*: give more than memory=1.4e\+04 byt"):
        agent.learn(100)
    assert agent.predict([0.5]) in (0, 1)
    assert agent.episodes == len(agent.history.steps) > 3


def test_a_memory_that_is_too_small():
    least = r"memory must be at least \d+ bytes, for two states; got 1"
    for bad, message in ((100, least), (0, "memory"), (-1, "memory"), (np.nan, "memory")):
        with pytest.raises(ValueError, match=message):
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


def test_a_state_whose_episode_was_dropped_does_no_harm():
    class Breaks(Noise):
        breaks = False

        def move(self, action):
            if self.breaks and self.t == 4:
                raise RuntimeError("broken")
            return super().move(action)

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
