"""The feed of a run: frames of it while it learns, and controls that hold it back.

Frames are taken after every episode at first, and then ever more seldom: after some tenth more
episodes than before, or a fiftieth if somebody watches. Whatever takes long waits until somebody
does. What is read of a learner are copies, and generators are left alone, so that a run gives the
same bytes with a feed and without.
"""

import json
import time
import warnings
from collections.abc import Callable
from typing import Any

from optimist.agents import Agent
from optimist.agents.coming import ComingEpisode
from optimist.agents.progress import Bar
from optimist.live.frames import Frame, Frames
from optimist.live.scenes import Scene, scene_of
from optimist.report.data import plain

GROWTH, WATCHED_GROWTH = 0.1, 0.02
"""By which share the episodes grow from frame to frame, while nobody and while somebody watches."""

SHARE, WATCHED_SHARE = 0.03, 0.12
"""Frames take no larger share of the time than this, likewise, ..."""

ALLOWANCE_SECONDS = 0.03
"""... and whatever they take together up to so much."""

HOLD_SECONDS, ALONE_SECONDS = 0.02, 5.0
"""How often a run that is held looks whether to go on, and how long it stays held by nobody."""

COLUMNS = ("optimistic_value", "bonus", "ascension", "epoch")
"""Columns of the history of which a frame has the latest number."""


EMPTY = json.dumps({"title": "", "picture": None, "optimal": None})


class Feed:
    """The frames of a run while it learns (an `optimist.agents.watching.Watcher`).

    Parameters
    ----------
    every
        Whether to take a frame after every episode, whatever time it takes.
    total
        The number of episodes of the whole run, if it is learnt in several calls.

    Attributes
    ----------
    frames
        The frames so far.
    scene
        What is shown of the agent; None before it learns.
    viewers
        How many look at present.
    state
        "waiting", "learning", "held" or "ended".
    episodes, steps, total
        How many have been played, and the number of episodes that was asked for, if there is one.
    trouble
        Why there are no more frames, if taking one failed.

    Examples
    --------
    >>> from optimist import Optimist, envs
    >>> feed = Feed()
    >>> history = Optimist(envs.RiverSwim(6), seed=0).learn(100, live=feed)
    >>> [frame.episodes for frame in feed.frames][:4], feed.state, feed.episodes
    ([1, 2, 3, 4], 'ended', 100)
    """

    def __init__(self, every: bool = False, total: int | None = None) -> None:
        self.every, self.total, self._whole = every, total, total is not None
        self.frames = Frames()
        self.scene: Scene | None = None
        self.viewers = 0
        self.state = "waiting"
        self.episodes = self.steps = 0
        self.trouble = ""
        self._held, self._granted = False, 0
        self._next = 1
        self._coming: ComingEpisode | None = None
        self._numbers: dict[str, float] = {}
        self._earned, self._since = 0.0, 0  # rewards and episodes since the last frame
        self._spent = self._begun = 0.0
        self._head: tuple[Any, Any, str] = (None, None, EMPTY)
        self._judged: list[Frame] = []  # taken before the first episode, and not shown

    # Controls, from other threads

    @property
    def held(self) -> bool:
        """Whether the run is held back between two episodes."""
        return self._held

    def hold(self, held: bool) -> None:
        """Hold the run back, or let it go on."""
        self._granted, self._held = 0, held

    def step(self) -> None:
        """Let a run that is held go on for one more frame, which is that of the next episode."""
        self._granted += 1

    # The watcher of a run

    def begin(self, agent: Agent, total: int | None) -> None:
        """Learning begins, or goes on."""
        if not self._whole:
            self.total = None if total is None else agent.episodes + total
        self.episodes, self.steps = agent.episodes, agent.steps
        self._begun, self._spent = time.perf_counter(), 0.0
        self._next = max(self._next, agent.episodes + 1)
        self._prepare(agent)
        if self.scene is None:
            self.scene = scene_of(agent)
            self._guarded(lambda: self._opening(agent))
        self.state = "learning"

    def _opening(self, agent: Agent) -> None:
        """Regret is summed from the first policy on, of which there is nothing to see."""
        assert self.scene is not None
        if self.scene.judges:
            first = Frame(agent.episodes, agent.steps)
            self.scene.shoot(agent, first)
            self._judged.append(first)

    def ahead(self, agent: Agent) -> int:
        """Up to the next frame, or to the episode before it, whose path is to be drawn."""
        left = self._next - agent.episodes
        return left - 1 if left > 1 else 1

    def _prepare(self, agent: Agent) -> None:
        """Note what decides the path of the episode before a frame."""
        self._coming = agent.coming_episode if self._next == agent.episodes + 1 else None

    def look(self, agent: Agent, columns: dict[str, Any], bar: Bar) -> None:
        """Take a frame if it is time to, and wait while the run is held."""
        self.episodes, self.steps = agent.episodes, agent.steps
        self._since += len(columns["steps"])
        self._numbers = {name: float(columns[name][-1]) for name in COLUMNS if name in columns}
        if "reward" in columns:
            self._earned += float(columns["reward"].sum())
            self._numbers["return"] = self._earned / self._since
        if self._held or self.episodes >= self._next:
            if self._affordable:
                self._guarded(lambda: self._take(agent))
            if self._held:
                self._wait(bar)
            self._next = self.episodes + self._gap
        self._prepare(agent)

    def end(self, agent: Agent) -> None:
        """Learning has ended, with a last frame; or it goes on with another call."""
        if self._whole and self.total is not None and agent.episodes < self.total:
            return
        if self._since:
            self._guarded(lambda: self._take(agent))
        self.state = "ended"

    # Frames

    @property
    def _gap(self) -> int:
        if self.every or self._held:
            return 1
        growth = WATCHED_GROWTH if self.viewers else GROWTH
        return max(1, int(self.episodes * growth))

    @property
    def _affordable(self) -> bool:
        share = WATCHED_SHARE if self.viewers else SHARE
        passed = time.perf_counter() - self._begun
        return self.every or self._held or self._spent <= ALLOWANCE_SECONDS + share * passed

    def _take(self, agent: Agent) -> None:
        assert self.scene is not None
        frame = Frame(agent.episodes, agent.steps, self._numbers)
        frame.coming, self._coming = self._coming, None
        self.scene.shoot(agent, frame)
        self.frames.add(frame)
        self._earned, self._since = 0.0, 0

    def _guarded(self, take: Callable[[], None]) -> None:
        """Take a frame; if code of the user fails in it, there are no more, and the run goes on."""
        if self.trouble:
            return
        started = time.perf_counter()
        try:
            take()
        except Exception as error:
            self.trouble = f"{type(error).__name__}: {error}"
            warnings.warn(f"the live page shows no more frames: {self.trouble}", stacklevel=2)
        self._spent += time.perf_counter() - started

    def _wait(self, bar: Bar) -> None:
        """Wait until the run is let go, by the user or by an interruption, or nobody looks."""
        self.state, started, alone = "held", time.perf_counter(), 0.0
        while self._held and not bar.interrupted:
            if self._granted:
                self._granted -= 1
                break
            alone = 0.0 if self.viewers else alone + HOLD_SECONDS
            if alone > ALONE_SECONDS:
                self.hold(False)
            time.sleep(HOLD_SECONDS)
        self._begun += time.perf_counter() - started
        self.state = "learning"

    # Showing them, in one other thread

    def text_of(self, frame: Frame) -> str:
        """A frame as JSON, made once, with the numbers that take long."""
        if not frame.encoded:
            assert self.scene is not None
            for early in self._judged:
                self.scene.judge(early)
            self._judged.clear()
            frame.numbers |= self.scene.judge(frame)
            frame.encoded = frame.text()
        return frame.encoded

    @property
    def head(self) -> str:
        """What the page is told of the run once, as JSON."""
        scene = self.scene
        optimal = None if scene is None else scene.optimal
        if self._head[:2] != (scene, optimal):
            told = {
                "title": "" if scene is None else scene.title,
                "picture": None if scene is None else plain(scene.picture),
                "optimal": optimal,
            }
            self._head = scene, optimal, json.dumps(told, allow_nan=False)
        return self._head[2]

    @property
    def status(self) -> dict[str, Any]:
        """What the page is told whenever it changes."""
        return {
            "state": self.state,
            "held": self._held,
            "episodes": self.episodes,
            "steps": self.steps,
            "total": self.total,
            "trouble": self.trouble,
        }
