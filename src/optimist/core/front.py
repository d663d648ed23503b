"""Which states of a finite world take part in updates: those met, and one of each kind of others.

With one-hot features a state without data has the values, the optimism and the policy of every
other state without data that pays the same rewards: they are of one kind. So of each kind one
state, its *lead*, is kept up to date beside those that were met, and the others are as their lead
whenever somebody asks (`settle`). An episode then costs what was met and not what exists, and every
number is the same as if all states took part.

States take part by chunks of `CHUNK` neighbours, listed as parts [first, last): loops over a part
run over contiguous arrays. A state that is met takes its lead's numbers and wakes its chunk; if it
was the lead, the next state of the kind that was not met becomes it.
"""

from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core.compiler import compiled, inlined
from optimist.core.state import CHUNK, Epoch, Front, States


@inlined
def origin(active: BoolArray, kind: IntArray, order: IntArray, at: IntArray, x: int) -> int:
    """The state whose numbers are those of x: itself if it takes part, else the lead."""
    return x if active[x // CHUNK] else order[at[kind[x]]]


@compiled()
def meet_first(
    kind: IntArray,
    order: IntArray,
    at: IntArray,
    met: BoolArray,
    fresh: IntArray,
    n: int,
    x: int,
    pi: FloatArray,
    CB: FloatArray,
    p: FloatArray,
) -> int:
    """Note a state that is met for the first time, and play it as its lead; how many are noted."""
    lead = order[at[kind[x]]]
    for a in range(pi.shape[1]):
        pi[x, a], CB[x, a], p[x, a] = pi[lead, a], CB[lead, a], p[lead, a]
    met[x] = True
    fresh[n] = x
    return n + 1


@compiled()
def meet(front: Front, states: States, epoch: Epoch, n: int) -> None:
    """Let the first n fresh states take part, before anything is computed from their data."""
    grown = False
    for i in range(n):
        x = front.fresh[i]
        k = front.kind[x]
        grown = wake(front, states, epoch, x) or grown
        if front.order[front.at[k]] == x:
            following = front.at[k] + 1
            while following < front.end[k] and front.met[front.order[following]]:
                following += 1
            if following < front.end[k]:  # else all of the kind take part
                grown = wake(front, states, epoch, front.order[following]) or grown
                front.at[k] = following
    if grown:
        list_parts(front.active, front.parts, front.n_parts, front.met.size)


@compiled()
def settle(front: Front, states: States, epoch: Epoch) -> None:
    """Give all states that do not take part the numbers of their leads."""
    for chunk in range(front.active.size):
        if not front.active[chunk]:
            follow_leads(front, states, epoch, chunk)


@compiled()
def wake(front: Front, states: States, epoch: Epoch, x: int) -> bool:
    """Let the chunk of x take part; whether it did not before."""
    chunk = x // CHUNK
    asleep = not front.active[chunk]
    if asleep:
        follow_leads(front, states, epoch, chunk)
        front.active[chunk] = True
    return asleep


@compiled()
def follow_leads(front: Front, states: States, epoch: Epoch, chunk: int) -> None:
    """Copy what is computed of a state from the leads to a chunk.

    Regressions without data are 0 and the ridge, and stay so.
    """
    n_states, n_actions = states.r.shape
    for x in range(chunk * CHUNK, min((chunk + 1) * CHUNK, n_states)):
        lead = front.order[front.at[front.kind[x]]]
        states.V[x] = states.V[lead]
        for a in range(n_actions):
            states.log_pi[x, a] = states.log_pi[lead, a]
            states.cumulative[x, a] = states.cumulative[lead, a]
            states.CB[x, a] = states.CB[lead, a]
            states.p[x, a] = states.p[lead, a]
            states.standing[x, a] = states.standing[lead, a]
            states.rewards[x, a] = states.rewards[lead, a]
            if epoch.concentration.size > 0:
                pair = x * n_actions + a
                epoch.concentration[pair] = epoch.concentration[lead * n_actions + a]


@compiled()
def list_parts(active: BoolArray, parts: IntArray, n_parts: IntArray, n_states: int) -> None:
    """List the runs of chunks that take part."""
    n, before = 0, False
    for chunk in range(active.size):
        if active[chunk]:
            if not before:
                parts[n, 0] = chunk * CHUNK
                n += 1
            parts[n - 1, 1] = min((chunk + 1) * CHUNK, n_states)
        before = active[chunk]
    n_parts[0] = n
