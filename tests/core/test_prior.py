"""The prior over next states, by hand, by brute force and against SciPy."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import digamma as exact_digamma

from optimist.core.compiler import entry_point
from optimist.core.prior import LEAST, MOST, SHARED, STRENGTH, digamma, fit_prior, likeliest


@entry_point
def fitted(pair, after, weight, V, block, theta, shared, concentration):
    return fit_prior(pair, after, weight, V, block, theta, shared, concentration)


def fit(links, V, block=None, theta=1.0, shared=False):
    """The prior of links {(x, a, x'): how often}: (theta, s, v), and theta_b of each block.

    Unless ``block`` is given, every pair has its own, with two actions in each state.
    """
    block = np.arange(2 * len(V)).reshape(-1, 2) if block is None else np.array(block)
    pair = np.array([x * block.shape[1] + a for x, a, _ in links], dtype=np.int64)
    after = np.array([y for *_, y in links], dtype=np.int64)
    weight, V = np.array(list(links.values()), dtype=float), np.array(V, dtype=float)
    concentration = np.full(block.max() + 1, np.nan)
    found = fitted(pair, after, weight, V, block, theta, shared, concentration)
    return tuple(found), concentration


SMALL = {(0, 0, 1): 3, (0, 0, 2): 1, (0, 1, 0): 5, (1, 0, 2): 2}


VALUES = [1.0, 2.0, 6.0, 100.0]


def test_a_tiny_world_by_hand():
    """Shared features have a theta of their own; links that were not seen are none."""
    (theta, s, v), each = fit(SMALL, VALUES)
    # Of the links 0 -> 1, 0 -> 2 and 1 -> 2 only the second is rare, and two lead to state 2; of
    # all three one leads where no other does: (0 + (1 + 1) / (3 + 1)) / (1 + 1).
    assert s == pytest.approx(0.25)
    assert v == pytest.approx(3.0)  # state 3 was never seen
    # One piece of news; pairs with 4, 5 and 2 visits.
    terms = [1, 2, 3, 1, 2, 3, 4, 1]
    assert theta == pytest.approx(1.5 / (1 + sum(1 / (i + theta) for i in terms)), rel=1e-2)
    # State 0 has the news and pairs with 4 and 5 visits, state 1 a pair with 2; the others nothing.
    chances = [sum(1 / (i + theta) for i in terms[:7]), 1 / (1 + theta), 0, 0]
    expected = (np.array([1, 0, 0, 0]) + 2) / (np.array(chances) + 2 / theta)
    np.testing.assert_allclose(each, np.repeat(expected, 2), rtol=1e-5)
    # No theta is fitted to blocks that are larger than 1.
    (_, *others), each_shared = fit(SMALL, VALUES, shared=True)
    assert (others, set(each_shared)) == ([s, v], {SHARED})
    again, same = fit({**SMALL, (1, 1, 3): 0, (2, 0, 0): 0, (0, 0, 3): 0}, VALUES)
    assert again == (theta, s, v)
    np.testing.assert_array_equal(same, each)
    names = np.array([3, 1, 0, 2])  # states and links in another order
    links = {(names[x], a, names[y]): n for (x, a, y), n in reversed(SMALL.items())}
    found, renamed = fit(links, np.array(VALUES)[np.argsort(names)])
    np.testing.assert_allclose(found, (theta, s, v), rtol=1e-12)
    np.testing.assert_allclose(renamed.reshape(-1, 2)[names], each.reshape(-1, 2), rtol=1e-12)


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
    (_, s, _), _ = fit(links, [0.0] * 4)
    assert s == pytest.approx(expected)


def test_without_data_and_where_every_visit_is_news():
    found, each = fit({(0, 0, 1): 0}, [1.0, 2.0])
    assert found == (0.5, 1.0, 0.0)  # half a piece of news; all is new
    np.testing.assert_allclose(each, 0.5, rtol=1e-12)
    (theta, s, _), _ = fit({(0, 0, y): 1 for y in range(1, 200)}, np.zeros(200))
    assert (theta, s) == (MOST, 1.0)


def test_what_stays_where_it_is_is_no_link():
    without = {link: n for link, n in SMALL.items() if link != (0, 1, 0)}
    assert fit(SMALL, np.ones(4))[0][1:] == fit(without, np.ones(4))[0][1:]
    # One that is only ever come to by staying there was left: it is seen.
    assert fit({(1, 0, 1): 3}, [5.0, 1.0])[0][2] == 1.0


def test_without_chance_theta_falls_with_data():
    thetas, largest = [], []
    for visits in (1, 10, 100, 1000, 10**6):
        theta = 1.0
        for _ in range(10):
            links = {(0, 0, 1): visits, (1, 0, 0): visits}
            (theta, *_), each = fit(links, [0.0, 0.0], theta=theta)
        thetas.append(theta)
        largest.append(each.max())
    assert (np.diff(thetas) < 0).all()
    assert (np.diff(largest) < 0).all()
    assert (np.array(largest) <= thetas).all()  # less than the likeliest, as there is no news
    assert thetas[0] == 0.5
    assert thetas[-1] < 0.02
    pairs = {(x, 0, x + 1): 1000 for x in range(999)}
    assert fit(pairs, np.zeros(1000))[0][0] == pytest.approx(LEAST, rel=1)


# The concentrations of blocks.


def by_brute_force(links, block, theta):
    """Theta of each block: for every state its visits one by one, and then those of its blocks."""
    visits, outcomes = {}, {}
    for (x, a, y), n in links.items():
        if n > 0:
            visits[x, a] = visits.get((x, a), 0) + n
            outcomes.setdefault((x, a), set()).add(y)
    news, chances = np.zeros(len(block)), np.zeros(len(block))
    for (x, a), n in visits.items():
        news[x] += len(outcomes[x, a]) - 1
        if n > 1:  # the sum of 1 / (i + theta) for i from 1 to n - 1
            chances[x] += exact_digamma(n + theta) - exact_digamma(1 + theta)
    found = []
    for b in range(block.max() + 1):
        own = [x for x in range(len(block)) if b in block[x]]
        found.append((news[own].sum() + 2) / (chances[own].sum() + 2 / theta))
    return np.array(found)


def random_links(rng, n_states, n_actions, end, whole=True):
    """Pairs with as many next states as a state has, from one to many; ``end`` terminates."""
    links = {}
    for x in range(n_states):
        for a in range(n_actions):
            after = rng.choice(end + 1, size=1 + rng.integers(1 + x), replace=False)
            for y in after[: None if rng.random() < 0.8 else 0]:
                n = np.floor(10 ** rng.uniform(0, 2))
                links[x, a, y] = n if whole else n * rng.uniform(0.3, 3)
    return links


@pytest.mark.parametrize("whole", [True, False], ids=["counts", "weights"])
@pytest.mark.parametrize("end", [7, 8], ids=["continuing", "terminating"])
@pytest.mark.parametrize("blocks", ["own", "random", "one", "of an action"])
def test_concentrations_by_brute_force(blocks, end, whole):
    """Termination is one more next state, which has no block."""
    X, A = 8, 3
    rng = np.random.default_rng([end, whole])
    block = {
        "own": np.arange(X * A).reshape(X, A),
        "random": np.append(rng.integers(6, size=(X - 1, A)), [[5, 6, 6]], axis=0),
        "one": np.zeros((X, A), dtype=np.int64),
        "of an action": np.tile(np.arange(A), (X, 1)),
    }[blocks]
    links = random_links(rng, X, A, end, whole)
    (theta, *_), each = fit(links, np.zeros(end + 1), block, theta=0.7)
    np.testing.assert_allclose(each, by_brute_force(links, block, theta), rtol=1e-5)
    if blocks == "own":
        assert each.max() > 1.2 * each.min()  # there is something to tell apart
        np.testing.assert_array_equal(each.reshape(X, A).T, np.tile(each[::A], (A, 1)))


def test_where_the_siblings_of_an_action_show_chance_it_is_expected_to_have_some():
    """States 0 and 1 have an action that was tried 20 times and led to the same state always.

    In state 0 the other action is random, in state 1 it is not; state 2 was never left.
    """
    links = {(0, 0, 2): 20, (1, 0, 2): 20, (1, 1, 3): 20, **{(0, 1, y): 5 for y in range(4)}}
    (theta, *_), each = fit(links, np.zeros(4))
    random, certain, unknown = each.reshape(-1, 2)[:3, 0]
    assert random > 1.2 * theta
    assert certain < 0.9 * theta
    assert unknown == pytest.approx(theta, rel=1e-12)
    more, _ = fit({**links, (0, 0, 3): 1}, np.zeros(4))
    assert more[0] > theta


def test_news_raise_a_concentration_and_visits_without_news_lower_it():
    """From the same global theta, which a thousand other states hold in place."""
    others = {(x, 0, x + y): 5 for x in range(2, 1002) for y in range(3)}
    V, found = np.zeros(1010), {}
    for outcomes in (1, 2, 4, 8):
        for visits in (8, 80, 800):
            mine = {(0, 0, y): visits / outcomes for y in range(outcomes)}
            found[outcomes, visits] = fit({**mine, **others}, V)[1][:2]
    table = np.array(list(found.values())).reshape(4, 3, 2)
    np.testing.assert_array_equal(table[..., 0], table[..., 1])  # the untried sibling likewise
    assert (np.diff(table[..., 0], axis=0) > 0).all()
    assert (np.diff(table[..., 0], axis=1) < 0).all()


def test_a_block_collects_from_all_of_its_states_each_once():
    """Whichever action of a state is in the block, and however many of them are."""
    links = {(0, 0, 1): 9, (0, 0, 2): 1, (0, 1, 0): 7, (1, 0, 0): 3, (1, 0, 1): 3, (2, 1, 2): 4}
    block = np.array([[0, 0], [0, 1], [1, 2]])
    (theta, *_), each = fit(links, np.zeros(3), block)
    news = np.array([1, 1, 0])
    chances = np.array([sum(1 / (i + theta) for n in ns for i in range(1, n))
                        for ns in ([10, 7], [6], [4])])  # fmt: skip
    of = [[0, 1], [1, 2], [2]]  # the states of each block
    expected = [(news[x].sum() + STRENGTH) / (chances[x].sum() + STRENGTH / theta) for x in of]
    np.testing.assert_allclose(each, expected, rtol=1e-5)


# The global theta.


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
