"""Carrying out one run, so that it can be killed at any moment and gone on with."""

import errno
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from optimist.agents import Agent
from optimist.agents.checkpoint import FILE as AGENT
from optimist.checks import IntArray
from optimist.envs.gym_world import import_trusted
from optimist.errors import Busy, FileError
from optimist.experiments.curves import Curves, joined, read_curves, write_curves
from optimist.experiments.environment import environment
from optimist.experiments.maps import is_drawn, no_shots
from optimist.experiments.measures import Measure, measure_of
from optimist.experiments.run_folder import RunFolder
from optimist.experiments.snapshots import Shots
from optimist.experiments.specification import Specification
from optimist.experiments.study_checks import PARTS

CHECKPOINT_SECONDS = 2.0
"""How much work a kill may cost, but for the time between two marks."""


DISK = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EROFS),
    *(errno.ENOTDIR, errno.EEXIST, errno.EISDIR),  # a file where the folder should be, or contrary
    *(errno.ENAMETOOLONG, errno.ELOOP),
)
"""Errors of the disk, not of the run: the next run would meet them too."""


class Task(NamedTuple):
    """What a worker is told: plain data and a path, which any engine can send."""

    specification: dict[str, Any]
    folder: str
    checkpoint_seconds: float = CHECKPOINT_SECONDS
    trust: tuple[str, ...] = ()


class Outcome(NamedTuple):
    """How it went, and more about it.

    "finished", and why it began anew if it did; "busy", and who is at it; or "disk", and what is
    wrong.
    """

    state: str
    message: str = ""


def execute(task: Task) -> Outcome:
    """Carry out a run in its folder.

    The run goes from mark to mark. The marks depend on the specification alone, and so does all
    that is computed between two of them; a checkpoint is taken at a mark. So a run that was killed
    and gone on with on one kind of processor gives the same bytes as one that was not.
    """
    folder = RunFolder(Path(task.folder))
    if not folder.path.parent.is_dir():
        raise FileNotFoundError(
            f"{folder.path.parent} is not there: all machines of a cluster have to see one folder"
        )
    import_trusted(task.trust)
    anew = ""
    try:
        with folder.locked():
            if not folder.finished:
                anew = _run(
                    Specification.from_plain(task.specification), folder, task.checkpoint_seconds
                )
    except Busy:
        return Outcome("busy", folder.holder)
    except OSError as error:
        if error.errno in DISK:
            return Outcome("disk", f"{folder.path} cannot be written: {error.strerror}")
        raise
    return Outcome("finished", anew)


def marks(episodes: int, stride: int) -> IntArray:
    """The numbers of episodes after which a run stops to look at itself.

    They are multiples of the stride, dense at the beginning, where most is learnt; and the end.

    Examples
    --------
    >>> marks(episodes=1000, stride=100)
    array([   0,  100,  200,  300,  400,  500,  600,  700,  800,  900, 1000])
    """
    strides = -(-episodes // stride)
    early = np.geomspace(1, strides, 17).round()
    units = np.union1d(early, np.linspace(0, strides, PARTS + 1).round()).astype(np.int64)
    return np.minimum(units * stride, episodes)


def _run(spec: Specification, folder: RunFolder, checkpoint_seconds: float) -> str:
    """Carry out a run; why it began anew, if its checkpoint was refused."""
    measure, anew = measure_of(spec), ""
    try:
        agent, parts, shots = _begin(spec, folder, measure)
    except FileError as error:
        anew = str(error)
        folder.clear()
        agent, parts, shots = _begin(spec, folder, measure)
    folder.write_json("specification.json", spec.plain)
    folder.note_environment(environment())
    saved = time.monotonic()
    done = agent.episodes if parts else -1  # a run that goes on has been at its marks so far
    for mark in marks(spec.episodes, spec.stride):
        if mark <= done:
            continue
        if mark:
            steps = agent.steps
            history = agent.learn(int(mark) - agent.episodes, show_progress=False)
            parts.append(measure.rows(history, steps))
            agent.forget()  # the policies are evaluated: a checkpoint need not hold them
        if shots is not None:
            shots = shots.taken(agent, spec.world)
        if parts and (time.monotonic() - saved >= checkpoint_seconds or mark == spec.episodes):
            _checkpoint(spec, folder, agent, parts, shots)
            saved = time.monotonic()
        (folder.path / "episodes").write_text(str(agent.episodes))
    agent.policy.save(folder.path / "policy.safetensors")
    curves = measure.completed(joined(parts))
    write_curves(folder.path / "curves.parquet", curves, spec.id)
    counted = {"run": spec.id, "episodes": spec.episodes, "steps": int(curves["steps"][-1])}
    folder.write_json("result.json", {**counted, **measure.result(curves, agent)})
    folder.tidy()
    return anew


def _begin(
    spec: Specification, folder: RunFolder, measure: Measure
) -> tuple[Agent, list[Curves], Shots | None]:
    """The agent, its curves and its snapshots as of the last checkpoint, or before the start."""
    shots = no_shots(spec.world) if is_drawn(spec.world) else None
    if not (folder.path / AGENT).exists():
        return spec.learner(), [], shots
    agent = spec.learner()
    agent.restore(folder.path)
    # The agent is written last; what is later than it belongs to a checkpoint cut short.
    curves = read_curves(folder.path / "checkpoint.parquet", spec.id)
    keep = curves["episode"] <= agent.episodes
    last = measure.last_row(agent.episodes)
    if curves["episode"][keep][-1:] != last:  # a disk that lost power may have kept the agent alone
        raise FileError(f"{folder.path} lacks curves up to its agent")
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
    agent.save(folder.path)
