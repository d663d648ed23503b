"""Running a study: on all cores, on a cluster, again after a kill, beside another process."""

import sys
import time
import warnings
import weakref
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from optimist.agents import RmaxRaviUcb
from optimist.envs import Gym, RiverSwim
from optimist.envs.gym_world import import_trusted, module_of
from optimist.errors import (
    Busy,
    DamageWarning,
    DiskError,
    EngineError,
    FailureWarning,
    FileError,
    RunsFailed,
)
from optimist.experiments.engines import Failure, open_engine
from optimist.experiments.execute import CHECKPOINT_SECONDS, Outcome, Task, execute
from optimist.experiments.learners import LEARNERS
from optimist.experiments.results import Results
from optimist.experiments.run_folder import RunFolder
from optimist.experiments.specification import AnyWorld, agent_name
from optimist.experiments.study import Run, Study, named
from optimist.experiments.study_folder import StudyFolder
from optimist.experiments.temporary import temporary_folder
from optimist.experiments.watch import watching

POLL_SECONDS = 0.5
"""How often runs that another process is at are looked at again."""

Sink = Callable[[Run, StudyFolder], None]
"""What is told of each run when it has finished."""


def run(
    study: Study | str | Path,
    out: str | Path | None = None,
    jobs: int | None = None,
    engine: str = "joblib",
    address: str | None = None,
    sinks: Iterable[Sink] = (),
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    trust: str | Iterable[str] = (),
) -> Results:
    """Run what a study asks for and is not finished yet; its results.

    Parameters
    ----------
    study
        A study, the path of its TOML file, or the name of a shipped one.
    out
        The folder of the study: made if it is not there, gone on with if it is. Without one the
        results are gone when they are no longer used.
    jobs
        How many runs go side by side; by default one for each core.
    engine, address
        "joblib" (processes of this machine), "serial" (this process), "dask" or "ray", and the
        address of their cluster; without one they start a cluster on this machine.
    sinks
        What is told of each run when it has finished.
    checkpoint_seconds
        How much work a kill may cost, about.
    trust
        Modules to import, for the environments that they register. The module of an id such as
        "module:Name-v0" has to be one of them, or imported before.

    Raises
    ------
    RunsFailed
        If all runs failed. If some did, there is a `FailureWarning` with the reason of the first,
        and ``results.failures`` has all.

    Examples
    --------
    >>> import optimist as opt
    >>> study = opt.Study(
    ...     worlds={"river": opt.envs.RiverSwim(6)},
    ...     agents={"RMAX-RAVI-UCB": opt.RmaxRaviUcb, "R-max": opt.Rmax},
    ...     episodes=500,
    ...     seeds=3,
    ... )
    >>> results = opt.run(study, jobs=1)
    >>> results.table()[0]["agent"]
    'RMAX-RAVI-UCB'
    """
    import_trusted(trust)
    study = study if isinstance(study, Study) else Study.read(study)
    path, remove = (Path(out), None) if out else temporary_folder()
    folder = StudyFolder(path)
    results = Results(folder, study)
    if remove is not None:  # the folder goes when nobody holds its results any more
        weakref.finalize(results, remove)
    folder.prepare(study)
    for r in study.runs:
        _clear_if_damaged(r, folder.of(r))
    pending = [r for r in study.runs if not folder.of(r).finished]
    if pending:
        modules = _imported({r.spec.world for r in pending})
        name = "serial" if engine == "joblib" and jobs == 1 else engine
        work = _Work(folder, name, jobs, address, tuple(sinks), checkpoint_seconds, modules)
        with watching(study, folder):
            _compile_once(study)
            work.run(pending)
    _tell_of_failures(results)
    return results


def _imported(worlds: Iterable[AnyWorld]) -> tuple[str, ...]:
    """The modules that know environments, all of which have been imported."""
    known = [world for world in worlds if isinstance(world, Gym) and module_of(world.id)]
    for world in known:
        world.check()
    return tuple(sorted({module_of(world.id) for world in known}))


def _clear_if_damaged(run: Run, there: RunFolder) -> None:
    """Have a finished run carried out anew if a file of it is refused."""
    if not there.finished:
        return
    try:
        there.check(run.spec)
    except FileError as error:
        with suppress(Busy), there.locked():  # or another process is at it already
            there.clear()
        _begins_anew(run, str(error))


def _begins_anew(run: Run, why: str) -> None:
    warnings.warn(f"{named(run)}, begins anew: {why}", DamageWarning, stacklevel=2)


def _tell_of_failures(results: Results) -> None:
    failures = results.failures
    if not failures:
        return
    first, why = next(iter(failures.items()))
    n, runs = len(failures), len(results.study.runs)
    said = f"{n} of {runs} runs failed; the first, {named(first)}: {why}"
    if n == runs:
        raise RunsFailed(said, results)
    warnings.warn(said, FailureWarning, stacklevel=3)


def _compile_once(study: Study) -> None:
    """Have the engines' code in the compiler's cache before several processes ask for it."""
    RmaxRaviUcb(RiverSwim(2), stride=0).learn(1, show_progress=False)
    for name in sorted({agent_name(config) for config in study.configurations.values()}):
        if not issubclass(LEARNERS[name], RmaxRaviUcb):  # it has an engine of its own
            LEARNERS[name](RiverSwim(2), stride=0).learn(1, show_progress=False)
    if any(isinstance(world, Gym) for world in study.worlds.values()):
        played = RmaxRaviUcb(RiverSwim(2).make(), gamma=0.5, geometric=True)
        played.learn(1, show_progress=False)


@dataclass
class _Work:
    """The runs still to do, and how they are done."""

    folder: StudyFolder
    engine: str
    jobs: int | None
    address: str | None
    sinks: tuple[Sink, ...]
    checkpoint_seconds: float
    modules: tuple[str, ...]

    def run(self, runs: list[Run]) -> None:
        """Do the runs; those that another process is at, wait for."""
        with ExitStack() as stack:
            try:
                engine = stack.enter_context(open_engine(self.engine, self.jobs, self.address))
            except (ImportError, ConnectionError, ValueError) as error:
                raise EngineError(str(error)) from error
            told: set[str] = set()
            while runs:
                tasks = [
                    Task(
                        r.spec.plain,
                        str(self.folder.of(r).path.absolute()),
                        self.checkpoint_seconds,
                        self.modules,
                    )
                    for r in runs
                ]
                busy, holders = [], set()
                for index, outcome in engine.map(execute, tasks):
                    if not self._settle(runs[index], outcome):
                        busy.append(runs[index])
                        holders.add(outcome.message)
                runs = busy
                if runs:
                    if not holders <= told:
                        _say(
                            f"waiting for {', '.join(sorted(holders))}, at {len(runs)} of the runs"
                        )
                        told |= holders
                    time.sleep(POLL_SECONDS)

    def _settle(self, done: Run, outcome: Outcome | Failure) -> bool:
        """Note how a run went; whether this is the end of it."""
        if isinstance(outcome, Failure):
            note = {"message": outcome.message, "details": outcome.details}
            there = self.folder.of(done)
            try:
                there.write_json("failure.json", note)
            except OSError as error:  # the folder is no folder, or gone, or the disk is full
                raise DiskError(f"{there.path} cannot be written: {error.strerror}") from error
            return True
        if outcome.state == "disk":
            raise DiskError(outcome.message)
        if outcome.state == "finished":
            if outcome.message:
                _begins_anew(done, outcome.message)
            for sink in self.sinks:
                sink(done, self.folder)
        return outcome.state == "finished"


def _say(line: str) -> None:
    if sys.stderr is not None:  # as under pythonw
        print(line, file=sys.stderr, flush=True)
