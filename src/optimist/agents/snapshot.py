"""A snapshot of a learner in a finite world: raw copies now, numbers when they are asked for."""

from dataclasses import dataclass

import numpy as np

from optimist.agents.diagnostics import Beliefs
from optimist.checks import FloatArray, IntArray
from optimist.core.optimism import KNOWN, played


@dataclass(frozen=True)
class Snapshot:
    """What a learner believes of all states of a finite world.

    Taking one copies a few arrays and computes nothing, so that a run may be looked at often.

    Attributes
    ----------
    value
        V, [X].
    bonus, ascension
        CB and p+, [X, A].
    policy, standing
        The policy of the next episode; or its logarithm, with the standing of the actions
        (`optimist.core.optimism.standing`), [X, A].
    visits
        How often each pair was visited and learnt from, [X, A]; None if that is not counted.

    Examples
    --------
    >>> from optimist import Optimist, envs
    >>> agent = Optimist(envs.RiverSwim(6), seed=0)
    >>> history = agent.learn(100)
    >>> snapshot, now = agent.snapshot, agent.diagnostics
    >>> history = agent.learn(100)
    >>> bool((snapshot.beliefs.policy == now.pi).all())
    True
    """

    value: FloatArray
    bonus: FloatArray
    ascension: FloatArray
    policy: FloatArray
    standing: FloatArray | None = None
    visits: FloatArray | IntArray | None = None

    @property
    def beliefs(self) -> Beliefs:
        """The same as numbers; visits are nan where they are not counted."""
        pi = self.policy if self.standing is None else policy_of(self.policy, self.standing)
        visits = np.full(pi.shape, np.nan) if self.visits is None else self.visits
        return Beliefs(self.value, self.bonus, self.ascension, pi, np.asarray(visits, dtype=float))

    @property
    def nbytes(self) -> int:
        """How many bytes the copies take."""
        return sum(array.nbytes for array in vars(self).values() if array is not None)


def policy_of(log_pi: FloatArray, standing: FloatArray) -> FloatArray:
    """The probabilities with which actions are played, [X, A]."""
    if (standing == KNOWN).all():
        return np.asarray(np.exp(log_pi))
    return played(log_pi, standing)
