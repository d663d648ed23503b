"""A recorded run in a known world, with the exact quantities of the analysis.

Heaven, if present, is the last state. Arrays over episodes have K as their first axis.
"""

from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core import Sigmoid
from optimist.display.text import one_line
from optimist.mdp import RegretDecomposition, best_in_hindsight, decompose_regret
from optimist.mdp.augmented import with_heaven
from optimist.theory import parameters
from optimist.verification.statement import at_most
from optimist.verification.trace import Trace


@dataclass(frozen=True)
class RecordedRun:
    """A trace, and the assumptions that its parameters meet.

    Attributes
    ----------
    trace
        The recorded run.
    delta
        The failure probability.
    theorem
        Whether the parameters are the theorem's.
    covered
        Whether beta makes bonuses valid with probability 1 - 2 delta: the theorem's, or that of
        `concentration.beta_for_all_values`.
    """

    __repr__ = one_line

    trace: Trace
    delta: float
    theorem: bool = False
    covered: bool = False

    # The numbers of the paper

    n_actions = property(attrgetter("trace.mdp.n_actions"), doc="|A|.")
    gamma = property(attrgetter("trace.mdp.gamma"), doc="The discount factor.")
    H = property(attrgetter("trace.mdp.horizon"), doc="The effective horizon.")
    R_max = property(attrgetter("trace.config.r_max"), doc="The reward in heaven.")
    eta = property(attrgetter("trace.config.eta"), doc="The learning rate.")
    beta = property(attrgetter("trace.config.beta"), doc="The exploration coefficient.")
    ridge = property(attrgetter("trace.ridge"), doc="Lambda_1 is this times I; 1 in the paper.")

    @property
    def K(self) -> int:
        """The number of episodes."""
        return len(self.trace.played)

    @property
    def d(self) -> int:
        """The dimension of the features."""
        return int(self.trace.Lambda.shape[1] * self.trace.Lambda.shape[2])

    @property
    def sizes(self) -> tuple[Any, ...]:
        """K, d, |A|, gamma, B, W_max, R_max and delta."""
        here = self.K, self.d, self.n_actions, self.gamma
        return (*here, self.B, self.W_max, self.R_max, self.delta)

    @property
    def sigmoid(self) -> Sigmoid:
        """alpha and omega."""
        return Sigmoid(self.trace.config.alpha, self.trace.config.omega)

    @property
    def one_update(self) -> bool:
        """Whether an update follows each episode, as in the paper."""
        return self.trace.config.updates == 1

    @cached_property
    def B(self) -> float:
        """A bound on ||phi||, at least 1 as in the paper."""
        return max(1.0, float(self.norms.max()))

    @property
    def norms(self) -> FloatArray:
        """||phi(x, a)||, [X, A]."""
        lengths = np.linalg.norm(self.trace.phi, axis=1)
        return np.asarray(lengths.reshape(self.trace.mdp.r.shape))

    @cached_property
    def W_max(self) -> float:
        """A bound on ||w_k|| with r_k = Phi w_k, at least 1."""
        return max(1.0, float(np.linalg.norm(self.weights_of(self.trace.r), axis=1).max()))

    @cached_property
    def m_norm(self) -> float:
        """|| |m|(X) || of the shortest m with P = Phi M; the theorem needs sqrt d at most."""
        P = self.after(np.eye(self.trace.mdp.n_states))
        return float(np.linalg.norm(np.abs(self.weights_of(P)).sum(axis=0)))

    @property
    def event_L(self) -> bool:
        """Whether E_L holds: no episode is longer than L_max."""
        L_max = parameters.longest_episode(self.K, self.gamma, self.delta)
        return bool(self.lengths.max() <= L_max)

    @cached_property
    def Q_max(self) -> float:
        """The bound on |Q_k| of Lemma qmax."""
        omega, alpha = self.trace.config.omega, self.trace.config.alpha
        return float(parameters.value_bound(self.gamma, self.R_max, omega, alpha))

    # The data

    @cached_property
    def recorded(self) -> BoolArray:
        """Whether each pair entered the covariance, [T]."""
        return self.trace.seen >= 0

    @cached_property
    def lengths(self) -> IntArray:
        """The lengths L_k of the episodes, [K]."""
        return np.bincount(self.trace.at, minlength=self.K)

    @cached_property
    def potentials(self) -> FloatArray:
        """||phi_t||^2 in the norm of Lambda_t^{-1}, with Lambda_t of all pairs before, [T]."""
        return self._before_each_pair[0]

    @cached_property
    def log_det(self) -> FloatArray:
        """log det Lambda_t before each pair, [T]."""
        return self._before_each_pair[1]

    @cached_property
    def _before_each_pair(self) -> tuple[FloatArray, FloatArray]:
        phi, block, pairs = self.trace.phi, self.trace.block, self.trace.pairs
        inverse = np.tile(np.eye(phi.shape[1]) / self.ridge, (self.trace.Lambda.shape[1], 1, 1))
        log_det = self.d * np.log(self.ridge)
        potentials, log_dets = np.empty(len(pairs)), np.empty(len(pairs))
        for t, pair in enumerate(pairs):
            M = inverse[block[pair]]
            y = M @ phi[pair]
            potentials[t], log_dets[t] = phi[pair] @ y, log_det
            if self.recorded[t]:
                M -= np.outer(y, y) / (1 + potentials[t])
                log_det += np.log1p(potentials[t])
        return potentials, log_dets

    @cached_property
    def log_det_end(self) -> FloatArray:
        """log det Lambda_{T_k}, [K]."""
        return np.asarray(np.linalg.slogdet(self.trace.Lambda)[1].sum(axis=1))

    @cached_property
    def log_det_frozen(self) -> FloatArray:
        """log det Lambda_{t_e} in the epoch of each episode, [K]."""
        of_epochs = np.linalg.slogdet(self.trace.frozen)[1].sum(axis=1)
        return np.asarray(of_epochs[self.trace.epoch - 1])

    def in_episodes(self, f: FloatArray) -> FloatArray:
        """The sums of f_k(X_t, A_t) over the pairs of each episode, for functions [K, X, A]."""
        values = f.reshape(self.K, -1)[self.trace.at, self.trace.pairs]
        return np.asarray(np.bincount(self.trace.at, weights=values, minlength=self.K), float)

    def recorded_so_far(self, f: FloatArray | float) -> FloatArray:
        """The sums of f over the pairs recorded up to the end of each episode, for f [T], [K]."""
        return np.asarray(np.cumsum(f * self.recorded)[np.cumsum(self.lengths) - 1])

    # Updates: row u computes Q_{k+1} from V_k

    @cached_property
    def CB(self) -> FloatArray:
        """The bonuses of each update, [U, X, A]."""
        return self.trace.CB[self.trace.episode]

    @cached_property
    def p(self) -> FloatArray:
        """The ascension function of each update, [U, X, A]."""
        return self.trace.p[self.trace.episode]

    @cached_property
    def r_plus(self) -> FloatArray:
        """r_k+ of each update, [U, X, A]."""
        return self.r_plus_played[self.trace.episode]

    @cached_property
    def PV(self) -> FloatArray:
        """P V_k, [U, X, A]."""
        return self.after(self.trace.V)

    def after(self, f: FloatArray) -> FloatArray:
        """P f of functions of the states [n, X], as [n, X, A]."""
        mdp = self.trace.mdp
        return np.asarray((mdp.kernel @ f.T).T).reshape(len(f), *mdp.r.shape)

    @cached_property
    def PV_plus(self) -> FloatArray:
        """P_k+ V_k, [U, X, A]."""
        return np.asarray((1 - self.p) * self.PV + self.p * self.R_max * self.H)

    @cached_property
    def PV_hat(self) -> FloatArray:
        """The estimate of P V_k from the data seen before the update, [U, X, A].

        Phi Lambda_{T_k}^{-1} times the sum of phi(x, a) V_k(x'), computed by its definition.
        """
        t = self.trace
        phi, block, after = t.phi[t.pairs], t.block[t.pairs], t.seen
        pairs = np.searchsorted(t.at, np.arange(self.K + 1))  # the first pair of each episode
        updates = np.searchsorted(t.episode, np.arange(self.K + 1))
        n, s = t.Lambda.shape[1:3]
        followed = np.zeros((t.mdp.n_states, n, s))  # sums of features by the state after
        MV = np.empty((len(t.V), n, s))
        for k in range(self.K):
            new, now = np.arange(*pairs[k : k + 2]), slice(*updates[k : k + 2])
            new = new[self.recorded[new]]
            np.add.at(followed, (after[new], block[new]), phi[new])
            sums = np.einsum("yns,uy->nsu", followed, t.V[now])
            MV[now] = np.linalg.solve(t.Lambda[k], sums).transpose(2, 0, 1)
        PV = np.empty((len(t.V), len(t.phi)))
        for b in range(n):
            here = t.block == b
            PV[:, here] = MV[:, b] @ t.phi[here].T
        return PV.reshape(self.CB.shape)

    def weights_of(self, f: FloatArray) -> FloatArray:
        """The shortest weights w with Phi w = f, for functions f of the pairs [n, X, A], [n, d]."""
        t = self.trace
        rows = f.reshape(len(f), -1)
        parts = [
            rows[:, t.block == b] @ np.linalg.pinv(t.phi[t.block == b]).T
            for b in range(t.Lambda.shape[1])
        ]
        return np.concatenate(parts, axis=1)

    @cached_property
    def regression_errors(self) -> FloatArray:
        """||M V_k - M^V_k|| in the norm of Lambda_{T_k}, [U]."""
        t = self.trace
        n, s = t.Lambda.shape[1:3]
        error = self.weights_of(self.PV - self.PV_hat).reshape(-1, n, s)
        squares = np.einsum("uns,unst,unt->u", error, t.Lambda[t.episode], error)
        return np.asarray(np.sqrt(squares))

    def norms_in(self, Lambda: FloatArray) -> FloatArray:
        """||phi(x, a)|| in the norms of Lambda^{-1}, for covariances [n, ...], [n, X, A]."""
        phi, block = self.trace.phi, self.trace.block
        inverses = np.linalg.inv(Lambda)
        squares = [np.einsum("ps,pst,pt->p", phi, M[block], phi) for M in inverses]
        return np.sqrt(squares).reshape(-1, *self.trace.mdp.r.shape)

    @cached_property
    def valid(self) -> bool:
        """Whether the bonuses were valid throughout: |(P - P^_k) V_k| <= CB_k."""
        return not at_most(np.abs(self.PV - self.PV_hat), self.CB).broken.any()

    # Occupancies, in the MDP and in the augmented MDPs

    @cached_property
    def best(self) -> FloatArray:
        """The comparator pi*: the best fixed policy in hindsight, [X, A]."""
        return best_in_hindsight(self.trace.mdp, self.trace.r).policy

    @cached_property
    def mu(self) -> FloatArray:
        """mu(pi_k), [K, X, A]."""
        return self.trace.mdp.occupancy(self.trace.played)

    @cached_property
    def mu_best(self) -> FloatArray:
        """mu(pi*), [X, A]."""
        return self.trace.mdp.occupancy(self.best)

    def nu_plus(self, pi: FloatArray, p: FloatArray) -> FloatArray:
        """nu+(pi) for n policies and n ascension functions p, [n, X + 1]."""
        mdp = self.trace.mdp
        nu = mdp.dynamics.occupancies(pi * (1 - p), mdp.nu0)
        return np.column_stack([nu, np.maximum(1 - nu.sum(axis=1), 0.0)])  # rounding may be < 0

    def mu_plus(self, pi: FloatArray) -> FloatArray:
        """mu_k+(pi) of a policy, or of one for each episode, [K, X + 1, A]."""
        pi = np.broadcast_to(pi, self.trace.p.shape)
        return self.nu_plus(pi, self.trace.p)[..., None] * with_heaven(pi)

    @cached_property
    def mu_plus_played(self) -> FloatArray:
        """mu_k+(pi_k), [K, X + 1, A]."""
        return self.mu_plus(self.trace.played)

    @cached_property
    def mu_plus_best(self) -> FloatArray:
        """mu_k+(pi*), [K, X + 1, A]."""
        return self.mu_plus(self.best)

    @cached_property
    def r_plus_played(self) -> FloatArray:
        """r_k+ = (1 - p_k+) r_k + p_k+ R_max, [K, X, A]."""
        t = self.trace
        return np.asarray((1 - t.p) * t.r + t.p * self.R_max)

    def values(self, pi: FloatArray) -> FloatArray:
        """V^pi under r_k, [K, X]."""
        pi = np.broadcast_to(pi, self.trace.r.shape)
        return self.trace.mdp.dynamics.values(pi, (pi * self.trace.r).sum(axis=2))

    def values_plus(self, pi: FloatArray) -> FloatArray:
        """V^pi in the augmented MDPs M+(r_k, p_k+), outside heaven, [K, X]."""
        t = self.trace
        pi = np.broadcast_to(pi, t.p.shape)
        ascending = self.r_plus_played + self.gamma * t.p * self.R_max * self.H
        return t.mdp.dynamics.values(pi * (1 - t.p), (pi * ascending).sum(axis=2))

    @cached_property
    def parts(self) -> RegretDecomposition:
        """The decomposition of the regret in Section 4."""
        t = self.trace
        return decompose_regret(t.mdp, t.played, t.p, self.R_max, t.r, self.best)

    @cached_property
    def regret(self) -> FloatArray:
        """<nu0, V* - V^{pi_k}> under r_k by values, [K]."""
        gap = self.values(self.best) - self.values(self.trace.played)
        return np.asarray(gap @ self.trace.mdp.nu0)

    def earned_plus(self, mu: FloatArray) -> FloatArray:
        """<mu_k+, r_k+> of occupancies [K, X + 1, A]; heaven pays R_max, [K]."""
        on_earth = (mu[:, :-1] * self.r_plus_played).sum(axis=(1, 2))
        return np.asarray(on_earth + self.R_max * mu[:, -1].sum(axis=1))

    @cached_property
    def bonus_sums(self) -> FloatArray:
        """<mu(pi_k), (1 - p_k+) CB_k>, [K]."""
        t = self.trace
        return np.asarray((self.mu * (1 - t.p) * t.CB).sum(axis=(1, 2)))
