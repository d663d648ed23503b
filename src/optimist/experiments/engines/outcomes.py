"""What comes of an item: a result or a failure; and how both travel between processes.

Items and results travel as bytes that are written and read here, not by the engines, so that what
cannot be pickled ends in the same way on all of them.
"""

import traceback
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import cloudpickle
from threadpoolctl import threadpool_limits

T = TypeVar("T")
R = TypeVar("R")
Kind = Literal["error", "lost"]

ATTEMPTS = 3
"""How often an item is tried whose worker dies each time."""


@dataclass(frozen=True)
class Failure:
    """Why an item has no result.

    Attributes
    ----------
    message
        One line: the type of the exception and its text.
    details
        The traceback.
    kind
        "error" if the function raised, "lost" if its worker died time and again.
    """

    message: str
    details: str
    kind: Kind


PackedOutcomes = Generator[tuple[int, bytes | Failure]]
Run = Callable[[Sequence[bytes]], PackedOutcomes]
"""What an engine's workers do: attempt packed items; the index and packed outcome of each."""


def attempt(work: Callable[[T], R], item: T) -> R | Failure:
    """The result of ``work(item)``, with one BLAS thread, or why there is none.

    Examples
    --------
    >>> attempt(abs, -2)
    2
    >>> attempt(len, 2).message
    "TypeError: object of type 'int' has no len()"
    """
    try:
        with threadpool_limits(1):
            return work(item)
    except Exception as error:
        return failure_of(error)


def failure_of(error: BaseException, kind: Kind = "error") -> Failure:
    """An exception as an outcome."""
    text = "".join(traceback.format_exception_only(error))
    below = error.__traceback__ and error.__traceback__.tb_next  # not the frame that caught it
    details = "".join(traceback.format_exception(type(error), error, below))
    return Failure(" ".join(text.split()), details, kind)


def pack(work: Callable[[T], R], item: T) -> bytes:
    """What a worker needs to attempt an item."""
    packed: bytes = cloudpickle.dumps((work, item))
    return packed


def attempt_packed(packed: bytes) -> bytes:
    """What a worker does: `attempt` what was packed, and pack the outcome."""
    try:
        work, item = cloudpickle.loads(packed)
        outcome: bytes = cloudpickle.dumps(attempt(work, item))
    except (Exception, SystemExit) as error:  # a worker outlives an item that wants to exit
        outcome = cloudpickle.dumps(failure_of(error))
    return outcome


def unpack(outcome: bytes | Failure) -> Any:
    """An outcome that a worker has packed, or a failure that its engine has found."""
    if isinstance(outcome, Failure):
        return outcome
    try:
        return cloudpickle.loads(outcome)
    except Exception as error:
        return failure_of(error)
