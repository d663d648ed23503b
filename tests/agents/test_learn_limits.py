"""A call of learn ends after episodes or steps, at a mean return, or by a callback."""

import io
import signal
import sys

import gymnasium
import numpy as np
import pytest
import rich.progress
from gymnasium.vector import SyncVectorEnv
from reference.experts import optimal_expert
from reference.own import EpsilonGreedy, lake

import optimist as opt
from optimist import envs
from optimist.errors import BadEnvironment, TooLarge
from optimist.features import OneHotState, StateOnly
from optimist.imitation import FeatureDataset

RIVER = envs.RiverSwim(5, gamma=0.9)


class Countdown(gymnasium.Env):
    """Every episode has n steps of reward 1: so several of a vector end together."""

    observation_space, action_space = gymnasium.spaces.Discrete(6), gymnasium.spaces.Discrete(2)

    def __init__(self, n=3, fails_at=10**9):
        self.n, self.fails_at, self.taken = n, fails_at, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = self.n
        return self.left, {}

    def step(self, action):
        self.left, self.taken = self.left - 1, self.taken + 1
        if self.taken == self.fails_at:
            raise ArithmeticError("worn out")
        return self.left, 1.0, self.left == 0, False, {}


class OwnBox(opt.imitation.Box):
    """A class of weights whose projection is not compiled."""

    kind = opt.imitation.weights.WeightKind.OTHER


def vector(mode="Disabled"):
    return SyncVectorEnv([lambda n=n: Countdown(n) for n in (2, 2, 3, 5)], autoreset_mode=mode)


def imitator(world=RIVER, **told):
    return opt.FraIL(world, optimal_expert(RIVER.mdp), K=300, seed=1, **told)


def imitator_in_lake():
    env = gymnasium.make("FrozenLake-v1", is_slippery=False, max_episode_steps=-1)
    shown = FeatureDataset(np.eye(16)[[0, 4, 15]], gamma=0.9)
    states = StateOnly(OneHotState(16), 4)
    return opt.FraIL(env, shown, states, K=300, gamma=0.9, seed=1)


FINITE = {
    "Optimist": lambda: opt.Optimist(RIVER, seed=1),
    "changing rewards": lambda: opt.RmaxRaviUcb(
        RIVER, seed=1, rewards=opt.core.Switching(np.array([RIVER.mdp.r, 1 - RIVER.mdp.r]), 30)
    ),
    "Psrl": lambda: opt.Psrl(RIVER, seed=1, stride=3),
    "QLearning": lambda: opt.QLearning(RIVER, seed=1, stride=0),
    "PythonAgent": lambda: opt.PythonAgent(RIVER, EpsilonGreedy, seed=1),
}
ENVIRONMENTS = {
    "environment": lambda: opt.Optimist(lake(), gamma=0.9, seed=1),
    "RaviUcb": lambda: opt.RaviUcb(lake(), gamma=0.9, geometric=True, seed=1),
    "vector": lambda: opt.Optimist(vector(), gamma=0.9, geometric=False, seed=1),
    "vector that resets itself": lambda: opt.Optimist(vector("SameStep"), gamma=0.9, seed=1),
    "PythonAgent in an environment": lambda: opt.PythonAgent(
        lake(), EpsilonGreedy, gamma=0.9, seed=1
    ),
}
IMITATORS = {
    "FraIL": imitator,
    "fresh rollouts": lambda: imitator(fresh=True),
    "own weights": lambda: imitator(weights=OwnBox(0, 1)),
    "FraIL in an environment": imitator_in_lake,
}
AGENTS = {**FINITE, **ENVIRONMENTS, **IMITATORS}
every_agent = pytest.mark.parametrize("make", AGENTS.values(), ids=AGENTS)


def saved(agent, folder):
    """The bytes of all that the agent has learnt, and of its history."""
    agent.save(folder)
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@every_agent
def test_steps_end_with_the_episode_that_reaches_them(make, tmp_path):
    by_episodes, by_steps, by_callback = make(), make(), make()
    by_episodes.learn(200)
    after = []

    def count(agent):
        after.append(agent.steps)
        return True if agent.episodes == 200 else None

    by_callback.learn(callback=count)
    assert len(after) == 200  # each of them
    assert after[-1] == by_episodes.steps
    assert len(by_steps.learn(steps=after[-2] + 1).steps) == 200
    one, other, third = (
        saved(agent, tmp_path / name)
        for name, agent in (("one", by_episodes), ("other", by_steps), ("third", by_callback))
    )
    assert one == other == third
    assert len(make().learn(steps=after[150]).steps) == 151
    assert len(make().learn(170, steps=after[150]).steps) == 151
    assert len(make().learn(150, steps=after[150]).steps) == 150


@every_agent
def test_steps_in_several_calls(make, tmp_path):
    """Counted from each call. In a finite world the number of calls changes nothing."""
    pieces, whole, lengths = make(), make(), []
    for n in (1, 40, 333):
        before = pieces.steps
        history = pieces.learn(steps=n)
        taken = pieces.steps - before
        rollouts = history.columns.get("rollouts", np.zeros(1))
        assert n <= taken < n + history.steps[-1] + rollouts[-1]
        lengths.append(len(history.steps))
    for n in [sum(lengths)] if make in FINITE.values() else lengths:
        whole.learn(n)
    assert saved(pieces, tmp_path / "pieces") == saved(whole, tmp_path / "whole")


@pytest.mark.parametrize("make", [FINITE["Optimist"], FINITE["Psrl"]])
def test_many_steps_are_played_in_few_calls(make):
    """The end is the same as that of single episodes, whatever the pace."""
    steps = make().learn(3000).steps
    for end in (10, 500, 2000, 3000):
        n = int(steps[: end - 1].sum()) + 1
        assert len(make().learn(steps=n).steps) == end


@every_agent
def test_a_callback_changes_nothing_and_sees_every_episode(make, tmp_path):
    plain, watched, seen = make(), make(), []

    def look(agent):
        assert len(agent.history.steps) == agent.episodes
        seen.append(agent.history.steps.sum())
        if getattr(agent, "tabular", True):
            assert agent.diagnostics.pi.shape[0] > 0

    plain.learn(30)
    history = watched.learn(30, callback=look)
    assert seen == np.cumsum(history.steps).tolist()
    assert saved(plain, tmp_path / "plain") == saved(watched, tmp_path / "watched")


@every_agent
def test_what_a_callback_raises_is_raised_and_what_was_learnt_stays(make, tmp_path):
    agent, stopped = make(), make()

    def fail(agent):
        if agent.episodes == 7:
            raise ZeroDivisionError("of the user")

    with pytest.raises(ZeroDivisionError, match="of the user"):
        agent.learn(30, callback=fail)
    stopped.learn(7)
    assert saved(agent, tmp_path / "agent") == saved(stopped, tmp_path / "stopped")
    assert len(agent.learn(3).steps) == 3


@pytest.mark.usefixtures("interruptible")
@every_agent
def test_an_interruption_during_a_callback(make):
    """The first one lets it return, the second one does not."""
    agent, returned = make(), []

    def press(agent):
        for _ in range(agent.episodes // 4):
            signal.raise_signal(signal.SIGINT)
        returned.append(agent.episodes)

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            agent.learn(20, callback=press)
        assert len(agent.history.steps) == agent.episodes
    assert (agent.episodes, returned) == (5, [1, 2, 3, 4, 5])
    agent.learn(2)
    with pytest.raises(KeyboardInterrupt):
        agent.learn(20, callback=press)
    assert (agent.episodes, returned[5:]) == (8, [])


def test_what_a_callback_may_return():
    for answer in (1, 0.5, "stop"):
        agent = opt.Rmax(RIVER)
        with pytest.raises(TypeError, match="must return True to end learning, or False or None"):
            agent.learn(10, callback=lambda _, answer=answer: answer)
        assert agent.episodes == len(agent.history.steps) == 1
    for answer, episodes in ((True, 1), (np.True_, 1), (False, 10), (None, 10)):
        agent = opt.Rmax(RIVER)
        agent.learn(10, callback=lambda _, answer=answer: answer)
        assert agent.episodes == episodes


def test_a_callback_may_save_but_not_learn_or_forget(tmp_path):
    agent = opt.Optimist(RIVER)
    with pytest.raises(ValueError, match="learn was called while the agent is learning"):
        agent.learn(5, callback=lambda agent: agent.learn(5) and None)
    with pytest.raises(ValueError, match="forget was called while the agent is learning"):
        agent.learn(5, callback=lambda agent: agent.forget())
    agent.learn(3, callback=lambda agent: agent.save(tmp_path))
    again = opt.Optimist.load(tmp_path, RIVER)
    assert again.episodes == agent.episodes == 5
    agent.forget()


@pytest.mark.parametrize("mode", ["Disabled", "SameStep", "NextStep"])
def test_episodes_of_a_vector_that_end_together_are_learnt_from_one_by_one(mode):
    def make():
        return opt.Optimist(vector(mode), gamma=0.9, geometric=False, seed=1)

    whole = make().learn(40)
    for n in (1, 2, 3, 7):
        agent = make()
        history = agent.learn(callback=lambda agent, n=n: True if agent.episodes == n else None)
        assert agent.episodes == n
        assert agent.steps == history.steps.sum()
        for name, column in history.columns.items():
            np.testing.assert_array_equal(column, whole.columns[name][:n], name)
        assert len(make().learn(steps=int(history.steps.sum())).steps) == n


def test_until_a_mean_return_of_100_episodes():
    agent = opt.Optimist(lake(), gamma=0.95, seed=0)
    history = agent.learn(until=0.999)
    K = len(history.reward)
    windows = np.convolve(history.reward, np.full(100, 0.01), "valid")
    assert history.mean_return(last=100) >= 0.999
    assert K > 100
    assert (windows[:-1] < 0.999).all()
    assert len(agent.learn(until=0.5).steps) == 1  # of the whole run: it is above that already
    assert len(agent.learn(20, until=2).steps) == 20
    agent.forget()
    assert len(agent.learn(until=0.5).steps) == 100  # of what the history holds


def test_until_needs_100_episodes():
    agent = opt.PythonAgent(Countdown(), EpsilonGreedy, gamma=0.9, geometric=False)
    assert len(agent.learn(60, until=3).steps) == 60
    assert len(agent.learn(60, until=3).steps) == 40


@pytest.mark.parametrize("make", [*FINITE.values(), *IMITATORS.values()])
def test_until_is_refused_where_returns_say_nothing(make):
    agent = make()
    with pytest.raises(ValueError, match=r"until= compares returns.*use steps= or callback="):
        agent.learn(10, until=1.0)
    assert agent.episodes == 0


@every_agent
def test_bad_limits_are_refused(make):
    agent = make()
    for given, error, said in (
        ({}, TypeError, "give episodes=, steps=, callback= or until="),
        ({"episodes": 0}, ValueError, "episodes"),
        ({"steps": 0}, ValueError, "steps"),
        ({"steps": 1.5}, TypeError, "steps"),
        ({"callback": 3}, TypeError, "callback must be a function of the agent; got 3"),
    ):
        with pytest.raises(error, match=said):
            agent.learn(**given)
    assert agent.episodes == 0


@pytest.mark.parametrize("until", [np.nan, np.inf, "high"])
def test_until_must_be_a_number(until):
    with pytest.raises((ValueError, TypeError), match="until"):
        opt.Optimist(lake(), gamma=0.9).learn(until=until)


def test_an_imitator_needs_the_number_of_its_episodes():
    il = opt.FraIL(RIVER, optimal_expert(RIVER.mdp), seed=0)
    with pytest.raises(ValueError, match="give K= to FraIL, or episodes= to the first call"):
        il.learn(steps=100)
    with pytest.raises(ValueError, match="steps"):
        il.learn(100, steps=-1)
    assert il.K is None  # nothing was learnt
    il.learn(50, steps=10)
    assert il.K == 50
    il.learn(steps=10)


def test_an_environment_that_fails_before_the_steps_are_taken():
    agent = opt.Optimist(Countdown(3, fails_at=20), gamma=0.9, geometric=False)
    with pytest.raises(BadEnvironment, match="worn out"):
        agent.learn(steps=100)
    assert agent.steps == agent.history.steps.sum() == 18


def test_a_history_that_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setenv("OPTIMIST_MAX_BYTES", "1e6")
    finite, env = opt.Rmax(RIVER, stride=0), opt.Optimist(Countdown(), gamma=0.9)
    finite.learn(steps=20_000, callback=lambda _: True)  # at most about 4,000 episodes
    for agent, steps in ((finite, 40_000), (env, 10_000)):
        with pytest.raises(TooLarge, match="the history of"):
            agent.learn(steps=steps)
    env.learn(1000, steps=10_000, callback=lambda _: True)
    env.learn(callback=lambda _: True)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_counts_what_was_asked_for(monkeypatch):
    shown = []

    class Recorder(rich.progress.Progress):
        def __init__(self, **how):
            super().__init__(**{**how, "disable": True})
            shown.append(self)

    monkeypatch.setattr(rich.progress, "Progress", Recorder)
    monkeypatch.setattr(sys, "stderr", Terminal())
    agent = opt.Rmax(RIVER)
    agent.learn(5)
    taken = agent.steps
    agent.learn(steps=300)
    by_steps = agent.steps - taken
    agent.learn(5, steps=10**6)
    agent.learn(callback=lambda _: True)
    totals = [(bar.tasks[0].total, bar.tasks[0].completed) for bar in shown]
    assert totals == [(5, 5), (300, by_steps), (5, 5), (None, 1)]
