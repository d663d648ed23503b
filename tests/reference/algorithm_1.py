"""RMAX-RAVI-UCB as it is printed (the full pseudocode of Appendix A), in plain NumPy.

Nothing is saved: the data are a list, every target is computed anew from all of it, inverses and
determinants are NumPy's, and heaven is a state like any other, the last. The comments are the lines
of the pseudocode.
"""

import numpy as np
from scipy.special import expit, logsumexp

from optimist.agents import VariantAgent
from optimist.core import Sequence
from reference.comparison import follow
from reference.environments import draw


class Interaction:
    """The loop of an episode, with one uniform number for every draw."""

    def __init__(self, mdp, seed, observe_last):
        kernel = mdp.kernel if isinstance(mdp.kernel, np.ndarray) else mdp.kernel.toarray()
        self.P = np.cumsum(kernel, axis=1).reshape(*mdp.r.shape, -1)
        self.nu0 = np.cumsum(mdp.nu0)
        self.gamma, self.observe_last = mdp.gamma, observe_last
        self.rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[0])
        # Initialize: X_1 ~ nu_0.
        self.x = draw(self.nu0, self.rng.random())

    def steps(self, pi):
        """Play an episode: each pair, and the next state if it is seen. ``pi`` may be changed."""
        # while true
        while True:
            # Observe the state X_t and play an action A_t ~ pi_k(. | X_t).
            # Receive reward r_k(X_t, A_t) and observe the function r_k.
            x, after = self.x, None
            a = draw(np.cumsum(pi[x]), self.rng.random())
            # With probability 1 - gamma, reset to initial distribution: X_{t+1} ~ nu_0,
            # set T_k = t and break. [The protocol of Section 2.3 draws the next state first.]
            resets = not self.rng.random() < self.gamma
            if not resets or self.observe_last:
                # Otherwise observe the next state X_{t+1} ~ P(. | X_t, A_t).
                self.x = after = draw(self.P[x, a], self.rng.random())
            if resets:
                self.x = draw(self.nu0, self.rng.random())
            yield x, a, after
            if resets:
                return

    def episode(self, pi):
        """The pairs that were played and the transitions that were seen."""
        played = list(self.steps(pi))
        # D_{t+1} = D_t u {(X_t, A_t, X_{t+1})}.
        return [step[:2] for step in played], [step for step in played if step[2] is not None]


class Transcription:
    """The learner; ``Phi`` are the features [X, A, d]."""

    columns = ("reward", "optimistic_value", "bonus", "ascension", "sup_q")

    def __init__(
        self, mdp, Phi, *, eta, beta, alpha, omega, R_max=1.0, ridge=1.0, updates=1,
        observe_last=False, seed=0, rewards=None, logarithms=False,
    ):  # fmt: skip
        # Inputs: learning rate eta, exploration coefficient beta, threshold omega, slope sigmoid
        # alpha.
        self.eta, self.beta, self.alpha, self.omega = eta, beta, alpha, omega
        self.R_max, self.gamma, self.updates = R_max, mdp.gamma, updates
        self.logarithms = logarithms
        self.Phi, self.nu0 = Phi, mdp.nu0
        X, self.A, d = Phi.shape
        # r_k, which pays R_max in heaven; ``rewards`` has one for each episode if they change.
        self.rewards = rewards
        self.r = np.vstack([mdp.r, np.full(self.A, R_max)])
        # Initialize: X_1 ~ nu_0, pi_1 = uniform, Q_1 = 0, D_1 = {}, Lambda_1 = I, t = 1, e = 0.
        self.world = Interaction(mdp, seed, observe_last)
        self.pi = np.full((X + 1, self.A), 1 / self.A)
        self.log_pi = np.log(self.pi)
        self.V = np.append(np.zeros(X), R_max / (1 - mdp.gamma))
        self.D = []
        self.Lambda = ridge * np.eye(d)
        self.k, self.e = 0, 0
        self.CB, self.p = np.zeros((X + 1, self.A)), np.zeros((X + 1, self.A))

    @property
    def state(self):
        """Values, policy and optimism of the states of the world."""
        return {name: getattr(self, name)[:-1] for name in ("V", "pi", "CB", "p")}

    def episode(self):
        # for k = 1, ..., K
        self.k += 1
        self.optimistic_value = self.nu0 @ self.V[:-1]
        # The adversary adaptively chooses r_k.
        if self.rewards is not None:
            self.r[:-1] = self.rewards[self.k - 1]
        self.pairs, transitions = self.world.episode(self.pi)
        x, a = np.array(self.pairs).T
        self.steps, self.reward = len(self.pairs), sum(self.r[pair] for pair in self.pairs)
        self.bonus, self.ascension = self.CB[x, a].mean(), self.p[x, a].mean()
        self.D += transitions
        # Update Lambda_{t+1} = Lambda_t + phi(X_t, A_t) phi(X_t, A_t)'.
        for x, a, _ in transitions:
            self.Lambda = self.Lambda + np.outer(self.Phi[x, a], self.Phi[x, a])
        # if t = T_1 or det Lambda_{T_k} >= 2 det Lambda_{t_e}: [equality up to rounding]
        if self.k == 1 or self._log_det() >= self.log_det_at_epoch + np.log(2) - 1e-9:
            # e = e + 1.
            self.e += 1
            # Set k_e = k and t_e = t.
            self.Lambda_of_epoch, self.log_det_at_epoch = self.Lambda, self._log_det()
            # Reset the policy pi_k = uniform.
            self.pi = np.full_like(self.pi, 1 / self.A)
            self.log_pi = np.log(self.pi)
        # CB_k(x, a) = beta ||phi(x, a)||_{Lambda_{t_e}^{-1}}, and CB_k(x+, a) = 0.
        inverse = np.linalg.inv(self.Lambda_of_epoch)
        norms = np.sqrt(np.einsum("xai,ij,xaj->xa", self.Phi, inverse, self.Phi))
        self.CB[:-1] = self.beta * norms
        # p_k+(x, a) = sigma(alpha CB_k(x, a) - omega), and p_k+(x+, a) = 0.
        self.p[:-1] = expit(_product(self.alpha, self.CB[:-1]) - self.omega)
        for _ in range(self.updates):
            self._update()

    def _update(self):
        # r_k+ = (1 - p_k+) r_k + p_k+ R_max.
        r_plus = (1 - self.p) * self.r + self.p * self.R_max
        # M V_k = Lambda_{T_k}^{-1} sum_{(x, a, x') in D_{T_k}} phi(x, a) V_k(x').
        total = np.zeros(len(self.Lambda))
        if self.D:
            x, a, after = np.array(self.D).T
            total = (self.Phi[x, a] * self.V[after, None]).sum(axis=0)
        MV = np.linalg.solve(self.Lambda, total)
        # P_k+ V_k = (1 - p_k+) Phi M V_k + p_k+ V_k(x+), and P_k+ V_k(x+, .) = R_max / (1 - gamma).
        heaven = self.R_max / (1 - self.gamma)
        PV = np.full_like(self.CB, heaven)
        PV[:-1] = (1 - self.p[:-1]) * (self.Phi @ MV) + self.p[:-1] * self.V[-1]
        # Q_{k+1} = r_k+ + (1 - p_k+) CB_k + gamma P_k+ V_k.
        self.Q = r_plus + (1 - self.p) * self.CB + self.gamma * PV
        self.sup_q = np.abs(self.Q[:-1]).max()
        self._improve()

    def _improve(self):
        top = self.Q.max(axis=1)
        if np.isinf(self.eta):  # the maximum of <u, Q> - KL / eta over u without its regulariser
            self.V = top
            self.pi = np.eye(self.A)[np.argmax(self.Q, axis=1)]
        elif self.logarithms:  # the same two lines, where e^{eta Q} leaves the floats
            self.V = logsumexp(self.log_pi + self.eta * self.Q, axis=1) / self.eta
            self.log_pi = self.log_pi + self.eta * (self.Q - self.V[:, None])
            self.pi = np.exp(self.log_pi)
        else:
            # V_{k+1}(x) = 1 / eta log(sum_a pi_k(a | x) e^{eta Q_{k+1}(x, a)}).
            weights = self.pi * np.exp(self.eta * (self.Q - top[:, None]))
            self.V = top + np.log(weights.sum(axis=1)) / self.eta
            # pi_{k+1} = pi_k e^{eta (Q_{k+1} - E V_{k+1})}.
            self.pi = self.pi * np.exp(self.eta * (self.Q - self.V[:, None]))

    def _log_det(self):
        return np.linalg.slogdet(self.Lambda)[1]


def _product(alpha, CB):
    """alpha CB, and 0 where CB = 0 even if alpha is infinite."""
    return np.multiply(alpha, CB, out=np.zeros_like(CB), where=CB > 0)


def transcribe(agent, **options):
    """The transcription of a `VariantAgent` that has not played yet."""
    c, mdp = agent.config, agent.mdp
    ascension = {"alpha": c.ascension.alpha, "omega": c.ascension.omega}
    rest = {name: getattr(c, name) for name in ("eta", "ridge", "updates", "observe_last")}
    Phi = agent.features.all_actions(np.arange(mdp.n_states))
    return Transcription(
        mdp, Phi, beta=c.bonus.beta, R_max=c.r_max, seed=agent.seed, **ascension, **rest, **options
    )


def followed(mdp, features, config, episodes, seed=1, rewards=None, logarithms=False, **tolerance):
    """An agent, and its transcription, that have played so many episodes side by side."""
    chooser = None if rewards is None else Sequence(rewards)
    agent = VariantAgent(mdp, features, config=config, rewards=chooser, seed=seed)
    other = transcribe(agent, rewards=rewards, logarithms=logarithms)
    return agent, follow(agent, other, episodes, **tolerance)
