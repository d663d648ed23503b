"""A prior over the next states of a pair, fitted to all pairs at the start of an epoch.

Next states are modelled as draws of a Chinese restaurant process (Ewens, 1972; Aldous, 1985). After
n visits a pair leads to a next state that is new to it with probability theta / (n + theta), and
otherwise to one of those seen, in proportion to their counts. A next state that is new to the pair
was never seen at all with probability s.

theta   the concentration, fitted by maximum likelihood over all pairs: near 0 in a deterministic
        world. Each state has its own: the mean of a gamma posterior, whose prior has the mean theta
        and the weight of `STRENGTH` new outcomes. Where pairs share features it is a small
        constant: a state that is new to a pair is not new to its features
s       estimated after Good and Turing (Good, 1953): among the rare transitions (x, a, x'), all of
        a pair but its most frequent one, the share whose x' no other transition leads to; the share
        among all transitions where hardly any are rare. Self-transitions do not count
v       the mean of V over the states seen, to which the regression is shrunk by its ridge
"""

import math

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.core.compiler import apart, compiled, inlined
from optimist.core.linalg import fill
from optimist.core.optimism import RANGE
from optimist.core.state import Epoch, Rule, States

LEAST, MOST = 1e-4, 10.0
"""The least theta, and the most."""

SHARED = 1e-3
"""Theta where features are shared: what is new to a pair is not new to its features."""

STRENGTH = 2.0
"""How many new outcomes of a state's own weigh as much as theta of all pairs."""

GROWTH = 2.0
"""How the multiplier 1 + GROWTH log k of the probability of an unseen outcome grows."""

OFTEN = 64
"""How many numbers of visits are few: of these each is looked up once."""

CLOSE = 1e-3
"""Theta is iterated until it changes by less than this part of it."""


@inlined
def learn_prior(
    rule: Rule,
    epoch: Epoch,
    pair: IntArray,
    after: IntArray,
    weight: FloatArray,
    V: FloatArray,
    block: IntArray,
    shared: bool,
    concentration: FloatArray,
    reward: float,
) -> None:
    """Fit the prior to the data so far, as `fit_prior` takes them.

    ``reward`` is the mean reward where rewards are estimated: what is expected of an untried pair,
    beside gamma v.
    """
    prior, first = epoch.prior, epoch.clock[0]["epochs"] == 1
    theta, novel, mean = fit_prior(
        pair, after, weight, V, block, 1.0 if first else prior[0]["concentration"], shared,
        concentration,
    )  # fmt: skip
    prior[0]["concentration"] = theta
    prior[0]["novel"] = novel * exploration_multiplier(max(epoch.clock[0]["episodes"], 1))
    prior[0]["v"] = mean
    prior[0]["expected"] = reward + rule.optimism.gamma * mean


@inlined
def set_confidence(rule: Rule, states: States, epoch: Epoch) -> None:
    """L = log(3 X A T (T + 1) / delta) of `Confidence`, as the concentration `RANGE` L."""
    T = max(float(epoch.clock[0]["steps"]), 1.0)
    L = math.log(3 * states.r.size * T * (T + 1) / rule.optimism.a)
    epoch.prior[0]["novel"] = 1.0
    epoch.prior[0]["concentration"] = RANGE * L
    fill(epoch.concentration, RANGE * L)


@inlined
def exploration_multiplier(k: int) -> float:
    """L = 1 + 2 log k, which multiplies the probability of an unseen outcome after k episodes."""
    return 1 + GROWTH * math.log(k)


@apart
def fit_prior(
    pair: IntArray,
    after: IntArray,
    weight: FloatArray,
    V: FloatArray,
    block: IntArray,
    theta: float,
    shared: bool,
    concentration: FloatArray,
) -> tuple[float, float, float]:
    """Theta, s and v from transitions: the pair, the next state, how often; from the last theta on.

    Pair ``x * A + a`` is of state x; a transition of weight 0 was not seen. ``shared`` says that
    pairs share features. Writes the concentrations of the blocks [X, A] of all pairs.
    """
    n_actions = block.shape[1]
    visits, incoming = np.zeros(V.size * n_actions), np.zeros(V.size)
    usual = np.zeros(visits.size)  # how often each pair led to where it leads most often
    distinct = np.zeros(visits.size)  # how many next states each pair has shown
    found, moves = 0.0, 0.0
    for i in range(weight.size):
        if weight[i] > 0:
            visits[pair[i]] += weight[i]
            usual[pair[i]] = max(usual[pair[i]], weight[i])
            distinct[pair[i]] += 1
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
    # If m transitions tie for the most frequent, each counts as rare with weight 1 - 1 / m. Sums
    # of m times that are whole numbers, so that the order of transitions does not matter.
    rare_of, news_of = np.zeros(visits.size), np.zeros(visits.size)
    for i in range(weight.size):
        if weight[i] > 0 and after[i] != pair[i] // n_actions:
            part = ties[pair[i]] - (weight[i] == usual[pair[i]])
            rare_of[pair[i]] += part
            if incoming[after[i]] == 1:
                news_of[pair[i]] += part
    rare, news = 0.0, 0.0
    for i in range(visits.size):
        if rare_of[i] > 0:
            rare += rare_of[i] / ties[i]
            news += news_of[i] / ties[i]
    novel = (news + (singles + 1) / (moves + 1)) / (rare + 1)
    if shared:
        fill(concentration, SHARED)
    else:
        theta = likeliest(found - tried, visits, theta)
        fit_states(visits, distinct, block, theta, concentration)
    return theta, min(novel, 1.0), mean / states if states > 0 else 0.0


@inlined
def fit_states(
    visits: FloatArray,
    distinct: FloatArray,
    block: IntArray,
    theta: float,
    concentration: FloatArray,
) -> None:
    """The concentration of each block, from the new outcomes of all pairs of its states.

    The actions of a state are alike in how much they leave to chance. Of states that share a block
    the outcomes are added up.
    """
    n_states, n_actions = block.shape
    chances, of_one, known = np.empty(concentration.size), digamma(1 + theta), np.zeros(OFTEN)
    fill(chances, STRENGTH / theta)
    fill(concentration, STRENGTH)
    for x in range(n_states):
        news, chance = 0.0, 0.0
        for a in range(n_actions):
            pair = x * n_actions + a
            if visits[pair] > 1:
                news += distinct[pair] - 1
                chance += expected_news(visits[pair], theta, of_one, known)
        for a in range(n_actions):
            met = False
            for before in range(a):
                met = met or block[x, before] == block[x, a]
            if not met:  # a state counts once
                concentration[block[x, a]] += news
                chances[block[x, a]] += chance
    for b in range(concentration.size):
        concentration[b] /= chances[b]


@inlined
def likeliest(news: float, visits: FloatArray, theta: float) -> float:
    """The theta under which this number of new outcomes, first visits apart, is most likely.

    At the maximum theta is the number of new outcomes over sum 1 / (i + theta), where i is the
    number of visits of the pair before each visit. The likelihood is multiplied by theta^(1/2)
    e^(-theta), which adds a half to the former and 1 to the latter: theta would be 0 without news.
    """
    theta, known = max(theta, LEAST), np.empty(OFTEN)
    for _ in range(20):
        total, of_one = 1.0, digamma(1 + theta)
        fill(known, 0.0)
        for n in visits:
            if n > 1:
                total += expected_news(n, theta, of_one, known)
        last, theta = theta, min(max((news + 0.5) / total, LEAST), MOST)
        if abs(theta - last) < CLOSE * last:
            break
    return theta


@inlined
def expected_news(n: float, theta: float, of_one: float, known: FloatArray) -> float:
    """The sum of 1 / (i + theta) over i < n, from 1: new outcomes after the first, over theta.

    ``of_one`` is the digamma function of 1 + theta. ``known`` keeps the sums of small n, else 0.
    """
    i = int(min(n, OFTEN))
    if i != n or i == OFTEN:
        return digamma(n + theta) - of_one
    if known[i] == 0:
        known[i] = digamma(n + theta) - of_one
    return known[i]  # type: ignore[no-any-return]


@compiled()
def digamma(x: float) -> float:
    """The derivative of the logarithm of the gamma function, to six digits."""
    total = 0.0
    while x < 6:
        total -= 1 / x
        x += 1
    square = 1 / (x * x)
    return total + math.log(x) - 0.5 / x - square * (1 / 12 - square / 120)
