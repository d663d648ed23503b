"""Section 5 and Appendix D: the two players of FRA-IL."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optimist.agents import RmaxRaviUcb
from optimist.checks import FloatArray
from optimist.display.text import one_line
from optimist.features import FeatureMap
from optimist.imitation import Ball, FeatureDataset, FraIL
from optimist.imitation.history import ImitationHistory
from optimist.mdp import FiniteMDP
from optimist.theory import imitation as bounds
from optimist.verification.statement import Claim, Needs, Statements, at_most, equal, join

STATEMENTS: Statements["Imitation"] = Statements("FRA-IL")
add = STATEMENTS.add


@dataclass(frozen=True)
class Imitation:
    """A recorded run of FRA-IL that imitates an optimal expert in a known world."""

    __repr__ = one_line

    mdp: FiniteMDP  # with the true rewards
    expert: FloatArray  # its policy, [X, A]
    w_true: FloatArray  # the weights of the rewards, [d_r]
    il: FraIL
    history: ImitationHistory  # with the policies and weights of every episode
    tau_E: int  # the number of expert samples
    delta: float  # the failure probability

    @cached_property
    def draws(self) -> FloatArray:
        """phi_r(X_k, A_k), [K, d_r]."""
        return np.asarray(self.history.Phi[self.history.pairs].toarray())

    @cached_property
    def lambda_E(self) -> FloatArray:
        """The expert's exact feature expectations, [d_r]."""
        return np.asarray(self.mdp.occupancy(self.expert).ravel() @ self.history.Phi)

    @property
    def B(self) -> float:
        """A bound on ||phi_r||."""
        return self.il.reward_features.bound

    @cached_property
    def loss(self) -> FloatArray:
        """sum of <phi_k - lambda^(pi_E), w_k - w_true> after each episode, [K]."""
        ahead = self.draws - self.history.expert
        return np.cumsum((ahead * (self.history.weights - self.w_true)).sum(axis=1))


def imitate(
    mdp: FiniteMDP, phi_r: FeatureMap, K: int, delta: float, seed: int, tau_E: int = 2000
) -> Imitation:
    """Imitate an optimal policy from tau_E samples of it, and record everything."""
    Phi = phi_r.all_actions(np.arange(mdp.n_states)).reshape(mdp.r.size, -1)
    w_true = np.asarray(np.linalg.pinv(Phi) @ mdp.r.ravel())
    expert = mdp.optimal().policy
    data = FeatureDataset.from_rollouts(mdp, expert, phi_r, tau_E, np.random.default_rng(seed))
    weights = Ball(max(1.0, float(np.linalg.norm(w_true))))
    player = RmaxRaviUcb.Config(ridge=0.01)
    il = FraIL(mdp, data, phi_r, weights=weights, player=player, seed=seed, stride=1)
    history = il.learn(K, show_progress=False)
    return Imitation(mdp, expert, w_true, il, history, tau_E, delta)


@add("eq:dec", "Section 5.2")
def decomposition(run: Imitation) -> Claim:
    """(1 - gamma) regret = <r_k, mu(pi_E) - mu(pi_k)> + <lambda(pi_k) - lambda(pi_E), w_k - w_true>

    The gap by values; the reward player's part by feature expectations.
    """
    gap = run.mdp.value(run.expert) - run.mdp.value(run.history.policies)
    parts = run.history.regret(run.expert, run.mdp.r)
    ahead = run.history.feature_expectations - run.lambda_E
    of_rewards = (ahead * (run.history.weights - run.w_true)).sum(axis=1)
    return equal((1 - run.mdp.gamma) * (gap - parts.policy_player), of_rewards)


@add("alg:fra", "Algorithm 2")
def descent(run: Imitation) -> Claim:
    """w_k = Pi_W(w_{k-1} + eta_r (lambda^(pi_E) - phi_r(X_k, A_k)))"""
    W = run.il.config.weights
    before = np.vstack([W.project(np.zeros_like(run.w_true)), run.history.weights[:-1]])
    moved = before + run.il.eta_r * (run.history.expert - run.draws)
    return equal(run.history.weights, np.array([W.project(w) for w in moved]))


@add("rewards of FRA-IL", "Section 5.2")
def rewards(run: Imitation) -> Claim:
    """0 <= r_k = Phi_r w_k + shift <= R_max"""
    r = np.asarray(run.history.Phi @ run.history.weights.T) + run.il.shift
    return join(at_most(0, r), at_most(r, run.il.R_max))


@add("OGD", "Appendix D.2")
def gradient_descent(run: Imitation) -> Claim:
    """sum <phi_k - lambda^, w_k - w> <= (||w_0 - w||^2 - sum ||w_k - w_{k-1}||^2) / (2 eta_r)

    Zinkevich's bound for losses evaluated after the step.
    """
    w_0 = run.il.config.weights.project(np.zeros_like(run.w_true))
    moves = np.diff(run.history.weights, axis=0, prepend=w_0[None])
    paid = np.cumsum((moves**2).sum(axis=1))
    most = (np.sum((w_0 - run.w_true) ** 2) - paid) / (2 * run.il.eta_r)
    return at_most(run.loss, most)


@add("OGD, as printed", "Appendix D.2")
def gradient_descent_as_printed(run: Imitation) -> Claim:
    """sum <phi_k - lambda^, w_k - w_true> <= 2 W_max^2 / eta_r + 2 eta_r B^2 K"""
    k = np.arange(1, len(run.loss) + 1)
    step = run.il.eta_r
    return at_most(run.loss, 2 * run.il.W_max**2 / step + 2 * step * run.B**2 * k)


@add("regret^w in three terms", "Appendix D.2")
def three_terms(run: Imitation) -> Claim:
    """descent + <lambda(pi_k) - phi_k, w_k - w>
    + <lambda^ - lambda(pi_E), w_k - w>, and the last
    """
    away = run.history.weights - run.w_true
    noise = ((run.history.feature_expectations - run.draws) * away).sum(axis=1)
    of_expert = away @ (run.history.expert - run.lambda_E)
    whole = run.history.regret(run.expert, run.mdp.r).reward_player / run.mdp.horizon
    return equal(np.cumsum(whole), run.loss + np.cumsum(noise) + np.cumsum(of_expert))


@add("expert's features", "Appendix D.2", needs=Needs.CHANCE)
def expert_features(run: Imitation) -> Claim:
    """||lambda^(pi_E) - lambda(pi_E)|| <= B (1 + sqrt(2 l)) / sqrt(tau_E) <= 12 B sqrt(l / tau_E)

    By McDiarmid, then as printed; l = log(1 / delta).
    """
    error = np.linalg.norm(run.history.expert - run.lambda_E)
    log = np.log(1 / run.delta)
    sharp = run.B * (1 + np.sqrt(2 * log)) / np.sqrt(run.tau_E)
    stated = 12 * run.B * np.sqrt(log / run.tau_E)
    return join(at_most(error, sharp, trivial=2 * run.B), at_most(sharp, stated))


@add("thm:reward_regret_bound", "Appendix D.2", needs=Needs.CHANCE)
def reward_regret(run: Imitation) -> Claim:
    """regret^w <= H (10 (B W_max + R_max) sqrt(K l) + 24 W_max B K sqrt(l / tau_E)),
    l = -log delta
    """
    K, W_max, R_max = len(run.loss), run.il.W_max, run.il.R_max / 2  # as the shift does not count
    sizes = (K, run.mdp.gamma, run.B, W_max, R_max, run.tau_E, run.delta)
    lost = run.history.regret(run.expert, run.mdp.r).reward_player.sum()
    anyway = 4 * run.mdp.horizon * K * run.B * W_max
    return at_most(lost, bounds.reward_regret_bound(*sizes), trivial=anyway)
