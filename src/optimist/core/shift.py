"""A shift of all values at once, where an update moved all of them the same way.

A constant added to all values, and to what heaven is worth, is some g times that constant after an
update, with g between gamma / (1 + ridge) and gamma with one-hot features, and it changes no
policy. So if an update raised all values by m > 0 or more, further ones will raise each by at least
m (g + g^2 + ...); and if it could raise none by more than m < 0, whatever the policy, all will fall
by as much (MacQueen, 1966). All values then move that far at once, and what is left to the updates
is by how much values differ.
"""

from optimist.core.compiler import apart
from optimist.core.iteration import set_worth
from optimist.core.state import Learner


@apart
def shift(me: Learner, low: float, high: float, most: float, best: float) -> tuple[float, float]:
    """Heaven's new worth, and a shift of it and of all values within [0, R_max H], or of 0.

    Values have changed by ``low`` to ``high``, could have risen by ``most``, max Q - V, and the
    largest Q is ``best``. Returns by how much they have changed at most, but for what the shift
    foresees, and the shift.
    """
    rule, prior, V = me.rule, me.epoch.prior, me.states.V
    parts, n_parts, g = me.front.parts, me.front.n_parts[0], rule.keeps
    before = prior[0]["worth"]
    set_worth(prior, rule.gamma * before, best, rule.heaven)
    worth = prior[0]["worth"]
    more = worth - before
    low, high, most = min(low, more), max(high, more), max(most, more)
    sure = low if low > 0 else min(most, 0.0)
    if sure == 0:
        return max(high, -low), 0.0
    least, largest = worth, worth
    for j in range(n_parts):
        for x in range(parts[j, 0], parts[j, 1]):
            least, largest = min(least, V[x]), max(largest, V[x])
    further: float = min(max(g / (1 - g) * sure, -least), rule.heaven - largest)
    for j in range(n_parts):
        for x in range(parts[j, 0], parts[j, 1]):
            V[x] += further
    prior[0]["worth"] = worth + further
    foreseen = (1 - g) / g * further
    return max(high - foreseen, foreseen - low), further
