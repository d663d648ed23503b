"""The outcome of an item, a result or a `Failure`, and its serialisation.

Items and results are serialised here, not by Dask, Ray or loky, so that pickling errors are handled
alike by all executors.
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
"""How often an item is tried if its worker dies each time."""


@dataclass(frozen=True)
class Failure:
    """The reason why an item has no result.

    Attributes
    ----------
    message
        One line: the type of the exception and its text.
    details
        The traceback.
    kind
        "error" if the function raised, "lost" if its worker died in every attempt.
    """

    message: str
    details: str
    kind: Kind


PackedOutcomes = Generator[tuple[int, bytes | Failure]]
Run = Callable[[Sequence[bytes]], PackedOutcomes]
"""Runs packed items on the workers of an executor; yields indices and packed outcomes."""


def attempt(work: Callable[[T], R], item: T) -> R | Failure:
    """Compute ``work(item)`` with one BLAS thread; a `Failure` if it raises.

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
    """Convert an exception to a `Failure`."""
    text = "".join(traceback.format_exception_only(error))
    below = error.__traceback__ and error.__traceback__.tb_next  # skip the frame that caught it
    details = "".join(traceback.format_exception(type(error), error, below))
    return Failure(" ".join(text.split()), details, kind)


def pack(work: Callable[[T], R], item: T) -> bytes:
    """Serialise a function and an item for a worker."""
    packed: bytes = cloudpickle.dumps((work, item))
    return packed


def attempt_packed(packed: bytes) -> bytes:
    """Run a packed item in a worker, and pack its outcome."""
    try:
        work, item = cloudpickle.loads(packed)
        outcome: bytes = cloudpickle.dumps(attempt(work, item))
    except (Exception, SystemExit) as error:  # sys.exit in an item does not end the worker
        outcome = cloudpickle.dumps(failure_of(error))
    return outcome


def unpack(outcome: bytes | Failure) -> Any:
    """Deserialise the outcome from a worker; a `Failure` found by the executor stays as it is."""
    if isinstance(outcome, Failure):
        return outcome
    try:
        return cloudpickle.loads(outcome)
    except Exception as error:
        return failure_of(error)
