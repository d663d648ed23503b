"""Compiled calls that Ctrl-C interrupts at once.

Python hears a signal between two of its own instructions, not during a compiled call. So a call
plays for about a tenth of a second. What may take longer is computed in a thread, on copies of all
that changes: if it is interrupted, the copies are dropped, and the learner is as it was before. How
episodes are divided into calls changes no number.
"""

import copy
from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread
from typing import Any

import numpy as np

from optimist.agents.progress import Bar
from optimist.checks import BoolArray

CALL_SECONDS, MOST_SECONDS = 0.1, 1.0
"""About how long one call plays, and the most if it takes long to prepare."""

PREPARING = 4.0
"""The duration of a call, in multiples of the time that its preparation took."""

SLOW_SECONDS = 0.2
"""Where a call has taken longer, calls are made in a thread."""

LISTEN_SECONDS = 0.05
"""Seconds between checks whether to abandon a thread."""

GIVEN = ("rows", "block", "pair")
"""Arrays that learning from an episode does not change."""


class Pace:
    """The number of episodes of the next call, from the durations of the calls before it."""

    def __init__(self) -> None:
        self.episodes = 1
        self._calls, self._slowest = 0, 0.0

    @property
    def slow(self) -> bool:
        """Whether the next call may take long. Nothing is known before the second."""
        return self._calls < 2 or self._slowest > SLOW_SECONDS

    def note(self, episodes: int, seconds: float, preparing: float = 0.0) -> None:
        """Note how long a call took, and how long its copies before that."""
        self._calls += 1
        if self._calls > 1:  # the first may have compiled its code
            self._slowest = max(self._slowest, seconds)
        wanted = min(max(CALL_SECONDS, PREPARING * preparing), MOST_SECONDS)
        fitting = int(episodes * wanted / max(seconds, 1e-9))
        self.episodes = max(1, min(fitting, 16 * episodes))  # these may have been short by chance


def in_thread(call: Callable[[], Any], bar: Bar, stop: BoolArray) -> Any:
    """The result of a call that is made in a thread, while this one hears signals.

    If it is abandoned, ``stop`` is set, so that it ends soon; until then it computes on arrays that
    are no longer used.
    """
    result: Future[Any] = Future()

    def work() -> None:
        try:
            result.set_result(call())
        except BaseException as error:
            result.set_exception(error)

    Thread(target=work, daemon=True).start()
    try:
        while not wait([result], LISTEN_SECONDS).done:
            if bar.impatient:
                raise KeyboardInterrupt
    except BaseException:  # or the exception of a user-defined handler
        stop[0] = True
        raise
    return result.result()


def own_copy(value: Any) -> Any:
    """A copy with its own arrays; constant arrays are shared."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if hasattr(value, "_asdict"):  # a named tuple
        return value._replace(**_copied_parts(value._asdict()))
    copied = copy.copy(value)
    vars(copied).update(_copied_parts(vars(copied)))
    return copied


def _copied_parts(parts: dict[str, Any]) -> dict[str, Any]:
    """Copies of arrays and of named tuples of them; anything else unchanged."""
    return {
        name: own_copy(part)
        if name not in GIVEN and (isinstance(part, np.ndarray) or hasattr(part, "_asdict"))
        else part
        for name, part in parts.items()
    }
