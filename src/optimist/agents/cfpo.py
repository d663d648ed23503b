"""CFPO: policy optimisation with contracted features (Cassel and Rosenberg, 2024)."""

import math
from dataclasses import dataclass

from optimist import checks
from optimist.agents.variant_agent import VariantAgent, VariantConfig
from optimist.core import Contraction, FixedBonus, Variant
from optimist.core.variant import OMEGA
from optimist.core.variant import K as GUESS


@dataclass(frozen=True)
class CfpoConfig(VariantConfig):
    """The parameters of CFPO. The defaults work in practice, outside the theorem.

    Of them beta, eta and ridge were chosen on GridWorld, RiverSwim, DeepSea, FourRooms, ResetCliff
    and RandomLinear, as an agent and as the player of FRA-IL, with 2,000 episodes and three seeds.

    Attributes
    ----------
    beta
        Exploration coefficient, beta_b: bonuses are beta times the uncertainty of a pair.
    alpha
        beta_w / beta_b, how much faster features fade than bonuses grow: 4 log(e K) in the paper,
        here at K = 10,000.
    omega
        Features are contracted to rho = sigma(omega - alpha beta u) times their length: log K in
        the paper, here at K = 10,000.
    r_max
        Upper bound on the rewards, R_max: losses are R_max - r.
    updates
        The most sweeps of V = <pi, Q> after an episode; the last one moves the policy.
    tolerance
        Sweeps end when no value changes by more than this part of R_max.
    """

    beta: float = 0.1
    eta: float = 30.0
    alpha: float = 4 * (1 + math.log(GUESS))
    omega: float = OMEGA
    r_max: float = 1.0
    ridge: float = 0.1
    updates: int = 1000
    tolerance: float = 1e-3

    def variant(self) -> Variant:
        bonus, ascension = FixedBonus(self.beta), Contraction(self.alpha, self.omega)
        return self.variant_with(bonus=bonus, ascension=ascension)

    @classmethod
    def theory(
        cls, K: int, d: int, n_actions: int, gamma: float, R_max: float = 1.0, delta: float = 0.1
    ) -> "CfpoConfig":
        """The parameters of the paper's Theorem 9 with full information, H for its horizon.

        It assumes features of norm at most 1.

        Examples
        --------
        >>> c = CfpoConfig.theory(K=2000, d=12, n_actions=2, gamma=0.9)
        >>> round(c.beta), round(c.alpha * c.beta), round(c.eta, 3)
        (22518, 774686, 0.051)
        """
        K, d, A = checks.count(K, "K"), checks.count(d, "d"), checks.count(n_actions, "n_actions")
        H, R_max = 1 / (1 - checks.discount(gamma)), checks.positive(R_max, "R_max")
        delta = checks.positive(checks.probability(delta, "delta"), "delta")
        # With one action any eta will do.
        log = math.log(2 * K) * math.log(max(A, 2))
        return cls(
            beta=28 * R_max * H * d * math.sqrt(math.log(10 * K**5 * H / delta)),
            eta=math.sqrt(3 * d * H * log / K) / (2 * R_max * H),
            alpha=4 * (1 + math.log(K)) / R_max,
            omega=math.log(K),
            r_max=R_max,
        )


class Cfpo(VariantAgent):
    """CFPO: policy optimisation whose features shrink to zero where they are uncertain.

    With the losses l = R_max - r of the episode and u = ||phi||_{Lambda_e^{-1}} at the start of the
    epoch e, values are those of the policy pi_k that was played, and it moves by one step:

        rho = sigma(omega - alpha beta u),
        Q = rho (l + gamma phi . Lambda^{-1} sum phi V(x') - beta u),   V = <pi_k, Q>,
        pi_{k+1} ~ pi_k exp(-eta Q).

    Where rho is 0 loss and future vanish: it is the heaven of RMAX-RAVI-UCB with p+ = 1 - rho, seen
    from above. So `Cfpo` is `RmaxRaviUcb` with V = <pi, Q>, at its fixed point, in the place of the
    soft maximum, and with a ridge that shrinks values to R_max H instead of 0; values are reported
    as R_max H - V. Policies are softmax of d + d^2 numbers.

    It is Algorithm 1 of Cassel and Rosenberg (2024) with full information, made stationary: sweeps
    take the place of the H backward steps, and epochs follow one determinant. As in `RmaxRaviUcb`
    the data of an episode count before its evaluation, and an epoch that it begins starts with a
    step from the uniform policy.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = Cfpo(envs.RiverSwim(6, gamma=0.9), seed=0)
    >>> agent.learn(2000).suboptimality() < 0.1
    True
    """

    Config = CfpoConfig
