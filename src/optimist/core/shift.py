"""A shift of all values at once, where an update moved all of them the same way.

What an update does to values it does to their sum with a constant: it adds gamma times the constant
wherever heaven is worth what the best pair is, and the policy stays as it is, because the Q's of
all actions move alike. So from changes between low and high further updates take V to between
V + gamma H low and V + gamma H high (MacQueen, 1966). If low and high are of one sign, all values
move to the nearer of these bounds, and what is left to the updates is by how much values differ.
"""

from optimist.core.compiler import apart
from optimist.core.state import Learner


@apart
def shift(me: Learner, low: float, high: float) -> float:
    """Shift values and what heaven is worth, within [0, R_max H]; by how much, 0 for not at all."""
    rule, prior, V = me.rule, me.epoch.prior, me.states.V
    parts, n_parts, worth = me.front.parts, me.front.n_parts[0], prior[0]["worth"]
    if low <= 0 <= high:
        return 0.0
    least, most = worth, worth
    for j in range(n_parts):
        for x in range(parts[j, 0], parts[j, 1]):
            least, most = min(least, V[x]), max(most, V[x])
    bound = rule.gamma / (1 - rule.gamma) * (low if low > 0 else high)
    further: float = min(max(bound, -least), rule.heaven - most)
    for j in range(n_parts):
        for x in range(parts[j, 0], parts[j, 1]):
            V[x] += further
    prior[0]["worth"] = worth + further
    return further
