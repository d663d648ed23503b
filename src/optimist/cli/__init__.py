"""The command line ``optimist COMMAND``. Each command is a module, imported when it is called."""

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any
from warnings import catch_warnings, simplefilter

from optimist.errors import DamageWarning, FailureWarning
from optimist.stopping import INTERRUPTED, interruptible
from optimist.text import printable

OK, SOME_FAILED, BAD_INPUT, DISK = 0, 1, 2, 3
"""Exit codes; `optimist.cli.parse.DESCRIPTION` explains them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words == ["--version"]:
        import optimist

        print(f"optimist {optimist.__version__}")
        return OK
    # User errors end with a sentence. Any other exception is a bug and shows its traceback.
    try:
        from optimist.cli.parse import parse

        with interruptible(), catch_warnings():
            _show_warnings()
            given = parse(words or ["--help"])
            code: int = import_module(f"optimist.cli.{words[0]}").main(given)
        if sys.stdout is not None:  # it is under pythonw
            sys.stdout.flush()
    except KeyboardInterrupt:
        _complain("interrupted; what is finished is kept")
        return INTERRUPTED
    except Exception as error:
        from optimist.cli.mistakes import code_of

        known = code_of(error)
        if known is None:
            raise
        return _complain(str(error) or "out of memory", known)  # only MemoryError has no text
    return code


def _complain(sentence: str, code: int = BAD_INPUT) -> int:
    print(f"optimist: {printable(sentence)}", file=sys.stderr)
    return code


def _show_warnings() -> None:
    """Print damage as a sentence. Failures are hidden: the commands list them."""
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *a: Any, **b: Any) -> None:
        if issubclass(category, DamageWarning):
            _complain(str(message))
        else:
            usual(message, category, *a, **b)

    warnings.showwarning = show
    simplefilter("always", DamageWarning)
    simplefilter("ignore", FailureWarning)
