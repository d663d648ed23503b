"""The curves of a run in Parquet, one row for each evaluated policy.

===================  =============================================================================
Column               Value for the policy pi_k of episode k
===================  =============================================================================
episode              k, counting from 1
steps                steps taken before and during it
epoch                the epoch after it
value                the exact value <nu0, V^{pi_k}>
suboptimality        the regret of pi_k, in units of value
regret               the sum of the regrets of all policies up to pi_k; those of policies that were
                     not evaluated are interpolated
optimistic_value     <nu0, V_k>, the agent's estimate
bonus, ascension     the means of CB and of p+ along its path
matching_error       the exact ||lambda(pi_k) - lambda(pi_E)||, for imitators only
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

BELIEFS = ("epoch", "optimistic_value", "bonus", "ascension")
"""The columns that algorithms in plain Python do not have."""

HEADER = "optimist"
"""The metadata entry of a file with the id of its run and the digest of its columns."""


def curves_of(history: History | ImitationHistory, steps_before: int, mdp: FiniteMDP) -> Curves:
    """The rows of some episodes, without the regret, which depends on all episodes.

    Imitators are evaluated by the rewards of ``mdp``; its optimal policy is their expert.
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
    beliefs = {name: history.columns[name] for name in BELIEFS if name in history.columns}
    return {
        "episode": history.evaluated + 1,
        "steps": steps[at],
        **{name: column[at] for name, column in beliefs.items() if name == "epoch"},
        **judged,
        **{name: column[at] for name, column in beliefs.items() if name != "epoch"},
    }


def joined(parts: Sequence[Curves]) -> Curves:
    """The rows of several pieces of a run, concatenated."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def with_regret(curves: Curves) -> Curves:
    """The rows with the column of regret."""
    return {**curves, "regret": cumulative(curves["episode"], curves["suboptimality"])}


def cumulative(episode: np.ndarray, suboptimality: FloatArray) -> FloatArray:
    """Sums over all episodes up to each; missing episodes are interpolated linearly.

    Examples
    --------
    >>> cumulative(np.array([1, 2, 4]), np.array([1.0, 1.0, 0.0]))      # episode 3 counts as 0.5
    array([1. , 2. , 2.5])
    """
    steps, rise = np.diff(episode), np.diff(suboptimality)
    # Each piece is the sum over j = 1, ..., n of s + rise j / n.
    pieces = steps * suboptimality[:-1] + rise * (steps + 1) / 2
    return np.cumsum(np.concatenate([suboptimality[:1], pieces]))


def average(curves: Curves) -> float:
    """The mean regret of a policy over the run, in units of value."""
    return float(curves["regret"][-1] / curves["episode"][-1])


def final(curves: Curves) -> float:
    """The mean regret over the last tenth of the evaluated policies."""
    lost = curves["suboptimality"]
    return float(lost[-max(1, len(lost) // 10) :].mean())


def write_curves(path: Path, curves: Curves, run: str) -> None:
    """Write the rows of a run atomically."""
    columns = {name: np.ascontiguousarray(column) for name, column in curves.items()}
    # Not by pa.array, which imports pandas if installed and costs a second in each worker.
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
    """Read the rows of a run; raises `FileError` if they are damaged or of another run."""
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
        raise FileError(f"{path} holds no curves, or it is damaged (its digest does not match)")
    if of != run:
        raise FileError(f"{path} is of the run {of}, not of {run}")
    return curves


def _digest(curves: Curves) -> str:
    sha = hashlib.sha256()
    for name, column in curves.items():
        sha.update(f"{name} {column.dtype} {column.shape}".encode())
        sha.update(column.tobytes())
    return sha.hexdigest()
