"""The data of an environment: links between states, and sums over them."""

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.core.compiler import compiled, entry_point
from optimist.core.linalg import add_to, fill
from optimist.core.regression import observe
from optimist.core.state import Links, States, Stream


@entry_point
def add_transitions(
    m: Stream,
    later: float,
    known: int,
    source: IntArray,
    action: IntArray,
    after: IntArray,
    paid: FloatArray,
) -> int:
    """Add the transitions of an episode to the ``known`` links; how many there are then.

    A transition that repeats adds to its link. ``after`` is -1 where the episode terminated, which
    pays ``later`` from then on, discounted.
    """
    states, links, chains, reg, sums = m.states, m.links, m.chains, m.reg, m.sums
    rows, block = states.rows, states.block
    n_actions, s = block.shape[1], rows.shape[1]
    shared, work = rows.shape[0] == block.shape[0], np.empty(s)
    for i in range(source.size):
        x, a, y = source[i], action[i], after[i]
        b = block[x, a]
        phi = rows[x if shared else x * n_actions + a]
        observe(reg.Lambda, reg.inverse, reg.stale, reg.log_det, b, phi, 1.0, work)
        part = slice(b * s, (b + 1) * s)
        add_to(sums.features[part], 1.0, phi)
        if y >= 0:
            add_to(sums.values[part], states.V[y], phi)
        add_to(sums.paid[part], paid[i] if y >= 0 else paid[i] + later, phi)
        link = -1
        if chains.left[x] > 0:  # a state that was never left before has no links to repeat
            link = chains.head[y] if y >= 0 else chains.ended[0]
            while link >= 0 and (links.source[link] != x or links.action[link] != a):
                link = chains.following[link]
        if link < 0:
            link = known
            known += 1
            links.source[link], links.action[link], links.after[link] = x, a, y
            links.weight[link], links.paid[link] = 0.0, 0.0
            if y >= 0:
                chains.following[link] = chains.head[y]
                chains.head[y] = link
            else:
                chains.following[link] = chains.ended[0]
                chains.ended[0] = link
            chains.left[x] += 1
        links.weight[link] += 1.0
        links.paid[link] += paid[i]
    return known


@compiled()
def sum_powers(
    states: States,
    links: Links,
    n_links: int,
    terminal: float,
    mean: float,
    power: int,
    b: FloatArray,
) -> None:
    """b = sum_D phi(x, a) (V(x') - v)^power."""
    rows, block = states.rows, states.block
    n_actions, s = block.shape[1], rows.shape[1]
    shared = rows.shape[0] == block.shape[0]
    fill(b, 0.0)
    for i in range(n_links):
        x, a, y = links.source[i], links.action[i], links.after[i]
        W = (states.V[y] if y >= 0 else terminal) - mean
        begin = block[x, a] * s
        weight = links.weight[i] * (W if power == 1 else W * W)
        add_to(b[begin : begin + s], weight, rows[x if shared else x * n_actions + a])
