"""Frames of a run: what they show is what was learnt, and taking them changes nothing."""

import base64
import json
import os
import signal
import threading
import time

import gymnasium
import numpy as np
import pytest

import optimist as opt
from optimist.agents import Algorithm
from optimist.live import Feed, Frame, Frames

GRID = opt.envs.GridWorld()


def lake():
    return gymnasium.make("FrozenLake-v1", is_slippery=False)


def car():
    return opt.envs.Gym("MountainCar-v0", gamma=0.95, features="tiles:6")


class Walker(Algorithm):
    """Plays at random, and learns nothing."""

    def start(self, problem):
        self.pi = np.full((problem.n_states, problem.n_actions), 1 / problem.n_actions)

    def act(self, state, rng):
        return rng.integers(self.pi.shape[1])

    def observe(self, state, action, reward, next_state, terminated):
        pass

    def policy(self):
        return self.pi


RUNS = {
    "Optimist": lambda: opt.Optimist(GRID, seed=1),
    "RmaxRaviUcb": lambda: opt.RmaxRaviUcb(opt.envs.RiverSwim(6), seed=1, stride=3),
    "Psrl": lambda: opt.Psrl(GRID, seed=1),
    "QLearning": lambda: opt.QLearning(GRID, seed=1),
    "an environment": lambda: opt.Optimist(lake(), seed=1, gamma=0.9),
    "a plane": lambda: opt.Optimist(car(), seed=1),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_the_same_bytes_with_a_feed(name, same):
    episodes = 8 if name == "a plane" else 60
    alone, watched = RUNS[name](), RUNS[name]()
    feed = Feed()
    feed.viewers = 1
    alone.learn(episodes, show_progress=False)
    watched.learn(episodes, live=feed, show_progress=False)
    for frame in feed.frames:
        feed.text_of(frame)
    assert len(feed.frames) > 1  # how many more depends on the clock
    assert feed.trouble == ""
    same(alone, watched)


def test_plain_python_is_the_same_with_a_feed():
    agents = [opt.PythonAgent(GRID, Walker, seed=1) for _ in range(2)]
    feed = Feed()
    alone = agents[0].learn(40, show_progress=False)
    watched = agents[1].learn(40, live=feed, show_progress=False)
    for name, column in alone.columns.items():
        np.testing.assert_array_equal(column, watched.columns[name])
    assert agents[0].rng.random() == agents[1].rng.random()
    assert set(feed.complete_frames()[-1].boards) == {"value"}


def test_imitation_is_the_same_with_a_feed(same):
    def run(**live):
        phi = opt.features.StateOnly(opt.features.OneHotState(25), 4)
        best = GRID.mdp.optimal().policy
        expert = opt.imitation.FeatureDataset.from_policy(GRID, best, phi)
        agent = opt.FraIL(GRID, expert, seed=0)
        return agent, agent.learn(40, show_progress=False, **live)

    feed = Feed()
    (_, alone), (agent, watched) = run(), run(live=feed)
    for name, column in alone.columns.items():
        np.testing.assert_array_equal(column, watched.columns[name])
    last, pi = feed.complete_frames()[-1], agent.policy.probabilities(np.arange(25))
    assert "value" not in last.numbers  # it is not shown the rewards
    assert "value" not in last.boards
    np.testing.assert_allclose(last.boards["occupancy"], GRID.mdp.state_occupancy(pi))
    np.testing.assert_allclose(last.policy, pi)
    assert "$" not in "".join(feed.scene.picture.board)
    assert feed.scene.title == "FraIL in GridWorld"
    assert agent.coming_episode is None


@pytest.mark.parametrize("kind", [opt.Optimist, opt.RmaxRaviUcb, opt.Ucbvi, opt.Psrl])
def test_the_path_is_that_of_the_episode(kind):
    agent = kind(GRID, seed=3)
    for _ in range(25):
        coming = agent.coming_episode
        history = agent.learn(1, show_progress=False)
        path = coming.path
        assert len(path) == history.steps[0]
        assert GRID.mdp.r[path, 0].sum() == pytest.approx(history.reward[0])


def test_the_path_in_a_large_world_is_that_of_the_episode():
    agent = opt.Optimist(opt.envs.GridWorld("S" + "." * 1100 + "G", gamma=0.95), seed=3)
    for _ in range(10):
        coming = agent.coming_episode
        assert len(coming.path) == agent.learn(1, show_progress=False).steps[0]


def test_learners_that_change_within_an_episode_have_no_path():
    assert opt.QLearning(GRID).coming_episode is None


def test_frames_thin_out_and_the_last_has_the_path_of_the_last_episode():
    feed, agent = Feed(), opt.Optimist(GRID, seed=0)
    agent.learn(499, show_progress=False)
    history = agent.learn(1, show_progress=False)
    again = opt.Optimist(GRID, seed=0)
    again.learn(500, live=feed, show_progress=False)
    episodes = [frame.episodes for frame in feed.frames]
    assert episodes[:5] == [1, 2, 3, 4, 5]
    assert episodes[-1] == 500
    assert len(episodes) < 45
    *_, last = feed.frames
    assert (last.path_of, len(last.path)) == (500, history.steps[0])
    assert [f.path_of for f in feed.frames][:3] == [2, 3, 4]  # those that the policies play


def test_with_a_viewer_there_are_more_frames():
    counts = []
    for viewers in (0, 1):
        feed = Feed(steady=viewers > 0)
        opt.Optimist(GRID, seed=0).learn(300, live=feed, show_progress=False)
        counts.append(len(feed.frames))
    assert counts[1] > 2 * counts[0]


def test_values_and_regret_are_exact():
    feed, agent = Feed(steady=True), opt.Optimist(GRID, seed=0, stride=1)
    history = agent.learn(40, live=feed, show_progress=False)
    frames = [f for f in feed.complete_frames() if f.episodes < 25]  # each of these
    values, regret = history.values(), np.cumsum(history.regrets())
    for frame in frames:
        k = frame.episodes
        assert frame.numbers["value"] == pytest.approx(values[k])  # of the policy that plays next
        assert frame.numbers["regret"] == pytest.approx(regret[k - 1])
        assert frame.numbers["optimistic_value"] == pytest.approx(history.optimistic_value[k])
    assert feed.scene.optimal == GRID.mdp.optimal().value


def test_boards_are_what_the_agent_has_learnt():
    feed, agent = Feed(), opt.Optimist(GRID, seed=0)
    agent.learn(50, live=feed, show_progress=False)
    last, now = feed.complete_frames()[-1], agent.diagnostics
    shown = json.loads(feed.text_of(last))

    def board(name):
        return np.frombuffer(base64.b64decode(shown["boards"][name]), "<f4")

    np.testing.assert_allclose(board("value"), now.V, rtol=1e-6)
    np.testing.assert_allclose(board("bonus"), now.CB.mean(axis=1), rtol=1e-6)
    np.testing.assert_allclose(board("ascension"), now.p.mean(axis=1), rtol=1e-6)
    assert board("visits").sum() == agent.steps - agent.episodes
    policy = np.frombuffer(base64.b64decode(shown["policy"]), "<f4")
    np.testing.assert_allclose(policy, now.pi.ravel(), atol=1e-9)


class Painted(gymnasium.Env):
    """Two states, and a picture of them."""

    observation_space, action_space = gymnasium.spaces.Discrete(2), gymnasium.spaces.Discrete(2)
    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.n = 0
        return 0, {}

    def step(self, action):
        self.n += 1
        return action, float(action), self.n == 3, False, {}

    def render(self):
        return np.full((900, 300, 3), 40 * self.n, dtype=np.uint8)


def test_an_environment_that_draws_itself_is_shown():
    feed = Feed()
    opt.Optimist(Painted("rgb_array"), gamma=0.9).learn(4, live=feed, show_progress=False)
    *_, last = feed.frames
    assert last.picture.startswith(b"\x89PNG")
    assert "picture" in json.loads(feed.text_of(last))
    plain = Feed()
    opt.Optimist(Painted(), gamma=0.9).learn(4, live=plain, show_progress=False)
    assert [f.picture for f in plain.frames] == [None] * 4
    assert [f.numbers["return"] for f in plain.frames][-1] <= 3


def test_a_map_has_the_points_of_the_latest_episode():
    feed, agent = Feed(), opt.Optimist(car(), seed=0)
    history = agent.learn(2, live=feed, show_progress=False)
    *_, last = feed.frames
    assert last.points.shape == (history.steps[-1] + 1, 2)
    assert set(last.boards) == {"value", "bonus", "ascension", "visits"}


def wait_until(true, seconds=60):
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until
        time.sleep(0.005)


@pytest.fixture
def running():
    """A run in a thread of its own, which is held at its beginning."""
    feed, agent = Feed(), opt.Optimist(GRID, seed=0)
    agent.learn(1, show_progress=False)
    feed.viewers = 1
    feed.hold(True)
    thread = threading.Thread(target=lambda: agent.learn(30, live=feed, show_progress=False))
    thread.start()
    yield feed, thread
    feed.hold(False)
    thread.join(60)
    assert feed.state == "ended"
    assert feed.episodes == 31


def test_a_run_that_is_held_goes_on_step_by_step(running):
    feed, _ = running
    for k in range(1, 5):
        wait_until(lambda k=k: feed.state == "held" and len(feed.frames) == k)
        assert feed.episodes == 1 + k
        feed.step()


def test_a_run_without_viewers_is_not_paused(running, monkeypatch):
    feed, thread = running
    monkeypatch.setattr("optimist.live.feed.ALONE_SECONDS", 0.05)
    wait_until(lambda: feed.state == "held")
    feed.viewers = 0
    thread.join(60)
    assert not thread.is_alive()
    assert not feed.held


@pytest.mark.usefixtures("interruptible")
def test_an_interruption_ends_a_run_that_is_held():
    feed, agent = Feed(), opt.Optimist(GRID, seed=0)
    feed.viewers = 1
    feed.hold(True)

    def press():
        wait_until(lambda: feed.state == "held")
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt):
        agent.learn(30, live=feed, show_progress=False)
    assert agent.episodes == 1
    assert feed.state == "ended"


def test_a_picture_that_fails_ends_the_frames_and_not_the_run():
    class Failing(Painted):
        def render(self):
            raise OSError("no display")

    feed, agent = Feed(), opt.Optimist(Failing("rgb_array"), gamma=0.9)
    with pytest.warns(UserWarning, match="no display"):
        agent.learn(10, live=feed, show_progress=False)
    assert (agent.episodes, len(feed.frames)) == (10, 0)
    assert feed.status["trouble"] == "OSError: no display"


def test_frames_take_bounded_memory_and_keep_the_whole_run_in_sight():
    frames = Frames(most=400_000)
    for k in range(2000):
        frames.add(Frame(k, k, boards={"value": np.zeros(100)}))
    kept = [frame.episodes for frame in frames]
    assert len(kept) < 200
    assert kept[0] == 0
    assert kept[-10:] == list(range(1990, 2000))
    assert np.diff(kept).max() <= 64
    number, frame = frames.after(1500)
    assert number > 1500
    assert frame.episodes == number - 1
    assert frames.after(frames.last) is None


def test_learning_in_several_calls_goes_on_with_the_same_feed():
    feed, agent = Feed(total=30), opt.Optimist(GRID, seed=0)
    for _ in range(3):
        assert feed.state != "ended"
        agent.learn(10, live=feed, show_progress=False)
    assert feed.state == "ended"
    episodes = [frame.episodes for frame in feed.frames]
    assert episodes == sorted(set(episodes))
    assert episodes[-1] == 30


@pytest.mark.parametrize("viewers", [0, 1])
def test_a_run_that_frames_would_slow_has_few_of_them(monkeypatch, viewers):
    for share in ("SHARE", "WATCHED_SHARE"):
        monkeypatch.setattr(f"optimist.live.feed.{share}", 0.0)
    feed = Feed()
    feed.viewers = viewers
    opt.Optimist(GRID, seed=0).learn(400, live=feed, show_progress=False)
    assert [frame.episodes for frame in feed.frames] == [1, 10, 100, 400]
