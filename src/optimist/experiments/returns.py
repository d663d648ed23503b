"""The curves of a run in a Gymnasium environment, one row for each window of episodes.

===================  =============================================================================
Column               Value for the window that ends with episode k
===================  =============================================================================
episode              k, counting from 1
steps                steps taken up to its end
epoch                the epoch after it
return               the mean return of an episode, in the environment's own units
optimistic_value     the mean of the agent's values of the first states
bonus, ascension     the means of CB and of p+ along the paths
===================  =============================================================================

A window has ``stride`` episodes; the last one may have fewer. Exact values and regret are unknown.
"""

import numpy as np

from optimist.agents import History
from optimist.checks import FloatArray
from optimist.experiments.curves import BELIEFS, Curves


def returns_of(history: History, steps_before: int, stride: int) -> Curves:
    """The rows of some episodes, the first of which starts a window."""
    n = len(history.steps)
    starts = np.arange(0, n, stride)
    ends = np.minimum(starts + stride, n)

    def means(column: FloatArray) -> FloatArray:
        return np.add.reduceat(column, starts) / (ends - starts)

    beliefs = {name: history.columns[name] for name in BELIEFS if name in history.columns}
    return {
        "episode": history.first + ends,
        "steps": steps_before + np.cumsum(history.steps)[ends - 1],
        **{name: column[ends - 1] for name, column in beliefs.items() if name == "epoch"},
        "return": means(history.reward),
        **{name: means(column) for name, column in beliefs.items() if name != "epoch"},
    }


def mean_return(curves: Curves) -> float:
    """The mean return of an episode over the run."""
    return _mean(curves, 0)


def final_return(curves: Curves) -> float:
    """The mean return over the last tenth of the windows.

    Examples
    --------
    >>> final_return({"episode": np.array([10, 20, 24]), "return": np.array([0.0, 1.0, 3.0])})
    3.0
    """
    return _mean(curves, -max(1, len(curves["return"]) // 10))


def _mean(curves: Curves, first: int) -> float:
    sizes = np.diff(curves["episode"], prepend=0)[first:]
    return float((curves["return"][first:] * sizes).sum() / sizes.sum())
