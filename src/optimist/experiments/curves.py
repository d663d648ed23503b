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
===================  =============================================================================
"""

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from optimist.agents import History
from optimist.checks import FloatArray
from optimist.core import storage

Curves = dict[str, np.ndarray]


def curves_of(history: History, steps_before: int) -> Curves:
    """The rows of some episodes, but for the regret, which takes all of them."""
    at = history.evaluated - history.first
    steps = steps_before + np.cumsum(history.steps)
    return {
        "episode": history.evaluated + 1,
        "steps": steps[at],
        "epoch": history.epoch[at],
        "value": history.values(),
        "suboptimality": history.regrets(),
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


def write_curves(path: Path, curves: Curves) -> None:
    """Write the rows; the file appears whole or not at all."""
    buffer = io.BytesIO()
    pq.write_table(pa.table(curves), buffer)
    storage.write_bytes(path, buffer.getvalue())


def read_curves(path: Path) -> Curves:
    """The rows in a file."""
    try:
        table = pq.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise storage.FileError(f"{path} holds no curves, or it is damaged ({error})") from None
    return {name: table[name].to_numpy() for name in table.column_names}
