"""Queue: whom to accept, and when to work fast."""

from dataclasses import dataclass

import numpy as np

from optimist import checks
from optimist.envs.world import World, start_in_first
from optimist.mdp import FiniteMDP, build_kernel

NOBODY, ROUTINE, URGENT = range(3)
"""Who is at the door."""

ACCEPT, FAST = 1, 2
"""The bits of an action."""


@dataclass(frozen=True)
class Queue(World):
    """A queue of callers or patients: accept or turn away, and serve slowly or fast, each minute.

    A state is how many are in line, and who is at the door: nobody, a routine call or an urgent
    one; ``door * (capacity + 1) + line``. An action is a sum of 1 to accept, and 2 to serve fast.
    Who is accepted pays at once and joins the line, unless it is full; who is turned away is lost.
    Then the service of the first in line ends with probability ``slow`` or ``fast``, and somebody
    may come to the door. Everyone in line costs ``waiting`` a minute, fast service ``help``. Shifts
    begin with an empty line.

    An optimal policy accepts each kind while the line is shorter than a threshold, and serves fast
    if it is longer than another. Rewards are the money of a minute, mapped onto [0, 1];
    ``mdp.reward_map`` maps them back.

    Attributes
    ----------
    capacity
        The most who can be in line, with the one who is served.
    routine
        The probability that a routine call comes in a minute.
    urgent
        The probability that an urgent call comes in a minute.
    slow
        The probability that slow service ends in a minute.
    fast
        The probability that fast service ends in a minute.
    pays_routine
        What a routine call is worth, if it is accepted.
    pays_urgent
        What an urgent call is worth, if it is accepted.
    waiting
        The cost of a caller in line for a minute.
    help
        The cost of fast service for a minute.
    gamma
        The discount factor: the probability that the shift goes on for another minute.

    Examples
    --------
    >>> calls = Queue()
    >>> best = calls.mdp.optimal().policy.argmax(axis=1).reshape(3, 16)   # [door, line]
    >>> best[ROUTINE] & ACCEPT                             # accept while fewer than 5 are in line
    array([1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    >>> best[NOBODY] // FAST                               # serve fast from 3 on
    array([0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    """

    capacity: int = 15
    routine: float = 0.3
    urgent: float = 0.1
    slow: float = 0.25
    fast: float = 0.5
    pays_routine: float = 5.0
    pays_urgent: float = 12.0
    waiting: float = 0.08
    help: float = 1.0
    gamma: float = 0.995

    def build(self) -> FiniteMDP:
        n = checks.count(self.capacity, "capacity") + 1
        self.check_size(3 * n, n_actions=4, successors=6)
        nobody = checks.probability(1 - self.routine - self.urgent, "1 - routine - urgent")
        comes = (nobody, self.routine, self.urgent)
        slow, fast = checks.probability(self.slow, "slow"), checks.probability(self.fast, "fast")
        door, line = np.divmod(np.arange(3 * n), n)
        worth = np.array([0.0, self.pays_routine, self.pays_urgent])[door]
        moves, r = [], np.empty((3 * n, 4))
        for a in range(4):
            accepted = (a & ACCEPT > 0) & (door != NOBODY) & (line < n - 1)
            there = line + accepted
            ends = np.where(there > 0, fast if a & FAST else slow, 0.0)
            for kind, chance in enumerate(comes):
                moves.append((a, kind * n + np.maximum(there - 1, 0), chance * ends))
                moves.append((a, kind * n + there, chance * (1 - ends)))
            r[:, a] = worth * accepted - self.waiting * there - self.help * (a & FAST > 0)
        return FiniteMDP(build_kernel(4, moves), r, start_in_first(3 * n), self.gamma).affine()

    @property
    def board(self) -> tuple[str, ...]:
        """The line, empty to the left, in a row for each kind of caller at the door."""
        rest = "." * self.capacity
        return "s" + rest, "." + rest, "." + rest

    def position(self, state: int) -> tuple[int, int]:
        return divmod(state, self.capacity + 1)
