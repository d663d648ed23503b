"""The state of a learner in numbers: read-only copies, which later learning does not change."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.display.text import one_line


@dataclass(frozen=True)
class Diagnostics:
    """The state of a learner, in the notation of the paper.

    X are the states of a finite world, or those met and kept so far in a Gymnasium environment.
    The covariance has n blocks of size s, and d = n s features. Agents without a regression (the
    tabular peers) have None from ``ridge`` on.

    Attributes
    ----------
    V
        The values V_k, [X].
    pi
        The policy that the next episode plays, [X, A].
    CB, p
        The bonuses CB and the ascension function p+ of this epoch, [X, A].
    epoch
        How many epochs have begun.
    heaven
        The value of heaven: R_max H or a better bound, or the last estimate if it is learnt.
    ridge
        Lambda is ridge times the identity plus the sum of phi phi' over the data.
    Lambda, inverse
        The covariance of all data so far and its inverse as the learner keeps it, by blocks,
        [n, s, s]. Bonuses are of the covariance at the start of the epoch, ``policy.Lambda``.
    log_det
        log det Lambda.
    b
        The right-hand side of the next regression, sum_D phi(x, a) (r + gamma V(x')), [d]; without
        r where rewards are known.
    s, v, theta
        A learnt prior (`optimist.core.prior`): the probability that a next state which is new to
        its pair was never seen at all, times 1 + 2 log k; the mean value of the states seen; and
        the concentration of each block, [n]. None where no prior is learnt.

    Examples
    --------
    >>> from optimist import RmaxRaviUcb, envs
    >>> agent = RmaxRaviUcb(envs.RiverSwim(6, gamma=0.9), seed=0)
    >>> history = agent.learn(100)
    >>> now = agent.diagnostics
    >>> now.V.shape, now.CB.shape, now.Lambda.shape, now.epoch == history.epoch[-1]
    ((6,), (6, 2), (12, 1, 1), np.True_)
    >>> visits = (now.Lambda - now.ridge).reshape(6, 2)       # as features are one-hot
    >>> int(visits.sum()) == agent.steps - agent.episodes     # the last pairs are not learnt from
    True
    """

    __repr__ = one_line

    V: FloatArray
    pi: FloatArray
    CB: FloatArray
    p: FloatArray
    epoch: int
    heaven: float
    ridge: float | None = None
    Lambda: FloatArray | None = None
    inverse: FloatArray | None = None
    log_det: float | None = None
    b: FloatArray | None = None
    s: float | None = None
    v: float | None = None
    theta: FloatArray | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, read_only(value))


class Beliefs(NamedTuple):
    """The values, optimism and policy of a learner at some observations, met or not."""

    value: FloatArray  # V, [n]
    bonus: FloatArray  # CB, [n, A]
    ascension: FloatArray  # p+, [n, A]
    policy: FloatArray  # pi, [n, A]
    visits: FloatArray  # 1 / u^2 - lambda: exact where each pair has a feature of its own, [n, A]

    def __repr__(self) -> str:
        return one_line(self)


class Transitions(NamedTuple):
    """The data that a learner keeps of a Gymnasium environment: each state and transition once.

    States that share their features are one. Their numbers are the rows of `Diagnostics.V`, as
    long as nothing is learnt in between.
    """

    phi: FloatArray  # the features of the states within their block, [X, A, s]
    block: IntArray  # which block that is, [X, A]
    source: IntArray  # x, [L]
    action: IntArray  # a, [L]
    after: IntArray  # x', or -1 where the episode terminated, [L]
    weight: FloatArray  # how often it was seen, [L]
    paid: FloatArray  # the sum of its rewards, mapped to [0, R_max]; 0 where they are known, [L]

    def __repr__(self) -> str:
        return one_line(self)


def read_only(array: Any) -> Any:
    """A copy that cannot be written to."""
    copy = np.array(array)
    copy.setflags(write=False)
    return copy
