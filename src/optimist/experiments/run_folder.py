"""The folder of a run.

=======================  =========================================================================
File                     Content
=======================  =========================================================================
specification.json       the specification; the folder's name is its digest
environment.json         the machines it ran on; one entry for each
curves.parquet           the curves of a finished run (`optimist.experiments.track`)
snapshots.safetensors    estimates of the agent at several times, if the world can be drawn
policy.safetensors       the last policy, for `optimist.load_policy`
agent.safetensors        the learner at the last checkpoint
checkpoint.parquet       the curves at the last checkpoint, until the run has finished
progress                 number of episodes or steps done
failure.json             why it failed, if it did
result.json              written last: the run has finished
lock                     held by the process that runs it
holder                   the name of that process
=======================  =========================================================================

Curves, snapshots and results hold the id of their run, which is the folder's name; files with
another id are refused. Symbolic links are neither read nor written.
"""

import json
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from optimist import limits
from optimist.core import storage
from optimist.envs import Gym
from optimist.errors import Busy, FileError
from optimist.experiments.curves import Curves, read_curves
from optimist.experiments.maps import no_shots
from optimist.experiments.measures import track_of
from optimist.experiments.specification import Specification
from optimist.experiments.worlds import StudyWorld

FILES = (
    *("result.json", "curves.parquet", "snapshots.safetensors", "policy.safetensors"),
    *("agent.safetensors", "checkpoint.parquet", "progress", "failure.json"),
    *("environment.json", "specification.json", "lock", "holder"),
)
"""All files of the folder. The first marks the run as finished, so it is removed first."""

UNTIL_FINISHED = ("checkpoint.parquet", "progress", "failure.json")
"""Files that a finished run does not need."""


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.path.name

    def file(self, name: str) -> Path:
        """The path of a file; an error if it is a symbolic link."""
        storage.refuse_links(self.path, folder=True)
        return storage.refuse_links(self.path / name)

    def _has(self, name: str) -> bool:
        return self.file(name).exists()

    @property
    def finished(self) -> bool:
        """Whether the run has finished, with all files written."""
        return self._has("result.json")

    @property
    def progress(self) -> int:
        """Number of episodes, or of steps, done, as last recorded."""
        try:
            return int(self.file("progress").read_text())
        except (OSError, ValueError):  # not started, or being written
            return 0

    @property
    def specification(self) -> Specification:
        """The specification of the run."""
        data = self.read_json("specification.json", dict)
        found = Specification.from_plain(data, self.path.parent.parent)
        self._check_id("specification.json", found.id)
        return found

    @property
    def result(self) -> dict[str, Any]:
        """Summary numbers of the finished run."""
        found: dict[str, Any] = self.read_json("result.json", dict)
        self._check_id("result.json", found.get("run"))
        return found

    def _check_id(self, name: str, run: Any) -> None:
        if run != self.id:
            raise FileError(f"{self.path / name} is of the run {run}, not of {self.id}")

    @property
    def curves(self) -> Curves:
        """The curves of the finished run."""
        return read_curves(self.file("curves.parquet"), self.id)

    def shots(self, world: StudyWorld) -> Any:
        """The recorded estimates of the agent, in a world that can be drawn.

        They are `Snapshots`, or `Maps` for a Gymnasium environment.
        """
        return no_shots(world).read(self.file("snapshots.safetensors"), self.id)

    def check_numbers(self, spec: Specification) -> None:
        """Raise `FileError` if the result or the curves are damaged or belong to another run."""
        _ = self.result
        track = track_of(spec.world, spec.steps)
        track.check(self.curves, spec, self.path / "curves.parquet")

    def check(self, spec: Specification) -> None:
        """Raise `FileError` if any file shown in a report is damaged or belongs to another run."""
        self.check_numbers(spec)
        world = spec.world
        if self.result.get("plane") if isinstance(world, Gym) else world.map:
            self.shots(world)

    @property
    def environments(self) -> list[dict[str, str]]:
        """The environments that the run ran in."""
        found = self.read_json("environment.json", list) if self._has("environment.json") else []
        for entry in found:
            if not isinstance(entry, dict) or not all(isinstance(v, str) for v in entry.values()):
                raise FileError(f"{self.path / 'environment.json'} is damaged: it has {entry!r}")
        return found

    @property
    def failure(self) -> str | None:
        """The reason why the last attempt failed; None if it did not."""
        if not self._has("failure.json"):
            return None
        try:
            return str(self.read_json("failure.json", dict)["message"])
        except (FileError, KeyError):
            return "unknown: failure.json is damaged"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the run; raise `Busy` if another process does.

        The system releases the lock when its process dies.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            self.file(name)  # an error for symbolic links
        lock = FileLock(self.path / "lock")
        try:
            lock.acquire(blocking=False)
        except Timeout:
            raise Busy(f"{self.path} is being run by {self.holder}") from None
        holder = self.path / "holder"
        try:
            self.tidy()
            holder.write_text(f"process {os.getpid()} on {socket.gethostname()}", encoding="utf-8")
            yield
        finally:
            holder.unlink(missing_ok=True)
            lock.release()

    @property
    def holder(self) -> str:
        """The process that is running the run, in words."""
        try:
            text = self.file("holder").read_text(encoding="utf-8")
        except (OSError, ValueError):  # the run is starting or ending
            text = ""
        return text if re.fullmatch(r"process \d+ on [\w.-]+", text) else "another process"

    @property
    def left_over(self) -> list[Path]:
        """Files that a killed process has left behind; valid only while the run is not running."""
        unneeded = [self.path / name for name in (*UNTIL_FINISHED, "holder") if self._has(name)]
        return [*storage.parts(self.path, *FILES), *(unneeded if self.finished else [])]

    def tidy(self) -> None:
        """Remove left-over files; the caller holds the lock."""
        for path in self.left_over:
            path.unlink(missing_ok=True)

    def tidy_unless_busy(self) -> None:
        """Remove left-over files, unless another process is running the run."""
        if self.left_over:
            with suppress(Busy), self.locked():  # `locked` tidies
                return

    def clear(self) -> None:
        """Remove all files of the run, so that it restarts; the caller holds the lock."""
        for name in FILES:
            if name not in ("lock", "holder"):
                (self.path / name).unlink(missing_ok=True)

    def read_json(self, name: str, kind: type[Any] = object) -> Any:
        """Read a JSON file of the folder, whose data must be of a type."""
        file = self.file(name)
        try:
            limits.need_to_read(file, times=limits.TEXT)
            data = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise FileError(f"{file} is damaged ({error})") from None
        if not isinstance(data, kind):
            raise FileError(f"{file} is damaged: it holds a {type(data).__name__}")
        return data

    def write_json(self, name: str, data: Any) -> None:
        """Write a JSON file of the folder."""
        text = json.dumps(data, indent=2, allow_nan=False) + "\n"
        storage.write_bytes(self.path / name, text.encode())

    def note_environment(self, now: dict[str, str]) -> None:
        """Add the current environment to those of the run, unless it is there."""
        try:
            before = self.environments
        except FileError:  # earlier entries are lost
            before = []
        if now not in before:
            self.write_json("environment.json", [*before, now])
