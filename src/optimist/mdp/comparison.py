"""Regret of a sequence of policies under changing rewards, and its decomposition (Section 4)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from optimist import checks
from optimist.checks import FloatArray
from optimist.display.text import one_line
from optimist.mdp.augmented import ascension_function
from optimist.mdp.finite import FiniteMDP
from optimist.mdp.optimum import Optimum


def best_in_hindsight(mdp: FiniteMDP, rewards: ArrayLike) -> Optimum:
    """The best fixed policy for rewards [K, X, A]; its values are those of the mean reward."""
    return mdp.with_rewards(_rewards(mdp, rewards).mean(axis=0)).optimal()


def regret(
    mdp: FiniteMDP,
    policies: ArrayLike,
    rewards: ArrayLike | None = None,
    comparator: ArrayLike | None = None,
) -> FloatArray:
    """The regret <nu0, V*_{r_k} - V^{pi_k}_{r_k}> of each episode, [K]; its cumulative sum is R_k.

    Parameters
    ----------
    mdp
        The MDP that was played.
    policies
        The policies pi_1, ..., pi_K that were played, [K, X, A].
    rewards
        The rewards r_1, ..., r_K, [K, X, A], or one function [X, A]; the MDP's own by default.
    comparator
        The policy pi* to compare with, [X, A]; the best fixed one in hindsight by default.

    Examples
    --------
    >>> m = FiniteMDP([[[1.0], [1.0]]], r=[[1, 0]], nu0=[1], gamma=0.5)
    >>> regret(m, [[[1, 0]], [[0.5, 0.5]], [[0, 1]]])
    array([0., 1., 2.])
    """
    pi, r, best = _setting(mdp, policies, rewards, comparator)
    return mdp.horizon * _inner(mdp.occupancy(best) - mdp.occupancy(pi), r)


@dataclass(frozen=True)
class RegretDecomposition:
    """The terms of Section 4 for each episode, [K], in units of reward per step.

    Their sum, reward_bias - model_bias_comparator + regret_plus + model_bias_learner, is
    (1 - gamma) times the regret of the episode.

    Attributes
    ----------
    reward_bias
        <mu(pi*) - mu(pi_k), r_k - r_k+>.
    model_bias_comparator, model_bias_learner
        <mu_k+(pi) - mu(pi), r_k+> for pi* and for pi_k.
    regret_plus
        <mu_k+(pi*) - mu_k+(pi_k), r_k+>, the regret in the augmented MDP.
    mean_ascension
        <mu(pi_k), p_k+>, the quantity in which the paper bounds the biases.
    gamma
        The discount factor.
    """

    __repr__ = one_line

    reward_bias: FloatArray
    model_bias_comparator: FloatArray
    regret_plus: FloatArray
    model_bias_learner: FloatArray
    mean_ascension: FloatArray
    gamma: float

    @property
    def regret(self) -> FloatArray:
        """The regret of each episode, from its terms, [K]."""
        terms = self.regret_plus + self.reward_bias
        return (terms - self.model_bias_comparator + self.model_bias_learner) / (1 - self.gamma)


def decompose_regret(
    mdp: FiniteMDP,
    policies: ArrayLike,
    ascensions: ArrayLike,
    r_max: float,
    rewards: ArrayLike | None = None,
    comparator: ArrayLike | None = None,
) -> RegretDecomposition:
    """The regret decomposition of Section 4 under ascension functions p_k+.

    Parameters
    ----------
    mdp, policies, rewards, comparator
        As in `regret`. The rewards must lie in [0, r_max].
    ascensions
        The ascension functions p_1+, ..., p_K+, [K, X, A], or one [X, A] for all.
    r_max
        The reward in heaven.

    Examples
    --------
    >>> m = FiniteMDP([[[1.0], [1.0]]], r=[[1, 0]], nu0=[1], gamma=0.5)
    >>> parts = decompose_regret(m, [[[0.5, 0.5]]], ascensions=[[0.0, 0.2]], r_max=1)
    >>> parts.reward_bias, parts.model_bias_learner.round(4), parts.regret.round(12)
    (array([0.1]), array([0.0364]), array([1.]))
    """
    pi, r, best = _setting(mdp, policies, rewards, comparator)
    checks.within(r, r_max, "rewards", "r_max")
    p = ascension_function(ascensions, mdp).reshape(-1, *mdp.r.shape)
    if len(p) not in (1, len(pi)):
        raise ValueError(f"ascensions must be one, or one per policy; got {len(p)} for {len(pi)}")
    r_plus = (1 - p) * r + p * r_max
    mu, mu_best = mdp.occupancy(pi), mdp.occupancy(best)
    value_plus = _value_plus(mdp, pi, p, r_plus, r_max)
    value_plus_best = _value_plus(mdp, np.broadcast_to(best, p.shape), p, r_plus, r_max)
    return RegretDecomposition(
        reward_bias=_inner(mu_best - mu, r - r_plus),
        model_bias_comparator=value_plus_best - _inner(mu_best, r_plus),
        regret_plus=value_plus_best - value_plus,
        model_bias_learner=value_plus - _inner(mu, r_plus),
        mean_ascension=_inner(mu, p),
        gamma=mdp.gamma,
    )


def _value_plus(
    mdp: FiniteMDP, pi: FloatArray, p: FloatArray, r_plus: FloatArray, r_max: float
) -> FloatArray:
    """<mu_k+(pi_k), r_k+> in each augmented MDP, [K]; pi and p may be one for all episodes.

    Off heaven mu_k+ is the occupancy under the sub-kernel (1 - p_k+) P; the rest is in heaven.
    """
    nu = mdp.dynamics.occupancies(pi * (1 - p), mdp.nu0)
    in_heaven: FloatArray = 1 - nu.sum(axis=1)
    return _inner(nu[..., None] * pi, r_plus) + in_heaven * r_max


def _inner(mu: FloatArray, f: FloatArray) -> FloatArray:
    """<mu_k, f_k> for each k; either may be one for all."""
    return np.asarray((mu * f).sum(axis=(-2, -1)))


def _setting(
    mdp: FiniteMDP, policies: ArrayLike, rewards: ArrayLike | None, comparator: ArrayLike | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The policies and rewards as sequences [K, X, A], and the comparator [X, A]."""
    pi = checks.policies(policies, mdp.n_states, mdp.n_actions, "policies")
    pi = pi.reshape(-1, *mdp.r.shape)
    r = _rewards(mdp, mdp.r if rewards is None else rewards)
    if len(r) not in (1, len(pi)):
        raise ValueError(f"rewards must be one, or one per policy; got {len(r)} for {len(pi)}")
    if comparator is None:
        best = (mdp.optimal() if rewards is None else best_in_hindsight(mdp, r)).policy
    else:
        best = checks.policies(comparator, mdp.n_states, mdp.n_actions, "comparator")
        checks.match_shape(best.shape, "comparator", mdp.r.shape)
    return pi, np.broadcast_to(r, pi.shape), best


def _rewards(mdp: FiniteMDP, rewards: ArrayLike) -> FloatArray:
    r = checks.real_array(rewards, "rewards")
    if r.shape[-2:] != mdp.r.shape or r.ndim not in (2, 3):
        raise ValueError(f"rewards must have shape {mdp.r.shape}, or n of them; got {r.shape}")
    return r.reshape(-1, *mdp.r.shape)
