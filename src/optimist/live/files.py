"""The data of a page about a study, read from its folder, whichever process runs it.

Files are read as if a stranger had made them, and nothing is written. They are read while somebody
looks, and only those that have changed.
"""

import json
import math
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import gymnasium
import numpy as np

from optimist.display.boards import Map
from optimist.envs import Gym
from optimist.errors import FileError, OptimistError
from optimist.experiments import Run, Study
from optimist.experiments.curves import Curves, read_curves
from optimist.experiments.maps import Maps, corners, is_plane, no_shots
from optimist.experiments.measures import track_of
from optimist.experiments.run_folder import RunFolder
from optimist.experiments.snapshots import Snapshots
from optimist.experiments.study_folder import StudyFolder
from optimist.experiments.summary import shown_points
from optimist.live.feed import Feed
from optimist.live.frames import Frame, Frames, Head
from optimist.live.scenes import map_of
from optimist.text import printable

LOOK_SECONDS = 0.5
"""The least number of seconds between two readings of the folder while a page is open."""

BUSY = 10
"""The pause after reading the folder, in multiples of the time that it took."""

NUMBERS = ("value", "regret", "return", "optimistic_value", "bonus", "ascension", "epoch")
"""The columns of curves that are shown."""

MEASURED = {False: "lost, %", True: "mean return"}
"""The scores of finished runs, in known worlds and in environments."""


class FileFeed:
    """The frames of a run in its folder, more with each checkpoint."""

    controls = False

    def __init__(self, run: Run, folder: RunFolder) -> None:
        self.run, self.folder = run, folder
        self.frames, self.viewers, self.trouble = Frames(), 0, ""
        self.title = f"{run.agent} in {run.world}, seed {run.index}"
        self._head = Head()
        self._picture: Map | None = None
        self._optimal: float | None = None
        self._read: tuple[int, ...] = ()  # when the files were written that were read
        self._episodes = 0  # of the last frame
        self.state, self.done = "waiting", 0
        self._score: float | None = None

    @property
    def head(self) -> str:
        """The data that the page receives once, as JSON."""
        return self._head.text(self.title, self._picture, self._optimal)

    @property
    def status(self) -> dict[str, Any]:
        """The data that the page receives whenever they change."""
        spec = self.run.spec
        return {
            "state": self.state,
            "held": False,
            "done": self.done,
            "total": spec.length,
            "unit": spec.unit,
            "trouble": self.trouble,
        }

    def text_of(self, frame: Frame) -> str:
        """A frame as JSON, made once."""
        frame.encoded = frame.encoded or frame.text()
        return frame.encoded

    def count(self) -> None:
        """Read the progress of the run."""
        folder = self.folder
        if folder.finished:
            self.state, self.done = "ended", self.run.spec.length
        elif folder.failure is not None:
            self.state = "failed"
        else:
            self.done = min(folder.progress, self.run.spec.length)
            self.state = "learning" if self.done else "waiting"

    @property
    def score(self) -> float | None:
        """The loss of a finished run in percent of the optimal value, or its mean return."""
        if self.state == "ended" and self._score is None:
            try:
                found = self.folder.result
                if isinstance(self.run.spec.world, Gym):
                    self._score = float(found["mean_return"])
                else:
                    most = float(found["optimal"]) or 1.0
                    self._score = 100 * float(found["average_suboptimality"]) / most
            except (OptimistError, KeyError, TypeError, ValueError):
                self._score = math.nan
        return None if self._score is None or not math.isfinite(self._score) else self._score

    def refresh(self) -> None:
        """Read the files that have changed, and add the frames that are new."""
        names = ("curves.parquet", "checkpoint.parquet", "snapshots.safetensors")
        try:
            files = [self.folder.file(name) for name in names]
            written = tuple(f.stat().st_mtime_ns if f.exists() else 0 for f in files)
            if written == self._read:
                return
            curves_file = files[0] if written[0] else files[1]
            if curves_file.exists():
                self._add(self._curves(curves_file), self._shots(files[2]))
            self._read, self.trouble = written, ""
        except (OptimistError, OSError) as error:  # damaged, or replaced meanwhile
            self.trouble = printable(error, keep="")
            if self.folder.failure is not None:
                self.trouble = printable(self.folder.failure, keep="")

    def _curves(self, file: Path) -> Curves:
        spec = self.run.spec
        curves = read_curves(file, spec.id)
        for name in ("episode", "steps"):
            if name not in curves or curves[name].dtype != np.int64 or not len(curves[name]):
                raise FileError(f"{file} is damaged: it must have whole numbers in {name!r}")
        if self._optimal is None and not isinstance(spec.world, Gym):
            self._optimal = spec.world.mdp.optimal().value
        return track_of(spec.world, spec.steps).completed(curves)

    def _shots(self, file: Path) -> Any:
        if not file.exists():
            return None
        shots = no_shots(self.run.spec.world).read(file, self.run.spec.id)
        world = self.run.spec.world
        if self._picture is None and isinstance(world, Gym):
            ends = plane_of(world, self.folder)
            self._picture = None if ends is None else map_of(ends)
        elif self._picture is None and not isinstance(world, Gym):
            self._picture = world.map
        return shots

    def _add(self, curves: Curves, shots: Any) -> None:
        rows = curves["episode"]
        if not len(rows):
            return
        at = rows[shown_points(rows)] if shots is None else shots.episodes
        for i, episodes in enumerate(at.tolist()):
            row = int(np.searchsorted(rows, episodes, side="right")) - 1
            if episodes <= self._episodes or row < 0:
                continue
            numbers = {k: float(curves[k][row]) for k in NUMBERS if k in curves}
            frame = Frame(episodes, int(curves["steps"][row]), numbers)
            if isinstance(shots, Snapshots):
                frame.boards = {
                    "value": shots.value[i],
                    "bonus": shots.bonus[i].mean(axis=1),
                    "ascension": shots.ascension[i].mean(axis=1),
                }
                frame.policy = shots.policy[i]
                start = self.run.spec.world.mdp.nu0  # type: ignore[union-attr]
                frame.numbers["optimistic_value"] = float(start @ shots.value[i])
            elif isinstance(shots, Maps):
                names = ("value", "bonus", "ascension", "visits")
                frame.boards = {name: getattr(shots, name)[i] for name in names}
                frame.action = shots.action[i]
            self.frames.add(frame)
            self._episodes = episodes


class StudySource:
    """The runs of a study: a table of their progress, and the frames of each.

    Parameters
    ----------
    folder
        The folder of the study.
    study
        The study, if it is known here; otherwise the folder says, and nothing is imported.
    feeds
        The feeds of runs that learn in this process, by their ids.
    """

    def __init__(
        self, folder: Path, study: Study | None = None, feeds: Mapping[str, Feed] | None = None
    ) -> None:
        self.folder = StudyFolder(folder)
        self.study = self.folder.study if study is None else study
        self._feeds = feeds or {}
        self._files = {r.spec.id: FileFeed(r, self.folder.of(r)) for r in self.study.runs}
        self._over, self._lock = Event(), Lock()
        self._table, self._looked = "", 0.0
        self._look()
        Thread(target=self._follow, daemon=True).start()

    @property
    def table(self) -> str:
        """The table as JSON."""
        return self._table

    @property
    def first(self) -> str:
        """The run to show first: one that is running, or has frames."""
        states = {key: feed.state for key, feed in self._files.items()}
        for wanted in ("learning", "ended", "waiting", "failed"):
            for key in states:
                if states[key] == wanted:
                    return key
        raise AssertionError("a study has at least one run")

    def feed(self, run: str) -> Any:
        """The feed of a run by its id; None if there is none."""
        key = run or self.first
        return self._feeds.get(key) or self._files.get(key)

    def close(self) -> None:
        """Stop reading."""
        self._over.set()

    def _follow(self) -> None:
        pause = LOOK_SECONDS
        while not self._over.wait(pause):
            started = time.monotonic()
            viewers = sum(f.viewers for f in self._files.values())
            if viewers + sum(f.viewers for f in self._feeds.values()):
                self._look()
            pause = max(LOOK_SECONDS, BUSY * (time.monotonic() - started))

    def _look(self) -> None:
        for feed in self._files.values():
            if feed.state != "ended":
                feed.count()
            if feed.viewers:
                feed.refresh()
        self._table = json.dumps(self._rows(), allow_nan=False)

    def _rows(self) -> dict[str, Any]:
        """The table as plain data."""
        rows: dict[tuple[str, str], Any] = {}
        scores: dict[tuple[str, str], list[float]] = {}
        for feed in self._files.values():
            run = feed.run
            cell = run.world, run.agent
            row = rows.setdefault(cell, {"world": run.world, "agent": run.agent, "runs": []})
            length, unit = run.spec.length, run.spec.unit
            said = {
                "ended": f"finished, {length:,} {unit}",
                "failed": "failed",
                "waiting": "waiting",
                "learning": f"{feed.done:,} of {length:,} {unit}",
            }[feed.state]
            row["runs"].append(
                {
                    "id": run.spec.id,
                    "seed": run.index,
                    "state": feed.state,
                    "done": feed.done / length,
                    "said": said,
                    "shown": feed.state != "waiting" or run.spec.id in self._feeds,
                }
            )
            score = feed.score
            if score is not None:
                scores.setdefault(cell, []).append(score)
        for cell, row in rows.items():
            found = scores.get(cell)
            row["score"] = f"{np.mean(found):.3g}" if found else ""
        kinds = {isinstance(world, Gym) for world in self.study.worlds.values()}
        names = [MEASURED[by_returns] for by_returns in sorted(kinds)]
        measured = " or ".join(names)
        return {"rows": list(rows.values()), "measured": measured, "first": self.first}


def plane_of(world: Gym, folder: RunFolder) -> Any:
    """The ends of both dimensions of a map, [2, 2]; nothing is imported for it.

    They are those of an environment that is registered here, or as a finished run has written them.
    """
    known = isinstance(world.id, str) and world.id in gymnasium.registry
    if known:
        return corners(world) if is_plane(world) else None
    if not folder.finished:
        return None
    ends = np.array(folder.result.get("plane") or [], dtype=np.float64)
    return ends if ends.shape == (2, 2) and np.isfinite(ends).all() else None
