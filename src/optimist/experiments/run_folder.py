"""A run on disk.

=======================  =========================================================================
File                     What it holds
=======================  =========================================================================
specification.json       what the run is; the folder's name is its digest
environment.json         what it ran on; more than one entry if it was gone on with elsewhere
curves.parquet           the curves, once it has finished (`optimist.experiments.curves`, or
                         `optimist.experiments.returns` of a Gymnasium environment)
snapshots.safetensors    what the agent believed on the way, if the world can be drawn
policy.safetensors       the last policy, for `optimist.load_policy`
agent.safetensors        the whole learner, as of its last checkpoint
checkpoint.parquet       the curves as of then, until the run has finished
episodes                 how many episodes are done, for those who watch
failure.json             why it failed, if it did
result.json              written last: the run has finished
lock                     held by the process that runs it
holder                   which process that is
=======================  =========================================================================
"""

import json
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from optimist import limits
from optimist.core import storage
from optimist.errors import Busy, FileError
from optimist.experiments.curves import Curves, read_curves
from optimist.experiments.maps import Maps
from optimist.experiments.snapshots import Snapshots
from optimist.experiments.specification import Specification

PASSING = ("checkpoint.parquet", "episodes", "failure.json")
"""What a run that has finished has no use for."""


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    @property
    def finished(self) -> bool:
        """Whether the run has come to its end, with everything written."""
        return self._has("result.json")

    def _has(self, name: str) -> bool:
        return (self.path / name).exists()

    @property
    def episodes(self) -> int:
        """How many episodes are done, as far as is known."""
        try:
            return int((self.path / "episodes").read_text())
        except (OSError, ValueError):  # not begun, or just being written
            return 0

    @property
    def specification(self) -> Specification:
        """What the run is."""
        return Specification.from_plain(self.read_json("specification.json"))

    @property
    def curves(self) -> Curves:
        """The curves of the finished run."""
        return read_curves(self.path / "curves.parquet")

    @property
    def snapshots(self) -> Snapshots:
        """What the agent believed on the way; only worlds that can be drawn have them."""
        return Snapshots.read(self.path / "snapshots.safetensors")

    @property
    def maps(self) -> Maps:
        """The same in a Gymnasium environment, if its observations are points of a plane."""
        return Maps.read(self.path / "snapshots.safetensors")

    @property
    def failure(self) -> str | None:
        """Why the run failed when it was last tried, if it did."""
        return self.read_json("failure.json")["message"] if self._has("failure.json") else None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run's lock, which the system takes back when a process dies; or be `Busy`."""
        self.path.mkdir(parents=True, exist_ok=True)
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
        """Which process is running the run, in words."""
        try:
            text = (self.path / "holder").read_text(encoding="utf-8")
        except (OSError, ValueError):  # just begun, or just ended
            text = ""
        return text if re.fullmatch(r"process \d+ on [\w.-]+", text) else "another process"

    @property
    def left_over(self) -> list[Path]:
        """What a killed process has left behind, if nobody is running the run now."""
        passing = [self.path / name for name in (*PASSING, "holder") if self._has(name)]
        return [*storage.parts(self.path), *(passing if self.finished else [])]

    def tidy(self) -> None:
        """Remove what is left over; the lock has to be held."""
        for path in self.left_over:
            path.unlink(missing_ok=True)

    def read_json(self, name: str) -> Any:
        """The data in a file of the folder."""
        file = self.path / name
        limits.need_to_read(file, times=limits.TEXT)
        try:
            return json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise FileError(f"{file} is damaged ({error})") from None

    def write_json(self, name: str, data: Any) -> None:
        """Write data to a file of the folder."""
        text = json.dumps(data, indent=2, allow_nan=False) + "\n"
        storage.write_bytes(self.path / name, text.encode())

    def note_environment(self, now: dict[str, str]) -> None:
        """Remember what the run is running on now."""
        before = self.read_json("environment.json") if self._has("environment.json") else []
        if now not in before:
            self.write_json("environment.json", [*before, now])
