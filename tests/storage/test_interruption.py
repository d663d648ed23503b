"""Ctrl-C takes effect between two episodes, and all that was learnt stays."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from reference.variants import variant

from optimist import Psrl, QLearning, Rlsvi, RmaxRaviUcb, envs
from optimist.agents import Optimist, VariantAgent, interruption
from optimist.agents import progress as progress_module
from optimist.agents.progress import progress
from optimist.core import Sequence


@pytest.fixture(autouse=True)
def unlimited(monkeypatch):
    """More episodes are asked for than there is memory for, and interrupted."""
    monkeypatch.setenv("OPTIMIST_MAX_BYTES", str(10**18))


class Pressing:
    """The world's rewards, while someone presses Ctrl-C before certain episodes."""

    def __init__(self, r, *moments):
        self.r, self.moments = r, set(moments)

    def choose(self, episode, policy):
        if episode in self.moments:
            self.moments.remove(episode)
            signal.raise_signal(signal.SIGINT)
        return self.r, 5 - episode % 5


@pytest.fixture
def setting(settings):
    """A world with a dense covariance."""
    return settings["dense"]()


@contextmanager
def in_a_thread(function):
    """Run a function in a thread of its own, meanwhile."""
    thread = threading.Thread(target=function)
    thread.start()
    yield
    thread.join()


@pytest.mark.usefixtures("interruptible")
def test_an_interruption_waits_for_the_end_of_a_call(setting, make, same, tmp_path):
    """And what was learnt until then is whole: it can be saved and gone on with."""
    r = setting[0].r
    whole = make(setting, rewards=Pressing(r), stride=3, episodes=100)
    agent = make(setting, rewards=Pressing(r, 40, 60), stride=3)
    with pytest.raises(KeyboardInterrupt):
        agent.learn(100)
    assert agent.episodes == agent.history.steps.size == 45
    with pytest.raises(KeyboardInterrupt):
        agent.learn(55)
    assert agent.episodes == 65
    agent.save(tmp_path)
    again = VariantAgent.load(tmp_path, *setting, rewards=Pressing(r))
    for each in (agent, again):
        rest = each.learn(35)
        assert rest.first == 65
        assert rest.steps.size == 35
        same(whole, each)


@pytest.mark.usefixtures("interruptible")
def test_an_interruption_of_compiled_code(setting, make, same):
    agent = make(setting, episodes=1)

    def press():
        while agent.episodes == 1:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    with in_a_thread(press), pytest.raises(KeyboardInterrupt):
        agent.learn(10**9)
    reached = agent.episodes
    assert 1 < reached < 10**9
    whole = make(setting, episodes=reached)
    same(whole, agent)
    for each in (agent, whole):
        each.learn(50)
    same(whole, agent)


@pytest.mark.usefixtures("interruptible")
def test_an_interruption_before_anything_was_learnt():
    def learn():
        with progress(10) as bar:
            assert not bar.interrupted
            signal.raise_signal(signal.SIGINT)
            assert bar.interrupted

    with pytest.raises(KeyboardInterrupt):
        learn()


@pytest.mark.usefixtures("interruptible")
def test_the_handler_of_before_comes_back(setting, make):
    """Whether learning ends, is interrupted, or fails."""
    r, handler = setting[0].r, signal.getsignal(signal.SIGINT)
    for rewards, error in (
        (Pressing(r), None),
        (Pressing(r, 10), KeyboardInterrupt),
        (Sequence(np.zeros((3, *r.shape))), ValueError),
    ):
        agent = make(setting, rewards=rewards)
        with nullcontext() if error is None else pytest.raises(error):
            agent.learn(20)
        assert signal.getsignal(signal.SIGINT) is handler
    assert agent.episodes == 3
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("interruptible")
def test_a_handler_of_the_users_own_decides(setting, make):
    calls = []
    for handler in (signal.SIG_IGN, lambda number, frame: calls.append(number)):
        signal.signal(signal.SIGINT, handler)
        agent = make(setting, rewards=Pressing(setting[0].r, 10))
        try:
            assert agent.learn(20).steps.size == 20
        except KeyboardInterrupt:  # which would end the tests too
            pytest.fail("learning was interrupted")
        assert signal.getsignal(signal.SIGINT) is handler
    assert calls == [signal.SIGINT]


def test_learning_in_another_thread(setting, make, same):
    agent = make(setting)
    with in_a_thread(lambda: agent.learn(50)):
        pass
    same(agent, make(setting, episodes=50))


def test_silence_where_there_is_no_terminal(capfd, monkeypatch):
    """And where there is no stderr at all, as under pythonw."""
    Optimist(envs.RiverSwim(4, gamma=0.9)).learn(5000)
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr(sys, "stderr", None)
    assert Optimist(envs.RiverSwim(4, gamma=0.9)).learn(10).steps.size == 10


LEARN = """
from optimist import Optimist, envs
Optimist(envs.RiverSwim(4, gamma=0.9)).learn(20_000)
print("done")
"""


@pytest.mark.skipif(os.name != "posix", reason="terminals as on POSIX")
def test_a_progress_bar_in_a_terminal():
    import pty

    ours, theirs = pty.openpty()
    unset = ("NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    with subprocess.Popen(
        [sys.executable, "-c", LEARN],
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env={**environment, "TERM": "xterm", "COLUMNS": "80"},
    ) as child:
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # the other end is closed
            while part := os.read(ours, 4096):
                shown += part
        assert child.stdout.read() == "done\n"
    os.close(ours)
    assert b"learning" in shown
    assert b"%" in shown


# What takes long


@pytest.fixture
def pressed():
    """Press Ctrl-C some seconds from now; what it takes until it is heard."""
    timers = []

    def press(*seconds):
        for delay in seconds:
            timers.append(threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT)))
            timers[-1].start()

    yield press
    for timer in timers:
        timer.join()


ENDLESS = variant(updates=10**12)
"""An episode takes years."""


def running():
    return {thread for thread in threading.enumerate() if thread is not threading.current_thread()}


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(
    ("name", "presses"), [("one-hot", (0.5,)), ("dense", (0.5, 0.6)), ("blocks", (0.5,))]
)
def test_an_episode_that_takes_long_is_given_up(settings, make, same, pressed, name, presses):
    setting = settings[name]()
    agent, before = make(setting, ENDLESS), running()
    rng = agent.rng
    pressed(*presses)
    with pytest.raises(KeyboardInterrupt):
        agent.learn(10)
    assert agent.rng is rng
    same(agent, make(setting, ENDLESS), history=False)
    deadline = time.monotonic() + 60
    while running() - before and time.monotonic() < deadline:  # nothing goes on computing
        time.sleep(0.01)
    assert not running() - before


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("cls", [Optimist, Rlsvi, Psrl, QLearning])
def test_a_call_that_is_given_up_leaves_what_was_before_it(cls, pressed, monkeypatch, same):
    monkeypatch.setattr(interruption, "CALL_SECONDS", 0.5)
    monkeypatch.setattr(interruption, "SLOW_SECONDS", 0.0)
    monkeypatch.setattr(progress_module, "PATIENCE_SECONDS", 0.0)
    world = envs.RiverSwim(5)
    cls(world).learn(1)  # compiles it
    agent = cls(world, stride=100)
    pressed(0.5)
    with pytest.raises(KeyboardInterrupt):
        agent.learn(10**12)
    reached = agent.episodes
    agent.learn(30)
    monkeypatch.undo()
    whole = cls(world, stride=100)
    whole.learn(reached + 30)
    same(agent, whole)


class Hanging(gymnasium.Wrapper):
    """An environment whose fifth episode never ends, or never takes a step."""

    def __init__(self, env, how):
        super().__init__(env)
        self.how, self.episodes = how, 0
        self.hangs, self.over = threading.Event(), threading.Event()

    def press(self):
        """Press Ctrl-C when it hangs: once, or if not even a step ends until that is heard."""
        self.hangs.wait()
        os.kill(os.getpid(), signal.SIGINT)
        while self.how == "step" and not self.over.wait(0.2):
            os.kill(os.getpid(), signal.SIGINT)

    def reset(self, **options):
        self.episodes += 1
        return super().reset(**options)

    def step(self, action):
        seen, reward, _, _, info = super().step(action)
        if self.episodes == 5:
            self.hangs.set()
            try:
                time.sleep(600 if self.how == "step" else 0)
            except KeyboardInterrupt:
                self.over.set()
                raise
        ends = self.episodes != 5 and self.unwrapped.np_random.random() < 0.1
        return seen, reward, ends, False, info


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("how", ["episode", "step"])
def test_an_environment_that_hangs(how):
    env = Hanging(envs.RiverSwim(5).make(), how)
    agent = Optimist(env, gamma=0.9, geometric=False)
    with in_a_thread(env.press), pytest.raises(KeyboardInterrupt):
        agent.learn(10)
    assert agent.episodes == len(agent.history.steps) == 4
    env.episodes = 10
    assert len(agent.learn(3).steps) == 3


@pytest.mark.usefixtures("interruptible")
def test_an_update_in_an_environment_that_takes_long_is_given_up(pressed):
    config = replace(RmaxRaviUcb.Config().variant(), updates=10**12, tolerance=0.0)
    agent = VariantAgent(envs.RiverSwim(5).make(), config=config, gamma=0.9, geometric=True)
    pressed(0.5)
    with pytest.raises(KeyboardInterrupt):
        agent.learn(10)
    assert agent.episodes == 0
    assert agent.transitions.source.size == 0
    assert not agent.diagnostics.V.any()
    assert np.array_equal(agent.diagnostics.Lambda, agent.diagnostics.ridge * np.ones((10, 1, 1)))
