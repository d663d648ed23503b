"""The worlds of the case studies: their arrays are those described, and their optima are known.

With a fixed cost of ordering an (s, S) rule is optimal (Scarf, 1960, where customers wait; they
leave here), and without one it is to fill up to the quantile of a newsvendor. In queues thresholds
are (Stidham, 1985).
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference.solves import as_table
from scipy.stats import poisson

from optimist.envs import Inventory, Queue, Warehouse

MONEY = st.floats(0, 20)
SHOPS = st.builds(
    Inventory,
    capacity=st.integers(1, 25), demand=st.floats(0.1, 12), price=st.floats(0.1, 20), cost=MONEY,
    delivery=MONEY, holding=st.floats(0, 2), gamma=st.floats(0, 0.99),
)  # fmt: skip
QUEUES = st.builds(
    Queue,
    capacity=st.integers(1, 12), routine=st.floats(0.05, 0.5), urgent=st.floats(0.05, 0.5),
    slow=st.floats(0, 0.5), fast=st.floats(0.5, 1), pays_routine=st.floats(0, 10),
    pays_urgent=st.floats(10, 20), waiting=st.floats(0, 1), help=st.floats(0, 2),
    gamma=st.floats(0, 0.99),
)  # fmt: skip


def in_money(world):
    """The mean rewards [X, A] in the units of the world."""
    return world.mdp.reward_map.inverse(world.mdp.r)


@settings(max_examples=30)
@given(SHOPS)
def test_a_day_in_the_shop(shop):
    """Over all numbers of customers: what is left, and what the day has earned."""
    mdp, n = shop.mdp, shop.capacity + 1
    P, r = np.zeros((n, n, n)), np.zeros((n, n))
    customers = np.arange(200)
    chances = poisson.pmf(customers, shop.demand)
    for x in range(n):
        for a in range(n):
            y = max(x, a)
            sold = np.minimum(y, customers)
            np.add.at(P[x, a], y - sold, chances)
            money = shop.price * sold - shop.holding * (y - sold)
            r[x, a] = chances @ money - shop.cost * (y - x) - shop.delivery * (y > x)
    assert_allclose(as_table(mdp.kernel, mdp), P, rtol=0, atol=1e-12)
    assert_allclose(in_money(shop), r, rtol=0, atol=1e-9)


@settings(max_examples=60)
@given(SHOPS)
def test_an_s_S_rule_is_optimal(shop):
    """One level S is ordered up to from every stock of s or less, and nothing from others."""
    Q, rounding = shop.mdp.optimal().Q, 1e-9 / (1 - shop.gamma)
    S = Q[0].argmax()
    gain = np.array([Q[x, x + 1 :].max(initial=-np.inf) - Q[x, 0] for x in range(len(Q))])
    worse = np.flatnonzero(gain < -rounding)
    better = np.flatnonzero(gain > rounding)
    assert not worse.size or not better.size or better.max() < worse.min()
    assert_allclose(Q[better, S], Q[better].max(axis=1), rtol=0, atol=rounding)


@settings(max_examples=30)
@given(st.floats(0.5, 8), st.floats(0.1, 2), st.floats(0, 0.95))
def test_without_a_fixed_cost_it_is_the_quantile_of_a_newsvendor(demand, holding, gamma):
    """A unit more earns price - cost if it is sold, and else loses holding + (1 - gamma) cost."""
    shop = Inventory(60, demand, delivery=0.0, holding=holding, gamma=gamma)
    share = (shop.price - shop.cost) / (shop.price + holding - gamma * shop.cost)
    level = shop.mdp.optimal().policy.argmax(axis=1)[0]
    assert poisson.cdf(level, demand) >= share - 1e-9
    assert poisson.cdf(level - 1, demand) <= share + 1e-9


@settings(max_examples=30)
@given(QUEUES)
def test_a_minute_of_the_queue(queue):
    mdp, n = queue.mdp, queue.capacity + 1
    P, r = np.zeros((3 * n, 4, 3 * n)), np.zeros((3 * n, 4))
    comes = (1 - queue.routine - queue.urgent, queue.routine, queue.urgent)
    for door, pays in enumerate((0, queue.pays_routine, queue.pays_urgent)):
        for line in range(n):
            for action, (fast, accept) in enumerate(np.ndindex(2, 2)):
                x, there = door * n + line, line
                if accept and door and line < queue.capacity:
                    there += 1
                    r[x, action] += pays
                r[x, action] -= queue.waiting * there + queue.help * fast
                ends = (queue.fast if fast else queue.slow) if there else 0
                for kind in range(3):
                    P[x, action, kind * n + there] += comes[kind] * (1 - ends)
                    P[x, action, kind * n + there - 1] += comes[kind] * ends
    assert_allclose(as_table(mdp.kernel, mdp), P, rtol=0, atol=1e-12)
    assert_allclose(in_money(queue), r, rtol=0, atol=1e-9)
    assert [queue.position(x) for x in (0, n, 3 * n - 1)] == [(0, 0), (1, 0), (2, n - 1)]


@settings(max_examples=60)
@given(QUEUES)
def test_thresholds_are_optimal_in_a_queue(queue):
    """A longer line never makes accepting better, nor slow service; urgent calls come first."""
    n, best = queue.capacity + 1, queue.mdp.optimal()
    Q = best.Q.reshape(3, n, 2, 2)  # [door, line, fast, accept]
    rounding = 1e-9 / (1 - queue.gamma)
    accepts = np.diff(Q.max(axis=2)[1:, :-1])[..., 0]  # its gain, [kind, line]
    assert (np.diff(accepts) <= rounding).all()
    assert (accepts[1] >= accepts[0] - rounding).all()
    fast = np.diff(Q[0, :, :, 0])[:, 0]  # its gain, [line]
    assert (np.diff(fast[1:]) >= -rounding).all()


def test_the_warehouse():
    """Careful drivers go below the walkway, those who do not care across it."""
    world = Warehouse()
    cells = [world.position(x) for x in range(world.mdp.n_states)]
    people = [world.board[row][column] == "x" for row, column in cells]
    dock = [world.board[row][column] == "$" for row, column in cells]
    assert world.people.tolist() == people
    cost = np.where(dock, 0.0, -1 - world.walkway * np.array(people))
    assert_allclose(in_money(world), np.repeat(cost[:, None], 4, axis=1), rtol=0, atol=1e-12)
    assert world.mdp.nu0[cells.index((6, 1))] == 1


@pytest.mark.parametrize(("walkway", "rows"), [(5.0, {9}), (0.0, {7})])
def test_the_way_through_the_warehouse(walkway, rows):
    world = Warehouse(walkway, slip=0.0)
    mu = world.mdp.state_occupancy(world.mdp.optimal().policy)
    cells = [world.position(x) for x in np.flatnonzero(mu)]
    assert {row for row, column in cells if column in (7, 8)} == rows
