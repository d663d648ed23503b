"""Execute one run, so that it can be killed at any moment and resumed."""

import errno
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from optimist.agents import Agent, PythonAgent
from optimist.agents.checkpoint import FILE as AGENT
from optimist.checks import IntArray
from optimist.errors import Busy, FileError
from optimist.experiments.certified import certificate_now, refusal
from optimist.experiments.curves import Curves, joined, read_curves, write_curves
from optimist.experiments.environment import environment
from optimist.experiments.maps import is_drawn, no_shots
from optimist.experiments.measures import track_of
from optimist.experiments.run_folder import RunFolder
from optimist.experiments.snapshots import Shots
from optimist.experiments.specification import Specification
from optimist.experiments.study_checks import PARTS
from optimist.experiments.track import Track
from optimist.registry import import_trusted

CHECKPOINT_SECONDS = 2.0
"""Time between checkpoints. A checkpoint waits for the next mark."""

DISK = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EROFS),
    *(errno.ENOTDIR, errno.EEXIST, errno.EISDIR),  # a file instead of a folder, or the reverse
    *(errno.ENAMETOOLONG, errno.ELOOP),
)
"""Errors of the disk, which would stop every other run too."""


class Task(NamedTuple):
    """The input of a worker, which any executor can send, user-defined classes included."""

    specification: Specification
    folder: str
    checkpoint_seconds: float = CHECKPOINT_SECONDS
    trust: tuple[str, ...] = ()
    live: Any = False  # the watcher, in this process


class Outcome(NamedTuple):
    """The outcome of a run.

    Attributes
    ----------
    state
        "finished"; "busy" if another process holds the run; or "disk" if the disk failed.
    message
        Why the run restarted, if it did; which process holds it; or what failed.
    """

    state: str
    message: str = ""


def execute(task: Task) -> Outcome:
    """Execute a run in its folder.

    The run proceeds from mark to mark and saves checkpoints at marks. The marks, and everything
    computed between them, depend on the specification alone. A run that was killed and resumed
    therefore gives the same bytes as one that was not, on one kind of processor. An agent that
    cannot be saved begins again, and leaves no policy.
    """
    folder = RunFolder(Path(task.folder))
    if not folder.path.parent.is_dir():
        raise FileNotFoundError(
            f"{folder.path.parent} does not exist here: a cluster must share the folder of a study"
        )
    import_trusted(task.trust)
    restarted = ""
    try:
        with folder.locked():
            if not folder.finished:
                restarted = _run(task, folder)
    except Busy:
        return Outcome("busy", folder.holder)
    except OSError as error:
        if error.errno in DISK:
            return Outcome("disk", f"{folder.path} cannot be written: {error.strerror}")
        raise
    return Outcome("finished", restarted)


def marks(length: int, stride: int) -> IntArray:
    """The numbers of episodes, or of steps, after which a run is evaluated and may be saved.

    They are multiples of the stride, denser at the start, where most is learnt, and the end.

    Examples
    --------
    >>> marks(1000, stride=100)
    array([   0,  100,  200,  300,  400,  500,  600,  700,  800,  900, 1000])
    """
    strides = -(-length // stride)
    early = np.geomspace(1, strides, 17).round()
    units = np.union1d(early, np.linspace(0, strides, PARTS + 1).round()).astype(np.int64)
    return np.minimum(units * stride, length)


def _run(task: Task, folder: RunFolder) -> str:
    """Execute a run. Returns why it restarted, if its checkpoint was refused, else ""."""
    spec = task.specification
    watched = {"live": task.live} if task.live is not False else {}
    track, restarted = track_of(spec.world, spec.steps), ""
    try:
        agent, parts, shots = _load(spec, folder, track)
    except FileError as error:
        restarted = str(error)
        folder.clear()
        agent, parts, shots = _load(spec, folder, track)
    folder.write_json("specification.json", spec.plain)
    folder.note_environment(environment())
    saved = time.monotonic()
    uncertified = "" if spec.certify is None else refusal(agent, spec.certify)
    delta = None if uncertified else spec.certify
    done = getattr(agent, spec.unit) if parts else -1
    for mark in marks(spec.length, spec.stride):
        if mark <= done:  # before the checkpoint, or in an episode that was longer
            continue
        if mark:
            parts += _rows(spec, agent, track, int(mark), delta, watched)
            agent.forget()  # its policies were evaluated; the checkpoint does not need them
        if shots is not None:
            shots = shots.taken(agent, spec.world)
        done = getattr(agent, spec.unit)
        due = agent.can_be_saved and time.monotonic() - saved >= task.checkpoint_seconds
        if parts and (due or done >= spec.length):
            _checkpoint(spec, folder, agent, parts, shots)
            saved = time.monotonic()
        (folder.path / "progress").write_text(str(done))
    if agent.can_be_saved and (not isinstance(agent, PythonAgent) or agent.tabular):
        agent.policy.save(folder.path / "policy.safetensors")
    curves = track.completed(joined(parts))
    write_curves(folder.path / "curves.parquet", curves, spec.id)
    counted = {"run": spec.id, "episodes": agent.episodes, "steps": int(curves["steps"][-1])}
    why = {"uncertified": uncertified} if uncertified else {}
    folder.write_json("result.json", {**counted, **track.result(curves, agent), **why})
    folder.tidy()
    return restarted


def _rows(
    spec: Specification,
    agent: Agent,
    track: Track,
    mark: int,
    delta: float | None,
    watched: dict[str, Any],
) -> list[Curves]:
    """Learn up to a mark; with certificates it stops before each policy that is evaluated."""
    found = []
    while (done := getattr(agent, spec.unit)) < mark:
        end = mark if delta is None else min(done + spec.stride, mark)
        limits: dict[str, Any] = {spec.unit: end - done, **watched}
        certified = {} if delta is None else certificate_now(agent, delta)
        before = agent.steps
        history = agent.learn(**limits, show_progress=False)
        found.append({**track.rows(history, before, agent.steps, spec.stride), **certified})
    return found


def _load(
    spec: Specification, folder: RunFolder, track: Track
) -> tuple[Agent, list[Curves], Shots | None]:
    """The agent, its curves and its snapshots at the last checkpoint, or new ones."""
    agent = spec.learner()
    shots = no_shots(spec.world) if is_drawn(spec.world, agent) else None
    if not (folder.path / AGENT).exists():
        return agent, [], shots
    agent.restore(folder.path)
    # The agent is written last. Later rows belong to a checkpoint that was interrupted.
    curves = read_curves(folder.path / "checkpoint.parquet", spec.id)
    keep = curves["episode"] <= agent.episodes
    # Only the agent may survive a power failure.
    if not np.array_equal(curves["episode"][keep], track.episodes(agent.episodes, spec.stride)):
        raise FileError(f"{folder.path}: the curves end before the agent's checkpoint")
    parts = [{name: column[keep] for name, column in curves.items()}]
    if shots is None:
        return agent, parts, None
    shots = shots.read(folder.path / "snapshots.safetensors", spec.id)
    return agent, parts, shots.until(agent.episodes)


def _checkpoint(
    spec: Specification,
    folder: RunFolder,
    agent: Agent,
    parts: list[Curves],
    shots: Shots | None,
) -> None:
    write_curves(folder.path / "checkpoint.parquet", joined(parts), spec.id)
    if shots is not None:
        shots.write(folder.path / "snapshots.safetensors", spec.id)
    if agent.can_be_saved:
        agent.save(folder.path)
