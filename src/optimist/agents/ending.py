"""When a call of `learn` ends: after episodes or steps, at a mean return, or by a callback."""

import math
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from optimist import checks

if TYPE_CHECKING:
    from optimist.agents.agent import Agent

Callback = Callable[[Any], bool | None]
"""Called with the agent after every episode; learning ends if it returns True."""

WINDOW = 100
"""Over how many episodes the mean return is taken."""


class Ending:
    """The limits of one call of `learn`; whichever is reached first ends it.

    Attributes
    ----------
    end, step_limit
        The number of episodes and of steps of the whole run at which it ends, or infinity.
    total
        The number of episodes, or else of steps, that were asked for; None if neither was.
    reached
        Whether to end.
    """

    def __init__(
        self,
        agent: "Agent",
        episodes: int | None,
        steps: int | None,
        callback: Callback | None,
        until: float | None,
    ) -> None:
        if all(given is None for given in (episodes, steps, callback, until)):
            raise TypeError(
                "learn must be told when to end: give episodes=, steps=, callback= or until="
            )
        if callback is not None and not callable(callback):
            raise TypeError(f"callback must be a function of the agent; got {callback!r}")
        n_episodes = math.inf if episodes is None else checks.count(episodes, "episodes")
        n_steps = math.inf if steps is None else checks.count(steps, "steps")
        self.agent, self._callback = agent, callback
        self._until = None if until is None else checks.real_number(until, "until")
        self.end, self.step_limit = agent.episodes + n_episodes, agent.steps + n_steps
        self._by_episodes = episodes is not None or steps is None
        self.total = steps if episodes is None else episodes
        self.reached = False
        self._returns: deque[float] = deque(maxlen=WINDOW)
        if until is not None and agent.remembers:
            self._returns.extend(agent.history.reward[-WINDOW:])

    @property
    def most(self) -> int:
        """How many episodes may be played before looking again."""
        if self._callback is not None or self._until is not None:
            return 1
        return int(min(self.end - self.agent.episodes, checks.MOST))

    @property
    def done(self) -> int:
        """The number of episodes, or of steps if those were asked for, of the whole run."""
        return self.agent.episodes if self._by_episodes else self.agent.steps

    def look(self, columns: dict[str, Any]) -> None:
        """Note episodes that were played, which are in the history by now."""
        agent = self.agent
        self.reached = agent.episodes >= self.end or agent.steps >= self.step_limit
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
    """More episodes of geometric lengths than this fit into so many steps hardly ever.

    The probability of half the mean, in more than 128 episodes, is below 1e-10.

    Examples
    --------
    >>> most_episodes(100_000, mean_steps=100), most_episodes(50, mean_steps=1)
    (2128, 50)
    """
    return min(steps, 128 + int(2 * steps / mean_steps))
