"""A foreign function that pauses now and then: a coroutine, in a thread."""

from collections.abc import Callable
from threading import Semaphore, Thread


class Closed(BaseException):
    """Raised in a paused function that must not continue."""


class Paused:
    """A function that runs only while `resume` waits for its next pause.

    Parameters
    ----------
    function
        It receives ``pause``, a function that it calls wherever it must pause.

    Examples
    --------
    >>> seen = []
    >>> def count(pause):
    ...     for n in range(3):
    ...         seen.append(n)
    ...         pause()
    >>> counting = Paused(count)
    >>> counting.resume(), counting.resume(), seen
    (True, True, [0, 1])
    >>> counting.close()
    """

    def __init__(self, function: Callable[[Callable[[], None]], None]) -> None:
        self._function = function
        self._go, self._waits = Semaphore(0), Semaphore(0)
        self._closing, self._ended = False, False
        self._error: BaseException | None = None
        Thread(target=self._run, daemon=True).start()

    def resume(self) -> bool:
        """Continue to the next pause or to the end; False if it has ended. It raises its errors."""
        if not self._ended:
            self._go.release()
            self._waits.acquire()
        if self._error is not None:
            raise self._error
        return not self._ended

    def close(self) -> None:
        """End the function where it waits."""
        self._closing = True
        self._go.release()

    def _run(self) -> None:
        self._go.acquire()
        try:
            if not self._closing:
                self._function(self._pause)
        except Closed:
            pass
        except BaseException as error:
            self._error = error
        self._ended = True
        self._waits.release()

    def _pause(self) -> None:
        self._waits.release()
        self._go.acquire()
        if self._closing:
            raise Closed
