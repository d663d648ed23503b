"""The feed of a run: its frames while it learns, and controls that pause it.

A frame is taken after each of the first episodes, and then after a share more episodes: one that is
smaller if somebody watches, and larger in a run that would be slowed too much. Taking a frame
copies a few arrays; whatever takes longer waits until somebody watches. Generators are left alone,
so that a run gives the same bytes with a feed and without.
"""

import time
import warnings
from collections.abc import Callable
from threading import Lock
from typing import Any

from optimist.agents import Agent
from optimist.agents.coming import ComingEpisode
from optimist.agents.progress import Bar
from optimist.experiments.specification import Unit
from optimist.live.frames import Frame, Frames, Head
from optimist.live.scenes import Scene, scene_of

GROWTH, WATCHED_GROWTH, STEADY_GROWTH = 0.3, 0.06, 0.04
"""By which share the episodes grow at least from frame to frame: while nobody watches, while
somebody does, and in recordings."""

MOST_GROWTH = 9.0
"""There is a frame for each tenfold of the episodes, whatever it costs."""

SHARE, WATCHED_SHARE = 0.03, 0.12
"""Frames shall take this share of the time that the run takes without them, likewise."""

CALL_SECONDS = 1.5e-4
"""About what it costs, besides, to end a compiled call for a frame."""

HOLD_SECONDS, ALONE_SECONDS = 0.02, 5.0
"""Seconds between the checks of a paused run, and how long it stays paused without a viewer."""

COLUMNS = ("optimistic_value", "bonus", "ascension", "epoch")
"""Columns of the history of which a frame has the latest number."""


class Feed:
    """The frames of a run while it learns (an `optimist.agents.watching.Watcher`).

    Parameters
    ----------
    steady
        Whether to take more frames, whatever time they take: the same in every run of the same
        seed, to record them.
    total, unit
        The number of episodes, or of steps, of the whole run, if it is learnt in several calls.

    Attributes
    ----------
    frames
        The frames so far.
    scene
        The scene of the agent; None before it learns.
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
    >>> feed = Feed(steady=True)
    >>> history = Optimist(envs.RiverSwim(6), seed=0).learn(100, live=feed)
    >>> [frame.episodes for frame in feed.frames][:4], feed.state, feed.episodes
    ([1, 2, 3, 4], 'ended', 100)
    """

    controls = True
    """It can be held back."""

    def __init__(
        self, steady: bool = False, total: int | None = None, unit: Unit = "episodes"
    ) -> None:
        self.steady, self.total, self.unit = steady, total, unit
        self._whole = total is not None
        self.frames = Frames()
        self.scene: Scene | None = None
        self.viewers = 0
        self.state = "waiting"
        self.episodes = self.steps = 0
        self.trouble = ""
        self._held, self._granted = False, 0
        self._next = self._latest = 0  # episodes: when to take a frame, and of the last one
        self._first = {"episodes": 0, "steps": 0}  # before the first call
        self._last: ComingEpisode | None = None
        self._numbers: dict[str, float] = {}
        self._earned, self._since = 0.0, 0  # rewards and episodes since the last frame
        self._alone = self._spent = 0.0  # seconds of learning itself, and of frames
        self._called = 0.0  # when the latest call began
        self._paces = 0.0, 0.0  # seconds an episode, or a step, in the latest two calls
        self._head = Head()
        self._early: list[Frame] = []  # before the first episode, and not shown
        self._completing = Lock()

    # Controls, from other threads

    @property
    def held(self) -> bool:
        """Whether the run is paused between two episodes."""
        return self._held

    def hold(self, held: bool) -> None:
        """Pause the run, or let it continue."""
        self._granted, self._held = 0, held

    def step(self) -> None:
        """Let a paused run continue for one more frame, that of the next episode."""
        self._granted += 1

    # The watcher of a run

    def begin(self, agent: Agent, total: int | None) -> None:
        """Learning begins, or continues."""
        if not self._whole:
            self.total = None if total is None else agent.episodes + total
        self.episodes, self.steps = agent.episodes, agent.steps
        if self.scene is None:
            self._first, started = self._played, time.perf_counter()
            self.scene = scene_of(agent)
            self._guarded(lambda: self._opening(agent))
            self._spent = time.perf_counter() - started
        self._latest = max(self._latest, self.episodes)
        self.state = "learning"

    def _opening(self, agent: Agent) -> None:
        """The frame of the first policy, from which regret is summed; it is not shown."""
        assert self.scene is not None
        if self.scene.judges:
            first = Frame(agent.episodes, agent.steps)
            self.scene.shoot(agent, first)
            self._early.append(first)

    def ahead(self, agent: Agent) -> int:
        """Up to the next frame, or to the last episode, whose path is to be drawn."""
        self._next = until = self._latest + self._gap
        last = self._last_episode
        if last is not None and agent.episodes < last - 1:
            until = min(until, last - 1)
        self._called = time.process_time()
        return max(1, until - agent.episodes)

    def look(self, agent: Agent, columns: dict[str, Any], bar: Bar) -> None:
        """Take a frame if one is due, and wait while the run is paused."""
        before, seconds = self._played, time.process_time() - self._called - CALL_SECONDS
        self.episodes, self.steps = agent.episodes, agent.steps
        self._alone += max(seconds, 0.0)
        pace = max(seconds, 0.0) / (self._played[self.unit] - before[self.unit])
        self._paces = self._paces[1], pace
        self._since += len(columns["steps"])
        self._numbers = {name: float(columns[name][-1]) for name in COLUMNS if name in columns}
        if "reward" in columns:
            self._earned += float(columns["reward"].sum())
            self._numbers["return"] = self._earned / self._since
        if self.episodes == self._last_episode:
            return  # `end` takes the last frame
        if self.episodes + 1 == self._last_episode:
            self._last = agent.coming_episode
        if self._held or self.episodes >= self._next:
            self._guarded(lambda: self._take(agent, self.episodes + 1, agent.coming_episode))
            if self._held:
                self._wait(bar)

    def end(self, agent: Agent) -> None:
        """Learning has ended: take a last frame, unless another call continues it."""
        if self._whole and getattr(agent, self.unit) < (self.total or 0):
            return
        if self._since:
            self._guarded(lambda: self._take(agent, agent.episodes, self._last))
        self.state, self._last = "ended", None

    # Frames

    @property
    def _last_episode(self) -> int | None:
        return self.total if self.unit == "episodes" else None

    @property
    def _played(self) -> dict[str, int]:
        return {"episodes": self.episodes, "steps": self.steps}

    @property
    def _gap(self) -> int:
        """After how many episodes more than at the last frame to take the next."""
        if self._held:
            return 1
        growth = STEADY_GROWTH if self.steady else self._affordable_growth
        return max(1, int((self._latest - self._first["episodes"]) * growth))

    @property
    def _affordable_growth(self) -> float:
        """The growth by which the frames that can still be paid reach to the end of the run.

        How long that takes is estimated from the slower of the latest two calls; a run of unknown
        length is taken to be half over.
        """
        least, share = (WATCHED_GROWTH, WATCHED_SHARE) if self.viewers else (GROWTH, SHARE)
        taken, done = self.frames.last, self._played[self.unit] - self._first[self.unit]
        if not taken:
            return least
        missing = done if self.total is None else self.total - self._played[self.unit]
        budget = share * (self._alone + max(self._paces) * missing) - self._spent
        affordable = budget * taken / self._spent
        if affordable <= 0:
            return MOST_GROWTH
        growth: float = ((done + missing) / done) ** min(1 / affordable, 1.0) - 1
        return min(max(growth, least), MOST_GROWTH)

    def _take(self, agent: Agent, episode: int, path: ComingEpisode | None) -> None:
        """Take a frame with the path of the next episode, or, at the end, of the last one."""
        assert self.scene is not None
        frame = Frame(agent.episodes, agent.steps, self._numbers, coming=path)
        frame.path_of = episode if path is not None else None
        self.scene.shoot(agent, frame)
        self.frames.add(frame)
        self._earned, self._since, self._latest = 0.0, 0, agent.episodes

    def _guarded(self, take: Callable[[], None]) -> None:
        """Take a frame; if user code fails in it, take no more frames, and let the run continue."""
        if self.trouble:
            return
        started = time.perf_counter()
        try:
            take()
        except Exception as error:
            self.trouble = f"{type(error).__name__}: {error}"
            warnings.warn(f"the live page shows no more frames: {self.trouble}", stacklevel=2)
        self._spent += CALL_SECONDS + time.perf_counter() - started

    def _wait(self, bar: Bar) -> None:
        """Wait until the user or an interruption lets the run continue, or no page is open."""
        self.state, alone = "held", 0.0
        while self._held and not bar.interrupted:
            if self._granted:
                self._granted -= 1
                break
            alone = 0.0 if self.viewers else alone + HOLD_SECONDS
            if alone > ALONE_SECONDS:
                self.hold(False)
            time.sleep(HOLD_SECONDS)
        self.state = "learning"

    # Showing them, in other threads

    def text_of(self, frame: Frame) -> str:
        """A frame as JSON, made once."""
        if not frame.encoded:
            self.complete(frame)
            frame.encoded = frame.text()
        return frame.encoded

    def complete(self, frame: Frame) -> None:
        """Complete a frame with its slow parts; the frames come in order."""
        assert self.scene is not None
        with self._completing:
            while self._early:
                self.scene.complete(self._early.pop())
            if not frame.complete:
                self.scene.complete(frame)
                frame.complete = True

    def complete_frames(self) -> list[Frame]:
        """All frames so far, complete."""
        frames = list(self.frames)
        for frame in frames:
            self.complete(frame)
        return frames

    @property
    def head(self) -> str:
        """The data that the page receives once, as JSON."""
        if self.scene is None:
            return self._head.text("", None, None)
        return self._head.text(self.scene.title, self.scene.picture, self.scene.optimal)

    @property
    def status(self) -> dict[str, Any]:
        """The data that the page receives whenever they change."""
        return {
            "state": self.state,
            "held": self._held,
            "done": getattr(self, self.unit),
            "total": self.total,
            "unit": self.unit,
            "steps": self.steps if self.unit == "episodes" else None,
            "trouble": self.trouble,
        }
