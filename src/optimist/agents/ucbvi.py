"""UCBVI with Bernstein bonuses (Azar, Osband and Munos, 2017; He, Zhou and Gu, 2021)."""

from dataclasses import dataclass

from optimist.agents.tabular_agent import TabularAgent, TabularConfig
from optimist.core.tabular import Peer


@dataclass(frozen=True)
class UcbviConfig(TabularConfig):
    """The parameters of UCBVI.

    Attributes
    ----------
    c
        The scale of the bonuses; the theory's is the root of eight logarithms.
    updates
        Sweeps of value iteration at the end of an episode, at most; they end when no value changes
        by more than one part in 100,000 of R_max H.
    """

    c: float = 0.2
    updates: int = 100
    kind = Peer.UCBVI
    tolerance = 1e-5


class Ucbvi(TabularAgent):
    """UCBVI: optimistic value iteration on counts, with bonuses by Bernstein's inequality.

    It is UCBVI-gamma of He, Zhou and Gu (2021). From Q = R_max H on,

        Q <- min(Q, r + gamma (P V + b)),  b = c sqrt(Var V / n) + c^2 R_max H / n,

    with the empirical transitions P of a pair, the variance of V under them and its n visits; no
    bonus is above R_max H, and a pair without visits is worth that. The theory has c^2 = 8 U with a
    logarithm U, and a third term for the variance of an estimate of V, of lower order, left out
    here. There is one sweep at every step there, here there are several after an episode. Of
    actions that are equally good one is drawn.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = Ucbvi(envs.RiverSwim(6, gamma=0.99), c=0.2, seed=0)
    >>> agent.learn(1000).suboptimality() < 0.2
    True
    """

    Config = UcbviConfig
