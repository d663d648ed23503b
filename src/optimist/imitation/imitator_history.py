"""The history of an imitator, and how far its policies are from the expert's."""

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from optimist import checks
from optimist.agents.history import Column, History
from optimist.checks import FloatArray, IntArray
from optimist.imitation.recording import PolicyLike, policy_table


class ImitatorHistory(History):
    """An imitation, episode by episode. It has no rewards: no learner saw any.

    One that plays no episodes has none here, and one policy in ``policies``.

    Attributes
    ----------
    pairs
        The last pair of each episode, a draw of mu(pi_k), as x * A + a, [K].
    """

    pairs = Column[IntArray]("finite worlds")

    @cached_property
    def occupancies(self) -> FloatArray:
        """The exact mu(pi_k) of the policies that were kept, [n, X, A]."""
        if not len(self.evaluated):
            raise ValueError("no policies were kept to be evaluated: the stride was 0")
        return self.mdp.occupancy(self.policies)

    def gaps(self, expert: PolicyLike, r_true: ArrayLike) -> FloatArray:
        """H <mu(pi_E) - mu(pi_k), r_true> of the policies that were kept, exactly, [n].

        Expert and rewards are revealed here for evaluation only.

        Parameters
        ----------
        expert
            The expert's policy pi_E: an array [X, A], or any policy with probabilities.
        r_true
            The true rewards, [X, A].
        """
        r = checks.real_array(r_true, "r_true", shape=self.mdp.r.shape)
        mu_E = self.mdp.occupancy(policy_table(expert, self.mdp))
        return np.asarray(self.mdp.horizon * ((mu_E - self.occupancies) * r).sum(axis=(1, 2)))
