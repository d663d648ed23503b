"""Frames: the state of a run after some of its episodes, and a bounded store of them."""

import base64
import json
import math
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from optimist.agents.coming import ComingEpisode
from optimist.agents.snapshot import Snapshot
from optimist.checks import FloatArray, IntArray
from optimist.display.boards import Map
from optimist.report.data import plain

MOST_BYTES = 8 * 2**20
"""About how much memory the frames of a run take at most."""

RECENT = 32
"""So many of the latest frames stay when others are left out."""


@dataclass
class Frame:
    """The state of a run, as shown after some of its episodes.

    Attributes
    ----------
    numbers
        Numbers of the run so far, by name; nan if one is not known.
    snapshot
        What is known of a finite world, until the frame is complete.
    boards
        A number of each state or cell, [X], by the name of the board.
    policy
        The next policy, [X, A]; of a map its most likely ``action``, [X].
    coming, path_of
        The data that determine the path of an episode, which is drawn, and the number of that
        episode.
    points
        The observations of the latest episode instead, on a map, [steps, 2].
    picture
        The picture that the environment renders, as a PNG.
    """

    episodes: int
    steps: int
    numbers: dict[str, float] = field(default_factory=dict)
    snapshot: Snapshot | None = None
    boards: dict[str, FloatArray] = field(default_factory=dict)
    policy: FloatArray | None = None
    action: IntArray | None = None
    coming: ComingEpisode | None = None
    path_of: int | None = None
    points: FloatArray | None = None
    picture: bytes | None = None
    complete: bool = False
    encoded: str = ""

    @property
    def size(self) -> int:
        """Its approximate size in bytes, with its text."""
        arrays = (*self.boards.values(), self.policy, self.action, self.points)
        own = sum(array.nbytes for array in arrays if array is not None)
        copies = 0 if self.snapshot is None else self.snapshot.nbytes
        return 1000 + 2 * own + 2 * len(self.picture or b"") + copies

    @cached_property
    def path(self) -> IntArray | None:
        """The states of that episode in order, [steps]."""
        coming, self.coming = self.coming, None
        return None if coming is None else coming.path

    def text(self) -> str:
        """The frame as JSON. Arrays are little-endian numbers of four bytes in base64."""
        shown: dict[str, Any] = {
            "episodes": self.episodes,
            "steps": self.steps,
            "numbers": {k: _number(x) for k, x in self.numbers.items()},
            "boards": {k: packed(board) for k, board in self.boards.items()},
        }
        if self.policy is not None:
            shown["policy"] = packed(self.policy)
        if self.action is not None:
            shown["action"] = packed(self.action)
        if self.path is not None:
            shown |= {"path": self.path.tolist(), "path_of": self.path_of}
        if self.points is not None:
            shown["points"] = self.points.round(5).tolist()
        if self.picture is not None:
            shown["picture"] = base64.b64encode(self.picture).decode()
        return json.dumps(shown, allow_nan=False, separators=(",", ":"))


def _number(x: float) -> float | None:
    return float(f"{x:.6g}") if math.isfinite(x) else None


def packed(array: FloatArray | IntArray) -> str:
    """Numbers as the page reads them.

    Examples
    --------
    >>> packed(np.array([1.0, np.nan]))
    'AACAPwAAwH8='
    """
    finite = np.where(np.isfinite(array), array, np.nan)
    return base64.b64encode(finite.astype("<f4").tobytes()).decode()


class Head:
    """The data about a run that a page receives once, as JSON, made anew when they change."""

    def __init__(self) -> None:
        self._of: tuple[Any, ...] = ()
        self._text = ""

    def text(self, title: str, picture: Map | None, optimal: float | None) -> str:
        """The JSON of a title, a board or a map, and the optimal value, if they are known."""
        if not self._of or self._of[0] is not picture or self._of[1:] != (title, optimal):
            self._of = picture, title, optimal
            data = {"title": title, "picture": plain(picture), "optimal": optimal}
            self._text = json.dumps(data, allow_nan=False)
        return self._text


class Frames:
    """The frames of a run by increasing numbers, in bounded memory.

    Where they would take more, every second frame is left out, but for the latest: the whole run
    stays in sight, evenly. One thread adds, and others read.

    Examples
    --------
    >>> frames = Frames(most=100_000)
    >>> for k in range(1000):
    ...     frames.add(Frame(k, k))
    >>> len(frames) < 100, frames.after(0)[1].episodes, frames.last
    (True, 0, 1000)
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most, self._bytes, self._every = most, 0, 1
        self._numbers: list[int] = []
        self._frames: list[Frame] = []
        self._sizes: list[int] = []  # as they were added: they shrink when they are shown
        self._lock = Lock()
        self.last = 0
        """The number of the latest frame; 0 before the first."""

    def __len__(self) -> int:
        return len(self._frames)

    def __iter__(self) -> Any:
        with self._lock:
            return iter(list(self._frames))

    def add(self, frame: Frame) -> None:
        """Add the next frame."""
        with self._lock:
            self.last += 1
            self._numbers.append(self.last)
            self._frames.append(frame)
            self._sizes.append(frame.size)
            self._bytes += self._sizes[-1]
            if self._bytes > self._most:
                self._thin()
                while self._bytes > self._most / 2 and self._every < self.last:
                    self._every *= 2
                    self._thin()

    def _thin(self) -> None:
        """Keep the frames at the present interval, and the latest."""
        recent = self.last - RECENT
        kept = [i for i, n in enumerate(self._numbers) if n > recent or (n - 1) % self._every == 0]
        self._numbers = [self._numbers[i] for i in kept]
        self._frames = [self._frames[i] for i in kept]
        self._sizes = [self._sizes[i] for i in kept]
        self._bytes = sum(self._sizes)

    def after(self, number: int) -> tuple[int, Frame] | None:
        """The first frame with a larger number, if there is one."""
        with self._lock:
            i = bisect_right(self._numbers, number)
            return (self._numbers[i], self._frames[i]) if i < len(self._frames) else None
