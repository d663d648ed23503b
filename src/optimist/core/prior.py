"""What is expected of a pair before it is tried, learnt from all the others: compiled.

Next states are taken to be drawn as by a Chinese restaurant process (Ewens, 1972; Aldous, 1985).
After n visits a pair leads to a next state that is new to it with probability theta / (n + theta),
and else to one of those seen, as often as they were. A next state that is new to the pair was never
seen at all with probability s, and else it is any state. The three numbers of that model are
estimated at the start of an epoch:

theta   by maximum likelihood from all pairs: near 0 in a world without chance; where pairs share
        features it is small, as what is new to a pair may be known of its features
s       after Good and Turing (Good, 1953): the share of the rare links (x, a, x'), those of a
        pair but its usual one, whose x' no other leads to; where there are hardly any, the share
        among all links.
        What stays where it is, x' = x, is no link here
v       the mean of V over the states seen

The mean of V(x') that the model predicts is a ridge regression towards v, with theta for its ridge,
and theta / (n + theta) = theta u^2 is the share of the prior in it.
"""

import math

import numpy as np
from numba import njit

from optimist.checks import FloatArray, IntArray

LEAST, MOST = 1e-4, 10.0
"""The least theta, as a covariance has to be invertible, and the most."""

SHARED = 1e-3
"""Theta where features are shared: what is new to a pair is not new to its features."""

CLOSE = 1e-3
"""Theta is iterated until it changes by less than this part of it."""


@njit(cache=True)
def fit_prior(
    pair: IntArray,
    after: IntArray,
    weight: FloatArray,
    V: FloatArray,
    n_actions: int,
    theta: float,
    shared: bool,
) -> tuple[float, float, float]:
    """Theta, s and v from links: the pair, the next state, how often; from the last theta on.

    Pair ``x * n_actions + a`` is of state x; a link with weight 0 was not seen. ``shared`` says
    that pairs share features.
    """
    visits, incoming = np.zeros(V.size * n_actions), np.zeros(V.size)
    usual = np.zeros(visits.size)  # how often each pair led to where it leads most often
    found, moves = 0.0, 0.0
    for i in range(weight.size):
        if weight[i] > 0:
            visits[pair[i]] += weight[i]
            usual[pair[i]] = max(usual[pair[i]], weight[i])
            found += 1
            if after[i] != pair[i] // n_actions:
                incoming[after[i]] += 1
                moves += 1
    ties = np.zeros(visits.size)  # how many links of a pair are seen as often
    for i in range(weight.size):
        ties[pair[i]] += weight[i] > 0 and weight[i] == usual[pair[i]]
    tried, states, singles, mean = 0.0, 0.0, 0.0, 0.0
    for x in range(V.size):
        left = 0
        for a in range(n_actions):
            left += visits[x * n_actions + a] > 0
        tried += left
        singles += incoming[x] == 1
        if incoming[x] > 0 or left > 0:
            states += 1
            mean += V[x]
    rare, news = 0.0, 0.0
    for i in range(weight.size):
        if weight[i] > 0 and after[i] != pair[i] // n_actions:
            # Of links that are seen as often one is the usual, whichever: each but for its part.
            part = 1 - 1 / ties[pair[i]] if weight[i] == usual[pair[i]] else 1.0
            rare += part
            if incoming[after[i]] == 1:
                news += part
    novel = (news + (singles + 1) / (moves + 1)) / (rare + 1)
    theta = SHARED if shared else likeliest(found - tried, visits, theta)
    return theta, min(novel, 1.0), mean / states if states > 0 else 0.0


@njit(cache=True)
def likeliest(news: float, visits: FloatArray, theta: float) -> float:
    """The theta that makes it likeliest that visits but the first of each pair showed that news.

    At the maximum theta is the number of news over sum 1 / (i + theta), with i the visits that a
    pair had had at each of the others. The likelihood is multiplied by theta^(1/2) e^(-theta), a
    prior of its own, which adds a half to the news and 1 to the sum: else without news theta would
    be 0.
    """
    theta = max(theta, LEAST)
    for _ in range(20):
        total = 1.0
        for n in visits:
            if n > 1:
                total += digamma(n + theta) - digamma(1 + theta)
        last, theta = theta, min(max((news + 0.5) / total, LEAST), MOST)
        if abs(theta - last) < CLOSE * last:
            break
    return theta


@njit(cache=True)
def digamma(x: float) -> float:
    """The derivative of the logarithm of the gamma function, to six digits."""
    total = 0.0
    while x < 6:
        total -= 1 / x
        x += 1
    square = 1 / (x * x)
    return total + math.log(x) - 0.5 / x - square * (1 / 12 - square / 120)
