"""Inventory: when to order, and how much, if the demand is unknown."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from optimist import checks
from optimist.envs.world import World, start_in_first
from optimist.mdp import FiniteMDP


@dataclass(frozen=True)
class Inventory(World):
    """A shop that sells one good: when to order, and how much.

    A state is the stock in the morning, an action the level to fill it up to: in state x action a
    has a - x units delivered, or none if a <= x. A delivery costs ``delivery``, whatever its size,
    and ``cost`` a unit. Then customers come, Poisson many. Each who finds a unit pays ``price``;
    the others leave, and nobody counts them. A unit that is left costs ``holding``. Seasons begin
    with an empty shelf.

    An optimal policy is an (s, S) rule: fill up to S when s or fewer are left, else order nothing.
    Rewards are the money of a day, mapped onto [0, 1]; ``mdp.reward_map`` maps them back.

    Attributes
    ----------
    capacity
        The most units that fit on the shelf.
    demand
        The mean number of customers a day.
    price
        What a customer pays for a unit.
    cost
        What the shop pays for a unit.
    delivery
        The fixed cost of a delivery.
    holding
        The cost of keeping a unit for a night.
    gamma
        The discount factor: the probability that the season goes on for another day.

    Examples
    --------
    >>> shop = Inventory()
    >>> best = shop.mdp.optimal()
    >>> best.policy.argmax(axis=1)[:5]                     # s = 2, S = 24
    array([24, 24, 24,  0,  0])
    >>> print(f"{shop.mdp.reward_map.inverse_value(best.value, shop.gamma):.2f} a season")
    439.99 a season
    """

    capacity: int = 30
    demand: float = 4.0
    price: float = 9.0
    cost: float = 5.0
    delivery: float = 20.0
    holding: float = 0.2
    gamma: float = 0.98

    def build(self) -> FiniteMDP:
        n = checks.count(self.capacity, "capacity") + 1
        self.check_size(n, n_actions=n, successors=2 * n)  # with a reward for each transition
        demand = checks.positive(self.demand, "demand")
        for name in ("price", "cost", "delivery", "holding"):
            checks.not_negative(getattr(self, name), name)
        stock = np.arange(n)
        filled = np.maximum.outer(stock, stock)  # y, the stock after the delivery, [X, A]
        bought = filled - stock[:, None]
        paid = self.cost * bought + self.delivery * (bought > 0)
        sold = np.maximum(np.subtract.outer(stock, stock), 0)  # y - x', [y, x']
        P = np.tril(np.exp(special.xlogy(sold, demand) - demand - special.gammaln(sold + 1)))
        P[:, 0] = special.gammainc(stock, demand)  # sold out: y customers or more
        earned = self.price * sold - self.holding * stock
        r = np.where(P[filled] > 0, earned[filled] - paid[..., None], 0.0)
        return FiniteMDP(P[filled], r, start_in_first(n), self.gamma).affine()

    @property
    def board(self) -> tuple[str, ...]:
        """The shelf, empty to the left."""
        return ("s" + "." * self.capacity,)

    def position(self, state: int) -> tuple[int, int]:
        return 0, state
