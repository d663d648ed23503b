"""The history of an imitation, with exact measures of how close it came to the expert."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from optimist import checks
from optimist.agents.history import Column, History
from optimist.checks import FloatArray, IntArray
from optimist.display.text import one_line
from optimist.imitation.dataset import FeatureDataset
from optimist.imitation.recording import PolicyLike, policy_table
from optimist.mdp import FiniteMDP


class ImitationRegret(NamedTuple):
    """The decomposition of Section 5 for some episodes, [n], in units of value.

    ``imitation`` = ``policy_player`` + ``reward_player``, in each episode. Where r_true = Phi_r
    w_true the latter is the paper's H <lambda(pi_k) - lambda(pi_E), w_k - w_true>.
    """

    imitation: FloatArray  # <nu0, V^{pi_E} - V^{pi_k}> under r_true: the gap to the expert
    policy_player: FloatArray  # H <r_k, mu(pi_E) - mu(pi_k)>
    reward_player: FloatArray  # H <mu(pi_k) - mu(pi_E), r_k - r_true>

    def __repr__(self) -> str:
        return one_line(self)


class ImitationHistory(History):
    """An imitation, episode by episode. In a Gymnasium environment it is a plain `History`.

    Attributes
    ----------
    pairs
        The draw (X_k, A_k) of mu(pi_k) that the reward player saw, as x * A + a, [K].
    rollouts
        The further steps of a draw of its own; zero where the episode's last pair is used, [K].
    weights
        The reward weights w_k of the episodes whose policies were kept, [n, d_r].
    Phi
        The reward features of all pairs, sparse, [X A, d_r].
    expert
        The estimate of lambda(pi_E) from the expert's data, [d_r].
    """

    pairs = Column[IntArray]("finite worlds")
    rollouts = Column[IntArray]("finite worlds")
    weights = Column[FloatArray]("finite worlds")

    def __init__(
        self,
        columns: Mapping[str, Any],
        first: int,
        expert: FloatArray,
        mdp: FiniteMDP | None = None,
        Phi: Any = None,
    ) -> None:
        super().__init__(columns, first, mdp)
        self.expert, self.Phi = expert, Phi

    @property
    def main(self) -> str:
        return super().main if self._mdp is None else "matching_error"

    def curve(self, what: str) -> tuple[IntArray, FloatArray]:
        if what == "matching_error" and self._mdp is not None:
            return self.evaluated + 1, self.matching_errors()
        return super().curve(what)

    @cached_property
    def feature_expectations(self) -> FloatArray:
        """The exact lambda(pi_k) = Phi_r' mu(pi_k) of the policies that were kept, [n, d_r]."""
        return np.asarray(self._occupancies @ self.Phi)

    def matching_errors(self, lambda_E: ArrayLike | FeatureDataset | None = None) -> FloatArray:
        """The exact ||lambda(pi_k) - lambda(pi_E)|| of the policies that were kept, [n].

        By default lambda(pi_E) is its estimate from the data; the exact one may be given, as a
        vector or as a dataset.
        """
        given = self.expert if lambda_E is None else lambda_E
        mean = given.mean if isinstance(given, FeatureDataset) else given
        wanted = checks.real_array(mean, "lambda_E", shape=self.expert.shape)
        return np.asarray(np.linalg.norm(self.feature_expectations - wanted, axis=1))

    def estimated_matching_error(self, last: int | None = None) -> float:
        """||lambda - lambda(pi_E)|| with lambda estimated from one draw an episode.

        It is that of the mixture of the policies of the ``last`` episodes, by default of all. It
        needs no knowledge of the world; its error is the noise of the draws.
        """
        pairs = self.pairs if last is None else self.pairs[-checks.count(last, "last") :]
        seen = np.asarray(self.Phi[pairs].mean(axis=0)).ravel()
        return float(np.linalg.norm(seen - self.expert))

    def regret(self, expert: PolicyLike, r_true: ArrayLike) -> ImitationRegret:
        """The gap to the expert under the true rewards, and what each player adds to it.

        Both are revealed here for evaluation only: nothing that learns has seen them.

        Parameters
        ----------
        expert
            The expert's policy pi_E: an array [X, A], or any policy with probabilities.
        r_true
            The true rewards, [X, A].
        """
        r = checks.real_array(r_true, "r_true", shape=self.mdp.r.shape).ravel()
        mu_E = self.mdp.occupancy(policy_table(expert, self.mdp)).ravel()
        r_k = np.asarray(self.Phi @ self.weights.T).T  # the constant shift would change nothing
        ahead = mu_E - self._occupancies
        policy = (ahead * r_k).sum(axis=1)
        reward = (-ahead * (r_k - r)).sum(axis=1)
        H = self.mdp.horizon
        return ImitationRegret(H * (ahead @ r), H * policy, H * reward)

    @cached_property
    def _occupancies(self) -> FloatArray:
        """mu(pi_k) of the policies that were kept, [n, X A]."""
        if not len(self.evaluated):
            raise ValueError("no policies were kept to be evaluated: the stride was 0")
        return self.mdp.occupancy(self.policies).reshape(len(self.evaluated), -1)
