"""RMAX-RAVI-UCB, Algorithm 1 of the paper: in finite worlds, and in any Gymnasium environment."""

from dataclasses import dataclass
from typing import Any

from optimist import checks
from optimist.agents.variant_agent import FiniteWorld, VariantAgent, VariantConfig
from optimist.core import FixedBonus, Sigmoid, Variant
from optimist.core.variant import ALPHA, BETA, ETA, OMEGA, UPDATES
from optimist.features import FeatureMap
from optimist.theory import explain, parameters


@dataclass(frozen=True)
class RmaxRaviUcbConfig(VariantConfig):
    """The parameters of RMAX-RAVI-UCB. The defaults work in practice, outside the theorem.

    Attributes
    ----------
    eta
        Learning rate of the policy; infinity makes it greedy for the last update.
    alpha
        Slope of the ascension function p+ = sigma(alpha CB - omega); the default is the paper's
        2 log K at K = 10,000.
    omega
        Threshold of the ascension function; the default is the paper's log K at K = 10,000.
    r_max
        Upper bound on the rewards, R_max; heaven pays it for ever.
    ridge
        The initial covariance is ridge times the identity: 1 in the paper. None is B^2, so that the
        scale of the features does not matter.
    updates
        Updates of values and policy after an episode: 1 in the paper.
    observe_last
        Whether the learner uses the last pair of an episode; in the pseudocode it does not.
    anytime
        Whether omega = log K and alpha = 2 omega follow a doubling guess of K, each guess beginning
        a new epoch, instead of alpha and omega above.
    lazy
        Whether updates wait for the next epoch, instead of following every episode.
    v_max
        Upper bound on the optimal values of all states, if one below R_max H is known; it is what
        heaven is worth.
    """

    beta: float = BETA
    eta: float = ETA
    alpha: float = ALPHA
    omega: float = OMEGA
    r_max: float = 1.0
    ridge: float | None = 1.0
    updates: int = UPDATES
    observe_last: bool = False
    anytime: bool = False
    lazy: bool = False
    v_max: float | None = None

    def variant(self) -> Variant:
        return self.variant_with(
            bonus=FixedBonus(self.beta), ascension=Sigmoid(self.alpha, self.omega)
        )

    @classmethod
    def theory(
        cls,
        K: int,
        d: int,
        n_actions: int,
        gamma: float,
        B: float,
        W_max: float,
        R_max: float = 1.0,
        delta: float = 0.1,
    ) -> "RmaxRaviUcbConfig":
        """The parameters of the main theorem, with the beta of Lemma good-event-holds.

        Examples
        --------
        For RiverSwim with 6 states its bonuses are far beyond any value, as in most worlds:

        >>> c = RmaxRaviUcbConfig.theory(K=1000, d=12, n_actions=2, gamma=0.9, B=1, W_max=1)
        >>> round(c.beta), round(c.eta, 3)
        (126644, 0.012)
        """
        checks.count(K, "K", least=8)  # omega = log K >= 2, which Lemma sigmoid-bound2 asks for
        for name, bound in {"B": B, "R_max": R_max, "W_max": W_max}.items():
            if bound < 1:
                raise ValueError(
                    f"{name} must be at least 1, as the theorem assumes; got {bound:g}"
                )
        return cls(
            beta=float(parameters.beta(K, d, gamma, B, W_max, R_max, delta)),
            # With one action any eta will do.
            eta=float(parameters.eta(K, d, max(n_actions, 2), gamma, B, R_max, delta)),
            alpha=float(parameters.alpha(K)),
            omega=float(parameters.omega(K)),
            r_max=float(R_max),
            updates=1,
        )


class RmaxRaviUcb(VariantAgent):
    """Optimistic twice: additive bonuses, and transitions to heaven where little is known.

    It is Algorithm 1 of the paper, with practical defaults for its parameters; `theory` has the
    theorem's.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = RmaxRaviUcb(envs.RiverSwim(6, gamma=0.99), beta=1.0, seed=0)
    >>> agent.learn(1000).suboptimality() < 0.05
    True
    """

    Config = RmaxRaviUcbConfig
    presets = ("theory",)

    @classmethod
    def theory(
        cls,
        world: FiniteWorld,
        features: FeatureMap | None = None,
        *,
        K: int,
        delta: float = 0.1,
        **given: Any,
    ) -> "RmaxRaviUcb":
        """The agent with the theorem's parameters for K episodes in a finite world.

        Examples
        --------
        >>> from optimist import envs
        >>> round(RmaxRaviUcb.theory(envs.RiverSwim(6, gamma=0.9), K=1000).config.beta)
        126644
        """
        e = explain(world, K, delta, features)
        numbers = (e.K, e.d, e.n_actions, e.gamma, e.B, e.W_max, e.R_max, e.delta)
        return cls(world, features, config=RmaxRaviUcbConfig.theory(*numbers), **given)
