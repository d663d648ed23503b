"""What is expected of a pair before it is tried, by hand and against SciPy."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import digamma as exact_digamma

from optimist.core.prior import LEAST, MOST, SHARED, digamma, fit_prior, likeliest


def fit(links, V, n_actions=2, theta=1.0, shared=False):
    """The prior of links {(x, a, x'): how often}."""
    pair = np.array([x * n_actions + a for x, a, _ in links], dtype=np.int64)
    after = np.array([y for *_, y in links], dtype=np.int64)
    weight = np.array(list(links.values()), dtype=float)
    return fit_prior(pair, after, weight, np.array(V, dtype=float), n_actions, theta, shared)


SMALL = {(0, 0, 1): 3, (0, 0, 2): 1, (0, 1, 0): 5, (1, 0, 2): 2}


VALUES = [1.0, 2.0, 6.0, 100.0]


def test_a_tiny_world_by_hand():
    """Shared features have a theta of their own; links that were not seen are none."""
    theta, s, v = fit(SMALL, VALUES)
    # Of the links 0 -> 1, 0 -> 2 and 1 -> 2 only the second is rare, and two lead to state 2; of
    # all three one leads where no other does: (0 + (1 + 1) / (3 + 1)) / (1 + 1).
    assert s == pytest.approx(0.25)
    assert v == pytest.approx(3.0)  # state 3 was never seen
    # One piece of news; pairs with 4, 5 and 2 visits.
    terms = [1, 2, 3, 1, 2, 3, 4, 1]
    assert theta == pytest.approx(1.5 / (1 + sum(1 / (i + theta) for i in terms)), rel=1e-2)
    assert fit(SMALL, VALUES, shared=True) == (SHARED, s, v)
    assert fit({**SMALL, (1, 1, 3): 0, (2, 0, 0): 0, (0, 0, 3): 0}, VALUES) == (theta, s, v)
    names = np.array([3, 1, 0, 2])  # states and links in another order
    links = {(names[x], a, names[y]): n for (x, a, y), n in reversed(SMALL.items())}
    found = fit(links, np.array(VALUES)[np.argsort(names)])
    np.testing.assert_allclose(found, (theta, s, v), rtol=1e-12)


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        # 0 -> 2 and 0 -> 3 are rare, and nothing else leads to 3; 1 and 3 are alone of four links.
        ({**SMALL, (0, 0, 3): 2}, (1 + 3 / 5) / 3),
        # Half of each of 0 -> 1 and 0 -> 2 is rare, and 1 leads to 2 as well.
        ({(0, 0, 1): 2, (0, 0, 2): 2, (1, 0, 2): 1}, (0.5 + (1 + 1) / (3 + 1)) / (1 + 1)),
        # A pair that stays most often: its only link is rare.
        ({(0, 0, 0): 5, (0, 0, 1): 2}, (1 + (1 + 1) / (1 + 1)) / 2),
    ],
    ids=["leads nowhere else", "seen alike", "stays"],
)
def test_the_chance_of_the_new_by_hand(links, expected):
    _, s, _ = fit(links, [0.0] * 4)
    assert s == pytest.approx(expected)


def test_without_data_and_where_every_visit_is_news():
    assert fit({(0, 0, 1): 0}, [1.0, 2.0]) == (0.5, 1.0, 0.0)  # half a piece of news; all is new
    theta, s, _ = fit({(0, 0, y): 1 for y in range(1, 200)}, np.zeros(200))
    assert (theta, s) == (MOST, 1.0)


def test_what_stays_where_it_is_is_no_link():
    without = {link: n for link, n in SMALL.items() if link != (0, 1, 0)}
    assert fit(SMALL, np.ones(4))[1:] == fit(without, np.ones(4))[1:]
    # One that is only ever come to by staying there was left: it is seen.
    assert fit({(1, 0, 1): 3}, [5.0, 1.0])[2] == 1.0


def test_without_chance_theta_falls_with_data():
    thetas = []
    for visits in (1, 10, 100, 1000, 10**6):
        theta = 1.0
        for _ in range(10):
            theta, *_ = fit({(0, 0, 1): visits, (1, 0, 0): visits}, [0.0, 0.0], theta=theta)
        thetas.append(theta)
    assert (np.diff(thetas) < 0).all()
    assert thetas[0] == 0.5
    assert thetas[-1] < 0.02
    pairs = {(x, 0, x + 1): 1000 for x in range(999)}
    assert fit(pairs, np.zeros(1000))[0] == pytest.approx(LEAST, rel=1)


@pytest.mark.parametrize("seed", range(8))
def test_theta_makes_the_news_likeliest(seed):
    """Up to half a piece of news and one more: the likelihood times theta^(1/2) e^(-theta)."""
    rng = np.random.default_rng(seed)
    true = [0.01, 0.1, 0.3, 1.0, 2.0, 0.03, 0.5, 5.0][seed]
    visits = np.floor(10 ** rng.uniform(0, 2.5, size=60))
    visits[:5] = 0
    before = np.concatenate([np.arange(1, n) for n in visits])
    news = float((rng.random(before.size) < true / (before + true)).sum())

    def unlikely(log_theta):
        theta = np.exp(log_theta)
        return np.log(before + theta).sum() - (news + 0.5) * log_theta + theta

    bounds = (np.log(LEAST), np.log(MOST))
    best = np.exp(minimize_scalar(unlikely, bounds=bounds, method="bounded").x)
    assert LEAST < best < MOST
    theta = likeliest(news, visits, 1.0)
    np.testing.assert_allclose(theta, best, rtol=2e-2)
    for _ in range(5):  # as epochs go on from the last
        theta = likeliest(news, visits, theta)
    np.testing.assert_allclose(theta, best, rtol=5e-3)


def test_digamma():
    x = np.concatenate([np.geomspace(1e-4, 1e7, 500), np.arange(1.0, 40.0), [5.999999, 6.0]])
    found = np.array([digamma(number) for number in x])
    np.testing.assert_allclose(found, exact_digamma(x), rtol=1e-9, atol=1e-6)
