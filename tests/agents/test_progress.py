"""Progress is shown in a terminal, and nowhere else."""

import io
import sys

import rich.progress

from optimist import RmaxRaviUcb, envs


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Recorder:
    """Stands in for the bar of rich, and notes what it is told."""

    shown: list["Recorder"]

    def __init__(self, **how):
        self.total, self.done, self.running = 0, 0, False
        self.shown.append(self)

    def add_task(self, text, total):
        self.total = total
        return 7

    def advance(self, task, n):
        assert task == 7
        assert self.running
        self.done += n

    def start(self):
        self.running = True

    def stop(self):
        self.running = False


def test_every_episode_is_counted(monkeypatch):
    Recorder.shown = []
    monkeypatch.setattr(rich.progress, "Progress", Recorder)
    agent = RmaxRaviUcb(envs.RiverSwim(3, gamma=0.9))
    agent.learn(5)
    assert not Recorder.shown  # no terminal
    monkeypatch.setattr(sys, "stderr", Terminal())
    agent.learn(5, show_progress=False)
    assert not Recorder.shown
    agent.learn(700)
    (bar,) = Recorder.shown
    assert (bar.total, bar.done, bar.running) == (700, 700, False)
