"""Bad arguments, each with the error that it must raise."""

from collections.abc import Callable
from typing import Any

import pytest


def assert_refuses(call: Callable[[Any], object], *cases: tuple[Any, type[Exception], str]) -> None:
    """Assert that ``call(argument)`` raises the error for each (argument, error, message).

    The message is a regular expression that the text of the error must match.
    """
    for argument, error, message in cases:
        with pytest.raises(error, match=message):  # noqa: PT012
            call(argument)
            pytest.fail(f"not refused: {argument!r}")
