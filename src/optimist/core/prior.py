"""A prior over the next states of a pair, fitted to all pairs at the start of an epoch.

Next states are modelled as draws of a Chinese restaurant process (Ewens, 1972; Aldous, 1985). After
n visits a pair leads to a next state that is new to it with probability theta / (n + theta), and
otherwise to one of those seen, in proportion to their counts. A next state that is new to the pair
was never seen at all with probability s. The model has three numbers:

theta   fitted by maximum likelihood over all pairs: near 0 in a deterministic world. Where pairs
        share features it is a small constant: a state that is new to a pair is not new to its
        features
s       estimated after Good and Turing (Good, 1953): among the rare transitions (x, a, x'), all of
        a pair but its most frequent one, the share whose x' no other transition leads to; the share
        among all transitions where hardly any are rare. Self-transitions do not count
v       the mean of V over the states seen

The mean of V(x') under the model is a ridge regression shrunk to v, with theta for its ridge, and
theta / (n + theta) = theta u^2 is the prior's share in it.
"""

import math

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.core.compiler import compiled, inlined
from optimist.core.regression import change_ridge
from optimist.core.state import Epoch, Regression, Rule

LEAST, MOST = 1e-4, 10.0
"""The least theta, as a covariance has to be invertible, and the most."""

SHARED = 1e-3
"""Theta where features are shared: what is new to a pair is not new to its features."""

CLOSE = 1e-3
"""Theta is iterated until it changes by less than this part of it."""


@inlined
def learn_prior(
    rule: Rule,
    reg: Regression,
    epoch: Epoch,
    pair: IntArray,
    after: IntArray,
    weight: FloatArray,
    V: FloatArray,
    n_actions: int,
    reward: float,
) -> None:
    """Fit the prior to the data so far, and put its ridge in the place of the last.

    ``reward`` is the mean reward where rewards are estimated: what is expected of an untried pair,
    beside gamma v.
    """
    prior, unit = epoch.prior, rule.ridge
    last = unit if epoch.clock[0]["epochs"] == 1 else prior[0]["ridge"]
    theta, novel, mean = fit_prior(
        pair, after, weight, V, n_actions, last / unit, reg.Lambda.shape[1] > 1
    )
    prior[0]["ridge"] = theta * unit
    prior[0]["novel"] = novel * exploration_multiplier(max(epoch.clock[0]["episodes"], 1))
    prior[0]["v"] = mean
    prior[0]["expected"] = reward + rule.gamma * mean
    change_ridge(reg.Lambda, prior[0]["ridge"] - last)


@compiled()
def exploration_multiplier(k: int) -> float:
    """1 + 2 log k, which multiplies the probability of an unseen outcome after k episodes.

    Chosen by measurement (docs/defaults.md). UCB1 (Auer et al., 2002) has 2 log k under a root.
    """
    return 1 + 2 * math.log(k)


@compiled()
def fit_prior(
    pair: IntArray,
    after: IntArray,
    weight: FloatArray,
    V: FloatArray,
    n_actions: int,
    theta: float,
    shared: bool,
) -> tuple[float, float, float]:
    """Theta, s and v from transitions: the pair, the next state, how often; from the last theta on.

    Pair ``x * n_actions + a`` is of state x; a transition of weight 0 was not seen. ``shared`` says
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
    ties = np.zeros(visits.size)  # how many transitions of a pair are seen as often
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
            # If m transitions tie for the most frequent, each counts as rare with weight 1 - 1/m.
            part = 1 - 1 / ties[pair[i]] if weight[i] == usual[pair[i]] else 1.0
            rare += part
            if incoming[after[i]] == 1:
                news += part
    novel = (news + (singles + 1) / (moves + 1)) / (rare + 1)
    theta = SHARED if shared else likeliest(found - tried, visits, theta)
    return theta, min(novel, 1.0), mean / states if states > 0 else 0.0


@compiled()
def likeliest(news: float, visits: FloatArray, theta: float) -> float:
    """The theta under which so many new outcomes, first visits apart, are most likely.

    At the maximum theta is the number of new outcomes over sum 1 / (i + theta), where i is the
    number of visits of the pair before each visit. The likelihood is multiplied by theta^(1/2)
    e^(-theta), which adds a half to the former and 1 to the latter: theta would be 0 without news.
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


@compiled()
def digamma(x: float) -> float:
    """The derivative of the logarithm of the gamma function, to six digits."""
    total = 0.0
    while x < 6:
        total -= 1 / x
        x += 1
    square = 1 / (x * x)
    return total + math.log(x) - 0.5 / x - square * (1 / 12 - square / 120)
