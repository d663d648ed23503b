"""The curves of a run: one row for each policy that was evaluated, in Parquet.

===================  =============================================================================
Column               What it holds for the policy of episode k
===================  =============================================================================
episode              k, counting from 1
steps                steps taken before and during it
epoch                the epoch after it
value                the exact value <nu0, V^{pi_k}>
suboptimality        the regret of pi_k, in units of value
regret               the sum of the regrets of all policies up to pi_k; those that were not
                     evaluated are interpolated between those that were
optimistic_value     <nu0, V_k>, what the agent hoped for
bonus, ascension     the means of CB and of p+ along its path
matching_error       ||lambda(pi_k) - lambda(pi_E)||, exactly, if an expert is imitated
===================  =============================================================================
"""

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from optimist.agents import History
from optimist.checks import FloatArray
from optimist.core import storage
from optimist.core.parquet import read_numbers
from optimist.errors import FileError, TooLarge
from optimist.imitation import ImitationHistory
from optimist.mdp import FiniteMDP

Curves = dict[str, np.ndarray]

HEADER = "optimist"
"""The entry of a file's metadata that says of which run it is, and its digest."""


def curves_of(history: History | ImitationHistory, steps_before: int, mdp: FiniteMDP) -> Curves:
    """The rows of some episodes, but for the regret, which takes all of them.

    ``mdp`` has the rewards by which an imitation is judged, and its optimum was the expert.
    """
    at = history.evaluated - history.first
    steps = steps_before + np.cumsum(history.steps)
    if isinstance(history, ImitationHistory):
        steps = steps + np.cumsum(history.rollouts)
        best = mdp.optimal()
        lost = history.regret(best.policy, mdp.r).imitation
        judged = {"value": best.value - lost, "suboptimality": lost}
        shown = mdp.occupancy(best.policy).ravel() @ history.Phi
        judged["matching_error"] = history.matching_errors(shown)
    else:
        judged = {"value": history.values(), "suboptimality": history.regrets()}
    return {
        "episode": history.evaluated + 1,
        "steps": steps[at],
        "epoch": history.epoch[at],
        **judged,
        "optimistic_value": history.optimistic_value[at],
        "bonus": history.bonus[at],
        "ascension": history.ascension[at],
    }


def joined(parts: Sequence[Curves]) -> Curves:
    """The rows of several pieces of a run, one after another."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def with_regret(curves: Curves) -> Curves:
    """The rows with the regret up to each."""
    return {**curves, "regret": cumulative(curves["episode"], curves["suboptimality"])}


def cumulative(episode: np.ndarray, suboptimality: FloatArray) -> FloatArray:
    """Sums over all episodes up to each, the missing ones interpolated linearly.

    Examples
    --------
    >>> cumulative(np.array([1, 2, 4]), np.array([1.0, 1.0, 0.0]))      # episode 3 counts as 0.5
    array([1. , 2. , 2.5])
    """
    steps, rise = np.diff(episode), np.diff(suboptimality)
    # The sum over j = 1, ..., n of s + rise j / n.
    pieces = steps * suboptimality[:-1] + rise * (steps + 1) / 2
    return np.cumsum(np.concatenate([suboptimality[:1], pieces]))


def average(curves: Curves) -> float:
    """The mean regret of a policy over the run, in units of value."""
    return float(curves["regret"][-1] / curves["episode"][-1])


def final(curves: Curves) -> float:
    """The mean regret over the last tenth of the policies that were evaluated."""
    lost = curves["suboptimality"]
    return float(lost[-max(1, len(lost) // 10) :].mean())


def write_curves(path: Path, curves: Curves, run: str) -> None:
    """Write the rows of a run; the file appears whole or not at all."""
    columns = {name: np.ascontiguousarray(column) for name, column in curves.items()}
    # Not pa.array, which imports pandas where there is one: a second in each worker.
    table = pa.Table.from_arrays(
        [
            pa.Array.from_buffers(pa.from_numpy_dtype(c.dtype), len(c), [None, pa.py_buffer(c)])
            for c in columns.values()
        ],
        list(columns),
        metadata={HEADER: f"{run} {_digest(columns)}"},
    )
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    storage.write_bytes(path, buffer.getvalue())


def read_curves(path: Path, run: str) -> Curves:
    """The rows in a file, if they are unaltered and of this run."""
    try:
        table = read_numbers(path)
        curves = {name: table[name].to_numpy() for name in table.column_names}
        header = (table.schema.metadata or {}).get(HEADER.encode(), b"").decode()
    except TooLarge as error:
        raise TooLarge(f"{path}: {error}") from None
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise FileError(f"{path} holds no curves, or it is damaged ({error})") from None
    of, _, digest = header.partition(" ")
    if digest != _digest(curves):
        raise FileError(f"{path} holds no curves, or it is damaged (its digest is another)")
    if of != run:
        raise FileError(f"{path} is of the run {of}, not of {run}")
    return curves


def _digest(curves: Curves) -> str:
    sha = hashlib.sha256()
    for name, column in curves.items():
        sha.update(f"{name} {column.dtype} {column.shape}".encode())
        sha.update(column.tobytes())
    return sha.hexdigest()
