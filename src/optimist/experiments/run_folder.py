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

Curves, snapshots and results carry the id of their run, which is the folder's name, and are refused
in the folder of another run. Nothing there is read or written through a symbolic link.
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
from optimist.experiments.measures import check_curves
from optimist.experiments.snapshots import can_be_drawn
from optimist.experiments.specification import AnyWorld, Specification

FILES = (
    *("result.json", "curves.parquet", "snapshots.safetensors", "policy.safetensors"),
    *("agent.safetensors", "checkpoint.parquet", "episodes", "failure.json"),
    *("environment.json", "specification.json", "lock", "holder"),
)
"""All that is written there. The first says that the run has finished, so it is removed first."""

PASSING = ("checkpoint.parquet", "episodes", "failure.json")
"""What a run that has finished has no use for."""


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.path.name

    def file(self, name: str) -> Path:
        """The path of a file, unless it leads out of the folder."""
        storage.refuse_links(self.path, folder=True)
        return storage.refuse_links(self.path / name)

    def _has(self, name: str) -> bool:
        return self.file(name).exists()

    @property
    def finished(self) -> bool:
        """Whether the run has come to its end, with everything written."""
        return self._has("result.json")

    @property
    def episodes(self) -> int:
        """How many episodes are done, as far as is known."""
        try:
            return int(self.file("episodes").read_text())
        except (OSError, ValueError):  # not begun, or just being written
            return 0

    @property
    def specification(self) -> Specification:
        """What the run is."""
        found = Specification.from_plain(self.read_json("specification.json", dict))
        self._refuse_others("specification.json", found.id)
        return found

    @property
    def result(self) -> dict[str, Any]:
        """The finished run in a few numbers."""
        found: dict[str, Any] = self.read_json("result.json", dict)
        self._refuse_others("result.json", found.get("run"))
        return found

    def _refuse_others(self, name: str, run: Any) -> None:
        if run != self.id:
            raise FileError(f"{self.path / name} is of the run {run}, not of {self.id}")

    @property
    def curves(self) -> Curves:
        """The curves of the finished run."""
        return read_curves(self.file("curves.parquet"), self.id)

    def shots(self, world: AnyWorld) -> Any:
        """What the agent believed on the way, in a world that can be drawn.

        They are `Snapshots`, and `Maps` in a Gymnasium environment.
        """
        return no_shots(world).read(self.file("snapshots.safetensors"), self.id)

    def check_numbers(self, spec: Specification) -> None:
        """Refuse a finished run whose result or curves are damaged, or of another run."""
        _ = self.result
        check_curves(self.curves, spec, self.path / "curves.parquet")

    def check(self, spec: Specification) -> None:
        """Refuse a finished run of which anything that is shown is damaged, or of another run."""
        self.check_numbers(spec)
        world = spec.world
        if self.result.get("plane") if isinstance(world, Gym) else can_be_drawn(world):
            self.shots(world)

    @property
    def environments(self) -> list[dict[str, str]]:
        """What the run ran on."""
        found = self.read_json("environment.json", list) if self._has("environment.json") else []
        for entry in found:
            if not isinstance(entry, dict) or not all(isinstance(v, str) for v in entry.values()):
                raise FileError(f"{self.path / 'environment.json'} is damaged: it has {entry!r}")
        return found

    @property
    def failure(self) -> str | None:
        """Why the run failed when it was last tried, if it did."""
        if not self._has("failure.json"):
            return None
        try:
            return str(self.read_json("failure.json", dict)["message"])
        except (FileError, KeyError):
            return "failure.json, which would say why, is damaged"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run's lock, which the system takes back when a process dies; or be `Busy`."""
        self.path.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            self.file(name)  # leads nowhere else
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
            text = self.file("holder").read_text(encoding="utf-8")
        except (OSError, ValueError):  # just begun, or just ended
            text = ""
        return text if re.fullmatch(r"process \d+ on [\w.-]+", text) else "another process"

    @property
    def left_over(self) -> list[Path]:
        """What a killed process has left behind, if nobody is running the run now."""
        passing = [self.path / name for name in (*PASSING, "holder") if self._has(name)]
        return [*storage.parts(self.path, *FILES), *(passing if self.finished else [])]

    def tidy(self) -> None:
        """Remove what is left over; the lock has to be held."""
        for path in self.left_over:
            path.unlink(missing_ok=True)

    def tidy_unless_busy(self) -> None:
        """Remove what is left over, unless another process is running the run."""
        if self.left_over:
            with suppress(Busy), self.locked():  # taking the lock tidies
                return

    def clear(self) -> None:
        """Remove all that a run has written, so that it begins anew; the lock has to be held."""
        for name in FILES:
            if name not in ("lock", "holder"):
                (self.path / name).unlink(missing_ok=True)

    def read_json(self, name: str, kind: type[Any] = object) -> Any:
        """The data in a file of the folder, which have to be of a kind."""
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
        """Write data to a file of the folder."""
        text = json.dumps(data, indent=2, allow_nan=False) + "\n"
        storage.write_bytes(self.path / name, text.encode())

    def note_environment(self, now: dict[str, str]) -> None:
        """Remember what the run is running on now."""
        try:
            before = self.environments
        except FileError:  # what was before is not known any more
            before = []
        if now not in before:
            self.write_json("environment.json", [*before, now])
