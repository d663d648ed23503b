"""The states of a finite world that take part in updates: those met, and one of each other kind.

With one-hot features a state without data has the values, the optimism and the policy of every
other state without data that pays the same rewards: they are of one kind. So of each kind one
state, its *lead*, is kept up to date beside those that were met, and the others are as their lead
whenever somebody asks (`follow_all`). An episode then costs what was met and not what exists, and
every number is the same as if all states took part.

States take part by chunks of `CHUNK` neighbours, listed as parts [first, last): loops over a part
run over contiguous arrays. A state that is met takes its lead's numbers and wakes its chunk; if it
was the lead, the next state of the kind that was not met becomes it.
"""

from optimist.core.compiler import apart, compiled, inlined
from optimist.core.state import CHUNK, Front, Learner


@inlined
def lead(front: Front, x: int) -> int:
    """The state whose numbers x shares while it does not take part."""
    return front.order[front.at[front.kind[x]]]  # type: ignore[no-any-return]


@apart
def meet_first(me: Learner, x: int) -> None:
    """Note a state that is met for the first time, and play it as its lead."""
    states, front = me.states, me.front
    pi, CB, p, y = states.cumulative, states.CB, states.p, lead(me.front, x)
    for a in range(pi.shape[1]):
        pi[x, a], CB[x, a], p[x, a] = pi[y, a], CB[y, a], p[y, a]
    front.met[x] = True
    front.fresh[front.n_fresh[0]] = x
    front.n_fresh[0] += 1


@apart
def meet(me: Learner) -> None:
    """Let the newly met states take part, before anything is computed from their data."""
    front = me.front
    order, at, end, met, fresh = front.order, front.at, front.end, front.met, front.fresh
    grown = False
    for i in range(front.n_fresh[0]):
        x = fresh[i]
        grown = wake(me, x) or grown
        k = front.kind[x]
        if order[at[k]] == x:
            following = at[k] + 1
            while following < end[k] and met[order[following]]:
                following += 1
            if following < end[k]:  # else all of the kind take part
                grown = wake(me, order[following]) or grown
                at[k] = following
    front.n_fresh[0] = 0
    if grown:
        list_parts(front)


@apart
def follow_all(me: Learner) -> None:
    """Give all states that do not take part the numbers of their leads."""
    active = me.front.active
    for chunk in range(active.size):
        if not active[chunk]:
            follow_leads(me, chunk)


@compiled()
def wake(me: Learner, x: int) -> bool:
    """Let the chunk of x take part; whether it did not before."""
    active, chunk = me.front.active, x // CHUNK
    asleep = not active[chunk]
    if asleep:
        follow_leads(me, chunk)
        active[chunk] = True
    return asleep


@compiled()
def follow_leads(me: Learner, chunk: int) -> None:
    """Copy what is computed of a state from the leads to a chunk.

    Regressions without data are 0 and the ridge, and stay so.
    """
    states, concentration = me.states, me.epoch.concentration
    V, log_pi, pi, rewards = states.V, states.log_pi, states.cumulative, states.rewards
    CB, p, standing = states.CB, states.p, states.standing
    n_states, n_actions = log_pi.shape
    for x in range(chunk * CHUNK, min((chunk + 1) * CHUNK, n_states)):
        y = lead(me.front, x)
        V[x] = V[y]
        for a in range(n_actions):
            log_pi[x, a], pi[x, a], rewards[x, a] = log_pi[y, a], pi[y, a], rewards[y, a]
            CB[x, a], p[x, a], standing[x, a] = CB[y, a], p[y, a], standing[y, a]
            if concentration.size > 0:
                concentration[x * n_actions + a] = concentration[y * n_actions + a]


@inlined
def list_parts(front: Front) -> None:
    """List the runs of chunks that take part."""
    active, parts = front.active, front.parts
    n, before = 0, False
    for chunk in range(active.size):
        if active[chunk]:
            if not before:
                parts[n, 0] = chunk * CHUNK
                n += 1
            parts[n - 1, 1] = min((chunk + 1) * CHUNK, front.met.size)
        before = active[chunk]
    front.n_parts[0] = n
