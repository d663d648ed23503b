"""Run a study and show its results, for several commands."""

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from optimist.cli import OK, SOME_FAILED
from optimist.cli.flags import Workers
from optimist.cli.mistakes import check_writable
from optimist.cli.tables import agent_tables, show_failures, show_results
from optimist.errors import ExecutorError, RunsFailed
from optimist.experiments import Results, Run, Study, run
from optimist.experiments.sinks import TensorBoard
from optimist.experiments.summary import listed
from optimist.report.data import plain
from optimist.stopping import INTERRUPTED
from optimist.text import printable


def finish(
    study: Study,
    out: Path | None,
    workers: Workers,
    as_json: bool,
    place: Path | None = None,
    live: Callable[[Run], Any] | None = None,
) -> tuple[int, Any]:
    """Run the unfinished runs of a study and show its results; the exit code and the results.

    ``place`` is where it is run if it is not kept; ``live`` is as of `run`.
    """
    try:
        results = carry_out(study, out or place, workers, live)
    except KeyboardInterrupt:
        kept = f"`optimist resume {out}` continues" if out else "nothing is kept without --out"
        print(printable(f"\ninterrupted: {kept}"), file=sys.stderr)
        return INTERRUPTED, None
    if as_json:
        print_json({**({"folder": str(out)} if out else {}), **outcome(results)})
    else:
        show_results(results)
        if out:
            print(printable(f"results in {out}; `optimist report {out}` writes the report"))
    show_failures(results, kept=out is not None)
    return SOME_FAILED if results.failures else OK, results


def carry_out(
    study: Study,
    out: Path | None,
    workers: Workers,
    live: Callable[[Run], Any] | None = None,
) -> Results:
    """Run the unfinished runs of a study."""
    check_writable(folder=workers.tensorboard)
    try:
        sinks = [TensorBoard(workers.tensorboard)] if workers.tensorboard else []
    except ImportError as error:
        raise ExecutorError(str(error)) from error
    try:
        return run(study, out, workers.jobs, workers.executor, workers.address, sinks, live=live)
    except RunsFailed as error:
        results: Results = error.results
        return results


def outcome(results: Results) -> dict[str, Any]:
    """Results as data."""
    return {
        "runs": len(results.study.runs),
        "finished": len(results.finished),
        "failures": plain(listed(results.failures)),
        "agents": agent_tables(results),
        "table": list(results.table()),
        **({"peers": plain(results.peers)} if results.peers else {}),
    }


def print_json(data: Any) -> None:
    """Print data as JSON, with null for nan."""
    print(json.dumps(_without_nan(data), indent=2))


def _without_nan(data: Any) -> Any:
    if isinstance(data, dict):
        return {k: _without_nan(v) for k, v in data.items()}
    if isinstance(data, Iterable) and not isinstance(data, str):
        return [_without_nan(v) for v in data]
    return None if isinstance(data, float) and data != data else data
