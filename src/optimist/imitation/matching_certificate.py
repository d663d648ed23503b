"""How far the features of a policy are from an expert's, by samples of both (docs/certificates.md).

The deviation of a sum of n independent rows of norm at most B from its mean, S_n, is bounded for
all n at once. By Pinelis (1994, Theorem 3.2), cosh(t ||S_n||) exp(-n v(t)) is a supermartingale in
any Hilbert space, with v(t) the mean of exp(t ||xi||) - 1 - t ||xi|| over an increment xi. As
||xi|| <= 2 B and the mean of ||xi||^2 is at most B^2, v(t) <= (exp(2 B t) - 1 - 2 B t) / 4. A
mixture over t_j = 2^{-j/2} / B with weights w_j = 1 / (j (j + 1)), Ville's inequality, and
cosh(x) >= e^x / 2 give, with probability 1 - delta, for all n and j,

    ||S_n|| <= ( log(2 / (delta w_j)) + n v(t_j) ) / t_j.
"""

import math
from dataclasses import dataclass

import numpy as np

from optimist.core.guarantee import failure_probability
from optimist.imitation.dataset import FeatureDataset

MIXTURE = np.arange(1, 61)
"""The numbers j; the last is for some 2^60 rows."""


def deviation(n: int, bound: float, delta: float) -> float:
    """How far the mean of n independent rows may be from its expectation, in norm.

    It holds for all n at once with probability 1 - delta.

    Examples
    --------
    >>> round(deviation(100, bound=1.0, delta=0.05), 3), round(deviation(10**4, 1.0, 0.05), 3)
    (0.402, 0.041)
    """
    t = 2.0 ** (-MIXTURE / 2) / bound
    spread = (np.expm1(2 * bound * t) - 2 * bound * t) / 4
    logs = np.log(2 * MIXTURE * (MIXTURE + 1) / delta)
    return float(((logs + n * spread) / t).min() / n)


@dataclass(frozen=True)
class MatchingCertificate:
    """A bound on ||lambda(pi) - lambda(pi_E)||, and so on the gap for every reward of a class.

    Attributes
    ----------
    error
        The bound, which fails with probability ``delta``.
    estimate
        The distance of the means of the samples, which is no bound.
    delta
        As given.
    gamma
        The discount factor, or None.
    """

    error: float
    estimate: float
    delta: float
    gamma: float | None

    def gap(self, W_max: float = 1.0) -> float:
        """A bound on <nu_0, V^{pi_E} - V^pi> for all rewards phi_r . w with ||w|| <= W_max."""
        if self.gamma is None:
            raise ValueError("gamma must be known: give it to the FeatureDataset")
        return W_max * self.error / (1 - self.gamma)


def certify_matching(
    policy: FeatureDataset, expert: FeatureDataset, delta: float = 0.05
) -> MatchingCertificate:
    """Certify how well a policy matches an expert, from independent samples of both.

    The policy must have been fixed before its samples were drawn: learn first, then record it. At
    a fixed policy it holds at all numbers of samples at once, so one may look and go on.

    Parameters
    ----------
    policy
        Samples of the policy's features, as `FeatureDataset.from_rollouts` draws them. Their
        ``bound`` must be of all features there are, not of those that were drawn.
    expert
        Those of the expert, or their exact mean.
    delta
        The probability that the bound fails.

    Examples
    --------
    >>> from optimist import envs
    >>> from optimist.features import OneHotState, StateOnly
    >>> world, rng = envs.GridWorld(gamma=0.8), np.random.default_rng(0)
    >>> phi = StateOnly(OneHotState(world.mdp.n_states), n_actions=4)
    >>> best = world.mdp.optimal().policy
    >>> expert = FeatureDataset.from_policy(world, best, phi)
    >>> mine = FeatureDataset.from_rollouts(world, best, phi, samples=2000, rng=rng)
    >>> found = certify_matching(mine, expert)
    >>> found.estimate < 0.05 < found.error < 0.12
    True
    """
    if policy.features.shape[1] != expert.features.shape[1]:
        raise ValueError(
            f"both must have features of one dimension; got {policy.features.shape[1]} and "
            f"{expert.features.shape[1]}"
        )
    known = [data.gamma for data in (policy, expert) if data.gamma is not None]
    if len(set(known)) > 1:
        raise ValueError(f"both must have one gamma; got {known[0]:g} and {known[1]:g}")
    delta = failure_probability(delta)
    sampled = [data for data in (policy, expert) if not data.exact]
    each = delta / max(len(sampled), 1)
    far = math.fsum(deviation(len(data.features), data.bound, each) for data in sampled)
    estimate = float(np.linalg.norm(policy.mean - expert.mean))
    return MatchingCertificate(estimate + far, estimate, delta, known[0] if known else None)
