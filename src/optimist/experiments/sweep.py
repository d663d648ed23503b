"""Run a study, or its unfinished runs, on this machine or a cluster."""

import sys
import time
import warnings
import weakref
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle

from optimist.agents import Algorithm, StableBaselines
from optimist.envs import Gym
from optimist.envs.gym_world import module_of
from optimist.errors import (
    Busy,
    DamageWarning,
    DiskError,
    ExecutorError,
    FailureWarning,
    FileError,
    RunsFailed,
    StudyError,
)
from optimist.experiments.execute import CHECKPOINT_SECONDS, Outcome, Task, execute
from optimist.experiments.executors import Failure, open_executor
from optimist.experiments.learners import LEARNERS, UnknownAgent, compile_learner
from optimist.experiments.results import Results
from optimist.experiments.run_folder import RunFolder
from optimist.experiments.study import Run, Study, named
from optimist.experiments.study_folder import StudyFolder
from optimist.experiments.temporary import temporary_folder
from optimist.experiments.watch import watching
from optimist.registry import import_trusted

POLL_SECONDS = 0.5
"""How often to try again runs that another process holds."""

Sink = Callable[[Run, StudyFolder], None]
"""A callback for each finished run."""


def run(
    study: Study | str | Path,
    out: str | Path | None = None,
    jobs: int | None = None,
    executor: str = "joblib",
    address: str | None = None,
    sinks: Iterable[Sink] = (),
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    trust: str | Iterable[str] = (),
    live: Callable[[Run], Any] | None = None,
) -> Results:
    """Run the unfinished runs of a study; return its results.

    Parameters
    ----------
    study
        A study, the path of its TOML file, or the name of a shipped one.
    out
        Output directory; created, or resumed if it exists. By default a temporary directory,
        deleted with the results.
    jobs
        Number of runs at a time; by default the number of cores.
    executor, address
        "joblib" (processes on this machine), "serial" (this process), "dask" or "ray", and the
        address of their cluster; by default they start one on this machine.
    sinks
        Functions called with each finished run and the folder of the study. One with a method
        ``follow`` is also given the runs that go on, and is told to ``close`` at the end.
    checkpoint_seconds
        Time between checkpoints: about as much work is lost if the process is killed.
    trust
        Modules to import, for the environments that they register. An id such as
        "module:Name-v0" needs its module here, or imported before.
    live
        A function of a run: who watches it while it learns, as ``live`` of `Agent.learn`. The runs
        are then carried out in this process, one after the other.

    Raises
    ------
    RunsFailed
        If all runs failed. If some did, a `FailureWarning` says why the first did, and
        ``results.failures`` has all reasons.

    Examples
    --------
    >>> import optimist as opt
    >>> study = opt.Study(
    ...     worlds={"river": opt.envs.RiverSwim(6)},
    ...     agents={"Optimist": opt.Optimist, "R-max": opt.Rmax},
    ...     episodes=500,
    ...     seeds=3,
    ... )
    >>> results = opt.run(study, jobs=1)
    >>> results.table()[0]["agent"]
    'Optimist'
    """
    import_trusted(trust)
    study = study if isinstance(study, Study) else Study.read(study)
    path, remove = (Path(out), None) if out else temporary_folder()
    folder = StudyFolder(path)
    results = Results(folder, study)
    if remove is not None:  # delete the folder with its results
        weakref.finalize(results, remove)
    folder.prepare(study)
    for r in study.runs:
        _clear_if_damaged(r, folder.of(r))
    pending = [r for r in study.runs if not folder.of(r).finished]
    if pending:
        modules = _imported(pending)
        alone = live is not None or (executor == "joblib" and jobs == 1)
        name = "serial" if alone else executor
        work = _Sweep(folder, name, jobs, address, tuple(sinks), checkpoint_seconds, modules, live)
        with watching(study, folder, work.sinks):
            _compile_once(pending)
            work.complete(pending)
    _report_failures(results)
    return results


def _imported(runs: list[Run]) -> tuple[str, ...]:
    """The modules in the ids of environments; all code that runs need must have been imported."""
    for run in runs:
        if isinstance(run.spec.agent, UnknownAgent):
            LEARNERS.find(run.spec.agent.name)  # says what is missing
    _check_packages({run.agent: run.spec.agent for run in runs})
    worlds = {run.world: run.spec.world for run in runs}.values()
    known = [world for world in worlds if isinstance(world, Gym) and module_of(world.id)]
    for world in known:
        world.check()
    return tuple(sorted({module_of(world.id) for world in known} - {"__main__"}))


def _own_modules(runs: list[Run]) -> list[ModuleType]:
    """The modules of user-defined classes that are not installed, except the main one."""
    own = {type(run.spec.world) for run in runs} | {run.spec.kind for run in runs}
    makers = (run.spec.world.maker for run in runs if isinstance(run.spec.world, Gym))
    modules = {sys.modules[kind.__module__] for kind in {*own, *makers} if kind is not None}
    return [
        module
        for module in modules
        if module.__name__.partition(".")[0] not in ("optimist", "__main__")
        and "site-packages" not in str(getattr(module, "__file__", ""))
    ]


def _check_packages(agents: dict[str, Any]) -> None:
    """Refuse agents that their package does not have, or whose package is not installed."""
    for name, config in agents.items():
        if isinstance(config, StableBaselines.Config):
            try:
                config.check()
            except (ImportError, ValueError) as error:
                raise StudyError(f"the agent {name!r} cannot be run: {error}") from error


def _clear_if_damaged(run: Run, folder: RunFolder) -> None:
    """Restart a finished run if one of its files is damaged."""
    if not folder.finished:
        return
    try:
        folder.check(run.spec)
    except FileError as error:
        with suppress(Busy), folder.locked():  # another process may run it already
            folder.clear()
        _warn_restart(run, str(error))


def _warn_restart(run: Run, why: str) -> None:
    warnings.warn(f"{named(run)}, restarts: {why}", DamageWarning, stacklevel=2)


def _report_failures(results: Results) -> None:
    failures = results.failures
    if not failures:
        return
    first, why = next(iter(failures.items()))
    n, runs = len(failures), len(results.study.runs)
    message = f"{n} of {runs} runs failed; the first, {named(first)}: {why}"
    if n == runs:
        raise RunsFailed(message, results)
    warnings.warn(message, FailureWarning, stacklevel=3)


def _compile_once(pending: list[Run]) -> None:
    """Compile the loops of the learners before several processes would do so at once.

    User-defined agents use those of the shipped agents they derive from.
    """
    kinds: set[tuple[Any, bool]] = set()
    for run in pending:
        above = run.spec.kind.__mro__ if run.spec.kind else ()
        base = next((kind for kind in above if kind in LEARNERS.shipped.values()), None)
        kinds.add((base, isinstance(run.spec.world, Gym)))
    for kind, streams in kinds:
        if kind is None or issubclass(kind, Algorithm | StableBaselines):  # plain Python
            continue
        compile_learner(kind, streams)


@dataclass
class _Sweep:
    """The execution of the runs of a study."""

    folder: StudyFolder
    executor: str
    jobs: int | None
    address: str | None
    sinks: tuple[Sink, ...]
    checkpoint_seconds: float
    modules: tuple[str, ...]
    live: Callable[[Run], Any] | None = None

    def complete(self, runs: list[Run]) -> None:
        """Execute the runs; wait for those that another process holds."""
        with ExitStack() as stack:
            if self.executor in ("dask", "ray"):  # whose workers may not find these modules
                for module in _own_modules(runs):
                    cloudpickle.register_pickle_by_value(module)
                    stack.callback(cloudpickle.unregister_pickle_by_value, module)
            try:
                executor = stack.enter_context(
                    open_executor(self.executor, self.jobs, self.address)
                )
            except (ImportError, ConnectionError, ValueError) as error:
                raise ExecutorError(str(error)) from error
            announced: set[str] = set()
            while runs:
                tasks = [
                    Task(
                        r.spec,
                        str(self.folder.of(r).path.absolute()),
                        self.checkpoint_seconds,
                        self.modules,
                        False if self.live is None else self.live(r),
                    )
                    for r in runs
                ]
                busy, holders = [], set()
                for index, outcome in executor.map(execute, tasks):
                    if not self._record(runs[index], outcome):
                        busy.append(runs[index])
                        holders.add(outcome.message)
                runs = busy
                if runs:
                    if not holders <= announced:
                        _log(f"waiting for {', '.join(sorted(holders))}; runs left: {len(runs)}")
                        announced |= holders
                    time.sleep(POLL_SECONDS)

    def _record(self, run: Run, outcome: Outcome | Failure) -> bool:
        """Record the outcome of a run; False if another process holds it."""
        if isinstance(outcome, Failure):
            note = {"message": outcome.message, "details": outcome.details}
            folder = self.folder.of(run)
            try:
                folder.path.mkdir(exist_ok=True)  # its worker may not even have begun
                folder.write_json("failure.json", note)
            except OSError as error:  # the folder was replaced or removed, or the disk is full
                raise DiskError(f"{folder.path} cannot be written: {error.strerror}") from error
            return True
        if outcome.state == "disk":
            raise DiskError(outcome.message)
        if outcome.state == "finished":
            if outcome.message:
                _warn_restart(run, outcome.message)
            for sink in self.sinks:
                sink(run, self.folder)
        return outcome.state == "finished"


def _log(line: str) -> None:
    if sys.stderr is not None:  # it is None under pythonw
        print(line, file=sys.stderr, flush=True)
