"""The parameters of Algorithm 1 in one place, and ways to choose them."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import get_args

from optimist import checks
from optimist.core import Ascension, Bonus, FixedBonus, Novelty, Sigmoid, Threshold, VarianceBonus
from optimist.theory import PRACTICE, parameters

ASCENSIONS = tuple(kind.__name__ for kind in get_args(Ascension))
BONUSES = tuple(kind.__name__ for kind in get_args(Bonus))


@dataclass(frozen=True)
class Configuration:
    """The parameters of RMAX-RAVI-UCB.

    Attributes
    ----------
    eta
        The learning rate of the policy; infinity makes it greedy for the last update.
    beta
        The exploration coefficient of the paper: bonuses are beta times the uncertainty of a pair.
        0 where ``bonus`` says what they are.
    ascension
        The ascension function, by which uncertain pairs lead to heaven.
    r_max
        An upper bound on the rewards, R_max; heaven pays it for ever.
    ridge
        The initial covariance is ridge times the identity: 1 in the paper. None scales it with the
        features, as B^2, so that multiplying them by a number changes nothing.
    updates
        Updates of values and policy at the end of an episode: 1 in the paper, which conjectures
        that several improve its bound.
    lazy
        Whether updates wait for the determinant to double, that is for the next epoch, instead of
        being made after every episode. Over T steps that makes O(d log T) rounds of updates, so
        that their whole cost is near linear in T even if each goes over all data. It gives up what
        the paper proves, whose policy gains by a step of mirror descent after every episode, for
        rewards that may change. Here an epoch's policy is the softmax of eta times a sum of
        ``updates`` Q's alone, and its values lag behind the data by as many sweeps.
    v_max
        An upper bound on the optimal values in all states (for each r_k, if rewards change; in the
        mapped units of an environment), if a better one than R_max H is known: heaven is worth
        that. None is the paper's R_max H.
    observe_last
        Whether the last pair of an episode is learnt from. In the pseudocode the reset comes before
        the next state is seen, so it is not.
    anytime
        Whether omega = log K and alpha = 2 omega follow a doubling guess of K, each guess beginning
        a new epoch, instead of being those of the ascension function given.
    bonus
        The bonus, if it is not `FixedBonus(beta)`.
    tolerance
        Updates after an episode end as soon as no value changes by more than this part of what
        heaven is worth; 0 makes all of them.
    """

    eta: float
    beta: float
    ascension: Ascension
    r_max: float = 1.0
    ridge: float | None = 1.0
    updates: int = 1
    observe_last: bool = False
    anytime: bool = False
    lazy: bool = False
    v_max: float | None = None
    bonus: Bonus | None = None
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        if not self.eta > 0:
            raise ValueError(f"eta = {self.eta} must be positive (infinity is greedy)")
        if checks.real_number(self.beta, "beta") < 0:
            raise ValueError(f"beta = {self.beta} must not be negative")
        if not isinstance(self.ascension, Ascension):
            raise TypeError(
                f"ascension = {self.ascension!r} must be one of {', '.join(ASCENSIONS)}"
            )
        if self.bonus is not None and not isinstance(self.bonus, Bonus):
            raise TypeError(f"bonus = {self.bonus!r} must be one of {', '.join(BONUSES)}")
        if self.bonus is not None and self.beta != 0:
            raise ValueError(f"beta = {self.beta:g} and bonus = {self.bonus}: give one of them")
        if isinstance(self.bonus, FixedBonus):  # two ways to say the same
            object.__setattr__(self, "beta", self.bonus.beta)
            object.__setattr__(self, "bonus", None)
        if not 0 <= self.tolerance < 1:
            raise ValueError(f"tolerance = {self.tolerance} must lie in [0, 1)")
        checks.positive(self.r_max, "r_max")
        if self.ridge is not None:
            checks.positive(self.ridge, "ridge")
        if self.anytime and not isinstance(self.ascension, Sigmoid):
            raise ValueError("anytime chooses the numbers of a Sigmoid, and of no other ascension")
        checks.count(self.updates, "updates")
        if self.v_max is not None:
            checks.positive(self.v_max, "v_max")
        numbers = ("eta", "beta", "r_max", "ridge", "v_max", "tolerance")
        for name in numbers:  # plain ones, however given
            if getattr(self, name) is not None:
                object.__setattr__(self, name, float(getattr(self, name)))
        object.__setattr__(self, "updates", int(self.updates))

    @property
    def added(self) -> Bonus:
        """The bonus, whichever way it was said."""
        return FixedBonus(self.beta) if self.bonus is None else self.bonus

    def ridge_for(self, bound: float) -> float:
        """The ridge for features of this norm bound B."""
        return bound**2 if self.ridge is None else self.ridge

    def known(self, value_bound: float | None) -> "Configuration":
        """The same, with a bound on the optimal values if one is given."""
        if value_bound is None:
            return self
        if self.v_max is not None:
            raise ValueError(f"value_bound = {value_bound:g} and v_max = {self.v_max:g}: give one")
        return replace(self, v_max=value_bound)

    def heaven(self, gamma: float) -> float:
        """What heaven is worth: R_max H, or less if that is known.

        Examples
        --------
        >>> round(Configuration.practical().heaven(gamma=0.99), 9)
        100.0
        """
        most = self.r_max * (1 / (1 - gamma))
        if self.v_max is not None and self.v_max > most * (1 + checks.RANGE_TOLERANCE):
            raise ValueError(
                f"v_max = {self.v_max:g} is above R_max H = {most:g}, which is a bound"
            )
        return most if self.v_max is None else self.v_max

    def stage(self, episode: int) -> int:
        """The present guess of K, counting episodes from 0; 0 if the parameters do not change.

        Examples
        --------
        >>> c = Configuration(eta=10, beta=1, ascension=Sigmoid(4, 2), anytime=True)
        >>> [c.stage(k) for k in (0, 7, 8, 15, 16)]
        [8, 8, 16, 16, 32]
        """
        return max(8, 1 << episode.bit_length()) if self.anytime else 0

    def ascension_in(self, stage: int) -> Ascension:
        """The ascension function while the guess of K is ``stage``."""
        if stage <= 0:  # there is none, or the epoch is to end
            return self.ascension
        return Sigmoid(parameters.alpha(stage), parameters.omega(stage))

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
    ) -> "Configuration":
        """The parameters of the main theorem, with the beta of Lemma good-event-holds.

        Examples
        --------
        For RiverSwim with 6 states its bonuses are far beyond any value, as in most worlds:

        >>> c = Configuration.theory(K=1000, d=12, n_actions=2, gamma=0.9, B=1, W_max=1)
        >>> round(c.beta), round(c.eta, 3)
        (126644, 0.012)
        """
        checks.count(K, "K", least=8)  # omega = log K >= 2, which Lemma sigmoid-bound2 asks for
        for name, bound in {"B": B, "R_max": R_max, "W_max": W_max}.items():
            if bound < 1:
                raise ValueError(f"{name} = {bound:g}: the theorem assumes that it is at least 1")
        return cls(
            eta=parameters.eta(K, d, max(n_actions, 2), gamma, B, R_max, delta),  # one: any will do
            beta=parameters.beta(K, d, gamma, B, W_max, R_max, delta),
            ascension=Sigmoid(parameters.alpha(K), parameters.omega(K)),
            r_max=R_max,
        )

    @classmethod
    def adaptive(cls, r_max: float = 1.0, v_max: float | None = None) -> "Configuration":
        """The default, which has no parameter to be tuned; outside the theorem.

        Heaven is for what is new (`Novelty`), and bonuses are a part of the standard deviation
        of what is estimated (`VarianceBonus`): neither has the units of a reward, or of a visit.
        Chosen on part of the exploration study (docs/defaults.md).

        Examples
        --------
        >>> Configuration.adaptive().bonus
        VarianceBonus(c=0.3)
        """
        return cls(
            eta=10.0 / r_max,
            beta=0.0,
            ascension=Novelty(),
            r_max=r_max,
            ridge=None,
            updates=100,
            v_max=v_max,
            bonus=VarianceBonus(),
            tolerance=1e-6,
        )

    @classmethod
    def default_for(cls, told: Collection[str]) -> "Configuration":
        """What holds of parameters that nobody told, if these were told.

        Whoever says beta, or another ascension function, means the paper's bonus: the rest is as
        in `practical`.
        """
        return cls.practical() if says_fixed(told) else cls.adaptive()

    @classmethod
    def streaming(cls, visits: int = 5, r_max: float = 1.0) -> "Configuration":
        """Parameters for environments, whose rewards are mapped onto [0, R_max].

        There a whole task may be worth less than one of H rewards, and all values may lie near
        R_max H. A bonus of the size of a reward, or a leak of 1 / K to heaven at every step,
        outweighs the first; a ridge of 1 pulls down the second. So it is the ascension function
        that explores, as a step (a sigmoid with omega = alpha beta u_0 and alpha to infinity): a
        pair leads to heaven unless it had been tried ``visits`` times when the epoch began, as far
        as features are one-hot; otherwise unless u^2 was below 1 / (visits - 1/2). Bonus and ridge
        are small. Chosen on the seven environments of docs/environments.md.
        """
        ridge = 1e-4
        step = Threshold.after(visits, ridge)
        return cls(100.0 / r_max, 0.01 * r_max, step, r_max=r_max, ridge=ridge, updates=10)

    @classmethod
    def practical(
        cls,
        beta: float = PRACTICE.beta,
        eta: float = PRACTICE.eta,
        updates: int = PRACTICE.updates,
        r_max: float = 1.0,
    ) -> "Configuration":
        """Parameters that work at practical numbers of episodes, outside the theorem.

        The bonuses are of the size of a reward instead of d H of them, several updates follow each
        episode, and the ascension function is the paper's at K = 10,000. Of six values of beta 0.5
        did best in the worst of eight worlds, on which it was chosen (docs/defaults.md).
        """
        sigmoid = Sigmoid(PRACTICE.alpha, PRACTICE.omega)
        return cls(eta, beta, sigmoid, r_max=r_max, ridge=PRACTICE.ridge, updates=updates)


def says_fixed(told: Collection[str]) -> bool:
    """Whether parameters of these names are about the paper's bonus."""
    return bool({"beta", "ascension", "anytime"} & set(told)) and "bonus" not in told
