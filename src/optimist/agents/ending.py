"""When a call of `learn` ends.

After episodes or steps, at a mean return, when enough is certified, or by a callback.
"""

import math
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from optimist import checks

if TYPE_CHECKING:
    from optimist.agents.agent import Agent
    from optimist.agents.certified_agent import CertifiedAgent

Callback = Callable[[Any], bool | None]
"""Called with the agent after every episode; learning ends if it returns True."""

LOOKS = 100
"""How many episodes there are between two certificates, at least."""

WINDOW = 100
"""Over how many episodes the mean return is taken."""


class Ending:
    """The limits of one call of `learn`; whichever is reached first ends it.

    Attributes
    ----------
    end, step_limit
        The number of episodes and of steps of the whole run at which it ends, or infinity.
    episodes, steps
        The number of them that the call may play; None without such a limit.
    total
        The limit on episodes, or else on steps; None if there is neither.
    reached
        Whether to end.
    certified
        A sentence with the present certificate and the estimated time left, or nothing.
    """

    def __init__(
        self,
        agent: "Agent",
        episodes: int | None,
        steps: int | None,
        callback: Callback | None,
        until: float | None,
        goal: "Goal | None" = None,
    ) -> None:
        if all(given is None for given in (episodes, steps, callback, until, goal)):
            raise TypeError("learn needs a limit: give episodes=, steps=, callback= or until=")
        if callback is not None and not callable(callback):
            raise TypeError(f"callback must be a function of the agent; got {callback!r}")
        n_episodes = math.inf if episodes is None else checks.count(episodes, "episodes")
        n_steps = math.inf if steps is None else checks.count(steps, "steps")
        self.agent, self._callback = agent, callback
        self.episodes, self.steps = episodes, steps
        self._until = None if until is None else checks.real_number(until, "until")
        self.end, self.step_limit = agent.episodes + n_episodes, agent.steps + n_steps
        self._by_episodes = episodes is not None or steps is None
        self.total = steps if episodes is None else episodes
        self.reached = False
        self._returns: deque[float] = deque(maxlen=WINDOW)
        self._goal = goal
        if until is not None and agent.remembers:
            self._returns.extend(agent.history.reward[-WINDOW:])

    @property
    def most(self) -> int:
        """The number of episodes to play before the next check."""
        if self._callback is not None or self._until is not None:
            return 1
        end = self.end if self._goal is None else min(self.end, self._goal.coming)
        return int(min(end - self.agent.episodes, checks.MOST))

    @property
    def certified(self) -> str:
        return "" if self._goal is None else self._goal.sentence

    @property
    def done(self) -> int:
        """The number of episodes of the whole run, or of steps if steps= was given."""
        return self.agent.episodes if self._by_episodes else self.agent.steps

    def look(self, columns: dict[str, Any]) -> None:
        """Take note of episodes that were played; they are in the history by now."""
        agent = self.agent
        self.reached = agent.episodes >= self.end or agent.steps >= self.step_limit
        if self._goal is not None:
            self.reached |= self._goal.look(self.reached)
        if self._until is not None:
            self._returns.extend(columns["reward"])
            enough = len(self._returns) == WINDOW and np.mean(self._returns) >= self._until
            self.reached |= bool(enough)
        if self._callback is not None:
            answer = self._callback(agent)
            if answer is not None and not isinstance(answer, bool | np.bool_):
                raise TypeError(
                    f"callback must return True to end learning, or False or None to go on; got "
                    f"{answer!r}"
                )
            self.reached |= bool(answer)


class Goal:
    """A certificate to be reached: how far from the optimum a policy may be.

    It is looked at every 100 episodes, and after 2% more where that is more.

    Attributes
    ----------
    coming
        After how many episodes of the whole run it is looked at again.
    sentence
        A sentence with the present certificate and the estimated time left.
    """

    def __init__(self, agent: "CertifiedAgent", until: float | None, delta: float) -> None:
        if until is None:
            raise TypeError("delta must come with until=, how far from the optimum to end")
        if not 0 < checks.real_number(until, "until") < 1:
            raise ValueError(
                f"until must be in (0, 1) where delta is given, a share of the optimum; "
                f"got {until:g}"
            )
        self.agent, self._until, self._delta = agent, until, delta
        self._seen: list[tuple[float, float]] = []  # episodes and shares
        self.sentence = ""
        agent.certificate(delta)  # an agent without certificates is refused at once
        self._plan()

    def _plan(self) -> None:
        self.coming = self.agent.episodes + max(LOOKS, self.agent.episodes // 50)

    def look(self, ends: bool) -> bool:
        """Whether it is reached; learning may end anyway."""
        if self.agent.episodes < self.coming and not ends:
            return False
        share = self.agent.certificate(self._delta).share
        if not self._seen:  # what is compiled, is compiled by now
            self._began = self.agent.episodes, time.monotonic()
        self._seen.append((self.agent.episodes, share))
        self._plan()
        missing = episodes_missing(self._seen, self._until)
        first, began = self._began
        each = (time.monotonic() - began) / max(self.agent.episodes - first, 1)
        rest = "no estimate yet" if missing is None else f"about {duration(missing * each)} more"
        self.sentence = f"certified within {share:.1%} of the optimum; {rest}"
        return share <= self._until


def episodes_missing(seen: list[tuple[float, float]], until: float) -> float | None:
    """The number of further episodes, if the share keeps falling as the same power of them.

    The power is that since half of the episodes, and at most 1. None if it fell slower than by the
    power 1/10, or if half of the episodes have no certificate.

    Examples
    --------
    >>> episodes_missing([(100, 0.4), (200, 0.3), (400, 0.2)], until=0.1)
    908.0
    >>> episodes_missing([(200, 0.9), (400, 0.89)], until=0.1) is None
    True
    """
    n, share = seen[-1]
    if share <= until:
        return 0.0
    before = [(m, s) for m, s in seen if m <= n / 2]
    if not before or not before[-1][1] > share:
        return None
    m, s = before[-1]
    power = min(math.log(s / share) / math.log(n / m), 1.0)
    return round(n * (share / until) ** (1 / power) - n, 0) if power > 0.1 else None


def duration(seconds: float) -> str:
    """A length of time in words.

    Examples
    --------
    >>> duration(7.4), duration(200), duration(9000), duration(1e6)
    ('7 s', '3 min', '2.5 h', '12 days')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.0f} days"


def episodes_before(steps: float, mean_steps: float) -> int:
    """How many episodes of geometric lengths to play before counting their steps again.

    In the mean they take a quarter of the steps left. That 16 lengths or more take four times their
    mean has a probability below 1e-10; fewer are played one by one. So the episode that reaches the
    limit is the last, however those before it were divided into calls.

    Examples
    --------
    >>> episodes_before(steps=100_000, mean_steps=100)
    250
    >>> episodes_before(steps=6_000, mean_steps=100)
    1
    """
    n = int(steps / (4 * mean_steps))
    return n if n >= 16 else 1


def most_episodes(steps: int, mean_steps: float) -> int:
    """An upper bound, hardly ever exceeded, on the episodes of geometric lengths in these steps.

    The probability of half the mean, in more than 128 episodes, is below 1e-10.

    Examples
    --------
    >>> most_episodes(100_000, mean_steps=100), most_episodes(50, mean_steps=1)
    (2128, 50)
    """
    return min(steps, 128 + int(2 * steps / mean_steps))
